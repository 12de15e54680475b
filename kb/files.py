"""Reading files that people and strangers wrote."""

from __future__ import annotations

from pathlib import Path

from obviate.kb.errors import DataError

__all__ = ["MAX_BYTES", "read_text"]

MAX_BYTES = 5_000_000


def read_text(file: Path | str) -> str:
    """The text of a file. Raises `DataError` when it is missing, over 5 MB, or not UTF-8."""
    path = Path(file)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError("file-too-large", f"the file has over {MAX_BYTES:,} bytes", where=str(file))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise DataError("file-missing", f"cannot read the file: {reason.lower()}", where=str(file)) from None
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=str(file)) from None
