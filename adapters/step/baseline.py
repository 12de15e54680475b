"""Stored results, and how a run compares with them: in units, since machines differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from obviate.adapters.step.peer import PEERS
from obviate.adapters.step.row import Row, probe_of
from obviate.kb.errors import DataError
from obviate.kb.files import read_text
from obviate.kb.patch import path as place

__all__ = ["LIMIT", "Comparison", "Ratio", "compare", "read", "write"]

LIMIT = 1.5  # a median that grew by more is a finding
_ROWS = TypeAdapter(list[Row])
_OTHERS = frozenset({"unit", *PEERS, *map(probe_of, PEERS)})


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times the units of a stored row this run took: the median, and 95 in a hundred."""

    backend: str
    objects: int
    p50: float
    p95: float

    @property
    def slower(self) -> bool:
        """Whether a backend of ours got slower; what is not ours, and the unit, are for orientation."""
        return self.p50 > LIMIT and self.backend not in _OTHERS


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ratios of what both have measured, and the rows that only one of them has."""

    ratios: tuple[Ratio, ...]
    new: tuple[Row, ...]
    absent: tuple[Row, ...]


def compare(rows: Sequence[Row], stored: Sequence[Row]) -> Comparison:
    """A run against stored rows."""
    before = {row.key: row for row in stored}
    now = {row.key: row for row in rows}
    both = [(row, before[row.key]) for row in rows if row.key in before]
    return Comparison(
        tuple(
            Ratio(row.backend, row.objects, row.p50_units / old.p50_units, row.p95_units / old.p95_units)
            for row, old in both
        ),
        tuple(row for row in rows if row.key not in before),
        tuple(row for row in stored if row.key not in now),
    )


def write(file: Path, rows: Iterable[Row]) -> None:
    """Store rows as JSON, one a line. Raises `DataError` (``file-missing``) when the file cannot be written."""
    lines = ",\n".join(json.dumps(row.to_json()) for row in rows)
    try:
        file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        raise DataError("file-missing", message, where=str(file), help="name a file in a folder there is") from None


def read(file: Path) -> list[Row]:
    """Stored rows. Raises `DataError` (``file-missing``, ``file-malformed``)."""
    try:
        rows = _ROWS.validate_json(read_text(file))
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{place(*first['loc']) or 'the file'}: {first['msg'].lower()}"
        help = "a baseline is what obviate bench step --save writes"
        raise DataError("file-malformed", message, where=str(file), help=help) from None
    for row in rows:
        if min(row.p50_units, row.p95_units) <= 0:
            message = f"{row.backend} with {row.objects} objects takes no time"
            raise DataError("file-malformed", message, where=str(file), help="times are above 0")
    return rows
