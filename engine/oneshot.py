"""The oracle: every conclusion from scratch, from the whole pack and every fact. Slow on purpose."""

from __future__ import annotations

from obviate.engine.backend import KERNEL, OUTPUTS, Capability, Conclusions, Query
from obviate.kb import BeliefGraph, Pack, asp

__all__ = ["OneShot"]


class OneShot:
    """One new Control for each question."""

    name = "oneshot"

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._names: set[str] = set()

    def capabilities(self) -> tuple[Capability, ...]:
        return tuple(Capability(rule, self.name, "from scratch at each question") for rule in self._pack.rules)

    @property
    def symbols(self) -> int:
        return len(self._names)

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        self._names.update(graph.nodes)
        facts = [*graph.facts(), *query.facts(), *self._pack.frame]
        found = asp.evaluate([self._pack.program.text, KERNEL], facts, OUTPUTS, self._pack.consts)
        return Conclusions.of(found, query.standing)

    def close(self) -> None:
        """Nothing is held."""
