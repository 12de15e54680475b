"""The oracle: every conclusion from scratch, from the whole pack and every fact. Slow on purpose."""

from __future__ import annotations

from obviate.engine.backend import KERNEL, OUTPUTS, Conclusions, Query
from obviate.kb import BeliefGraph, Pack, asp

__all__ = ["OneShot"]


class OneShot:
    """One new Control for each question."""

    name = "oneshot"

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        facts = [*graph.facts(), *query.facts(), *self._pack.frame]
        return Conclusions.of(asp.evaluate([self._pack.program.text, KERNEL], facts, OUTPUTS, self._pack.consts))

    def close(self) -> None:
        """Nothing is held."""
