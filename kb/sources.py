"""The texts of a pack: its files, and what they include from the same folder.

clingo opens included files while it reads a text, whatever they are. Here an ``#include`` is followed only to a file
of the pack, and blanked before clingo sees it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from obviate.kb.errors import DataError, PackError
from obviate.kb.files import read_text
from obviate.kb.scan import code_of
from obviate.kb.syntax import span_of

__all__ = ["MAX_FILES", "gather", "without_includes"]

MAX_FILES = 100
_INCLUDE = re.compile(r'#include\s+"([^"\n]*)"\s*\.')


def gather(*files: Path | str) -> dict[str, str]:
    """The texts of files and of what they include, by name.

    Raises `DataError` for a file that cannot be read, `PackError` (``include-refused``) for an include that leaves
    the folder of the first file.
    """
    root = Path(files[0]).parent.resolve() if files else Path()
    texts: dict[str, str] = {}
    todo = [str(file) for file in files]
    while todo:
        name = todo.pop(0)
        if name in texts:
            continue
        if len(texts) == MAX_FILES:
            raise DataError("file-too-large", f"the pack has over {MAX_FILES} files", where=name)
        texts[name] = read_text(name)
        for start, end, included in _includes(texts[name]):
            path = _beside(name, included)
            if not Path(path).resolve().is_relative_to(root) or not Path(path).is_file():
                raise PackError(
                    "include-refused",
                    f"{included!r} is no file of the pack",
                    where=span_of(texts[name], start, end, name),
                    help=f"include files that lie in {root}",
                )
            todo.append(path)
    return texts


def without_includes(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts with the includes of one another blanked out; any other is left for `scan.inspect` to refuse."""
    found = {}
    for name, text in texts.items():
        for start, end, included in _includes(text):
            if _beside(name, included) in texts:
                text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
        found[name] = text
    return found


def _includes(text: str) -> Iterator[tuple[int, int, str]]:
    code = code_of(text)
    for match in _INCLUDE.finditer(text):
        if code.startswith("#include", match.start()):
            yield match.start(), match.end(), match[1]


def _beside(name: str, included: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(name), included))
