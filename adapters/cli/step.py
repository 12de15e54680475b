"""Running and telling the benchmark of steps: progress, a table, JSON."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.adapters.chart import chart, write
from obviate.adapters.step import baseline, peer
from obviate.adapters.step.baseline import Comparison
from obviate.adapters.step.pair import UNIT_OBJECTS
from obviate.adapters.step.row import Row, medians, probe_of
from obviate.adapters.step.series import SIZES, Series, backends
from obviate.engine.backend import BACKENDS
from obviate.kb.errors import DisagreementError, LifecycleError, nearest

__all__ = ["bench_step"]

FEW = 5  # rows that are named, of many
WIDTH = 100  # columns that the table needs
_TITLE = "Steps in ms, then steps and probes in units of a fresh small Control"


def bench_step(
    *,
    objects: Sequence[int],
    names: Sequence[str],
    steps: int,
    seed: int,
    budget: float,
    peers: bool,
    json: bool,
    plot: Path | None = None,
    save: Path | None = None,
    against: Path | None = None,
) -> bool:
    """Measure and print; returns whether all answers agreed, and no row is much slower than in the file `against`.

    `plot` names an SVG file for a picture, `save` a file for the rows. Raises `DataError` for files that cannot be read
    or written, and `LifecycleError` for a backend that does not exist.
    """
    known = (*BACKENDS, *peer.PEERS)
    for name in names:
        if name not in known:
            message = f"there is no backend or peer {name!r}"
            raise LifecycleError("unknown-backend", message, help=nearest(name, known))
    chosen = list(dict.fromkeys(names)) or [*backends(), *(peer.PEERS if peers else ())]
    stored = baseline.read(against) if against else []
    series = Series(chosen, list(objects) or SIZES, steps, seed, budget)
    try:
        _run(series)
    except DisagreementError as error:
        print(f"obviate: {error}", file=sys.stderr)
        return False
    for one in series.skipped:
        print(f"skipped: {one}", file=sys.stderr)
    if json:
        print(jsonlib.dumps([row.to_json() for row in series.rows], indent=2))
    else:
        console = Console(highlight=False)
        console.width = max(console.width, WIDTH)
        console.print(_table(series.rows))
    if plot:
        title = "What a step of three changed facts costs"
        svg = chart(
            medians(series.rows),
            title=title,
            logarithmic=True,
            x="objects",
            y="median, in units of a fresh small Control",
        )
        write(plot, svg)
    if save:
        baseline.write(save, series.rows)
    return _tell_compared(baseline.compare(series.rows, stored), against) if against else True


def _tell_compared(found: Comparison, against: Path) -> bool:
    """Print the ratios to standard error, so that JSON stays JSON; returns whether nothing is a finding."""
    table = Table(title=f"\nUnits against {against}", box=None, title_justify="left", pad_edge=False)
    for column in ("objects", "backend", "p50", "p95", ""):
        table.add_column(column, justify="left" if column in ("backend", "") else "right", no_wrap=True)
    for ratio in sorted(found.ratios, key=lambda ratio: ratio.objects):
        word = "slower" if ratio.slower else ""
        table.add_row(f"{ratio.objects:,}", ratio.backend, f"x {ratio.p50:.2f}", f"x {ratio.p95:.2f}", word)
    console = Console(stderr=True, highlight=False)
    console.print(table)
    for rows, what in ((found.new, "not in the baseline"), (found.absent, "not measured now")):
        if rows:
            names = ", ".join(f"{row.backend} {row.objects:,}" for row in rows[:FEW])
            more = f", and {len(rows) - FEW} more" if len(rows) > FEW else ""
            print(f"{what}: {names}{more}", file=sys.stderr)
    return not any(ratio.slower for ratio in found.ratios)


def _run(series: Series) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("steps", total=sum(1 for _ in series.pairs()))

        def before(name: str, objects: int) -> None:
            if progress.tasks[0].description != "steps":
                progress.advance(bar)
            progress.update(bar, description=f"{name}, {objects:,} objects")

        series.run(before)


def _table(rows: Sequence[Row]) -> Table:
    """One line for a backend and a size: the step, then the probe."""
    probes = {(row.backend, row.objects): row for row in rows if row.verb == "probe"}
    table = Table(title=_TITLE, box=None, title_justify="left", pad_edge=False)
    for column in ("objects", "backend", "p50 ms", "p95 ms", "p50", "p95", "probe", "p95", "start", "MB", "n"):
        table.add_column(column, justify="left" if column == "backend" else "right", no_wrap=True)
    before = UNIT_OBJECTS
    for row in sorted(rows, key=lambda row: row.objects):  # stable: in the order measured
        if row.verb == "probe":
            continue
        if row.objects != before:
            table.add_row()
            before = row.objects
        probe = probes.get((probe_of(row.backend), row.objects))
        table.add_row(
            f"{row.objects:,}",
            row.backend,
            *map(_number, (row.p50_ms, row.p95_ms, row.p50_units, row.p95_units)),
            *(map(_number, (probe.p50_units, probe.p95_units)) if probe else ("", "")),
            f"{row.start_ms / 1000:.1f}" if row.start_ms else "",
            f"{row.peak_mb:,.0f}" if row.peak_mb else "",
            str(row.count),
        )
    return table


def _number(value: float) -> str:
    """Two or three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.2g}"
