"""Telling an episode: a table of its steps, and a summary of the verdicts."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from obviate.adapters.cli.packs import load_pack
from obviate.engine.engine import Engine
from obviate.engine.episode import Step, follow
from obviate.engine.record import Change, Record, Trigger
from obviate.kb import BeliefGraph, Patch, Vocabulary, household

__all__ = ["Options", "follow_scenario", "follow_task", "replay_log"]

_STYLES = {"passed": "green", "failed": "red", "pending": "yellow"}

_LABELS = {"goal": "goal reached", "ts": "task success", "ss": "safe success", "violated": "goals violated"}


@dataclass(frozen=True, slots=True)
class Options:
    """How an episode is followed and told; `packs` and `words` are files beside the household's own."""

    backend: str = "auto"
    json: bool = False
    log: Path | None = None
    packs: tuple[Path, ...] = ()
    words: tuple[Path, ...] = ()

    def engine(self, vocabulary: Vocabulary, scene: Patch) -> Engine:
        """An engine with the packs asked for."""
        own = [load_pack(str(pack), vocabulary) for pack in self.packs]
        packs = [household.pack(vocabulary=vocabulary if self.words else None), *own]
        return Engine(*packs, objects=scene, backend=self.backend, log=self.log)


def follow_scenario(name: str, options: Options, *, partial: bool | None = None) -> bool:
    """Follow a scenario and tell it. Returns whether the goal was reached and no rule failed."""
    from obviate.adapters import scenario

    vocabulary = household.words(*options.words)
    task = scenario.read(name, vocabulary)
    hidden = task.partial if partial is None else partial
    with options.engine(vocabulary, task.world.observe(BeliefGraph(vocabulary), partial=hidden)) as engine:
        teller = _Teller(engine, json=options.json)
        teller.title(task.title, task.instruction, ())
        for step in follow(task.world, engine, task.plan, partial=hidden):
            teller.step(step)
        if not engine.ended:
            engine.finish("out of plan")
        return teller.end({"scenario": task.name, "goal": task.reached()})


def follow_task(name: str, data: Path, options: Options, *, partial: bool) -> bool:
    """Follow the golden plan of an IS-Bench task and tell it with its native score."""
    from obviate.adapters.isbench import Checkout, Scorer
    from obviate.adapters.isbench.bench import act
    from obviate.adapters.isbench.scene import WorldFacts, build_world, untagged
    from obviate.kb.kinds import Kinds

    checkout = Checkout(data)
    task = checkout.load(name)
    kinds = Kinds.load(household.words(*options.words), abilities=checkout.abilities_file)
    world, scorer = build_world(task, kinds), Scorer(task)
    scene = world.observe(BeliefGraph(kinds.vocabulary), partial=partial)
    with options.engine(kinds.vocabulary, scene) as engine:
        teller = _Teller(engine, json=options.json)
        teller.title(task.name, task.instruction, (*task.notes, *map(str, untagged(task, kinds))))
        steps = 0
        for step in act(task.plan, world, engine, scorer, partial=partial):
            teller.step(step)
            steps = step.number
        done = engine.ended
        if not done:
            engine.finish("out of plan")
        score = scorer.finish(WorldFacts(world), done=done, steps=steps)
        violated = [f"{o.goal.kind} {o.goal.index}: {o.goal.tip}" for o in score.violations]
        return teller.end({"task": task.name, "ts": score.ts, "ss": score.ss, "violated": violated})


def replay_log(path: Path, *, backend: str, json: bool) -> bool:
    """Replay a log and tell whether it came out the same."""
    from obviate.engine.log import replay

    result = replay(path, household.pack(), backend=backend)
    if json:
        print(jsonlib.dumps({"lines": result.lines, "same": not result.difference, "difference": result.difference}))
    elif result.difference:
        print(f"{path}: differs: {result.difference}")
    else:
        print(f"{path}: {result.lines} lines, replayed to the same bytes")
    return not result.difference


class _Teller:
    """Prints an episode while it happens, or collects it as JSON."""

    def __init__(self, engine: Engine, *, json: bool) -> None:
        self._engine = engine
        self._json = json
        self._steps: list[dict[str, Any]] = []
        self._notes: Sequence[str] = ()
        self._console = Console(highlight=False)
        self._table = Table(box=None, pad_edge=False, show_edge=False, expand=True)
        self._table.add_column("t", justify="right", style="dim", no_wrap=True)
        for header, ratio in (("the robot", 4), ("then the engine believes", 4), ("the engine says", 7)):
            self._table.add_column(header, ratio=ratio, overflow="fold")

    def title(self, title: str, instruction: str, notes: Sequence[str]) -> None:
        self._notes = notes
        if self._json:
            return
        self._console.print(Text.assemble("\n", (title, "bold"), f"\n“{instruction}”\n"))
        for note in notes:
            self._console.print(Text.assemble(("note ", "yellow"), note))
        owed = self._engine.obligations()
        if owed:
            self._row("", Text("begins"), [], map(_owed, owed))

    def step(self, step: Step) -> None:
        if self._json:
            self._steps.append(_as_json(step, self._engine))
            return
        does = Text.assemble(("intends ", "italic") if step.only_intended else "", str(step.action))
        if step.outcome is not None and step.outcome.failure:
            does = Text.assemble(does, "\n", ("fails: ", "red"), step.outcome.failure)
        says = [Text.assemble(("not judged: ", "red"), step.refused)] if step.refused else []
        says += [line for change in step.changes for line in self._said(change, change is step.announced)]
        at = step.changes[0].step if step.announced else ""
        self._row(str(at), does, map(Text, _believed(step.patch)), says)

    def end(self, summary: dict[str, Any]) -> bool:
        """Print the summary; returns whether all went well."""
        records = self._engine.records()
        failed = [record for record in records if record.counts]
        reached = all(value for value in summary.values() if isinstance(value, bool))
        if self._json:
            verdicts = [record.to_json() for record in records]
            data = {**summary, "notes": list(self._notes), "steps": self._steps, "records": verdicts}
            print(jsonlib.dumps(data, ensure_ascii=False, indent=2))
            return reached and not failed
        self._console.print(self._table)
        self._console.print()
        self._console.print(_records_table(records))
        self._console.print("[dim]Row t is judged on the beliefs at t; what it changes is believed at t+1.[/dim]")
        passed = sum(record.verdict == "passed" for record in records)
        facts = (f"{_LABELS[key]}: {_plain(value)}" for key, value in summary.items() if key in _LABELS)
        self._console.print(Text(f"\n{', '.join(facts)}; rules passed: {passed}, failed: {len(failed)}"))
        return reached and not failed

    def _said(self, change: Change, announced: bool) -> Iterator[Text]:
        if announced:
            for trigger in change.risks:
                why = ", ".join(self._engine.support(trigger))
                yield Text.assemble(("hazard ", "red"), f"{trigger}: {trigger.principle}")
                yield Text(f"       because {why}", "dim")
        yield from (_owed(record) for record in change.opened if record.mode == "temporal")
        for record in (*change.passed, *change.failed):
            yield Text.assemble(_verdict(record), f" {record}")

    def _row(self, number: str, does: Text, believes: Iterable[Text], says: Iterable[Text]) -> None:
        # Text, never markup: the names of objects are data, whatever brackets they contain
        self._table.add_row(number, does, Text("\n").join(believes), Text("\n").join(says))


def _believed(patch: Patch | None) -> Iterator[str]:
    if patch is None:
        return
    placed = {edge.src for edge in patch.add_edges}
    for node in patch.add_nodes:
        states = ", ".join(node.states)
        yield (f"+ {node.node_id}{': ' + states if states else ''}")
    for update in patch.update_node_states:
        changes = [*update.add, *(f"not {state}" for state in update.remove)]
        yield (f"{update.node_id}: {', '.join(changes)}")
    for edge in patch.add_edges:
        yield (f"{edge.src} {edge.pred} {edge.dst}")
    for edge in patch.remove_edges:
        if edge.src not in placed:
            yield (f"{edge.src} not {edge.pred} {edge.dst}")
    for name in patch.remove_nodes:
        yield (f"- {name}")


def _records_table(records: Sequence[Record]) -> Table:
    table = Table(title="Verification records", title_justify="left", box=None, pad_edge=False)
    for column in ("rule", "objects", "opened at t", "settled at t", "verdict"):
        table.add_column(column, overflow="fold")
    for record in records:
        settled = "" if record.settled is None else str(record.settled)
        names = Text(", ".join(record.binding))
        table.add_row(Text(record.rule), names, str(record.t_on), settled, _verdict(record))
    return table


def _owed(record: Record) -> Text:
    return Text.assemble(("owed   ", "yellow"), f"{record}: {record.principle}")


def _verdict(record: Record) -> Text:
    if record.reason == "abandoned":
        return Text("given up", "dim")
    reason = f" ({record.reason})" if record.reason else ""
    return Text.assemble((record.verdict, _STYLES[record.verdict]), f"{reason}{', advisory' * record.advisory}")


def _as_json(step: Step, engine: Engine) -> dict[str, Any]:
    announced = step.announced
    data: dict[str, Any] = {"number": step.number, "action": str(step.action), "intended_only": step.only_intended}
    data["hazards"] = [_hazard(trigger, engine) for trigger in announced.risks] if announced else []
    for key, change in (("announced", announced), ("judged", step.judged), ("observed", step.observed)):
        if change is not None:
            data[key] = change.to_json()
    if step.patch is not None:
        data["patch"] = step.patch.to_json()
    data["failure"] = step.outcome.failure if step.outcome else ""
    data["refused"] = step.refused
    return data


def _hazard(trigger: Trigger, engine: Engine) -> dict[str, Any]:
    return {**trigger.to_json(), "principle": trigger.principle, "because": list(engine.support(trigger))}


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
