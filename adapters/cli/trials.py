"""Running and telling scenario tests: what failed and why, coverage, mutants."""

from __future__ import annotations

import json as jsonlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.engine.coverage import Coverage, measure
from obviate.engine.jury import Jury, Verdict, indistinguishable, score
from obviate.engine.mutation import Mutant, mutants
from obviate.engine.trial import Miss, Trial, try_case
from obviate.kb import Pack
from obviate.kb.cases import Case
from obviate.kb.errors import DataError, Span, nearest

__all__ = ["Report", "chosen", "mutated", "run", "tell", "tell_json"]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of the tests of a pack; `coverage` and `verdicts` are None where nobody asked."""

    trials: tuple[Trial, ...]
    coverage: Coverage | None = None
    verdicts: tuple[Verdict, ...] | None = None

    @property
    def passed(self) -> bool:
        return all(trial.passed for trial in self.trials)


def chosen(cases: Sequence[Case], only: Sequence[str], pack: str) -> tuple[Case, ...]:
    """The cases asked for by name, or all. Raises `DataError` for an unknown name, and where there are none."""
    if not cases:
        help = "save them beside it, as NAME.test.lp for NAME.lp, or name files with --test-files"
        raise DataError("no-tests", "this pack has no scenario tests", where=pack, help=help)
    names = [case.name for case in cases]
    for name in only:
        if name not in names:
            raise DataError("unknown-test", f"there is no test {name}", where="--only", help=nearest(name, names))
    return tuple(case for case in cases if not only or case.name in only)


def run(pack: Pack, cases: Sequence[Case], backend: str, *, coverage: bool) -> Report:
    """Try the cases one after the other."""
    trials = tuple(try_case(case, pack, backend=backend) for case in cases)
    reached = measure(pack, chain.from_iterable(trial.situations for trial in trials)) if coverage else None
    return Report(trials, reached)


def mutated(report: Report, pack: Pack, jobs: int, backend: str) -> Report:
    """The same report with a verdict on every mutant, judged with a progress bar on standard error."""
    cases = [trial.case for trial in report.trials]
    return replace(report, verdicts=tuple(_judged(list(mutants(pack)), pack, cases, jobs, backend)))


def _judged(every: Sequence[Mutant], pack: Pack, cases: Sequence[Case], jobs: int, backend: str) -> Iterator[Verdict]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    jury = Jury(pack, cases, backend=backend, same=indistinguishable)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("mutants", total=len(every))
        processes = jobs or os.cpu_count() or 1
        if processes == 1:
            for mutant in every:
                yield jury.judge(mutant)
                progress.advance(bar)
            return
        with ProcessPoolExecutor(processes, initializer=_convene, initargs=(jury,)) as pool:
            for verdict in pool.map(_judge, every, chunksize=8):
                progress.advance(bar)
                yield verdict


_juries: list[Jury] = []  # one in each process, so that what it has worked out stays there


def _convene(jury: Jury) -> None:
    _juries[:] = [jury]


def _judge(mutant: Mutant) -> Verdict:
    return _juries[0].judge(mutant)


# -- as text -------------------------------------------------------------------------------------


def tell(report: Report, *, skipped: bool) -> None:
    """Print the tests that failed, then coverage and mutants where asked, and a summary."""
    console = Console(highlight=False, soft_wrap=True)
    for trial in report.trials:
        if not trial.passed:
            console.print(f"[red]failed[/red] [bold]{trial.case.name}[/bold]: {escape(trial.case.title)}")
            for miss in trial.misses:
                _tell_miss(console, trial, miss)
    if report.coverage is not None:
        _tell_coverage(console, report.coverage)
    if report.verdicts is not None:
        _tell_verdicts(console, report.verdicts)
    if skipped:
        console.print("No mutants: they are judged by tests that pass.")
    console.print(_summary(report))


def _tell_miss(console: Console, trial: Trial, miss: Miss) -> None:
    expected = miss.expected
    step = (
        f"after step {expected.step}, {trial.case.events[expected.step - 1].text}" if expected.step else "at the start"
    )
    of_rule = f"({expected.rule})" if expected.rule else ""
    found = ", ".join(miss.found) or f"no {expected.conclusion}{of_rule}"
    console.print(f"  [dim]{escape(str(expected.span))}[/dim] {escape(step)}")
    console.print(f"    expected  [green]{escape(expected.text)}[/green]")
    console.print(f"    instead   [red]{escape(found)}[/red]")
    for i, why in enumerate(miss.why):
        console.print(f"    {'because ' if i == 0 else '        '}  {escape(why)}")


def _tell_coverage(console: Console, coverage: Coverage) -> None:
    table = Table(box=None, pad_edge=False)
    for header in ("rule", "clauses that held", "literals that mattered"):
        table.add_column(header, justify="left" if header == "rule" else "right")
    for rule, (fired, clauses, false, literals) in _by_rule(coverage).items():
        style = "" if (fired, false) == (clauses, literals) else "red"
        table.add_row(escape(rule), f"{fired}/{clauses}", f"{false}/{literals}", style=style)
    console.print(table)
    for span, told in coverage.gaps():
        console.print(f"[dim]{escape(str(span))}[/dim] {escape(told)}")


def _by_rule(coverage: Coverage) -> dict[str, tuple[int, int, int, int]]:
    """For each rule and helper: clauses that held, clauses, literals that were false once, literals."""
    found: dict[str, tuple[int, int, int, int]] = {}
    for clause in coverage.clauses:
        own = (int(clause.fired), 1, clause.covered - clause.fired, clause.points - 1)
        fired, clauses, false, literals = map(sum, zip(found.get(clause.rule, (0, 0, 0, 0)), own, strict=True))
        found[clause.rule] = fired, clauses, false, literals
    return found


def _tell_verdicts(console: Console, verdicts: Sequence[Verdict]) -> None:
    for verdict in verdicts:
        if verdict.outcome in ("survived", "equivalent"):
            style = "red" if verdict.outcome == "survived" else "dim"
            mutant = verdict.mutant
            told = f"[dim]{escape(str(mutant.span))}[/dim] {escape(mutant.rule)}: {escape(mutant.change)}"
            console.print(f"[{style}]{verdict.outcome}[/{style}] {told}")


def _summary(report: Report) -> str:
    failed = sum(not trial.passed for trial in report.trials)
    number = len(report.trials)
    told = [f"{number} test{'s' * (number != 1)}, {number - failed} passed, {failed} failed"]
    if report.coverage is not None:
        coverage = report.coverage
        told.append(f"coverage {coverage.percent:.1f} % ({coverage.covered} of {coverage.points})")
    if report.verdicts is not None:
        outcomes = Counter(verdict.outcome for verdict in report.verdicts)
        tried = outcomes["killed"] + outcomes["survived"]
        told.append(f"mutants killed {score(report.verdicts):.1f} % ({outcomes['killed']} of {tried})")
    return "; ".join(told)


# -- as JSON -------------------------------------------------------------------------------------


def tell_json(report: Report) -> None:
    """Print the same as JSON."""
    data: dict[str, Any] = {"tests": [_test_data(trial) for trial in report.trials]}
    if report.coverage is not None:
        coverage = report.coverage
        data["coverage"] = {
            "percent": round(coverage.percent, 2),
            "covered": coverage.covered,
            "points": coverage.points,
            "gaps": [{"what": told, **_place(span)} for span, told in coverage.gaps()],
        }
    if report.verdicts is not None:
        outcomes = Counter(verdict.outcome for verdict in report.verdicts)
        data["mutation"] = {
            "percent": round(score(report.verdicts), 2),
            **{outcome: outcomes[outcome] for outcome in ("killed", "survived", "equivalent", "invalid")},
            "survivors": [
                {"rule": v.mutant.rule, "change": v.mutant.change, "text": v.mutant.text, **_place(v.mutant.span)}
                for v in report.verdicts
                if v.outcome == "survived"
            ],
        }
    print(jsonlib.dumps(data, ensure_ascii=False, indent=2))


def _test_data(trial: Trial) -> dict[str, Any]:
    misses = [
        {
            "step": miss.expected.step,
            "expected": miss.expected.text,
            "found": list(miss.found),
            "why": list(miss.why),
            **_place(miss.expected.span),
        }
        for miss in trial.misses
    ]
    case = trial.case
    return {"name": case.name, "title": case.title, "passed": trial.passed, **_place(case.span), "failures": misses}


def _place(span: Span) -> dict[str, Any]:
    return {"file": span.file, "line": span.line, "column": span.column}
