"""The curve of test-time evolution: numbers, and a picture like the paper's Figure 2."""

from __future__ import annotations

import json as jsonlib
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from obviate.adapters.chart import chart, write
from obviate.adapters.cli.recollection import open_memory
from obviate.adapters.isbench import Checkout
from obviate.adapters.isbench.evolution import Checkpoint, Evolution, split
from obviate.engine.experience.evolution import Editor
from obviate.engine.experience.induction import Induction

__all__ = ["Options", "draw"]

_SCORES = {"TS": "ts", "SS": "ss", "Pre": "pre", "Post": "post"}


@dataclass(frozen=True, slots=True)
class Options:
    """What is run, and how it is told."""

    memory: Path
    data: Path
    train: int = 50
    test: int = 80
    every: int = 10
    seed: int = 0
    model: str = ""
    learning: bool = True
    plot: Path | None = None
    json: bool = False


def draw(options: Options) -> bool:
    """Run the evolution and tell its curve; whether SS did not fall, and TS ended no lower than for the task alone."""
    tasks = split(Checkout(options.data).tasks(), train=options.train, test=options.test, seed=options.seed)
    with open_memory(options.memory, create=True) as store:
        evolution = Evolution(options.data, store, _editor(options.model), learning=options.learning)
        evolution.begin()
        points = []
        for point in evolution.curve(tasks, every=options.every, tell=_progress):
            points.append(point)
            _progress(f"after {point.episodes}: TS {point.ts}, SS {point.ss}, Pre {point.pre}, Post {point.post}")
        others = {name: evolution.reference(tasks.test, name) for name in ("task-only", "just-in-time")}
    if options.plot is not None:
        write(options.plot, picture(points, others["task-only"]))
    if options.json:
        data = {
            "seed": options.seed,
            "train": list(tasks.train),
            "test": list(tasks.test),
            "learning": options.learning,
        }
        scored = {name: point.to_json() for name, point in others.items()}
        print(jsonlib.dumps({**data, "curve": [point.to_json() for point in points], **scored}, indent=2))
    else:
        Console(highlight=False).print(_table(points, others))
    return points[-1].ss >= points[0].ss and points[-1].ts >= others["task-only"].ts


def picture(points: list[Checkpoint], alone: Checkpoint) -> str:
    """The curve as SVG, with the task success of the task alone as a level line."""
    lines = {name: [(float(p.episodes), float(getattr(p, key))) for p in points] for name, key in _SCORES.items()}
    lines["TS, task alone"] = [(float(p.episodes), alone.ts) for p in (points[0], points[-1])]
    return chart(lines, title="Skills that evolve, on held-out tasks", x="episodes learned from", y="percent")


def _editor(model: str) -> Editor:
    if not model:
        return Induction()
    from obviate.compilers.backends import open_decoder
    from obviate.compilers.skills import ModelEditor

    return ModelEditor(open_decoder(model))


def _table(points: list[Checkpoint], others: dict[str, Checkpoint]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("episodes", *_SCORES, "steps", "skills", "versions"):
        table.add_column(column, justify="right" if column != "episodes" else "left")
    rows = [*((str(point.episodes), point) for point in points), *others.items()]
    for name, point in rows:
        counts = [str(point.skills or "-"), str(point.versions or "-")]
        table.add_row(name, *(f"{getattr(point, key):.1f}" for key in _SCORES.values()), f"{point.steps:.1f}", *counts)
    return table


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
