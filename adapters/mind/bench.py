"""Running maintenance policies on the dependency benchmark: the paper's Table I, and ours beside it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from obviate.adapters.mind.benchmark import Sequence
from obviate.engine.evaluator import Exact
from obviate.engine.maintainer import Maintainer
from obviate.engine.selector import preference
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

# So often the paper's event-wise decider leaves out a semantic dependency, or adds one (Section VI-A: 184 and 165 of
# 1,200 decisions, of which about half have one).
_OMITS, _ADDS = 0.30, 0.28

__all__ = ["PAPER", "ROWS", "UNSOUND", "Row", "by_rooms", "floor", "follow", "run"]

PAPER = ("full", "static", "universal", "merged", "reference")  # the rows of Table I that need no language model
UNSOUND = ("static", "eventwise")  # what does not claim to preserve decisions
ROWS = (*PAPER, "widened", "eventwise", "exact", "addressed", "lazy", "polar", "ours")


@dataclass(frozen=True, slots=True)
class Row:
    """How a policy did: decisions after events, how many of them agree with full recomputation, episodes whose
    every decision is the reference's, evaluations of each sequence, and how well it told what became invalid.
    """

    policy: str
    decisions: int
    agreed: int
    episodes: int
    right: int
    evaluations: tuple[int, ...]
    invalidated: tuple[int, int]  # of the verdicts that changed, those refreshed
    refreshed: tuple[int, int]  # of the regions refreshed after events, those whose verdict changed

    @property
    def mean(self) -> float:
        return statistics.fmean(self.evaluations) if self.evaluations else 0.0

    @property
    def deviation(self) -> float:
        return statistics.stdev(self.evaluations) if len(self.evaluations) > 1 else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the episode accuracy."""
        return _wilson(self.right, self.episodes)

    def to_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        low, high = self.interval
        return {
            "decisions": self.decisions,
            "agreed": self.agreed,
            "episode_accuracy": _rate(self.right, self.episodes),
            "episode_accuracy_interval": [low, high],
            "evaluations_mean": self.mean,
            "evaluations_sd": self.deviation,
            "invalidation_recall": _rate(*self.invalidated),
            "invalidation_precision": _rate(*self.refreshed),
        }


def run(
    sequences: Many[Sequence], policies: Iterable[str], *, progress: Callable[[], None] = lambda: None
) -> dict[str, Row]:
    """Follow every sequence with every policy. `progress` is told of each sequence of each policy."""
    full = {id(one): follow(one, "full")[0] for one in sequences}
    rows = {}
    for policy in policies:
        found = []
        for one in sequences:
            found.append(follow(one, policy))
            progress()
        rows[policy] = _row(policy, sequences, found, full)
    return rows


def floor(sequences: Many[Sequence]) -> float:
    """The distinct questions of a sequence, on average, that any policy must have answered: for each decision those of
    the target and of every region that would be chosen before it.
    """
    counts = []
    for one in sequences:
        instruction = _instruction(one.instruction)
        needed: set[Question] = set()
        for state in one.states():
            ranks = preference(instruction, state)
            for region in sorted(state.reachable(), key=lambda region: (ranks.get(region, 0), region)):
                question = Question.of(instruction.name, state, region, instruction.inferred.semantic)
                needed.add(question)
                if _ONCE.of(instruction).judge([question])[0]:
                    break
        counts.append(len(needed))
    return statistics.fmean(counts) if counts else 0.0


Followed = tuple[tuple[str | None, ...], int, tuple[frozenset[str], ...]]  # targets, evaluations, regions refreshed


def follow(
    one: Sequence,
    policy: str,
    *,
    detect: Callable[[Regions, Regions], Footprint] | None = None,
) -> Followed:
    """Follow a sequence with a policy. `detect` tells a footprint from the states before and after an event."""
    instruction = _instruction(one.instruction)
    decider = _Decider(Random(f"{one.house} {one.request} {one.events}")) if policy == "eventwise" else None
    maintainer = Maintainer(instruction, evaluator=_ONCE.of(instruction), policy=policy, relevance=decider)
    maintainer.initialize(one.start)
    decisions = []
    for event in one.events:
        report = detect(maintainer.state, maintainer.state.apply(event)) if detect is not None else None
        decisions.append(maintainer.update(event, footprint=report))
    refreshed = tuple(frozenset(decision.refreshed) for decision in decisions)
    return tuple(decision.target for decision in decisions), decisions[-1].total, refreshed


@dataclass(frozen=True, slots=True)
class _Decider:
    """A simulated language model that is asked at each event whether it matters, as often wrong as the paper's."""

    chance: Random

    def __call__(self, instruction: Instruction, event: Event) -> str:
        semantic = event.category in instruction.inferred.semantic
        wrong = self.chance.random() < (_OMITS if semantic else _ADDS)
        return "semantic" if semantic != wrong else "selection"


@lru_cache(maxsize=64)
def _instruction(text: str) -> Instruction:
    return Instruction.of(text)


class _Once:
    """The exact evaluators of instructions; each question is worked out once for all policies."""

    def __init__(self) -> None:
        self._known: dict[Question, bool] = {}
        self._exact: dict[str, _Remembered] = {}

    def of(self, instruction: Instruction) -> _Remembered:
        return self._exact.setdefault(instruction.name, _Remembered(Exact(instruction), self._known))


@dataclass(frozen=True, slots=True)
class _Remembered:
    program: Exact
    known: dict[Question, bool]
    exact: bool = True

    def judge(self, questions: Many[Question]) -> Many[bool]:
        new = [question for question in dict.fromkeys(questions) if question not in self.known]
        self.known.update(zip(new, self.program.judge(new), strict=True))
        return [self.known[question] for question in questions]


_ONCE = _Once()


def _row(
    policy: str, sequences: Many[Sequence], found: Many[Followed], full: Mapping[int, tuple[str | None, ...]]
) -> Row:
    pairs = list(zip(sequences, found, strict=True))
    kept = [(one, i, regions) for one, (_, _, refreshed) in pairs for i, regions in enumerate(refreshed)]
    changed = sum(len(one.changed[i]) for one, i, _ in kept)
    both = sum(len(one.changed[i] & regions) for one, i, regions in kept)
    return Row(
        policy=policy,
        decisions=sum(len(one.events) for one in sequences),
        agreed=sum(a == b for one, (targets, _, _) in pairs for a, b in zip(targets, full[id(one)], strict=True)),
        episodes=len(sequences),
        right=sum(targets == one.targets for one, (targets, _, _) in pairs),
        evaluations=tuple(evaluations for _, evaluations, _ in found),
        invalidated=(both, changed),
        refreshed=(both, sum(len(regions) for _, _, regions in kept)),
    )


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _wilson(right: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    if not total:
        return 0.0, 1.0
    rate, square = right / total, z * z
    centre = (rate + square / (2 * total)) / (1 + square / total)
    half = z / (1 + square / total) * (rate * (1 - rate) / total + square / (4 * total * total)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def by_rooms(sequences: Iterable[Sequence], row: Row) -> list[tuple[float, float]]:
    """The mean evaluations of a sequence for each number of rooms. `row` is of the same sequences in that order."""
    costs: dict[int, list[int]] = {}
    for one, evaluations in zip(sequences, row.evaluations, strict=True):
        costs.setdefault(len(one.start), []).append(evaluations)
    return [(rooms, statistics.fmean(found)) for rooms, found in sorted(costs.items())]
