"""How an engine gets to an example: a first scene and what is done and seen until its intent is announced.

Most examples are a scene and an intent. What the agent has moved is no part of a scene: it has to be moved first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from obviate.engine.engine import Engine
from obviate.engine.record import Change
from obviate.engine.search import Example, graph_of
from obviate.kb import Action, Patch
from obviate.kb.belief import Edge
from obviate.kb.patch import EdgePatch
from obviate.kb.terms import Atom
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Rehearsal", "rehearsal"]

_ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The first scene, then the verbs of the engine and what they are told: execute, apply, intend."""

    scene: dict[str, Any]
    events: tuple[tuple[str, Action | Patch], ...]

    def play(self, engine: Engine) -> Change | None:
        """Follow the events; returns what the last one changed, or None if there is none."""
        change = None
        for verb, given in self.events:
            change = getattr(engine, verb)(given)
        return change


def rehearsal(example: Example) -> Rehearsal | None:
    """The way to an example with no record open. None where the vocabulary has no skill that moves things."""
    graph = example.graph
    moved = sorted(name for name, node in graph.nodes.items() if node.moved)
    if moved and not graph.vocabulary.moves:
        return None
    events: list[tuple[str, Action | Patch]] = []
    start = {atom for atom in graph.facts() if atom.name != "moved"}
    for name in moved:
        edges = [Edge(pred, name, dst) for pred, dst in sorted(graph.supports(name))]
        start -= {edge.atom for edge in edges}
        before = [] if edges else [Edge(min(graph.vocabulary.supports), name, _ELSEWHERE)]
        start |= {atom for edge in before for atom in (edge.atom, Atom("object", (edge.dst,)))}
        events += [("execute", _moving(name, [*edges, *before][0], graph.vocabulary))]
        events += [("apply", Patch(add_edges=tuple(_patches(edges)), remove_edges=tuple(_patches(before))))]
    if example.intent is not None:
        events.append(("intend", example.intent))
    scene = replace(example, graph=graph_of(start, graph.vocabulary)).scene
    return Rehearsal(scene, tuple(events))


def _patches(edges: list[Edge]) -> Iterator[EdgePatch]:
    return (EdgePatch(pred=edge.pred, src=edge.src, dst=edge.dst) for edge in edges)


def _moving(name: str, edge: Edge, vocabulary: Vocabulary) -> Action:
    """An action that moves an object; one called like the relation, if there is one."""
    skill = min(vocabulary.moves, key=lambda skill: (edge.pred not in skill.replace("_", ""), skill))
    args = [edge.dst] * vocabulary.skills[skill]
    args[vocabulary.moves[skill] - 1] = name
    return Action(skill, tuple(args))
