"""The resident backend: beliefs are externals of one multi-shot Control, intents are asked on demand.

Two programs (see `demand`): helpers and temporal hazards are grounded once and follow the beliefs by
`assign_external`; what depends on an intent is ground in a small Control of its own, whose facts are the beliefs
and helpers that it reads. The module condition of multi-shot solving holds trivially: rules are in one part.
"""

from __future__ import annotations

from obviate.engine.backend import KERNEL, OUTPUTS, Conclusions, Query
from obviate.engine.demand import split
from obviate.kb import BeliefGraph, Pack, asp
from obviate.kb.check import BELIEFS
from obviate.kb.terms import Atom

__all__ = ["MultiShot"]


class MultiShot:
    """One resident Control for a pack, and a small one for each question."""

    name = "multishot"

    def __init__(self, pack: Pack) -> None:
        parts = split(pack)
        beliefs = {signature for signature in parts.shared if signature[0] in BELIEFS}
        self._pack = pack
        self._parts = parts
        self._resident = asp.Resident(parts.resident, parts.shared - beliefs, pack.consts)
        self._read = frozenset((name, positive) for name, _, positive in beliefs)
        self._version = 0
        self._facts: set[Atom] = set()

    @property
    def rebuilds(self) -> int:
        """How often the resident Control was built: once, and whenever an atom never seen before came up."""
        return self._resident.rebuilds

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        self._follow(graph)
        known = self._resident.model()
        concerned = {rule for (rule, _), _ in query.pending}
        concerned |= {str(fact.args[0]) for fact in known if fact.name == "hazard"}
        demand = self._parts.demand(query.intent.skill if query.intent else None, concerned)
        facts = [*known, *query.facts(), *self._pack.frame]
        facts += [fact for fact in self._facts if (fact.name, fact.positive) in self._read]
        return Conclusions.of(asp.evaluate([demand, KERNEL], facts, OUTPUTS, self._pack.consts))

    def _follow(self, graph: BeliefGraph) -> None:
        if graph.version == self._version:
            return
        if graph.parent == self._version:
            added, removed = set(graph.delta.added), set(graph.delta.removed)
        else:
            facts = set(graph.facts())
            added, removed = facts - self._facts, self._facts - facts
        self._resident.update(added, removed)
        self._facts = (self._facts - removed) | added
        self._version = graph.version

    def close(self) -> None:
        self._resident.close()
        self._facts = set()
        self._version = 0
