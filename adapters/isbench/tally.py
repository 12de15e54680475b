"""Adding episodes up: the rows of the policy table, and how safe success falls with noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from obviate.adapters.isbench.pursuit import Episode

__all__ = ["Tally", "tallies"]


@dataclass(frozen=True, slots=True)
class Tally:
    """All episodes of one policy at one rate of noise."""

    policy: str
    noise: str
    episodes: tuple[Episode, ...]

    @property
    def missed(self) -> float:
        """The rate of missed states."""
        return float(self.noise.split(":")[0])

    def count(self, name: str) -> int:
        """In how many episodes something is so, or is not empty."""
        return sum(bool(getattr(one, name)) for one in self.episodes)

    def goals(self, name: str) -> tuple[int, int]:
        """Satisfied and triggered safety goals, ``pre`` or ``post``."""
        pairs = [getattr(one, name) for one in self.episodes]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def mean(self, name: str) -> float:
        """The mean of a number over the episodes."""
        return float(sum(getattr(one, name) for one in self.episodes)) / max(1, len(self.episodes))

    @property
    def verdicts(self) -> Counter[str]:
        """How the episodes ended."""
        return Counter(one.verdict for one in self.episodes)

    @property
    def waived(self) -> dict[str, list[str]]:
        """The waived rule instances by task."""
        return {one.task: list(one.waived) for one in self.episodes if one.waived}

    def milliseconds(self, part: float, *, fresh: bool) -> float:
        """The quantile `part` of the time of decisions, or of the `fresh` ones alone, which planned."""
        times = sorted(t for one in self.episodes for t in (one.fresh if fresh else (*one.fresh, *one.kept)))
        return 1_000 * times[min(len(times) - 1, int(part * len(times)))] if times else 0.0

    def to_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            "tasks": len(self.episodes),
            "ts": self.count("ts"),
            "ss": self.count("ss"),
            **{name: dict(zip(("satisfied", "triggered"), self.goals(name), strict=True)) for name in ("pre", "post")},
            "steps": round(self.mean("steps"), 3),
            "triggers": round(self.mean("triggers"), 3),
            "planner_calls": round(self.mean("calls"), 3),
            "waived": self.waived,
            "situational_failures": self.count("situational"),
            "temporal_failures": self.count("temporal"),
            "verdicts": dict(self.verdicts),
            "decision_ms": {"p50": round(self.milliseconds(0.5, fresh=False), 2)},
            "plan_ms": {
                name: round(self.milliseconds(part, fresh=True), 1)
                for name, part in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
            },
        }


def tallies(episodes: Iterable[Episode], policies: Sequence[str], noises: Sequence[str]) -> list[Tally]:
    """A tally for each policy and noise, in this order, its episodes by task."""
    found: dict[tuple[str, str], list[Episode]] = {(policy, noise): [] for policy in policies for noise in noises}
    for one in episodes:
        found[one.policy, one.noise].append(one)
    return [Tally(*key, tuple(sorted(some, key=lambda one: one.task))) for key, some in found.items()]
