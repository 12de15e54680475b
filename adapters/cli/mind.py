"""Running and telling the MIND benchmark: progress, tables, JSON."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.adapters import chart as charts
from obviate.adapters.mind import Benchmark, build
from obviate.adapters.mind.bench import ROWS, UNSOUND, Row, by_rooms, floor, run
from obviate.adapters.mind.detection import Detector, Experiment, draw, experiment
from obviate.adapters.mind.footprints import SWEEP, Perturbed, sweep
from obviate.adapters.procthor import House, shipped
from obviate.adapters.procthor import houses as read_houses
from obviate.engine import policy as policies_of
from obviate.kb.errors import DataError

__all__ = ["bench_mind"]

_WORDS = {
    "full": "full recomputation",
    "static": "static: inventory",
    "universal": "universal signature",
    "merged": "reference, unsplit",
    "reference": "reference",
    "widened": "reference, widened",
    "eventwise": "by event (simulated)",
    "exact": "+ exact footprints",
    "addressed": "+ by question",
    "lazy": "+ on demand",
    "polar": "+ polarity",
    "ours": "ours: all four",
}


_PLOTTED = ("full", "reference", "ours")


def bench_mind(
    houses: Sequence[Path],
    *,
    seed: int,
    policies: Sequence[str],
    footprints: bool,
    json: bool,
    detection: bool = False,
    sight: tuple[Path, Path] | None = None,
    plot: Path | None = None,
) -> bool:
    """Build the benchmark, run it and print the results; returns whether every policy kept its promise.

    `plot` names an SVG file for what full recomputation, the reference and ours cost, also if `policies` leaves
    them out. `sight`, the folders of images and of a detector's weights, implies `detection`, by that detector.
    """
    chosen = [policies_of.policy(name).name for name in policies] or list(ROWS)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("building", total=None)
        known = list(_houses(houses))
        detectors = _detectors(*sight, known, seed) if sight else None
        benchmark = build(
            known, seed=seed, progress=lambda done, total: progress.update(bar, completed=done, total=total)
        )
        count = len(benchmark.sequences) + len(benchmark.adjacent)
        progress.update(bar, description="following", completed=0, total=count * len(chosen))
        rows = run(benchmark.sequences, chosen, progress=lambda: progress.advance(bar))
        adjacent = run(benchmark.adjacent, chosen, progress=lambda: progress.advance(bar))
        swept: list[Perturbed] = []
        if footprints:
            progress.update(bar, description="footprints", completed=0, total=len(SWEEP))
            for found in sweep(benchmark.sequences, seed=seed):
                swept.append(found)
                progress.advance(bar)
        detected = None
        if detection or detectors:
            progress.update(bar, description="detecting", completed=0, total=None)
            detected = experiment(known, seed=seed, detectors=detectors)
    least = floor(benchmark.sequences)
    if plot is not None:
        _plot(plot, benchmark, rows)
    if json:
        data = {
            "benchmark": {"digest": benchmark.digest, "what": str(benchmark), "mean_rooms": benchmark.mean_rooms()},
            "policies": {name: row.to_json() for name, row in rows.items()},
            "adjacent": {name: row.to_json() for name, row in adjacent.items()},
            "floor": least,
            "footprints": [one.to_json() for one in swept],
            "detection": detected.to_json() if detected else None,
        }
        print(jsonlib.dumps(data, indent=2))
    else:
        _tell(benchmark, rows, adjacent, least, swept)
        if detected:
            _tell_detected(detected)
    return all(row.agreed == row.decisions for name, row in (*rows.items(), *adjacent.items()) if name not in UNSOUND)


def _houses(paths: Iterable[Path]) -> Iterator[House]:
    named = list(paths)
    if not named:
        yield from shipped()
    for path in named:
        files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
        files = [file for file in files if "asset_types" not in file.name]
        if not files:
            help = "name a file of houses: .json, .jsonl or .jsonl.gz"
            raise DataError("file-missing", "no houses in this folder", where=str(path), help=help)
        for file in files:
            yield from read_houses(file)


def _detectors(images: Path, weights: Path, houses: Iterable[House], seed: int) -> Sequence[Detector]:
    """The detector at several thresholds. That every image is there is told now, and not after hours of looking."""
    from obviate.adapters.mind.sight import zero_shot

    detectors = zero_shot(images, weights)
    for removal in draw(houses, seed=seed):
        for scan in (removal.before, removal.after):
            detectors[0].images.of(scan)
    return detectors


def _tell(
    benchmark: Benchmark, rows: dict[str, Row], adjacent: dict[str, Row], least: float, swept: Sequence[Perturbed]
) -> None:
    console = Console(highlight=False)
    console.print(f"{benchmark}; {benchmark.mean_rooms():.1f} rooms on average; {benchmark.digest[:12]}\n")
    console.print(_table("Six families", rows))
    console.print(f"Certainty takes {least:.1f} distinct questions, less what polarity answers.\n")
    console.print(_table("Adjacent, a placement not seen before", adjacent))
    if swept:
        title = "Footprints that are wrong (reference policy)"
        table = Table(title=title, box=None, title_justify="left", pad_edge=False)
        for column in ("reported", "rate", "decisions kept", "evaluations", "stale judgments"):
            table.add_column(column, justify="left" if column == "reported" else "right")
        for one in swept:
            kept = f"{one.agreed}/{one.decisions}"
            table.add_row(one.kind, f"{one.rate:.0%}", kept, f"{one.mean:.1f}", str(one.stale))
        console.print()
        console.print(table)


def _tell_detected(found: Experiment) -> None:
    title = "Footprints of removals from scans"
    table = Table(title=title, box=None, title_justify="left", pad_edge=False)
    for column in ("houses", "room contained", "at least (95 %)", "rooms reported", "rooms"):
        table.add_column(column, justify="left" if column == "houses" else "right")
    for name, part in (("calibration", found.calibration), ("held out", found.held_out)):
        # Where the thresholds were chosen so that every room is contained, a bound would say nothing.
        bound = f"{part.bound:.3f}" if name == "held out" else "-"
        contained = f"{part.contained}/{part.events}"
        table.add_row(name, contained, bound, f"{part.footprint_mean:.2f}", f"{part.rooms_mean:.2f}")
    console = Console(highlight=False)
    console.print()
    console.print(table)
    console.print(
        f"Detector: {found.point.detector}. Rooms with {found.point.multiplicity} or more are always reported."
    )


def _plot(path: Path, benchmark: Benchmark, rows: Mapping[str, Row]) -> None:
    absent = [name for name in _PLOTTED if name not in rows]
    drawn = {**rows, **run(benchmark.sequences, absent)}
    lines = {name: by_rooms(benchmark.sequences, drawn[name]) for name in _PLOTTED}
    title = f"What {len(benchmark.sequences)} sequences of five events cost"
    charts.write(path, charts.chart(lines, title=title, x="rooms of the house", y="evaluations of a sequence, mean"))


def _table(title: str, rows: dict[str, Row]) -> Table:
    table = Table(title=title, box=None, title_justify="left", pad_edge=False)
    for column in ("policy", "episode accuracy", "decisions kept", "evaluations", "recall"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name, row in rows.items():
        low, high = row.interval
        accuracy = f"{row.right / max(1, row.episodes):.3f} [{low:.3f}, {high:.3f}]"
        recall = f"{row.invalidated[0] / row.invalidated[1]:.3f}" if row.invalidated[1] else "-"
        kept = f"{row.agreed}/{row.decisions}"
        table.add_row(_WORDS.get(name, name), accuracy, kept, f"{row.mean:.1f} ± {row.deviation:.1f}", recall)
    return table
