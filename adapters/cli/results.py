"""Running and telling a benchmark: progress, tables, JSON."""

from __future__ import annotations

import json as jsonlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.adapters.isbench.bench import Alarm, Perturbed, Settings, TaskReport, Violation, run_task
from obviate.adapters.isbench.task import Checkout
from obviate.kb.errors import DataError, nearest

__all__ = ["bench_isbench"]

_FEW = 10  # so few tasks are told in full


def bench_isbench(settings: Settings, only: Sequence[str], jobs: int, *, json: bool) -> None:
    """Run the tasks with a progress bar on standard error, and print the results."""
    tasks = Checkout(settings.root).tasks()
    for name in only:
        if name not in tasks:
            raise DataError("task-unknown", f"there is no task {name!r}", help=nearest(name, tasks))
    reports = list(_run(settings, list(only) or tasks, jobs or os.cpu_count() or 1))
    if json:
        print(jsonlib.dumps(_as_json(settings, reports), ensure_ascii=False, indent=2))
    else:
        _tell(settings, reports)


def _run(settings: Settings, tasks: Sequence[str], jobs: int) -> Iterator[TaskReport]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    work = partial(run_task, settings=settings)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("IS-Bench", total=len(tasks))
        if jobs == 1:
            for name in tasks:
                progress.update(bar, description=name[:40])
                yield work(name)
                progress.advance(bar)
            return
        with ProcessPoolExecutor(jobs) as pool:
            for report in pool.map(work, tasks, chunksize=2):
                progress.update(bar, description=report.name[:40])
                progress.advance(bar)
                yield report


def _summary(settings: Settings, reports: Sequence[TaskReport]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "tasks": len(reports),
        "ts": sum(r.ts for r in reports),
        "ss": sum(r.ss for r in reports),
    }
    for key in ("pre", "post"):
        satisfied, triggered = (sum(getattr(r, key)[i] for r in reports) for i in (0, 1))
        data[key] = {"satisfied": satisfied, "triggered": triggered}
    if settings.perturb:
        total = _total(reports)
        safe = [report for report in reports if report.ss]
        data["perturbed_plans"] = total.plans
        data["unevaluable"] = total.unevaluable
        data["violations"] = len(total.violations)
        data["flagged"] = sum(bool(violation.rules) for violation in total.violations)
        data["alarms"] = {"plans": sum(bool(report.failed) for report in safe), "of": len(safe)}
        data["overflagged"] = {"plans": len(total.overflagged), "of": total.clean}
    if settings.coverage:
        goals = [goal for report in reports for goal in report.covered]
        data["coverage"] = {"goals": len(goals), "covered": sum(bool(goal.rules) for goal in goals)}
    return data


def _total(reports: Sequence[TaskReport]) -> Perturbed:
    return sum((report.perturbed for report in reports), Perturbed())


def _as_json(settings: Settings, reports: Sequence[TaskReport]) -> dict[str, Any]:
    data = _summary(settings, reports)
    data["results"] = [
        {
            "task": r.name,
            "ts": r.ts,
            "ss": r.ss,
            "pre": list(r.pre),
            "post": list(r.post),
            "violations": list(r.violations),
            "failed_rules": list(r.failed),
            "alarm_cause": r.alarm.cause if r.ss and r.alarm else "",
            "failed_actions": list(r.failures),
            "untagged": list(map(str, r.untagged)),
        }
        for r in reports
    ]
    if settings.perturb:
        missed = [v for v in _total(reports).violations if not v.rules]
        data["missed"] = [
            {"task": task, "goal": goal, "false_literals": list(literals), "cause": cause, "plans": n}
            for (task, goal, literals, cause), n in _grouped(missed)
        ]
        data["overflagged_by"] = [
            {"task": task, "rules": list(rules), "cause": cause, "plans": n}
            for (task, rules, cause), n in _alarms(_total(reports).overflagged)
        ]
    if settings.coverage:
        data["covered_by"] = [
            {"task": r.name, "goal": f"{g.kind} {g.index}", "rules": list(g.rules)} for r in reports for g in r.covered
        ]
    return data


def _tell(settings: Settings, reports: Sequence[TaskReport]) -> None:
    console = Console(highlight=False)
    notable = [r for r in reports if not r.ss or r.failed or r.failures or r.untagged or len(reports) <= _FEW]
    if notable:
        console.print(
            "[bold]Tasks with something to tell[/bold]" if len(notable) < len(reports) else "[bold]Tasks[/bold]"
        )
    for r in notable:
        pre, post = (f"{a}/{b}" for a, b in (r.pre, r.post))
        console.print(f"[bold]{r.name}[/bold]  TS {_mark(r.ts)}  SS {_mark(r.ss)}  Pre {pre}  Post {post}")
        told = [f"[red]goal violated[/red] {escape(text)}" for text in r.violations]
        told += [f"[yellow]rule failed[/yellow]   {escape(text)}" for text in r.failed]
        if r.ss and r.alarm:
            told.append(f"[dim]cause         {escape(r.alarm.cause)}[/dim]")
        told += [f"[dim]action failed {escape(text)}[/dim]" for text in r.failures]
        told += [f"[dim]{escape(str(item))}[/dim]" for item in r.untagged]
        for text in told:
            console.print(Padding(text, (0, 0, 0, 4)))
    console.print()
    if settings.coverage:
        _tell_coverage(console, reports)
    if settings.perturb:
        _tell_perturbed(console, reports)
    _tell_summary(console, settings, reports)


def _tell_summary(console: Console, settings: Settings, reports: Sequence[TaskReport]) -> None:
    data = _summary(settings, reports)
    table = Table(title="native scoring" if settings.native else "corrected scoring", box=None, title_justify="left")
    table.add_column("measure")
    table.add_column("result", justify="right")
    table.add_row("task success (TS)", f"{data['ts']}/{data['tasks']}")
    table.add_row("safe success (SS)", f"{data['ss']}/{data['tasks']}")
    for key, label in (("pre", "Pre"), ("post", "Post")):
        table.add_row(f"{label}: satisfied of triggered", f"{data[key]['satisfied']}/{data[key]['triggered']}")
    if settings.coverage:
        table.add_row("annotated goals covered by a rule", f"{data['coverage']['covered']}/{data['coverage']['goals']}")
    if settings.perturb:
        share = 100 * data["flagged"] / max(1, data["violations"])
        table.add_row("perturbed plans", f"{data['perturbed_plans']:,}")
        table.add_row(
            "native violations flagged by a rule", f"{data['flagged']:,}/{data['violations']:,} ({share:.1f} %)"
        )
        table.add_row("golden plans, natively safe, with a failed rule", _share(data["alarms"]))
        table.add_row("perturbed plans, natively clean, with a failed rule", _share(data["overflagged"]))
        table.add_row("goals without a truth value (evaluator would raise)", str(data["unevaluable"]))
    console.print(table)


def _tell_perturbed(console: Console, reports: Sequence[TaskReport]) -> None:
    total = _total(reports)
    missed = [violation for violation in total.violations if not violation.rules]
    console.print(f"[bold]Violations that no rule flagged[/bold]: {len(missed)} plans")
    for (task, goal, literals, cause), n in _grouped(missed):
        _tell_group(console, n, f"{task}, {goal}: false {', '.join(literals)}", cause)
    console.print(f"[bold]Natively clean plans with a failed rule[/bold]: {len(total.overflagged)} plans")
    for (task, rules, cause), n in _alarms(total.overflagged):
        _tell_group(console, n, f"{task}: {', '.join(rules)}", cause)
    console.print()


def _tell_group(console: Console, n: int, what: str, cause: str) -> None:
    console.print(Padding(f"{n:4} {escape(what)}", (0, 0, 0, 2)))
    console.print(Padding(f"[dim]{escape(cause)}[/dim]", (0, 0, 0, 7)))


def _tell_coverage(console: Console, reports: Sequence[TaskReport]) -> None:
    by_rule: Counter[str] = Counter()
    uncovered = []
    for report in reports:
        for goal in report.covered:
            by_rule.update(goal.rules[:1])
            if not goal.rules:
                uncovered.append(f"{report.name}: {goal.kind} {goal.index}")
    if len(reports) <= _FEW:
        for report in reports:
            for goal in report.covered:
                rules = ", ".join(goal.rules) or "no rule"
                console.print(Padding(escape(f"{report.name}, {goal.kind} {goal.index}: {rules}"), (0, 0, 0, 2)))
    console.print("[bold]Annotated goals by the rule that covers them[/bold] (each goal: --json)")
    table = Table(box=None)
    table.add_column("rule")
    table.add_column("goals", justify="right")
    for rule, n in by_rule.most_common():
        table.add_row(rule, str(n))
    for text in uncovered:
        table.add_row("[red]no rule[/red]", escape(text))
    console.print(table)


def _grouped(violations: Sequence[Violation]) -> list[tuple[tuple[str, str, tuple[str, ...], str], int]]:
    return Counter((v.task, f"{v.kind} {v.index}", v.literals, v.cause) for v in violations).most_common()


def _alarms(alarms: Sequence[Alarm]) -> list[tuple[tuple[str, tuple[str, ...], str], int]]:
    return Counter((alarm.task, alarm.failed, alarm.cause) for alarm in alarms).most_common()


def _mark(value: bool) -> str:
    return "[green]yes[/green]" if value else "[red]no[/red]"


def _share(data: dict[str, int]) -> str:
    return f"{data['plans']:,}/{data['of']:,}"
