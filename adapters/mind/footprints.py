"""What wrong footprints cost: reports of too much, too little, or the wrong category (MIND paper, Section VI-C)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from obviate.adapters.mind.bench import follow
from obviate.adapters.mind.benchmark import Sequence
from obviate.kb.footprint import Footprint, mislabelled, observed, over, under, whole
from obviate.kb.regions import Regions

__all__ = ["SWEEP", "Perturbed", "sweep"]

SWEEP = (
    ("as it is", 0.0),
    ("too much", 0.25),
    ("too much", 0.5),
    ("too much", 1.0),
    ("too little", 0.1),
    ("too little", 0.25),
    ("too little", 0.5),
    ("wrong category", 0.2),
    ("wrong category", 0.4),
    ("everything", 1.0),
)


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The reference policy under footprints of one `kind`: decisions that agree with full recomputation, evaluations of
    a sequence, and judgments that were used though the event had changed them.
    """

    kind: str
    rate: float
    decisions: int
    agreed: int
    mean: float
    stale: int

    def to_json(self) -> dict[str, Any]:
        """The result as JSON data."""
        return {
            "kind": self.kind,
            "rate": self.rate,
            "decisions": self.decisions,
            "agreed": self.agreed,
            "evaluations_mean": self.mean,
            "stale": self.stale,
        }


def sweep(sequences: Many[Sequence], *, seed: int) -> Iterator[Perturbed]:
    """Follow every sequence under each perturbation, the same for the same seed."""
    for kind, rate in SWEEP:
        rng = Random(f"{seed} {kind} {rate}")
        agreed = decisions = stale = 0
        costs = []
        for one in sequences:
            detect = partial(_perturbed, kind, rate, rng)
            targets, evaluations, refreshed = follow(one, "reference", detect=detect)
            agreed += sum(ours == right for ours, right in zip(targets, one.targets, strict=True))
            decisions += len(targets)
            stale += sum(len(changed - regions) for changed, regions in zip(one.changed, refreshed, strict=True))
            costs.append(evaluations)
        yield Perturbed(kind, rate, decisions, agreed, statistics.fmean(costs) if costs else 0.0, stale)


def _perturbed(kind: str, rate: float, rng: Random, before: Regions, after: Regions) -> Footprint:
    report, regions = observed(before, after), after.names()
    match kind:
        case "too much":
            return over(report, regions, rate, rng)
        case "too little":
            return under(report, regions, rate, rng)
        case "wrong category":
            return mislabelled(report, regions, rate, rng)
        case "everything":
            return whole(regions)
    return report
