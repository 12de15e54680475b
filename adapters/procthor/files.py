"""Files of ProcTHOR houses, and the houses that ship with Obviate.

See NOTICE in this folder for where the shipped files come from.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from obviate.adapters.procthor.house import House, read
from obviate.kb.errors import DataError

__all__ = ["MAX_HOUSE", "asset_types", "houses", "ship", "shipped"]

MAX_HOUSE = 20_000_000  # bytes of one house
MAX_JSON = 200_000_000  # bytes of a .json file, which is read whole

_FOLDER = Path(__file__).parent
_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_TABLES = ("asset_types.json", "asset_types.json.gz")
_NO_OBJECTS = frozenset({"Doorframe", "Doorway", "Window"})


def houses(path: Path | str) -> Iterator[House]:
    """The houses of a file, one a line (``.jsonl``) or one or a list of them (``.json``), plain or as ``.gz``.

    They are named by the file and their number in it, from 0. The types of assets are those that ship with Obviate
    and those of ``asset_types.json`` or ``asset_types.json.gz`` beside the file, which go before. Raises
    `DataError` (``file-missing``, ``file-too-large``, ``file-encoding``, ``house-malformed``) when it comes to it.
    """
    file = Path(path)
    suffix = next((end for end in sorted(_SUFFIXES, key=len, reverse=True) if file.name.endswith(end)), None)
    if suffix is None:
        help = f"the name of a file of houses ends in {', '.join(_SUFFIXES)}"
        raise DataError("file-missing", "this is no file of houses", where=str(file), help=help)
    types = dict(asset_types())
    for table in (file.parent / name for name in _TABLES):
        if table.is_file():
            types |= _types(table)
    stem = file.name.removesuffix(suffix)
    if suffix.startswith(".jsonl"):
        for index, line in enumerate(_lines(file)):
            yield read(line, name=f"{stem}_{index}", types=types)
        return
    data = _json(file)
    for index, house in enumerate(data if isinstance(data, list) else [data]):
        yield read(house, name=f"{stem}_{index}", types=types)


@cache
def asset_types() -> dict[str, str]:
    """The object types of the assets that ProcTHOR places, by asset id."""
    return _types(_FOLDER / "asset_types.json.gz")


@cache
def shipped() -> tuple[House, ...]:
    """The 60 houses that ship with Obviate: furniture and what hangs on walls, no small objects."""
    return tuple(map(House.of, _json(_FOLDER / "houses.json.gz")))


def ship(source: Path | str, folder: Path | str = _FOLDER) -> None:
    """Write the two files that ship with Obviate into `folder`: how they were made, and can be made again.

    `source` is the file of houses generated with the package procthor, with the asset table beside it.
    """
    types = _types(Path(source).parent / _TABLES[1])
    kept = {asset: type for asset, type in sorted(types.items()) if type not in _NO_OBJECTS}
    _write(Path(folder) / "asset_types.json.gz", kept)
    _write(Path(folder) / "houses.json.gz", [house.to_json() for house in houses(source)])


def _write(file: Path, data: Any) -> None:
    text = json.dumps(data, separators=(",", ":"))
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def _types(file: Path) -> dict[str, str]:
    data = _json(file)
    if not isinstance(data, dict) or not all(isinstance(type, str) for type in data.values()):
        help = 'it is {"Mug_1": "Mug", ...}'
        raise DataError("house-malformed", "no table of asset types", where=str(file), help=help)
    return data


def _json(file: Path) -> Any:
    with _opened(file) as stream:
        text = _decoded(_some(stream, MAX_JSON, file), file)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("house-malformed", f"not JSON: {error}", where=str(file)) from None


def _lines(file: Path) -> Iterator[str]:
    with _opened(file) as stream:
        while line := _some(stream, MAX_HOUSE, file, line=True):
            if line.strip():
                yield _decoded(line, file)


def _opened(file: Path) -> BufferedIOBase:
    if not file.is_file():
        raise DataError("file-missing", "there is no such file", where=str(file), help="name a file of houses")
    try:
        return gzip.open(file) if file.suffix == ".gz" else file.open("rb")
    except OSError as error:
        raise DataError("file-missing", f"the file cannot be read: {error}", where=str(file)) from None


def _some(stream: BufferedIOBase, limit: int, file: Path, *, line: bool = False) -> bytes:
    try:
        data = stream.readline(limit + 1) if line else stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError("file-missing", f"the file cannot be read: {error}", where=str(file)) from None
    if len(data) > limit:
        what = "a line of the file" if line else "the file"
        raise DataError("file-too-large", f"{what} has over {limit:,} bytes", where=str(file))
    return data


def _decoded(data: bytes, file: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=str(file)) from None
