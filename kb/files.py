"""Reading files that people and strangers wrote."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from obviate.kb.errors import DataError

__all__ = ["MAX_BYTES", "read_text", "replace_text"]

MAX_BYTES = 5_000_000


def read_text(file: Path | str) -> str:
    """The text of a file. Raises `DataError` when it is missing, no regular file, over 5 MB, or not UTF-8."""
    path = Path(file)
    try:
        if not path.is_file():  # a pipe or device would be read for ever
            what = "it is a folder" if path.is_dir() else "there is no such file"
            raise DataError("file-missing", what, where=str(file), help="name a file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataError("file-too-large", f"the file has over {MAX_BYTES:,} bytes", where=str(file))
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=str(file)) from None
    except (OSError, ValueError) as error:
        raise DataError("file-missing", f"the file cannot be read: {error}", where=str(file)) from None


def replace_text(file: Path | str, text: str) -> None:
    """Write the whole file or nothing of it, under its old mode if it has one; a link still leads to it afterwards.

    Raises `DataError` (``file-missing``) when it cannot be written.
    """
    target = Path(file).resolve()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            if target.exists():
                shutil.copymode(target, name)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise DataError("file-missing", f"the file cannot be written: {error}", where=str(file)) from None
