"""The household world: the 18 skills run as an action theory in ASP, without a simulator.

The state of the world is a belief graph that knows everything; `step` derives its changes from
``kb/actions/household.lp``, `observe` tells what an agent sees of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from obviate.kb import Action, BeliefGraph, Patch, asp, household
from obviate.kb.belief import Edge
from obviate.kb.errors import ActionError
from obviate.kb.files import read_text
from obviate.kb.kinds import Kinds
from obviate.kb.patch import EdgePatch, StatePatch
from obviate.kb.terms import Atom, Fun

__all__ = ["Outcome", "World"]

_CHANGES = frozenset(
    {("becomes", 2, True), ("ceases", 2, True), ("links", 3, True), ("unlinks", 3, True), ("reason", 1, True)}
)
_MEMORY = 4_096  # outcomes remembered: the same action in the same state has the same effects
_MESSAGES = {
    "closed_in": "{1} is closed, open it first: {0} is inside",
    "close_first": "{0} is open, close it first",
    "open_first": "{0} is closed, open it first",
    "switch_off_first": "{0} is on, switch it off first",
    "switch_on_first": "{0} is off, switch it on first",
    "switch_heat_on": "the heat source of {0} is off",
    "put_on_heat": "{0} is not at a heat source",
    "put_inside_first": "{0} is not inside {1}",
    "tool_not_ready": "{0} is not wet or soaped as needed to clean {1}",
    "cannot_remove": "{0} cannot remove what covers {1}",
    "nothing_to_wipe": "nothing covers {0}",
    "no_room": "{0} cannot be put on {1}, which it holds up",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did: the patch to the state of the world, or why it failed and changed nothing."""

    action: Action
    patch: Patch
    failure: str = ""


class World:
    """A household with everything in it.

    `objects` maps ids to kinds in declared order, `graph` is the true state, `actions` the file of another action
    theory. Not thread-safe.
    """

    def __init__(self, objects: Mapping[str, str], graph: BeliefGraph, kinds: Kinds, *, actions: str = "") -> None:
        self.objects = dict(objects)
        self.graph = graph
        self.kinds = kinds
        self._statics = "\n".join(f"{fact}." for fact in kinds.facts(objects))
        self._known: dict[tuple[BeliefGraph, Action], Outcome] = {}
        self._theory = read_text(Path(actions) if actions else household.folder / "actions" / "household.lp")

    def step(self, action: Action | str) -> Outcome:
        """Do an action. An unknown object or skill, and whatever the theory refuses, is a failure."""
        parsed = Action.parse(action) if isinstance(action, str) else action
        try:
            action = self.graph.vocabulary.check_action(parsed, self.graph.nodes)
        except ActionError as error:
            return Outcome(parsed, Patch(), error.message)
        if (self.graph, action) not in self._known:
            if len(self._known) >= _MEMORY:
                self._known.clear()
            self._known[self.graph, action] = self._outcome(action)
        outcome = self._known[self.graph, action]
        self.graph = self.graph.merge(outcome.patch)
        return outcome

    def _outcome(self, action: Action) -> Outcome:
        facts = [
            *self.graph.facts(),
            Atom("do", (action.term,)),
            *(Atom("argument", (x,)) for x in action.args),
        ]
        changes = asp.evaluate([self._theory, self._statics], facts, _CHANGES)
        reasons = sorted(_message(atom) for atom in changes if atom.name == "reason")
        return Outcome(action, Patch(), reasons[0]) if reasons else Outcome(action, _patch(changes, self.graph))

    def observe(self, belief: BeliefGraph, *, partial: bool = False) -> Patch:
        """The patch that brings `belief` up to date with what is seen.

        Everything, or with `partial` only what no closed container hides; what was seen and is now out of
        sight stays believed. Substances that do not exist yet are never seen.
        """
        real = {name for name in self.graph.nodes if not self.graph.has_state(name, "future")}
        seen = real - set(self._hidden()) if partial else real
        kept = {name for name in belief.nodes if name in real}
        edges = {edge for edge in self.graph.edges() if {edge.src, edge.dst} <= seen}
        everything = BeliefGraph(self.graph.vocabulary).difference(self.graph)
        return Patch(
            remove_nodes=tuple(sorted(set(belief.nodes) - kept)),
            add_nodes=tuple(node for node in everything.add_nodes if node.node_id in seen - kept),
            update_node_states=tuple(
                _update(name, belief.nodes[name].states, self.graph.nodes[name].states)
                for name in sorted(seen & kept)
                if belief.nodes[name].states != self.graph.nodes[name].states
            ),
            add_edges=tuple(_edge(e) for e in sorted(edges) if not belief.has_edge(e.pred, e.src, e.dst)),
            remove_edges=tuple(
                _edge(e)
                for e in belief.edges()
                if {e.src, e.dst} <= kept and e not in edges and self._would_be_seen(e, seen)
            ),
        )

    def _would_be_seen(self, edge: Edge, seen: set[str]) -> bool:
        """Whether one would see the relation, if it held."""
        if edge.src in seen or edge.dst not in seen:
            return edge.src in seen
        vocabulary = self.graph.vocabulary
        if edge.pred in vocabulary.symmetric:
            return True
        return edge.pred in vocabulary.supports and not (edge.pred == "inside" and self._shut(edge.dst))

    def _shut(self, name: str) -> bool:
        return self.kinds.can(self.objects.get(name, ""), "openable") and not self.graph.has_state(name, "open")

    def _hidden(self) -> Iterator[str]:
        """What some closed container holds, at whatever depth."""
        for name in self.graph.nodes:
            current = name
            while above := self.graph.supporters(current):
                if self._shut(above[0]) and self.graph.has_edge("inside", current, above[0]):
                    yield name
                    break
                current = above[0]


def _message(atom: Atom) -> str:
    term = atom.args[0]
    assert isinstance(term, Fun)
    template = _MESSAGES.get(term.name, "{0} " + term.name.replace("_", " "))
    return template.format(*term.args)


def _patch(changes: set[Atom], graph: BeliefGraph) -> Patch:
    states: dict[str, tuple[list[str], list[str]]] = {}
    for atom in sorted(changes, key=str):
        if atom.name in ("becomes", "ceases"):
            name, state = str(atom.args[0]), str(atom.args[1])
            if graph.has_state(name, state) != (atom.name == "becomes"):
                states.setdefault(name, ([], []))[atom.name == "ceases"].append(state)
    return Patch(
        update_node_states=tuple(StatePatch(node_id=n, add=tuple(a), remove=tuple(r)) for n, (a, r) in states.items()),
        add_edges=tuple(map(_edge, _edges(changes, "links"))),
        remove_edges=tuple(map(_edge, _edges(changes, "unlinks"))),
    )


def _edges(changes: set[Atom], name: str) -> list[Edge]:
    return sorted(Edge(*map(str, atom.args)) for atom in changes if atom.name == name)


def _update(name: str, believed: frozenset[str], true: frozenset[str]) -> StatePatch:
    return StatePatch(node_id=name, add=tuple(sorted(true - believed)), remove=tuple(sorted(believed - true)))


def _edge(edge: Edge) -> EdgePatch:
    return EdgePatch(pred=edge.pred, src=edge.src, dst=edge.dst)
