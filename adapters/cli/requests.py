"""Running and telling the request benchmark: progress, tables, JSON."""

from __future__ import annotations

import json as jsonlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.adapters.mind.request_bench import Answer, Paired, Row, answers, cross_validated, paired, rows
from obviate.adapters.mind.requests import Manifest, Phrase, manifest
from obviate.compilers.decoder import Decoder, Scorer
from obviate.compilers.instructions import voters
from obviate.compilers.instructions.channel import Channel
from obviate.compilers.instructions.samples import Samples

__all__ = ["bench_requests"]

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@dataclass(frozen=True, slots=True)
class _Run:
    """What a compiler with `k` orders made of each set of requests, and of the minimal pairs."""

    k: int
    sets: Mapping[str, Sequence[Answer]]
    pairs: Mapping[str, Mapping[str, Paired]]

    def to_json(self) -> dict[str, Any]:
        sets = {
            name: {"seconds": _seconds(found), "rows": {row.name: row.to_json() for row in rows(found).values()}}
            for name, found in self.sets.items()
        }
        pairs = {name: {edge: one.to_json() for edge, one in edges.items()} for name, edges in self.pairs.items()}
        return {"k": self.k, "sets": sets, "pairs": pairs}


@dataclass(frozen=True, slots=True)
class _Bar:
    """One line of progress."""

    progress: Progress
    task: Any = field(repr=False)

    def begin(self, what: str, total: int | None = None) -> None:
        self.progress.update(self.task, description=what, completed=0, total=total)

    def step(self) -> None:
        self.progress.advance(self.task)

    def reach(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)

    def follow(self, what: str, answers: Iterable[Answer], total: int) -> list[Answer]:
        self.begin(what, total)
        found = []
        for answer in answers:
            found.append(answer)
            self.step()
        return found


def bench_requests(model: str, *, method: str, orders: Sequence[int], development: bool, json: bool) -> None:
    """Score the compiler with a model, or without one if that is empty, for each number of orders, and print it all.

    `development` adds what cross-validation on the development templates says. Raises `DecodeError` of the model.
    """
    benchmark = manifest()
    with Progress(*_COLUMNS, console=Console(stderr=True), transient=True) as progress:
        bar = _Bar(progress, progress.add_task("loading", total=None))
        decoder, who = None, "no model"
        if model:
            from obviate.compilers.backends import open_decoder

            decoder = open_decoder(model)
            method = voters.method_of(decoder, method)
            who = f"{decoder.name}, {method}"
        chosen = orders or (voters.default_k(method) if decoder else 1,)
        runs = [_run(benchmark, decoder, method, k, development, bar) for k in chosen]
    if json:
        name = decoder.name if decoder else None
        told = [run.to_json() for run in runs]
        print(jsonlib.dumps({"digest": benchmark.digest, "model": name, "method": method, "runs": told}, indent=2))
        return
    console = Console(highlight=False)
    for run in runs:
        console.print(f"{who}, K={run.k}; requests {benchmark.digest[:12]}" if decoder else who)
        _tell(console, run)


def _run(benchmark: Manifest, decoder: Decoder | None, method: str, k: int, development: bool, bar: _Bar) -> _Run:
    bar.begin("calibrating")
    voter = voters.voter(decoder, method, k=k, progress=bar.reach) if decoder else None
    adjacent = tuple(one for one in benchmark.others if one.placement == "adjacent")
    sets = {
        "held-out templates": benchmark.held_out,
        "of the dependency benchmark": tuple(one for one in benchmark.others if one not in adjacent),
        "Adjacent": adjacent,
    }
    found = {name: bar.follow(name, answers(some, voter, k=k), len(some)) for name, some in sets.items()}
    texts = dict.fromkeys(text for pair in benchmark.pairs for text in (pair.base, pair.variant))
    asked = [Phrase(text, "", benchmark.held_out[0].signature, text) for text in texts]
    told = {one.phrase.text: one for one in bar.follow("minimal pairs", answers(asked, voter, k=k), len(asked))}
    # A model that is asked has one example of each family: there is nothing to leave out.
    if development and not isinstance(voter, Samples):
        some = tuple(one for one in benchmark.development if one.placement != "adjacent")
        scorer = decoder if isinstance(voter, Channel) and isinstance(decoder, Scorer) else None
        name = "development templates, each one unknown"
        found[name] = bar.follow("development", cross_validated(some, scorer, k=k), len(some))
    return _Run(k, found, paired(benchmark.pairs, told))


def _seconds(found: Sequence[Answer]) -> dict[str, float]:
    """Time per instruction: by the clock, and of processor time."""
    times, used = [answer.seconds for answer in found], [answer.processor for answer in found]
    return {
        "median": statistics.median(times),
        "most": max(times),
        "processor_median": statistics.median(used),
        "processor_most": max(used),
    }


def _tell(console: Console, run: _Run) -> None:
    for name, found in run.sets.items():
        console.print()
        console.print(_table(f"{len(found)} requests: {name}", rows(found).values()))
        seconds = _seconds(found)
        console.print(
            f"{seconds['median']:.2f} s per instruction (median), {seconds['most']:.2f} s at most; of processor time, "
            f"{seconds['processor_median']:.2f} and {seconds['processor_most']:.2f} s"
        )
    table = Table(title="Minimal pairs", box=None, title_justify="left", pad_edge=False)
    for column in ("compiler", "adds", "pairs", "edge-correct", "clean"):
        table.add_column(column, justify="left" if column in ("compiler", "adds") else "right")
    for name, edges in run.pairs.items():
        for one in (*edges.values(), _sum(edges.values())):
            correct, clean = one.correct / one.pairs, one.clean / one.pairs
            table.add_row(name, one.edge, str(one.pairs), f"{correct:.3f}", f"{clean:.3f}")
    console.print()
    console.print(table)


def _sum(edges: Iterable[Paired]) -> Paired:
    several = list(edges)
    return Paired(
        "all",
        sum(one.pairs for one in several),
        sum(one.correct for one in several),
        sum(one.clean for one in several),
    )


def _table(title: str, found: Iterable[Row]) -> Table:
    table = Table(title=title, box=None, title_justify="left", pad_edge=False)
    for column in ("compiler", "exact", "containment", "inflation", "non-containing", "abstained"):
        table.add_column(column, justify="left" if column == "compiler" else "right")
    for row in found:
        table.add_row(
            row.name,
            f"{row.exact / row.phrases:.3f}",
            f"{row.contained / row.phrases:.3f}",
            f"{row.inflation:.2f}",
            str(row.phrases - row.contained),
            f"{row.abstained / row.phrases:.0%}" if row.name == "safe" else "",
        )
    return table
