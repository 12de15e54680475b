"""A file of finished episodes, so that a benchmark that was interrupted goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from obviate.adapters.isbench.pursuit import Episode
from obviate.kb.errors import DataError

__all__ = ["Ledger"]

_TUPLES = {field.name for field in fields(Episode) if str(field.type).startswith("tuple")}


class Ledger:
    """Episodes as JSON lines, each with the `key` of the settings it was run by; those of other settings are left be.

    Without a path, nothing is kept. Raises `DataError` (``ledger-unreadable``) where the file cannot be used, or a line
    other than the last, which a crash may have cut, is no episode.
    """

    def __init__(self, path: Path | None, key: str) -> None:
        self._path = path
        self._key = key

    def finished(self) -> Iterator[Episode]:
        """The episodes that were run by the same settings."""
        if self._path is None or not self._path.exists():
            return
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise self._refusal(str(error), "") from None
        for number, line in enumerate(lines, 1):
            try:
                data = json.loads(line)
                if data.pop("settings") == self._key:
                    yield _episode(data)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                if number < len(lines):
                    raise self._refusal(f"no episode: {error}", f":{number}") from None

    def add(self, episode: Episode) -> None:
        """Write an episode down."""
        if self._path is None:
            return
        try:
            cut = self._path.exists() and not self._path.read_bytes().endswith(b"\n") and self._path.stat().st_size
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * bool(cut) + json.dumps({"settings": self._key, **episode.to_json()}) + "\n")
        except OSError as error:
            raise self._refusal(str(error), "") from None

    def _refusal(self, message: str, place: str) -> DataError:
        return DataError(
            "ledger-unreadable",
            message,
            where=f"{self._path}{place}",
            help="name another file, or remove this one to begin anew",
        )


def _episode(data: dict[str, Any]) -> Episode:
    values: dict[str, Any] = {key: tuple(value) if key in _TUPLES else value for key, value in data.items()}
    return Episode(**values)
