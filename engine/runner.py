"""Turning the wheel of the just-in-time loop (paper, Section 4.1): decide, look ahead, act, perceive, verify.

Planners are strangers: one that hangs, raises, or names what there is not ends its own run, with that verdict.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from obviate.engine.description import described
from obviate.engine.engine import Engine
from obviate.engine.loop import (
    Assignment,
    Context,
    Environment,
    Focus,
    Guard,
    Guidance,
    Move,
    Perception,
    Planner,
    Run,
    Stop,
    Turn,
    Verdict,
)
from obviate.engine.record import Trigger
from obviate.kb import DONE, Action
from obviate.kb.errors import ActionError, ObviateError

__all__ = ["Bounds", "run"]

Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a run may be: actions executed, ``done`` included; decisions, refused ones included, 0 for four times as
    many; seconds for one decision, and hops of the focus.
    """

    steps: int = 50
    decisions: int = 0
    seconds: float = 60.0
    hops: int = 1


def run(
    planner: Planner,
    environment: Environment[Seen],
    perception: Perception[Seen],
    engine: Engine,
    assignment: Assignment,
    *,
    guard: Guard | None = None,
    bounds: Bounds | None = None,
) -> Run:
    """One episode, from what the engine believes before the first decision. It is left finished, and not closed."""
    loop = _Loop(planner, environment, perception, engine, assignment, guard or Guard(), bounds or Bounds())
    verdict, detail = loop.whole()
    if not engine.ended:
        engine.finish(verdict)
    return Run(
        assignment,
        verdict,
        tuple(loop.turns),
        engine.records(),
        engine.history(),
        detail,
        tuple(pack.digest for pack in engine.packs),
    )


class _Ended(Exception):  # noqa: N818 - the end of a run is no error
    def __init__(self, verdict: Verdict, detail: str = "") -> None:
        super().__init__(verdict)
        self.verdict = verdict
        self.detail = detail


@dataclass
class _Loop(Generic[Seen]):
    planner: Planner
    environment: Environment[Seen]
    perception: Perception[Seen]
    engine: Engine
    assignment: Assignment
    guard: Guard
    bounds: Bounds
    turns: list[Turn] = field(default_factory=list, init=False)
    _banned: set[Action] = field(default_factory=set, init=False)
    _intent: Action | None = field(default=None, init=False)
    _feedback: str = field(default="", init=False)
    _warned: tuple[Guidance, ...] = field(default=(), init=False)

    def whole(self) -> tuple[Verdict, str]:
        """All turns; the verdict, and more about it."""
        executed, most = 0, self.bounds.decisions or 4 * self.bounds.steps
        try:
            while executed < self.bounds.steps and len(self.turns) < most:
                turn = self._turn()
                if turn.executed == DONE:
                    return "done", ""
                executed += turn.executed is not None
        except _Ended as end:
            return end.verdict, end.detail
        return "out of steps", f"{executed} actions executed, {len(self.turns)} decisions"

    def _turn(self) -> Turn:
        told = self._guidance()
        move, seconds = self._decide(told)
        action = self._known(move.action)
        risks = self.engine.probe(action)
        for _ in range(self.guard.asks if self.guard.mode == "just-in-time" else 0):
            if all(risk in {one.trigger for one in told} for risk in risks if not risk.advisory):
                break
            self.turns.append(Turn(len(self.turns), move, told, risks, seconds=seconds))
            told = tuple(self._explained(risk, action) for risk in risks)
            move, seconds = self._decide(told)
            action = self._known(move.action)
            risks = self.engine.probe(action)
        turn = Turn(len(self.turns), move, told, risks, seconds=seconds)
        if self._refuses(action, risks):
            return self._refuse(turn)
        turn = self._execute(turn, action)
        self.turns.append(turn)
        return turn

    # -- deciding ------------------------------------------------------------------------------

    def _guidance(self) -> tuple[Guidance, ...]:
        """What the planner is told: what its intent triggers, by the guard that tells."""
        if self.guard.mode == "warn":
            return self._warned
        if self.guard.mode != "just-in-time" or self._intent is None:
            return ()
        return tuple(self._explained(risk, self._intent) for risk in self.engine.probe(self._intent))

    def _decide(self, told: tuple[Guidance, ...]) -> tuple[Move, float]:
        tells = self.guard.mode in ("just-in-time", "warn")
        context = Context(
            self.assignment,
            self.engine.graph,
            len(self.turns),
            self._intent,
            told,
            self.engine.obligations() if tells else (),
            self._feedback,
            frozenset(self._banned),
            tuple(self.turns),
        )
        start = time.perf_counter()
        answer = _answer(lambda: self.planner.act(context), self.bounds.seconds)
        seconds = time.perf_counter() - start
        if isinstance(answer, Stop):
            raise _Ended("gave up", answer.reason)
        if not isinstance(answer, Move) or not _formed(answer.action) or not _formed(answer.intent or DONE):
            raise _Ended("no move", f"the planner answered {answer!r:.200}")
        return answer, seconds

    def _known(self, action: Action) -> Action:
        """The action in the vocabulary's form. Ends the run if skill or object is not known."""
        graph = self.engine.graph
        try:
            return graph.vocabulary.check_action(action, graph.nodes)
        except ActionError as error:
            unseen = error.code == "unknown-object"
            raise _Ended("unknown object" if unseen else "unknown skill", error.message) from None

    def _explained(self, risk: Trigger, action: Action | None) -> Guidance:
        return Guidance(risk, action, self._target(risk), self.engine.support(risk))

    def _target(self, risk: Trigger) -> str:
        """What resolves a rule, in words."""
        told = described(risk.rule, self.engine.packs)
        if told is None:
            return ""
        ways = [" and ".join(clause.conditions) for clause in told.target]
        names = ", ".join(f"{v} is {o}" for (v, _), o in zip(told.variables, risk.binding, strict=False))
        return f"{'; or '.join(ways)} ({names})" if ways else "the hazard no longer holds"

    # -- acting --------------------------------------------------------------------------------

    def _refuses(self, action: Action, risks: tuple[Trigger, ...]) -> bool:
        """Whether the guard refuses the action. Nothing is refused for ``done``, which does nothing."""
        if self.guard.mode != "block" or action == DONE:
            return False
        return action in self._banned or any(not risk.advisory for risk in risks)

    def _refuse(self, turn: Turn) -> Turn:
        turn = replace(turn, failure="refused")
        self.turns.append(turn)
        if self.guard.ban == "stop":
            raise _Ended("refused", f"{turn.move.action} was refused")
        self._banned.add(turn.move.action)
        self._feedback, self._intent = f"{turn.move.action} was refused", None
        return turn

    def _execute(self, turn: Turn, action: Action) -> Turn:
        engine = self.engine
        announced = engine.intend(action)
        judged = engine.execute(action)
        turn = replace(turn, executed=action, announced=announced, judged=judged)
        failure = self.environment.step(action)
        if self.guard.mode == "block" and self.guard.ban == "action":
            self._banned.clear()
        self._warned = tuple(self._explained(risk, action) for risk in turn.risks) if self.guard.mode == "warn" else ()
        if action == DONE:
            return replace(turn, failure=failure)
        intent = turn.move.intent
        self._feedback = f"{action} failed: {failure}" if failure else ""
        patch, blind = None, ""
        try:
            patch = self.perception.patch(
                self.environment.look(), Focus(engine.graph, action, self._possible(intent), self.bounds.hops)
            )
            observed = engine.apply(patch)
        except ObviateError as error:
            observed, blind, patch = None, str(error), None
        self._intent = self._possible(intent)  # only now: the action may have brought its objects to light
        return replace(turn, failure=failure, patch=patch, observed=observed, blind=blind)

    def _possible(self, intent: Action | None) -> Action | None:
        """The intent in the vocabulary's form, if there is one and its objects are known by now."""
        graph = self.engine.graph
        if intent is None:
            return None
        try:
            return graph.vocabulary.check_action(intent, graph.nodes)
        except ActionError:
            return None


def _formed(action: object) -> bool:
    """Whether this is an action, all of it: a stranger made it."""
    if not isinstance(action, Action) or not isinstance(action.skill, str) or not isinstance(action.args, tuple):
        return False
    return all(isinstance(name, str) for name in action.args)


def _answer(ask: Callable[[], object], seconds: float) -> object:
    """The planner's answer, in a thread of its own: one that hangs is left behind."""
    found: list[object] = []
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            found.append(ask())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if wrong:
        raise _Ended("raised", f"{type(wrong[0]).__name__}: {wrong[0]}")
    if not found:
        raise _Ended("hung", f"no decision in {seconds:g} s")
    return found[0]
