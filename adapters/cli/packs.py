"""What the PACK argument of a command means: the household's name, a file, or a folder."""

from __future__ import annotations

from pathlib import Path

from obviate.kb import Pack, Vocabulary, household
from obviate.kb.errors import DataError

__all__ = ["load_pack", "pack_files", "pack_name", "test_files"]

TEST_SUFFIX = ".test.lp"


def pack_files(pack: str) -> tuple[Path, ...]:
    """The files of a pack: the household's own, a single file, or every ``*.lp`` of a folder but the tests.

    Raises `DataError`: ``file-missing`` for an empty folder, ``outside-pack`` for a link that leads out of it.
    """
    path = _path(pack)
    if not path.is_dir():
        return (path,)
    found = tuple(file for file in _within(path) if not file.name.endswith(TEST_SUFFIX))
    if not found:
        raise DataError("file-missing", "no .lp file in this folder", where=pack, help="name a file, or household")
    return found


def _within(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.lp"))
    for file in files:
        if not file.resolve().is_relative_to(folder.resolve()):
            help = "put the file itself into the folder, or name it"
            raise DataError("outside-pack", "this link leads out of the folder of the pack", where=str(file), help=help)
    return files


def test_files(pack: str) -> tuple[Path, ...]:
    """The scenario tests beside a pack: ``NAME*.test.lp`` beside a file NAME.lp, and every one in a folder."""
    path = _path(pack)
    if path.is_dir():
        return tuple(file for file in _within(path) if file.name.endswith(TEST_SUFFIX))
    pattern = (path.stem + TEST_SUFFIX, path.stem + ".*" + TEST_SUFFIX)
    return tuple(sorted(file for each in pattern for file in path.parent.glob(each)))


def pack_name(pack: str) -> str:
    """The name of a pack, after its file or folder."""
    path = _path(pack)
    return path.resolve().name if path.is_dir() else path.stem


def load_pack(pack: str, vocabulary: Vocabulary) -> Pack:
    """The pack, checked. Raises `ObviateError` for what is wrong with it."""
    return Pack.load(*pack_files(pack), vocabulary=vocabulary, name=pack_name(pack))


def _path(pack: str) -> Path:
    path = Path(pack)
    return household.folder / "packs" / "household.lp" if pack == "household" and not path.exists() else path
