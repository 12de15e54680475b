"""What is told of a pair: percentiles in milliseconds and in units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from obviate.adapters.step.pair import UNIT_OBJECTS, Measured

__all__ = ["Row", "medians", "percentile", "probe_of", "rows_of", "unit_row"]


@dataclass(frozen=True, slots=True)
class Row:
    """The times of one verb. A unit is the time of one fresh small Control, measured in the same process.

    `start_ms` is the time to make the engine or load the peer, `count` the number of timed steps; `house_mb` is the
    peak of memory with the house alone, `peak_mb` with everything.
    """

    backend: str
    verb: str
    objects: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    p50_units: float
    p95_units: float
    unit_ms: float
    start_ms: float = 0.0
    count: int = 0
    house_mb: float = 0.0
    peak_mb: float = 0.0

    @property
    def key(self) -> tuple[str, int]:
        """What a row is compared by: the backend, with the verb unless it is a step, and the size."""
        return self.backend, self.objects

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, with four digits of each time."""
        return {
            key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def rows_of(name: str, objects: int, found: Measured) -> list[Row]:
    """The row of the steps, and that of the probes where there are any: its backend is called ``<name> probe``."""
    rows = [_row(name, "step", objects, found.steps, found)]
    if found.probes:  # with a name of their own, so that a backend and a size name one row
        rows.append(_row(probe_of(name), "probe", objects, found.probes, found))
    return rows


def probe_of(name: str) -> str:
    """What the row of the probes of a backend is called."""
    return f"{name} probe"


def unit_row(units: Sequence[float]) -> Row:
    """The row of the unit, over the medians of all processes."""
    p50, p95, p99 = (percentile(units, part) for part in (50, 95, 99))
    return Row("unit", "ground", UNIT_OBJECTS, p50, p95, p99, 1.0, p95 / p50, p50, count=len(units))


def percentile(times: Sequence[float], part: int) -> float:
    """The smallest of `times` that `part` in a hundred do not exceed."""
    return sorted(times)[max(1, ceil(len(times) * part / 100)) - 1]


def _row(backend: str, verb: str, objects: int, times: Sequence[float], found: Measured) -> Row:
    p50, p95, p99 = (percentile(times, part) for part in (50, 95, 99))
    return Row(
        backend=backend,
        verb=verb,
        objects=objects,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        p50_units=p50 / found.unit,
        p95_units=p95 / found.unit,
        unit_ms=found.unit,
        start_ms=found.start,
        count=len(times),
        house_mb=found.house_mb,
        peak_mb=found.peak_mb,
    )


def medians(rows: Iterable[Row]) -> dict[str, list[tuple[float, float]]]:
    """The medians of steps in units by size, for each backend and peer."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row.verb == "step":
            found.setdefault(row.backend, []).append((row.objects, row.p50_units))
    return {name: sorted(line) for name, line in found.items()}
