"""A planner without a language model: plans by search, acts them out, and plans anew when its beliefs are not met."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from obviate.engine.loop import Context, Move, Stop
from obviate.engine.planning.domain import Domain
from obviate.engine.planning.search import Costs, Limits, Mind, Plan, search
from obviate.engine.planning.situation import Situation
from obviate.kb import DONE, Action, BeliefGraph
from obviate.kb.errors import PackError
from obviate.kb.terms import Atom

__all__ = ["SymbolicPlanner"]

_STATE = frozenset(("state", "edge"))


@dataclass
class SymbolicPlanner:
    """Plans for one task: `goal` is a program that concludes ``goal`` from beliefs, `wanted` the objects it names.

    `mind` says which rules are obligations; where it has a set of instances `told`, what the guidance tells is added.
    With `recall`, it knows at each decision only the rules that this names.
    With `strict`, it stops rather than leave an obligation. With
    `fleeting`, an action that the guard refused is tried again once something else was done.
    """

    domain: Domain
    goal: str
    wanted: frozenset[str]
    mind: Mind = field(default_factory=Mind)
    strict: bool = False
    fleeting: bool = False
    recall: Callable[[Context], frozenset[str]] | None = None
    costs: Costs = field(default_factory=Costs)
    limits: Limits = field(default_factory=Limits)
    plan: Plan | None = field(default=None, init=False)
    _next: int = field(default=0, init=False, repr=False)
    _expected: set[Atom] = field(default_factory=set, init=False, repr=False)
    _seen: frozenset[str] = field(default=frozenset(), init=False, repr=False)
    _explored: set[str] = field(default_factory=set, init=False, repr=False)
    _failed: set[Action] = field(default_factory=set, init=False, repr=False)
    _banned: frozenset[Action] = field(default=frozenset(), init=False, repr=False)
    _offered: tuple[frozenset[str], list[Action]] | None = field(default=None, init=False, repr=False)

    def act(self, context: Context) -> Move | Stop:
        """The next action of the plan, a new one where the last is not what is met."""
        self._explored |= {name for name, node in context.graph.nodes.items() if "open" in node.states}
        actual = {atom for atom in context.graph.facts() if atom.name in _STATE and atom.positive}
        self._note(context)
        self._listen(context)
        calls = 0
        if self.plan is None or not self._met(actual, context.graph) or context.banned != self._banned:
            calls, self._next, self._banned = 1, 0, context.banned
            try:
                self.plan = self._search(context)
            except PackError as error:
                if error.code != "search-timeout":
                    raise
                return Stop(f"no plan was found in {self.limits.seconds:g} s")
        plan = self.plan
        if plan is None:
            return Stop(f"no plan of at most {self.limits.steps} actions reaches the goal")
        if self.strict and plan.waived:
            return Stop(f"no safe plan: {', '.join(plan.waived)} stands against it")
        note = "" if plan.proven else "there may be a better plan"
        waived = plan.waived + (plan.advised if self.mind.heed else ())
        if self._next == len(plan.actions):
            return Move(DONE, None, waived, calls, note)
        self._seen = frozenset(context.graph.nodes)
        added, removed = plan.effects[self._next]
        self._expected = (actual - removed) | added
        action = plan.actions[self._next]
        self._next += 1
        intent = plan.actions[self._next] if self._next < len(plan.actions) else DONE
        return Move(action, intent, waived, calls, note)

    def ahead(self) -> tuple[Action, ...]:
        """What the plan holds after the last move."""
        return self.plan.actions[self._next :] if self.plan else ()

    def _met(self, actual: set[Atom], graph: BeliefGraph) -> bool:
        """Whether things are as the plan expects them: what it knew of, and what it took hidden things to be."""
        assert self.plan is not None
        revealed = set()
        for atom in self.plan.guessed:
            name = str(atom.args[0 if atom.name == "state" else 1])
            if name in graph and name not in self._seen:
                revealed.add(atom)
            elif name not in graph and atom.name == "edge" and atom.args[2] in self._explored:
                return False
        return actual == self._expected | revealed

    def _note(self, context: Context) -> None:
        """What became of the last action: one that failed is not tried again before another succeeds."""
        last = context.history[-1] if context.history else None
        if last is None or last.executed is None:
            return
        if last.failure:
            self._failed.add(last.executed)
            self.plan = None
        else:
            self._failed.clear()

    def _listen(self, context: Context) -> None:
        """Learn the rule instances that the guidance names, where no others are known, or recall rules."""
        if self.recall is not None and (known := self.recall(context)) != self.mind.known:
            self.mind = replace(self.mind, known=known)
            self.plan = None
        if self.mind.told is None:
            return
        told = {(one.trigger.rule, one.trigger.binding) for one in context.guidance}
        told |= {(record.rule, record.binding) for record in context.obligations}
        if not told <= self.mind.told:
            self.mind = replace(self.mind, told=self.mind.told | told)
            self.plan = None

    def _search(self, context: Context) -> Plan | None:
        fleeting = frozenset(self._failed) | (context.banned if self.fleeting else frozenset())
        situation = Situation(
            self.domain,
            context.graph,
            context.assignment.objects,
            self.wanted,
            context.obligations,
            frozenset(self._explored),
            frozenset() if self.fleeting else context.banned,
            fleeting,
        )
        if len(situation.names) <= self.limits.objects:
            return self._best(situation, self.limits)
        start, limits = time.monotonic(), self.limits
        plan = self._best(situation.pruned(), limits, roughly=True)
        if plan is None or plan.waived:  # something that was left out may help
            try:
                left = limits.seconds - (time.monotonic() - start)
                left = left if plan is None else min(left, limits.improving)
                other = self._best(situation.pruned(wide=True), replace(limits, seconds=left), roughly=True)
            except PackError as error:
                if error.code != "search-timeout" or plan is None:
                    raise
                return plan
            plan = min((one for one in (plan, other) if one is not None), key=_rank, default=None)
        return plan

    def _best(self, situation: Situation, limits: Limits, *, roughly: bool = False) -> Plan | None:
        return search(
            self.domain,
            self.goal,
            situation.facts(),
            self._actions(situation),
            wanted=self.wanted,
            mind=self.mind,
            costs=self.costs,
            limits=limits,
            roughly=roughly,
        )

    def _actions(self, situation: Situation) -> list[Action]:
        known = frozenset(situation.names)
        if self._offered is None or self._offered[0] != known:
            self._offered = known, self.domain.offers(situation.statics, known)
        return self._offered[1]


def _rank(plan: Plan) -> tuple[int, int]:
    return len(plan.waived), plan.cost
