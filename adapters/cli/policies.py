"""Running and telling the benchmark of policies: progress, table, plot, JSON."""

from __future__ import annotations

import json as jsonlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obviate.adapters.chart import Line, chart, write
from obviate.adapters.isbench.crew import Lost, work_off
from obviate.adapters.isbench.ledger import Ledger
from obviate.adapters.isbench.pursuit import POLICIES, Episode, Noise, Setting, pursue
from obviate.adapters.isbench.tally import Tally, tallies
from obviate.adapters.isbench.task import Checkout
from obviate.kb.errors import DataError, nearest
from obviate.kb.extras import absence

__all__ = ["bench_policies", "noise_of"]

Job = tuple[str, str, Setting]
_PATIENCE = 300.0  # seconds for an episode in all
_FEW = 10


def noise_of(text: str) -> Noise:
    """``MISSED`` or ``MISSED:FALSE``, as rates from 0 to 1. Raises `DataError` (``noise-malformed``)."""
    missed, _, false = text.partition(":")
    try:
        noise = Noise(float(missed), float(false or 0))
    except ValueError:
        noise = Noise(-1)
    if not (0 <= noise.missed <= 1 and 0 <= noise.false <= 1):
        raise DataError(
            "noise-malformed", f"{text!r} is no rate of noise", help="MISSED or MISSED:FALSE from 0 to 1, such as 0.1"
        )
    return noise


def bench_policies(
    setting: Setting,
    names: Sequence[str],
    only: Sequence[str],
    noises: Sequence[str],
    *,
    jobs: int,
    episodes: Path | None,
    plot: Path | None,
    json: bool,
) -> None:
    """Run every task by every policy at every noise, and print the results."""
    tasks = Checkout(setting.root).tasks()
    for name in only:
        if name not in tasks:
            raise DataError("task-unknown", f"there is no task {name!r}", help=nearest(name, tasks))
    chosen = _chosen(names)
    rates = [noise_of(text) for text in noises] or [Noise()]
    todo = [(task, name, replace(setting, noise=rate)) for rate in rates for name in chosen for task in only or tasks]
    found = list(_episodes(todo, Ledger(episodes, _key(setting)), jobs or os.cpu_count() or 1))
    rows = tallies(found, chosen, list(dict.fromkeys(map(str, rates))))
    if plot is not None:
        write(plot, _chart(rows, noisy=len(rates) > 1))
    if json:
        print(jsonlib.dumps(_as_json(rows), ensure_ascii=False, indent=2))
    else:
        _tell(rows)


def _chosen(names: Sequence[str]) -> list[str]:
    """The policies of these names. Of all, those are left out, and told, whose packages are missing."""
    for name in names:
        if name not in POLICIES and name != "all":
            raise DataError("policy-unknown", f"there is no policy {name!r}", help=nearest(name, [*POLICIES, "all"]))
    chosen = []
    for name in POLICIES if "all" in names else dict.fromkeys(names):
        needs = POLICIES[name].needs
        error = absence(needs[0], extra=needs[1]) if needs else None
        if error is None:
            chosen.append(name)
        elif name in names:
            raise error
        else:
            Console(stderr=True).print(f"left out: {name}: {error}", markup=False, highlight=False)
    return chosen


def _key(setting: Setting) -> str:
    parts = (setting.partial, setting.native, setting.seed, setting.seconds)
    return " ".join(map(str, parts))


def _work(job: Job) -> Episode:
    task, policy, setting = job
    return pursue(task, POLICIES[policy], setting)


def _episodes(todo: Sequence[Job], ledger: Ledger, workers: int) -> Iterator[Episode]:
    wanted = {(task, policy, str(setting.noise)): (task, policy, setting) for task, policy, setting in todo}
    for episode in ledger.finished():
        if wanted.pop((episode.task, episode.policy, episode.noise), None):
            yield episode
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("IS-Bench", total=len(todo), completed=len(todo) - len(wanted))
        for job, result in work_off(_work, list(wanted.values()), workers=workers, seconds=_PATIENCE):
            task, policy, setting = job
            if isinstance(result, Lost):
                result = Episode.lost(task, policy, setting, result.verdict, result.detail)
            ledger.add(result)
            progress.update(bar, description=f"{policy}: {task}"[:40], advance=1)
            yield result


def _as_json(rows: Sequence[Tally]) -> dict[str, Any]:
    clean = [row for row in rows if row.noise == rows[0].noise]
    return {
        "policies": {row.policy: row.to_json() for row in clean},
        "noise": [{"policy": row.policy, "noise": row.noise, **row.to_json()} for row in rows if row not in clean],
        "results": [one.to_json() for row in rows for one in row.episodes],
    }


def _tell(rows: Sequence[Tally]) -> None:
    console = Console(highlight=False)
    for row in rows:
        notable = [one for one in row.episodes if len(row.episodes) <= _FEW or _telling(row.policy, one)]
        for one in notable:
            state = f"TS {_mark(one.ts)}  SS {_mark(one.ss)}  {one.steps} steps  {escape(one.verdict)}"
            noise = f" noise {row.noise}" if row.noise != "0:0" else ""
            console.print(f"[bold]{one.task}[/bold]  [dim]{row.policy}{noise}[/dim]  {state}")
            told = [f"[red]goal violated[/red] {escape(text)}" for text in one.violations]
            told += [f"[yellow]waived[/yellow]        {escape(text)}" for text in one.waived]
            told += [f"[yellow]rule failed[/yellow]   {escape(text)}" for text in (*one.situational, *one.temporal)]
            told += [f"[dim]{escape(one.detail)}[/dim]"] if one.detail else []
            for text in told:
                console.print(Padding(text, (0, 0, 0, 4)))
    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in ("policy", "TS", "SS", "Pre", "Post", "steps", "triggers", "calls", "waived"):
        table.add_column(name, justify="left" if name == "policy" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.policy if row.noise == "0:0" else f"{row.policy} {row.noise}",
            f"{row.count('ts')}/{len(row.episodes)}",
            str(row.count("ss")),
            *("/".join(map(str, row.goals(name))) for name in ("pre", "post")),
            *(f"{row.mean(name):.2f}" for name in ("steps", "triggers", "calls")),
            str(sum(map(len, row.waived.values()))),
        )
    console.print(table)
    console.print("[dim]steps, triggers and calls of the planner are means of an episode[/dim]")


def _telling(policy: str, one: Episode) -> bool:
    """Whether an episode stands out: nobody expects those to be safe that know no rules."""
    ours = policy.startswith("just-in-time")
    return one.verdict in ("hung", "raised", "no move") or (ours and (not one.ss or bool(one.waived)))


def _chart(rows: Sequence[Tally], *, noisy: bool) -> str:
    """Safe success against noise, or against task success."""

    def share(row: Tally, name: str) -> float:
        return 100 * row.count(name) / max(1, len(row.episodes))

    lines: dict[str, Line] = {}
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row for row in rows if row.policy == policy]
        lines[policy] = [(row.missed if noisy else share(row, "ts"), share(row, "ss")) for row in mine]
    x = "rate of missed states" if noisy else "task success, %"
    return chart(lines, title="IS-Bench: safe success by policy", x=x, y="safe success, %")


def _mark(value: bool) -> str:
    return "[green]yes[/green]" if value else "[red]no[/red]"
