"""What the engine reports: triggers, verification records, and what changed (paper, Appendix 0.A.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from obviate.kb import Action, BeliefGraph

__all__ = ["Change", "Memory", "Moment", "Record", "Trigger"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule whose hazard holds for some objects and, if it is situational, whose intent is imminent.

    `principle` is the rule in words, `source` where it is written, as ``file:line``.
    """

    rule: str
    binding: tuple[str, ...]
    mode: str
    principle: str
    advisory: bool
    source: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.rule}({', '.join(self.binding)})"

    def to_json(self) -> dict[str, Any]:
        """The rule and its objects as JSON data."""
        return {"rule": self.rule, "binding": list(self.binding)}


@dataclass(frozen=True, slots=True)
class Record:
    """A verification record. Its identity is (`rule`, `binding`, `t_on`); one is open per rule and binding.

    `t_on` is the step of the trigger; `t_off` the first later step whose graph satisfies the verification
    target, so only a passed record has one; `settled` the step at which the verdict fell. `verdict` is pending,
    passed or failed. `reason` of a failure: ``executed`` (the risky action), ``deadline`` (its number of actions is
    over), ``unresolved`` (at the end of the episode), ``abandoned`` (the intent of a situational rule was given up:
    counted apart, it feeds no experience), or what `Engine.finish` was told.
    """

    rule: str
    binding: tuple[str, ...]
    t_on: int
    verdict: str = "pending"
    t_off: int | None = None
    settled: int | None = None
    reason: str = ""
    mode: str = field(default="", compare=False)
    principle: str = field(default="", compare=False)
    advisory: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.rule}({', '.join(self.binding)})"

    @property
    def counts(self) -> bool:
        """Whether this is a failure to count: neither advisory nor abandoned."""
        given_up = self.mode == "situational" and self.reason == "abandoned"
        return self.verdict == "failed" and not self.advisory and not given_up

    def to_json(self) -> dict[str, Any]:
        """The record as JSON data, without what its rule says."""
        data: dict[str, Any] = {"rule": self.rule, "binding": list(self.binding), "t_on": self.t_on}
        data["verdict"] = self.verdict
        for key in ("t_off", "settled"):
            if getattr(self, key) is not None:
                data[key] = getattr(self, key)
        return {**data, "reason": self.reason} if self.reason else data


@dataclass(frozen=True, slots=True)
class Moment:
    """Step t of an episode: the belief graph G_t and the action a_t executed on it, if any."""

    step: int
    graph: BeliefGraph
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What an engine holds: the objects believed in, open and settled records, and steps whose graphs are kept.

    `symbols` are the names of objects that clingo was given since the engine was made: it never frees a name, and two
    engines may share some. Slices have a few dozen, whatever comes and goes.
    """

    objects: int
    open: int
    settled: int
    steps: int
    symbols: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a verb changed: triggers that appeared and vanished, records opened, passed and failed, and the
    `risks`, which is what the present intent would make fail if it were executed now.
    """

    step: int
    appeared: tuple[Trigger, ...] = ()
    vanished: tuple[Trigger, ...] = ()
    opened: tuple[Record, ...] = ()
    passed: tuple[Record, ...] = ()
    failed: tuple[Record, ...] = ()
    risks: tuple[Trigger, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The change as JSON data, without the parts that are empty."""
        parts = ("appeared", "vanished", "opened", "passed", "failed", "risks")
        lists = {part: [item.to_json() for item in getattr(self, part)] for part in parts}
        return {"step": self.step, **{part: items for part, items in lists.items() if items}}
