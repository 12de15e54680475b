"""Images of scans, laid out in folders: what a robot saw of each room of a house before and after an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from obviate.adapters.mind.detection import Scan
from obviate.kb.errors import DataError

__all__ = ["LAYOUT", "Images"]

LAYOUT = "put at least one .png, .jpg or .webp in IMAGES/HOUSE/MOMENT/REGION, such as renders/house_0/before/kitchen_1"

_SUFFIXES = frozenset({".jpeg", ".jpg", ".png", ".webp"})


@dataclass(frozen=True, slots=True)
class Images:
    """The images of scans, in `folder`/HOUSE/MOMENT/REGION: one or several of each room, such as one a heading.

    The names of houses and regions come from strangers. One that is no name of a folder is refused, so that none leads
    elsewhere. Raises `DataError` (``images-unusable``) without the folder.
    """

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise DataError("images-unusable", "there is no such folder", where=str(self.folder), help=LAYOUT)

    def of(self, scan: Scan) -> Mapping[str, tuple[Path, ...]]:
        """The image files of each region. Raises `DataError` (``images-unusable``) for a region without one, since
        that nothing is seen where nobody looked would be no finding.
        """
        return {region: self._in(scan.house, scan.moment, region) for region in scan.state.inventories}

    def _in(self, *names: str) -> tuple[Path, ...]:
        for name in names:
            if name in ("", "..") or Path(name).name != name:
                raise DataError("images-unusable", f"{name!a:.60} names no folder", where="images", help="rename it")
        room = self.folder.joinpath(*names)
        try:
            files = tuple(sorted(file for file in room.iterdir() if file.suffix.lower() in _SUFFIXES))
        except (OSError, ValueError):  # missing, or a name that no file system has
            files = ()
        if not files:
            raise DataError("images-unusable", "no image of this room", where=f"{room!s:.200}", help=LAYOUT)
        return files
