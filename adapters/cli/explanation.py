"""Telling a rule: its words, the smallest scene that triggers it, and that scene as a scenario test."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from obviate.engine.description import Clause, Description, describe
from obviate.engine.rehearsal import rehearsal
from obviate.engine.resolution import resolution
from obviate.engine.search import Example, beliefs_of, bound, smallest
from obviate.engine.wording import belief_words
from obviate.kb import Action, Pack, Patch
from obviate.kb.belief import BeliefGraph, Edge
from obviate.kb.errors import PackError
from obviate.kb.format import formatted
from obviate.kb.terms import Fun, term_of_binding

__all__ = ["list_rules", "tell_rule"]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the search came to: an example or why there is none, and what resolves it."""

    example: Example | None
    why_none: str
    resolved_by: Patch | None


def list_rules(pack: Pack, *, json: bool) -> None:
    """Print the rules of a pack with their principles."""
    if json:
        rules = [{"rule": r.name, "mode": r.mode, "principle": r.principle} for r in pack.rules.values()]
        print(jsonlib.dumps(rules, ensure_ascii=False, indent=2))
        return
    if not pack.rules:
        print(f"{pack.name} has no rules")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule in pack.rules.values():
        table.add_row(Text(rule.name, "bold"), Text(rule.principle))
    Console(highlight=False).print(table)


def tell_rule(pack: Pack, name: str, *, json: bool) -> None:
    """Print a rule of a pack in words. Raises `PackError` (``unknown-rule``)."""
    description = describe(pack, name)
    found = _search(pack, name)
    if json:
        print(jsonlib.dumps({**description.to_json(), **_as_json(pack, found)}, ensure_ascii=False, indent=2))
        return
    teller = _Teller(Console(highlight=False), pack)
    teller.rule(description)
    teller.example(found, description)


def _search(pack: Pack, name: str) -> _Found:
    try:
        example = smallest(pack, name)
        if example is None:
            return _Found(None, f"No belief graph of up to {bound(pack, name)} objects triggers it.", None)
        return _Found(example, "", resolution(pack, example))
    except PackError as error:
        return _Found(None, f"No scene was found: {error.message}.", None)


# -- in words ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Teller:
    console: Console
    pack: Pack

    def rule(self, told: Description) -> None:
        rule = told.rule
        self.console.print(Text.assemble((rule.name, "bold"), f" ({rule.mode})  ", (told.where, "dim")))
        if rule.principle:
            self.console.print(Text(rule.principle))
        self._columns("Objects", told.variables)
        self._clauses("Hazard: it is dangerous that", told.hazard)
        self._clauses("Threat: it becomes acute when", told.threat)
        self._heading("Trigger")
        self._say("the hazard and the threat hold together" if rule.mode == "situational" else "the hazard holds")
        if told.target:
            self._clauses("Target: it is resolved when", told.target)
        else:
            self._heading("Target: it is resolved when")
            self._say("the hazard no longer holds")
        if told.helpers:
            self._heading("Where")
            for clause in told.helpers:
                self.console.print(Text.assemble(f"  {clause.head} if  ", (clause.where, "dim")))
                self._bullets(clause.conditions, indent=4)
        self._heading("Deadline")
        self._say(f"{told.deadline}; {told.severity}")

    def example(self, found: _Found, told: Description) -> None:
        self._heading("The smallest scene that triggers it")
        example = found.example
        if example is None:
            self._say(found.why_none)
            return
        self._bullets([belief_words(atom, self.pack) for atom in example.beliefs])
        if example.intent is not None:
            self._say(f"and the robot intends {example.intent}")
        self._say(f"so that {told.rule.name}({', '.join(example.binding)}) opens")
        self._heading("What then resolves it")
        if found.resolved_by is None:
            self._say("nothing that the robot can change: the intent is to be given up")
        else:
            self._bullets(list(_changes(example.graph, found.resolved_by, self.pack)))
        facts = _facts(example)
        if facts:
            self._heading("As a scenario test")
            self.console.print()
            self.console.print(Text("\n".join(facts)), soft_wrap=True)

    def _heading(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text, "bold"))

    def _say(self, text: str) -> None:
        self._bullets([text], mark="")

    def _columns(self, heading: str, rows: Sequence[tuple[str, str]]) -> None:
        if rows:
            self._heading(heading)
            grid = Table.grid(padding=(0, 2, 0, 0))
            for name, words in rows:
                grid.add_row(Text(f"  {name}"), Text(words))
            self.console.print(grid)

    def _clauses(self, heading: str, clauses: Sequence[Clause]) -> None:
        for i, clause in enumerate(clauses):
            self.console.print()
            words = heading if not i else "or that" if heading.endswith("that") else "or when"
            self.console.print(Text.assemble((words, "bold"), "  ", (clause.where, "dim")))
            self._bullets(clause.conditions)

    def _bullets(self, lines: Sequence[str], *, mark: str = "-", indent: int = 2) -> None:
        grid = Table.grid(padding=(0, 1, 0, 0))
        for line in lines:  # Text, never markup: names are data
            grid.add_row(Text(" " * indent + mark if mark else " " * (indent - 1)), Text(line))
        self.console.print(grid)


def _changes(graph: BeliefGraph, patch: Patch, pack: Pack) -> Iterator[str]:
    """What a patch makes of a graph, in words."""
    old, new = beliefs_of(graph), beliefs_of(graph.merge(patch))
    yield from (belief_words(atom, pack) for atom in new if atom not in old and atom.name != "object")
    yield from (f"no longer: {belief_words(atom, pack)}" for atom in old if atom not in new and atom.name == "edge")


# -- as data -------------------------------------------------------------------------------------


def _as_json(pack: Pack, found: _Found) -> dict[str, Any]:
    example = found.example
    if example is None:
        return {"example": None, "why_none": found.why_none}
    patch = found.resolved_by
    return {
        "example": {
            "binding": list(example.binding),
            "beliefs": list(map(str, example.beliefs)),
            "words": [belief_words(atom, pack) for atom in example.beliefs],
            "intent": str(example.intent) if example.intent is not None else None,
            "scene": example.scene,
            "smallest": example.proven,
        },
        "resolved_by": patch.to_json() if patch is not None else None,
        "resolved_by_words": list(_changes(example.graph, patch, pack)) if patch is not None else [],
        "test": "\n".join(_facts(example)),
    }


def _facts(example: Example) -> list[str]:
    """The example as facts of a scenario test; none where nothing the robot can do leads there."""
    way = rehearsal(example)
    if way is None:
        return []
    test = f"smallest_{example.rule}"
    given = [str(atom) for atom in beliefs_of(BeliefGraph.of(example.graph.vocabulary, way.scene))]
    lines = [f'test({test}, "The smallest scene that triggers {example.rule}").']
    if given:
        lines.append(f"given({test}, ({'; '.join(given)})).")
    for number, (verb, told) in enumerate(way.events, 1):
        events = [f"{verb}({told.term})"] if isinstance(told, Action) else list(_seen(told))
        lines += [f"step({test}, {number}, {event})." for event in events]
    trigger = Fun("trigger", (Fun(example.rule), term_of_binding(example.binding)))
    lines.append(f"expect({test}, {len(way.events)}, {trigger}).")
    return formatted("\n".join(lines)).splitlines()


def _seen(patch: Patch) -> Iterator[str]:
    for sign, edges in (("", patch.add_edges), ("-", patch.remove_edges)):
        yield from (f"observe({sign}{Edge(edge.pred, edge.src, edge.dst).atom})" for edge in edges)
