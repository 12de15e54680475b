"""The temporal household rules as patterns, found anew after each update by networkx's subgraph matching.

A pattern is a small graph: what its objects must be, and the relations between them. What no pattern can say, that an
object is nowhere in a refrigerator, is looked up for each match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
from networkx.algorithms.isomorphism import DiGraphMatcher

from obviate.adapters.step.peer import Changed
from obviate.engine.standing import Instance
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.belief import Edge

__all__ = ["Subgraphs"]

_SUPPORTS = frozenset({"inside", "ontop"})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What an object must be: its tags, with one `of` some, and none of others; its state; moved by the agent."""

    tags: frozenset[str] = frozenset()
    of: frozenset[str] = frozenset()
    none: frozenset[str] = frozenset()
    state: str = ""
    moved: bool = False

    def fits(self, node: dict[str, Any]) -> bool:
        tags = node["tags"]
        return (
            self.tags <= tags
            and not self.none & tags
            and (not self.of or bool(self.of & tags))
            and (not self.state or self.state in node["states"])
            and (not self.moved or node["moved"])
        )


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A rule: what its objects are, and relations between them (one of some, from, to).

    `binding` are the objects that the rule binds, by default all in their order. `outside` is the tag of what the first
    one must not be in.
    """

    rule: str
    objects: tuple[_Wanted, ...]
    relations: tuple[tuple[frozenset[str], int, int], ...] = ()
    binding: tuple[int, ...] = ()
    outside: str = ""

    def graph(self) -> nx.DiGraph[int]:
        graph: nx.DiGraph[int] = nx.DiGraph()
        for i, wanted in enumerate(self.objects):
            graph.add_node(i, wanted=wanted)
        for preds, one, other in self.relations:
            graph.add_edge(one, other, preds=preds)
        return graph


def _a(*tags: str, of: str = "", none: str = "", state: str = "", moved: bool = False) -> _Wanted:
    return _Wanted(frozenset(tags), frozenset(of.split()), frozenset(none.split()), state, moved)


def _by(preds: str, one: int, other: int) -> tuple[frozenset[str], int, int]:
    return frozenset(preds.split()), one, other


_POWERED = "function_heat_source function_electrical_appliance"
_PATTERNS = (
    _Pattern("storage_closed", (_a("function_storage", none="appliance_refrigerator", state="open"),)),
    _Pattern("refrigerator_closed", (_a("appliance_refrigerator", state="open"),)),
    _Pattern("appliance_off", (_a(of=_POWERED, state="toggled_on"),)),
    _Pattern("water_off", (_a("function_water_source", state="toggled_on"),)),
    _Pattern(
        "chemical_not_with_food",
        (_a("safety_chemical"), _a("safety_food"), _a("function_storage")),
        (_by("inside", 0, 2), _by("inside", 1, 2)),
    ),
    _Pattern(  # a match takes an object once, so what is both needs a pattern of its own
        "chemical_not_with_food",
        (_a("safety_chemical", "safety_food"), _a("function_storage")),
        (_by("inside", 0, 1),),
        binding=(0, 0, 1),
    ),
    _Pattern(
        "flammable_away_from_appliance",
        (_a("safety_flammable", moved=True), _a(of=_POWERED)),
        (_by("nextto ontop inside", 0, 1),),
    ),
    _Pattern(
        "floor_clear",
        (_a(of="function_cleaning_tool safety_chemical heavy"), _a("surface_floor")),
        (_by("ontop", 0, 1),),
    ),
    _Pattern(
        "fragile_low",
        (_a("safety_fragile", moved=True), _a("function_storage", "surface_high")),
        (_by("inside", 0, 1),),
    ),
    _Pattern("rollable_secured", (_a("safety_heavy_rollable", moved=True),), outside="secure_container"),
    _Pattern(
        "perishable_refrigerated",
        (_a("sealable"), _a("perishable")),
        (_by("inside", 1, 0),),
        binding=(0,),
        outside="appliance_refrigerator",
    ),
    _Pattern(
        "perishable_refrigerated",
        (_a("sealable"), _a("perishable")),
        (_by("contains", 0, 1),),
        binding=(0,),
        outside="appliance_refrigerator",
    ),
    _Pattern(
        "food_served_on_vessel",
        (_a("safety_food", none="safety_flammable"), _a("function_heat_source")),
        (_by("ontop", 0, 1),),
        binding=(0,),
    ),
)


class Subgraphs:
    """Follows a networkx graph and matches every pattern against all of it; see `Peer`."""

    def __init__(self, graph: BeliefGraph) -> None:
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._symmetric = graph.vocabulary.symmetric
        for name, node in graph.nodes.items():
            self._graph.add_node(name, tags=node.tags, states=set(node.states), moved=node.moved)
        for edge in graph.edges():
            self._link(edge)
        self._patterns = [(pattern, pattern.graph()) for pattern in _PATTERNS]
        self._found = frozenset(self._hazards())

    def step(self, patch: Patch) -> Changed:
        """Take an observation; what changed."""
        for update in patch.update_node_states:
            states = self._graph.nodes[update.node_id]["states"]
            states.difference_update(update.remove, update.forget)
            states.update(update.add)
        for edge in patch.remove_edges:
            self._unlink(Edge(edge.pred, edge.src, edge.dst))
        for edge in patch.add_edges:
            self._link(Edge(edge.pred, edge.src, edge.dst))
        before, self._found = self._found, frozenset(self._hazards())
        return self._found - before, before - self._found

    def triggers(self) -> frozenset[Instance]:
        """The temporal triggers that are true now."""
        return self._found

    def risks(self, action: Action) -> None:
        """The patterns are those of the temporal rules alone."""

    def close(self) -> None:
        """Nothing is held."""

    def _hazards(self) -> Iterator[Instance]:
        for pattern, shape in self._patterns:
            matcher = DiGraphMatcher(self._graph, shape, _node_match, _edge_match)
            for match in matcher.subgraph_monomorphisms_iter():
                objects = {i: name for name, i in match.items()}
                binding = tuple(objects[i] for i in pattern.binding or range(len(objects)))
                if not pattern.outside or not self._is_within(binding[0], pattern.outside):
                    yield pattern.rule, binding

    def _is_within(self, name: str, tag: str) -> bool:
        """Whether the object is in one with the tag, also in what it is in or on."""
        seen = {name}
        waiting = [name]
        while waiting:
            for _, other, data in self._graph.out_edges(waiting.pop(), data=True):
                if "inside" in data["preds"] and tag in self._graph.nodes[other]["tags"]:
                    return True
                if data["preds"] & _SUPPORTS and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return False

    def _link(self, edge: Edge) -> None:
        for one, other in self._ways(edge):
            if self._graph.has_edge(one, other):
                self._graph.edges[one, other]["preds"].add(edge.pred)
            else:
                self._graph.add_edge(one, other, preds={edge.pred})

    def _unlink(self, edge: Edge) -> None:
        for one, other in self._ways(edge):
            preds = self._graph.edges[one, other]["preds"]
            preds.discard(edge.pred)
            if not preds:
                self._graph.remove_edge(one, other)

    def _ways(self, edge: Edge) -> list[tuple[str, str]]:
        ways = [(edge.src, edge.dst)]
        return [*ways, (edge.dst, edge.src)] if edge.pred in self._symmetric else ways


def _node_match(node: dict[str, Any], pattern: dict[str, Any]) -> bool:
    wanted: _Wanted = pattern["wanted"]
    return wanted.fits(node)


def _edge_match(edge: dict[str, Any], pattern: dict[str, Any]) -> bool:
    return bool(edge["preds"] & pattern["preds"])
