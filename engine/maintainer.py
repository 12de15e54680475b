"""Keeping the target of a standing instruction up to date, event by event (MIND paper, Section IV).

The equations are in ``kb/kernel/maintenance.lp``; this module carries them out on one state at a time, and a test
holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from obviate.engine.evaluator import Evaluator, Exact
from obviate.engine.policy import Policy, policy
from obviate.engine.selector import grows, preference
from obviate.kb.errors import LifecycleError
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint, observed
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

__all__ = ["Decision", "Maintainer"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The target after a step, None where nothing is feasible.

    `refreshed` are the regions judged again, `stale` those that the event made stale, each with the categories why.
    `evaluations` were asked for in this step, `total` since the beginning, equation (6). It is not `certain` where
    the evaluator failed for a region that could be the target.
    """

    step: int
    target: str | None
    refreshed: tuple[str, ...]
    stale: Mapping[str, frozenset[str]]
    evaluations: int
    total: int
    certain: bool = True


@dataclass(frozen=True, slots=True)
class _Verdict:
    question: Question
    holds: bool


class Maintainer:
    """Follows one instruction on one building.

    `evaluator` judges regions; by default the instruction's own program does. `policy` is a name in
    `policy.POLICIES`, or a `Policy`. Not thread-safe; several are independent.
    """

    def __init__(
        self, instruction: Instruction, *, evaluator: Evaluator | None = None, policy: Policy | str = "ours"
    ) -> None:
        if evaluator is None and instruction.judged:
            raise LifecycleError(
                "no-evaluator", f"{instruction.name} is judged, and nobody judges", help="pass evaluator=Judge(...)"
            )
        self._instruction = instruction
        self._evaluator = evaluator or Exact(instruction)
        self._policy = _policy(policy)
        self._signature = self._policy.signature_of(instruction)
        self._told = instruction.inferred.semantic
        self._grows = self._policy.polar and not instruction.judged and grows(instruction)
        self._state: Regions | None = None
        self._step = 0
        self._total = 0
        self._verdicts: dict[str, _Verdict] = {}
        self._stale: set[str] = set()
        self._memory: dict[Question, bool] = {}
        self._target: str | None = None
        self._certain = True

    @property
    def state(self) -> Regions:
        """The building as it is believed to be. Raises `LifecycleError` before `initialize`."""
        if self._state is None:
            raise LifecycleError("not-initialized", "there is no building yet", help="call initialize(world) first")
        return self._state

    def initialize(self, world: Regions) -> Decision:
        """Begin on a building: every region is judged, unless the policy is lazy."""
        self._state = world
        self._step = self._total = 0
        self._verdicts, self._memory = {}, {}
        self._stale = set(world.names())
        return self._decide({}, reselect=True)

    def update(self, event: Event, *, footprint: Footprint | None = None) -> Decision:
        """Take an event. `footprint` is what a detector reports of it; by default what the two states differ in.

        Raises `PatchError` for an event that the building does not allow; then nothing has changed.
        """
        before = self.state
        after = before.apply(event)
        return self.observe(after, footprint=footprint)

    def observe(self, world: Regions, *, footprint: Footprint | None = None) -> Decision:
        """Take the building as it is now, however it came to be so."""
        before = self.state
        report = observed(before, world) if footprint is None else footprint
        self._state = world
        self._step += 1
        stale = self._made_stale(report, before, world)
        self._stale |= stale.keys()
        matters = {"position", "topology", *self._signature.semantic, *self._signature.selection}
        reselect = bool(stale) or bool(report.categories & matters)
        return self._decide(stale, reselect=reselect or self._policy.everything or not self._certain)

    def _made_stale(self, report: Footprint, before: Regions, after: Regions) -> dict[str, frozenset[str]]:
        """Equation (11), and what polarity spares."""
        if self._policy.everything:
            return dict.fromkeys(sorted(after.names()), report.categories)
        found: dict[str, set[str]] = {}
        for category, regions in report.pairs:
            for region in regions if category in self._signature.semantic else ():
                found.setdefault(region, set()).add(category)
        spared = {r for r, why in found.items() if why == {"inventory"} and self._spared(r, before, after)}
        return {r: frozenset(found[r]) for r in sorted(found) if r in after and r not in spared}

    def _spared(self, region: str, before: Regions, after: Regions) -> bool:
        """Whether contents only grew where the answer is yes, or only shrank where it is no."""
        known = self._verdicts.get(region)
        if not self._grows or known is None or region in self._stale:
            return False
        old, new = before.inventories[region], after.inventories[region]
        less, more = (old, new) if known.holds else (new, old)
        return all(more.get(kind, 0) >= count for kind, count in less.items())

    # -- judging ----------------------------------------------------------------------------------

    def _decide(self, why: Mapping[str, frozenset[str]], *, reselect: bool) -> Decision:
        asked: list[str] = []
        if self._policy.lazy:
            if reselect:
                self._target, self._certain = self._first(asked)
        else:
            self._refresh(sorted(self._stale), asked)  # what failed before is tried again
            if reselect:
                self._target, self._certain = self._chosen()
        self._total += len(asked)
        return Decision(self._step, self._target, tuple(asked), dict(why), len(asked), self._total, self._certain)

    def _first(self, asked: list[str]) -> tuple[str | None, bool]:
        """The first region in the selector's order that qualifies; the rest need not be judged."""
        certain = True
        for region in self._order(self.state.reachable()):
            if region in self._stale:
                self._refresh([region], asked)
            if region in self._stale:
                certain = False  # it could be the target
            elif self._verdicts[region].holds:
                return region, certain
        return None, certain

    def _chosen(self) -> tuple[str | None, bool]:
        """The selector on the feasible set, equations (3) and (4)."""
        order = self._order(self.state.reachable())
        feasible = [r for r in order if r not in self._stale and self._verdicts[r].holds]
        unknown = [r for r in order if r in self._stale]
        target = feasible[0] if feasible else None
        certain = not any(target is None or order.index(r) < order.index(target) for r in unknown)
        return target, certain

    def _order(self, regions: Iterable[str]) -> list[str]:
        """Regions in the selector's order: preferred first, ties by name; without a preference they come by name,
        and what a preference says nothing about is never chosen.
        """
        ranks = preference(self._instruction, self.state)
        if ranks is None:
            return sorted(regions)
        return sorted((r for r in regions if r in ranks), key=lambda region: (ranks[region], region))

    def _refresh(self, regions: Sequence[str], asked: list[str]) -> None:
        """Judge regions again, all questions at once; what the evaluator fails for stays stale."""
        questions = {r: Question.of(self._instruction.name, self.state, r, self._told) for r in regions}
        todo: dict[str, Question] = {}
        for region, question in questions.items():
            known = self._verdicts.get(region)
            if self._policy.exact and known is not None and known.question == question:
                self._stale.discard(region)
            else:
                todo[region] = question
        if self._policy.addressed:  # each question once
            first = {question: region for region, question in reversed(todo.items()) if question not in self._memory}
            ask = [region for region in todo if first.get(todo[region]) == region]
        else:
            ask = list(todo)
        answers = self._asked([todo[region] for region in ask])
        if answers is None:
            self._stale |= set(ask)
        else:
            asked += ask
        fresh = dict(zip(ask, answers or (), strict=False))
        for region, question in todo.items():
            holds = fresh.get(region, self._memory.get(question) if self._policy.addressed else None)
            if holds is not None:
                self._verdicts[region] = _Verdict(question, holds)
                self._stale.discard(region)

    def _asked(self, questions: Sequence[Question]) -> list[bool] | None:
        """What the evaluator answers; None where it fails, whatever a model or a network does."""
        try:
            answers = list(self._evaluator.judge(questions)) if questions else []
        except Exception:
            return None
        if len(answers) != len(questions) or not all(isinstance(answer, bool) for answer in answers):
            return None
        self._memory.update(zip(questions, answers, strict=True))
        return answers


def _policy(given: Policy | str) -> Policy:
    return policy(given) if isinstance(given, str) else given
