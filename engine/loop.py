"""The just-in-time loop: who plans, who perceives, what acts, and what one pass leaves behind (paper, Section 4.1).

Everything here is plain data or a protocol: whatever has the methods takes part, nothing is subclassed. `runner.run`
turns the wheel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

from obviate.engine.record import Change, Moment, Record, Trigger
from obviate.kb import Action, BeliefGraph, Patch

__all__ = [
    "Assignment",
    "Context",
    "Environment",
    "Focus",
    "Guard",
    "Guidance",
    "Move",
    "Perception",
    "Planner",
    "Run",
    "Stop",
    "Turn",
    "Verdict",
]

Seen = TypeVar("Seen")
SeenBy = TypeVar("SeenBy", contravariant=True)
SeenIn = TypeVar("SeenIn", covariant=True)

Verdict = Literal[
    "done", "gave up", "refused", "out of steps", "unknown skill", "unknown object", "no move", "raised", "hung"
]
"""How a run ended: the planner said ``done``; stopped of its own accord; was refused and the guard ends that; was still
acting at the last step; named a skill, or an object, that is not known; answered with something that is no move; raised
an exception; did not answer in its time."""

Mode = Literal["none", "block", "warn", "just-in-time"]
Ban = Literal["episode", "action", "stop"]


# -- the task, and the two who can be anyone ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the agent is told beforehand: the instruction in words, and the objects that there are.

    `objects` maps ids to kinds such as ``plate.n.04``. One that is not in the belief graph has not been seen yet.
    """

    text: str
    objects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guidance:
    """A rule that an intended action triggers: what it forbids and what must be so before (paper, Section 4.3).

    `action` is the intent; None where an obligation is open whatever is intended. `trigger` names the rule, its
    objects and its principle; `target` is what resolves it, in words; `grounds` are the beliefs that it stands on.
    """

    trigger: Trigger
    action: Action | None
    target: str
    grounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A decision: the action to execute now, and the one that is meant to follow (a_t and the one-step intent).

    `waived` are the rule instances that the planner knowingly leaves, such as ``floor_clear(mop, floor)``; `calls`
    counts the searches or model calls that the decision took, 0 where a plan was kept. `note` is for people.
    """

    action: Action
    intent: Action | None = None
    waived: tuple[str, ...] = ()
    calls: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """The decision not to go on, and why: for instance the rule that stands against every plan."""

    reason: str
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Context:
    """All that a planner is given for one decision.

    `graph` is the belief graph G_t and `step` the number of the decision, from 0. `intent` is what the planner said it
    would do now. `guidance` are the rules that this triggers or, if the planner is asked again about an action, those
    that the action triggers; empty unless the guard tells. `obligations` are the open records, and are
    told likewise. `feedback` is why the last action failed or was refused, in words, or empty. `banned` are the actions
    that the guard will refuse. `history` are the turns so far.
    """

    assignment: Assignment
    graph: BeliefGraph
    step: int = 0
    intent: Action | None = None
    guidance: tuple[Guidance, ...] = ()
    obligations: tuple[Record, ...] = ()
    feedback: str = ""
    banned: frozenset[Action] = frozenset()
    history: tuple[Turn, ...] = ()


class Planner(Protocol):
    """Decides. One planner serves one episode; it may keep what it likes between decisions."""

    def act(self, context: Context, /) -> Move | Stop:
        """The next action, with the intent after it; ``done`` ends the task."""


@dataclass(frozen=True)
class Focus:
    """Where changes are expected: within `hops` relations of what the last action and the intent are about."""

    graph: BeliefGraph
    action: Action | None = None
    intent: Action | None = None
    hops: int = 1

    @cached_property
    def local(self) -> BeliefGraph:
        """The subgraph F_{t+1} = Hop_k(S; G_t)."""
        seeds = [name for action in (self.action, self.intent) if action for name in action.args]
        return self.graph.neighbourhood(seeds, self.hops)


class Perception(Protocol[SeenBy]):
    """Turns what is observed into what changes in the belief graph (paper, equation 4)."""

    def patch(self, observation: SeenBy, focus: Focus, /) -> Patch:
        """The changes near the focus. An `ObviateError` leaves the beliefs as they are, and is noted in the turn."""


class Environment(Protocol[SeenIn]):
    """Where actions happen: a simulator, a robot, a world of our own."""

    def step(self, action: Action, /) -> str:
        """Do an action, ``done`` too; why it failed and changed nothing, or an empty text."""

    def look(self) -> SeenIn:
        """What can be observed now."""


# -- what is done about a triggered action -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """How a triggered action is dealt with. Advisory rules are told, and never refuse anything.

    - ``none``: it is executed, and nobody is told.
    - ``block``: it is refused, without a hint. By `ban` it stays so for the ``episode``, until some ``action`` has been
      executed, or the run ends (``stop``).
    - ``warn``: it is executed, and what it triggered is the guidance of the next decision.
    - ``just-in-time``: the rules that the intent triggers are the guidance of the decision about it, and open
      obligations are told. A planner whose action triggers what it was not told is asked again, `asks` times; then the
      action is executed.
    """

    mode: Mode = "just-in-time"
    ban: Ban = "episode"
    asks: int = 1


# -- what one pass leaves behind -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """One decision and what came of it. Without an action in `executed`, it was refused or was to be thought over.

    `guidance` is what the planner was told, `risks` what its action triggers by the engine's probe; `failure` why the
    action failed in the environment. `announced`, `judged` and `observed` are what the engine concluded of the intent,
    the execution and the new observation; `patch` is that observation, `blind` why there is none. `seconds` is the time
    that the decision took.
    """

    step: int
    move: Move
    guidance: tuple[Guidance, ...] = ()
    risks: tuple[Trigger, ...] = ()
    executed: Action | None = None
    failure: str = ""
    announced: Change | None = field(default=None, repr=False)
    judged: Change | None = field(default=None, repr=False)
    observed: Change | None = field(default=None, repr=False)
    patch: Patch | None = field(default=None, repr=False)
    blind: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The turn as JSON data, without the parts that are empty."""
        move = self.move
        data: dict[str, Any] = {
            "step": self.step,
            "action": str(move.action),
            "intent": str(move.intent) if move.intent else "",
            "executed": self.executed is not None,
            "guidance": [str(one.trigger) for one in self.guidance],
            "risks": [str(one) for one in self.risks],
            "waived": list(move.waived),
            "calls": move.calls,
            "failure": self.failure,
            "blind": self.blind,
            "note": move.note,
        }
        return {key: value for key, value in data.items() if value not in ("", [])}


@dataclass(frozen=True, slots=True)
class Run:
    """A whole pass, for verification and for the experience memory.

    `records` are the verification records, settled and with their verdicts; `moments` the graphs and actions that their
    causal windows are cut from (paper, Appendix 0.A.3). `detail` says more about the verdict. `packs` are the digests
    of the rules that it was judged by.
    """

    assignment: Assignment
    verdict: Verdict
    turns: tuple[Turn, ...]
    records: tuple[Record, ...]
    moments: tuple[Moment, ...] = field(repr=False)
    detail: str = ""
    packs: tuple[str, ...] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was executed, ``done`` included."""
        return tuple(turn.executed for turn in self.turns if turn.executed is not None)

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """What was triggered on the way: by an intent, by an action, or by a state; each once."""
        found = [one.trigger for turn in self.turns for one in turn.guidance]
        found += [one for turn in self.turns for one in turn.risks]
        changes = (c for turn in self.turns for c in (turn.announced, turn.judged, turn.observed) if c is not None)
        found += [one for change in changes for one in change.appeared]
        return tuple(dict.fromkeys(found))

    @property
    def waived(self) -> tuple[str, ...]:
        """The rule instances that the planner knowingly left at its last decision."""
        return self.turns[-1].move.waived if self.turns else ()

    def window(self, record: Record) -> tuple[Moment, ...]:
        """The minimal causal window {(a_t, G_t)} of a record (paper, equation 10), as far as it is in memory."""
        last = record.settled if record.settled is not None else self.moments[-1].step if self.moments else 0
        return tuple(moment for moment in self.moments if record.t_on <= moment.step <= last)

    def to_json(self) -> dict[str, Any]:
        """The run as JSON data: verdict, turns and records."""
        return {
            "task": self.assignment.text,
            "verdict": self.verdict,
            **({"detail": self.detail} if self.detail else {}),
            "packs": list(self.packs),
            "turns": [turn.to_json() for turn in self.turns],
            "records": [record.to_json() for record in self.records],
        }
