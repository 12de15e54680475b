"""The resident backend: beliefs are externals of one multi-shot Control, intents are asked on demand.

Two programs (see `demand`): helpers and temporal hazards are grounded once and follow the beliefs by
`assign_external`; what depends on an intent is ground in a small Control of its own, whose facts are the beliefs
and helpers that it reads. The module condition of multi-shot solving holds trivially: rules are in one part.
"""

from __future__ import annotations

from collections.abc import Iterator

from obviate.engine.backend import KERNEL, OUTPUTS, Capability, Conclusions, Query
from obviate.engine.demand import Topic, split, topic
from obviate.kb import BeliefGraph, Pack, asp
from obviate.kb.predicates import BELIEFS
from obviate.kb.terms import Atom, Fun

__all__ = ["MultiShot"]


class MultiShot:
    """One resident Control for a pack, and a small one for each question."""

    name = "multishot"

    def __init__(self, pack: Pack) -> None:
        parts = split(pack)
        beliefs = {signature for signature in parts.shared if signature[0] in BELIEFS}
        self._pack = pack
        self._parts = parts
        self._resident = asp.Resident(parts.resident.text, parts.shared - beliefs, pack.consts)
        self._inputs = parts.resident.reads
        self._read = frozenset((name, positive) for name, _, positive in beliefs)
        self._version = -1  # 0 is the parent of a graph that was made from no other
        self._facts: set[Atom] = set()
        self._by_topic: dict[Topic, set[Atom]] = {}
        self._names: set[str] = set()

    @property
    def rebuilds(self) -> int:
        """How often the resident Control was built: once, and whenever an atom never seen before came up."""
        return self._resident.rebuilds

    def capabilities(self) -> tuple[Capability, ...]:
        situational = "what an intent brings about is concluded on demand"
        resident = "resident; every solve looks at all inputs"
        return tuple(
            Capability(rule.name, self.name, situational if rule.mode == "situational" else resident)
            for rule in self._pack.rules.values()
        )

    @property
    def symbols(self) -> int:
        return len(self._names)

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        self._follow(graph)
        known = self._resident.model()
        skill = query.intent.skill if query.intent else None
        concerned = {rule for rule, _ in query.standing.open}
        concerned |= {str(fact.args[0]) for fact in known if fact.name == "hazard"}
        reads = self._parts.reads(skill, concerned)
        facts = [*query.facts(), *self._pack.frame]
        facts += [fact for fact in known if (fact.name, fact.positive, "") in reads]
        facts += {fact for about in reads for fact in self._by_topic.get(about, ())}
        program = [self._parts.demand(skill, concerned), KERNEL]
        return Conclusions.of(asp.evaluate(program, facts, OUTPUTS, self._pack.consts), query.standing)

    def _follow(self, graph: BeliefGraph) -> None:
        if graph.version == self._version:
            return
        if graph.parent == self._version:
            added, removed = set(graph.delta.added), set(graph.delta.removed)
        else:
            facts = set(graph.facts())
            added, removed = facts - self._facts, self._facts - facts
        self._facts = (self._facts - removed) | added
        self._names.update(str(atom.args[0]) for atom in added if atom.name == "object")
        self._resident.update(filter(self._is_input, added), filter(self._is_input, removed), self._possible())
        for atom in removed:
            for key in self._topics(atom):
                self._by_topic[key].discard(atom)
        for atom in added:
            for key in self._topics(atom):
                self._by_topic.setdefault(key, set()).add(atom)
        self._version = graph.version

    def _is_input(self, atom: Atom) -> bool:
        """Whether the resident program reads the atom at all."""
        return topic(atom) in self._inputs or (atom.name, atom.positive, "") in self._inputs

    def _possible(self) -> Iterator[Atom]:
        """Inputs to declare ahead when the resident program is rebuilt: every state that it reads, of every object."""
        states = [(name, positive) for predicate, positive, name in self._inputs if predicate == "state" and name]
        for fact in self._facts:
            if fact.name == "object":
                yield from (Atom("state", (fact.args[0], Fun(name)), positive) for name, positive in states)

    def _topics(self, atom: Atom) -> set[Topic]:
        """The topics that a belief belongs to, if the demand rules read its predicate at all."""
        if (atom.name, atom.positive) not in self._read:
            return set()
        return {topic(atom), (atom.name, atom.positive, "")}

    def close(self) -> None:
        self._resident.close()
        self._facts, self._by_topic = set(), {}
        self._version = -1
