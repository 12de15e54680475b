"""Running and telling the benchmark of rule compilation: progress, a table, JSON."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from obviate.compilers.backends import open_decoder
from obviate.compilers.rules import bench
from obviate.compilers.rules.synthesis import Compiler
from obviate.kb import household
from obviate.kb.kinds import Kinds

__all__ = ["bench_rules"]

_LABELS = {
    "answered": "a rule that loads",
    "equal": "concludes what the gold rule does",
    "agreement": "agreement where either concludes",
    "mode": "right mode",
    "skills": "right skills",
    "wrong_doubted": "wrong rules that a gate doubts",
    "right_doubted": "right rules that a gate doubts",
}


def bench_rules(model: str, *, samples: int, method: str, cases: int, only: Sequence[str], json: bool) -> None:
    """Compile the forty principles with a model, and print how its rules compare with the gold ones."""
    words = household.vocabulary()
    decoder = open_decoder(model)
    compiler = Compiler(decoder, words, samples=samples, method=method)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    scores: list[bench.Score] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rules", total=len(only) or len(bench.tasks()))
        for score in bench.run(compiler, kinds=Kinds.load(words), cases=cases, only=only):
            scores.append(score)
            bar.advance(task)
    found = bench.summary(scores)
    if json:
        told = {"model": decoder.name, "method": method, "samples": samples, "cases": cases, "summary": found}
        print(jsonlib.dumps({**told, "scores": [asdict(score) for score in scores]}, indent=2))
        return
    console = Console(highlight=False)
    console.print(Text(f"{decoder.name}, {method}, {samples} sample{'s' * (samples != 1)}, {len(scores)} principles"))
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in found.items():
        table.add_row(_LABELS[name], f"{value:.1%}")
    console.print(table)
