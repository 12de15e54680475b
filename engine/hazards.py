"""The hazards that a pack sees on a graph, kept up to date where the graph changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rpds import HashTrieMap, HashTrieSet

from obviate.engine.answers import Answers
from obviate.engine.locality import Locality, View
from obviate.engine.occurrence import Topic
from obviate.engine.reach import Part, back, forward, lost, may_play, word
from obviate.engine.roles import Roles
from obviate.engine.standing import Binding, Instance
from obviate.kb import BeliefGraph
from obviate.kb.belief import Delta

__all__ = ["Hazards", "Seen", "Sight", "Since"]

_HAZARD = [("hazard", 2, True)]
_NONE: frozenset[Binding] = frozenset()
_KEPT = 8  # graphs whose hazards are remembered: a probe of what was forgotten goes back to the one before


@dataclass(frozen=True, slots=True)
class Seen:
    """The hazards on the graph of `version`: those of temporal rules; and those of rules that are asked of all of them,
    by the rule and ``""``, and of these and of temporal rules with a target by the rule and each of their objects.

    `appeared` and `vanished` compare them with the graph of version `parent`, to which `delta` leads.
    """

    version: int
    by_anchor: HashTrieMap[tuple[str, str], frozenset[Binding]]
    temporal: HashTrieSet[Instance]
    kept: HashTrieMap[tuple[str, str], HashTrieSet[Binding]]
    parent: int = 0
    delta: Delta = field(default=Delta(), repr=False)
    appeared: frozenset[Instance] = frozenset()
    vanished: frozenset[Instance] = frozenset()


@dataclass(frozen=True, slots=True)
class Since:
    """The temporal hazards that appeared and vanished, and every atom that came or went, be it for a while."""

    appeared: frozenset[Instance]
    vanished: frozenset[Instance]
    delta: Delta


class Sight:
    """Where atoms are read: the parts in the roles of some rules."""

    def __init__(self, rules: Mapping[str, Roles]) -> None:
        self._topics: dict[Topic, list[tuple[str, int]]] = {}
        self._links: dict[str, list[tuple[str, int, bool]]] = {}
        for rule, roles in rules.items():
            for number, role in enumerate(roles.roles):
                for topic in role.reads:
                    self._topics.setdefault(topic, []).append((rule, number))
                for link in role.links:
                    for relation in link.relations or ("",):
                        self._links.setdefault(relation, []).append((rule, number, link.out))

    def touched(self, delta: Delta) -> dict[str, set[Part]]:
        """The parts of which a change says something, by rule."""
        found: dict[str, set[Part]] = {}
        for atom in (*delta.added, *delta.removed):
            what, args = atom.name, atom.args
            if what == "edge":  # a symmetric one comes both ways
                _, src, dst = args
                for relation in (word(args[0]), ""):
                    for rule, number, out in self._links.get(relation, ()):
                        found.setdefault(rule, set()).add((number, str(src if out else dst)))
                continue
            about, name = word(args[1]) if len(args) > 1 else "", word(args[0])
            for topic in ((what, atom.positive, about), (what, atom.positive, "")) if about else ((what, True, ""),):
                for rule, number in self._topics.get(topic, ()):
                    found.setdefault(rule, set()).add((number, name))
        return found


class Hazards:
    """Follows the hazards of the views of a pack from graph to graph."""

    def __init__(self, plan: Locality, answers: Answers) -> None:
        self._views = plan.views
        self._sight = Sight({rule: view.roles for rule, view in plan.views.items()})
        self._temporal = {rule for rule, one in plan.local.items() if one.mode == "temporal"}
        self._scanned = {rule for one in plan.local.values() for rule in one.scanned}
        self._targeted = {rule for rule in self._temporal if plan.local[rule].roles is not None}
        self._answers = answers
        self._seen: OrderedDict[int, Seen] = OrderedDict()

    def on(self, graph: BeliefGraph) -> Seen:
        """The hazards on a graph."""
        seen = self._seen.get(graph.version)
        if seen is None:
            before = self._seen.get(graph.parent)
            seen = self._first(graph) if before is None else self._next(graph, before)
            self._seen[graph.version] = seen
            if len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        self._seen.move_to_end(graph.version)
        return seen

    def since(self, version: int, seen: Seen) -> Since | None:
        """What is new since a graph; None if that is not known any more."""
        steps: list[Seen] = []
        current: Seen | None = seen
        while current is not None and current.version != version:
            steps.append(current)
            current = self._seen.get(current.parent)
        if current is None:
            return None
        appeared: set[Instance] = set()
        vanished: set[Instance] = set()
        for step in reversed(steps):
            appeared, vanished = (
                appeared - step.vanished | (step.appeared - vanished),
                vanished - step.appeared | (step.vanished - appeared),
            )
        added = frozenset().union(*(step.delta.added for step in steps))
        removed = frozenset().union(*(step.delta.removed for step in steps))
        return Since(frozenset(appeared), frozenset(vanished), Delta(added, removed))

    def clear(self) -> None:
        """Forget everything."""
        self._seen.clear()

    # -- following --------------------------------------------------------------------------------

    def _first(self, graph: BeliefGraph) -> Seen:
        nothing = Seen(0, HashTrieMap(), HashTrieSet(), HashTrieMap())
        every = ((rule, name) for rule, view in self._views.items() for name in self._candidates(view, graph))
        return self._changed(graph, nothing, every, Delta())

    def _candidates(self, view: View, graph: BeliefGraph) -> Iterator[str]:
        """The objects that can be the anchor of a hazard."""
        starts = [view.roles.roles[number] for number in view.roles.starts[view.anchor]]
        for name in graph.nodes:
            if any(may_play(role, name, graph, {}) for role in starts):
                yield name

    def _next(self, graph: BeliefGraph, before: Seen) -> Seen:
        gone = lost(graph.delta.removed)
        anchors: list[tuple[str, str]] = []
        for rule, touched in self._sight.touched(graph.delta).items():
            view = self._views[rule]
            starts = view.roles.starts[view.anchor]
            found = back(view.roles, touched, graph, gone)
            anchors += [(rule, name) for name in {name for number, name in found if number in starts}]
        return self._changed(graph, before, anchors, graph.delta)

    def _changed(self, graph: BeliefGraph, before: Seen, anchors: Iterable[tuple[str, str]], delta: Delta) -> Seen:
        by_anchor, temporal, kept = before.by_anchor, before.temporal, before.kept
        appeared: set[Instance] = set()
        vanished: set[Instance] = set()
        for key in anchors:
            old = before.by_anchor.get(key, _NONE)
            new = self._at(key[0], key[1], graph)
            if new == old:
                continue
            by_anchor = by_anchor.insert(key, new) if new else by_anchor.remove(key)
            rule = key[0]
            if rule in self._temporal:
                appeared.update((rule, binding) for binding in new - old)
                vanished.update((rule, binding) for binding in old - new)
            for binding in new ^ old:
                for place in self._places(rule, binding):
                    bindings = kept.get(place, HashTrieSet())
                    bindings = bindings.insert(binding) if binding in new else bindings.remove(binding)
                    kept = kept.insert(place, bindings) if bindings else kept.remove(place)
        temporal = temporal.update(appeared)
        for instance in vanished:
            temporal = temporal.remove(instance)
        return Seen(
            graph.version,
            by_anchor,
            temporal,
            kept,
            before.version,
            delta,
            frozenset(appeared),
            frozenset(vanished),
        )

    def _places(self, rule: str, binding: Binding) -> set[tuple[str, str]]:
        """Where a hazard is found besides."""
        if rule not in self._targeted | self._scanned:
            return set()
        return {(rule, name) for name in binding} | ({(rule, "")} if rule in self._scanned else set())

    def _at(self, rule: str, name: str, graph: BeliefGraph) -> frozenset[Binding]:
        """The bindings of a rule's hazards that have an object at their anchor."""
        view = self._views[rule]
        parts, facts = forward(view.roles, [(number, name) for number in view.roles.starts[view.anchor]], graph)
        if not parts:
            return _NONE
        found = self._answers.ask(view.program, facts, _HAZARD)
        return frozenset(b for _, of, b in found if of == rule and b[view.anchor] == name)
