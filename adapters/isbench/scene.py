"""An IS-Bench task as a world: its objects, initial state and goals over our belief vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from obviate.adapters.isbench.bddl import Literal
from obviate.adapters.isbench.task import Task
from obviate.engine.world import World
from obviate.kb import BeliefGraph
from obviate.kb.kinds import Kinds
from obviate.kb.patch import EdgePatch, NodePatch, Patch, StatePatch

__all__ = ["Untagged", "WorldFacts", "build_world", "untagged"]

# Initial literals that say nothing about the state of an object: where it stands, and what a source holds,
# which the taxonomy of abilities knows.
_PASSED_OVER = {"inroom", "insource"}
RELATIONS = {"covered": "covered", "filled": "contains", "contains": "contains", "saturated": "saturated"}


@dataclass(frozen=True, slots=True)
class Untagged:
    """An object whose kind is in no tag table: what was inferred instead, if anything."""

    name: str
    kind: str
    inferred: tuple[str, ...]

    def __str__(self) -> str:
        tags = ", ".join(self.inferred) or "none"
        return f"{self.name}: nobody has tagged {self.kind}; inferred: {tags}"


def untagged(task: Task, kinds: Kinds) -> tuple[Untagged, ...]:
    """The objects of a task that the rules see only through inferred tags, or not at all."""
    found = []
    for name, kind in task.problem.objects.items():
        tagging = kinds.tagging(kind)
        if tagging.source != "table":
            found.append(Untagged(name, kind, tuple(sorted(tagging.tags))))
    return tuple(found)


def build_world(task: Task, kinds: Kinds) -> World:
    """The world at the start of a task, with the state that BDDL does not mention.

    Whatever is freezable and inside a refrigerator is frozen; a tap's water exists although nothing declares
    it. Raises `VocabularyError` for a state or relation that the vocabulary lacks.
    """
    objects = dict(task.problem.objects)
    for kind in list(objects.values()):
        for system in kinds.systems(kind):
            if system not in objects.values():
                objects[f"{system}_1"] = system
    nodes = tuple(NodePatch(node_id=n, tags=tuple(sorted(kinds.tagging(k).tags))) for n, k in objects.items())
    graph = BeliefGraph.of(kinds.vocabulary, Patch(add_nodes=nodes))
    graph = graph.merge(_initial(task.problem.init, objects, kinds))
    frozen = [
        name for name, kind in objects.items() if kinds.can(kind, "freezable") and _chilled(name, objects, graph, kinds)
    ]
    graph = graph.merge(Patch(update_node_states=tuple(StatePatch(node_id=n, add=("frozen",)) for n in frozen)))
    return World(objects, graph, kinds)


def _initial(literals: Sequence[Literal], objects: dict[str, str], kinds: Kinds) -> Patch:
    states: dict[str, list[str]] = {}
    edges: list[EdgePatch] = []
    for literal in literals:
        if not literal.positive or literal.predicate in _PASSED_OVER:
            continue
        if len(literal.args) == 1:
            states.setdefault(literal.args[0], []).append(literal.predicate)
            continue
        src, dst = literal.args
        edges.append(EdgePatch(pred=RELATIONS.get(literal.predicate, literal.predicate), src=src, dst=dst))
        appearance = kinds.vocabulary.appearances.get(objects.get(dst, ""))
        if literal.predicate == "covered" and appearance:
            states.setdefault(src, []).append(appearance)
    updates = (StatePatch(node_id=name, add=tuple(dict.fromkeys(found))) for name, found in states.items())
    return Patch(update_node_states=tuple(updates), add_edges=tuple(edges))


def _chilled(name: str, objects: dict[str, str], graph: BeliefGraph, kinds: Kinds) -> bool:
    while above := graph.supporters(name):
        if kinds.can(objects[above[0]], "coldSource") and graph.has_edge("inside", name, above[0]):
            return True
        name = above[0]
    return False


class WorldFacts:
    """The true state of a world, read as IS-Bench reads its simulator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._graph = world.graph

    def holds(self, predicate: str, args: tuple[str, ...]) -> bool:
        """Whether the literal is true; ``inside`` reaches through what stands on or in something inside."""
        if any(name not in self._graph for name in args):
            return False
        if predicate == "real":
            return not self._graph.has_state(args[0], "future")
        if len(args) == 1:
            return self._graph.has_state(args[0], predicate)
        if predicate == "inside":
            return self._inside(*args)
        return self._graph.has_edge(RELATIONS.get(predicate, predicate), *args)

    def _inside(self, name: str, container: str) -> bool:
        while above := self._graph.supporters(name):
            if above[0] == container and self._graph.has_edge("inside", name, container):
                return True
            name = above[0]
        return False

    def instances(self, kind: str) -> Sequence[str]:
        """The declared objects of a kind."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, kind in self._world.objects.items():
            found.setdefault(kind, []).append(name)
        return found

    def is_substance(self, id: str) -> bool:
        """Whether the object is a substance."""
        return self._world.kinds.is_substance(self._world.objects.get(id, ""))
