"""Proofs about the maintenance of standing instructions, and what stands against them: stories that are replayed."""

from obviate.engine.proofs.equivalence import (
    CONDITIONS,
    CUTOFF,
    HYPOTHESES,
    Bounds,
    Result,
    choose,
    counterexample,
    induct,
    ours,
    prove,
    tales,
)
from obviate.engine.proofs.reads import Reading, Witness, readings, stale_target, true_signature
from obviate.engine.proofs.replay import confirm, replay
from obviate.engine.proofs.story import Story

__all__ = [
    "CONDITIONS",
    "CUTOFF",
    "HYPOTHESES",
    "Bounds",
    "Reading",
    "Result",
    "Story",
    "Witness",
    "choose",
    "confirm",
    "counterexample",
    "induct",
    "ours",
    "prove",
    "readings",
    "replay",
    "stale_target",
    "tales",
    "true_signature",
]
