"""Keeping the target of a standing instruction up to date, event by event (MIND paper, Section IV).

The equations are in ``kb/kernel/maintenance.lp``; this module carries them out on one state at a time, and a test
holds the two against each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from obviate.engine.decision import Decision
from obviate.engine.evaluator import Evaluator, Exact, awaited
from obviate.engine.policy import Policy, policy
from obviate.engine.selector import grows, preference
from obviate.kb.errors import LifecycleError
from obviate.kb.event import Event
from obviate.kb.footprint import Footprint, observed, reported
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.regions import Regions

__all__ = ["Decision", "Maintainer", "Maintainers"]


Relevance = Callable[[Instruction, Event], str]
Answers = Sequence[bool] | Exception
Deciding = Generator[Sequence[Question], Answers, Decision]  # yields what must be judged on the way to a decision


@dataclass(frozen=True, slots=True)
class _Verdict:
    question: Question
    holds: bool


class Maintainer:
    """Follows one instruction on one building.

    `evaluator` judges regions; by default the instruction's own program does. `policy` is a name in
    `policy.POLICIES`, or a `Policy`. `relevance` answers for the policy ``eventwise``: whether an event matters, as
    ``none``, ``selection`` or ``semantic``. Several are independent; one decides one thing at a time
    (`LifecycleError` ``still-deciding``). Each verb has a twin that is awaited, and whose judgments are.
    """

    def __init__(
        self,
        instruction: Instruction,
        *,
        evaluator: Evaluator | None = None,
        policy: Policy | str = "ours",
        relevance: Relevance | None = None,
    ) -> None:
        if evaluator is None and instruction.judged:
            raise LifecycleError(
                "no-evaluator", f"{instruction.name} is judged, and nobody judges", help="pass evaluator=Judge(...)"
            )
        self._instruction = instruction
        self._evaluator = evaluator or Exact(instruction)
        self._policy = _policy(policy)
        if self._policy.eventwise and relevance is None:
            raise LifecycleError("no-evaluator", "nobody says which events matter", help="pass relevance=...")
        self._relevance = relevance if self._policy.eventwise else None
        self._signature = self._policy.signature_of(instruction)
        self._told = instruction.inferred.semantic
        programmed = bool(getattr(self._evaluator, "exact", False))
        self._grows = self._policy.polar and programmed and grows(instruction)
        self._chosen_by = instruction.inferred.selection
        self._matters = {"position", "topology", *self._signature.semantic, *self._signature.selection}
        self._state: Regions | None = None
        self._verdicts: dict[str, _Verdict] = {}
        self._fresh: set[str] = set()  # the regions whose verdict is up to date
        self._memory: dict[Question, bool] = {}
        self._fickle: Question | None = None
        self._failure = ""
        self._deciding = False
        self._settled = True  # whether the last decision came about, and was not interrupted
        self._ranks: Mapping[str, int] = {}
        self._names: Sequence[str] = ()
        self._last = Decision(0, None, (), 0)

    @property
    def instruction(self) -> Instruction:
        """What is followed."""
        return self._instruction

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why this may not decide as full recomputation does: what can be told of the conditions of the policy.

        A signature that misses what the program reads, equation (12), and an evaluator that answered the same question
        in two ways.
        """
        known, read = self._signature, self._instruction.inferred
        missed = [(v, "qualification") for v in sorted(read.semantic - known.semantic)]
        missed += [(v, "the choice") for v in sorted(read.selection - known.semantic - known.selection)]
        found = (
            [] if self._policy.everything else [f"{what} reads {v}, which the signature misses" for v, what in missed]
        )
        if self._relevance is not None:
            found.append("which events matter is answered from outside")
        if self._fickle:
            found.append(f"the evaluator answered the same question in two ways: {self._fickle.prompt()!r}")
        return tuple(found)

    @property
    def state(self) -> Regions:
        """The building as it is believed to be. Raises `LifecycleError` before `initialize`."""
        if self._state is None:
            raise LifecycleError("not-initialized", "there is no building yet", help="call initialize(world) first")
        return self._state

    def initialize(self, world: Regions) -> Decision:
        """Begin on a building: every region is judged, unless the policy is lazy."""
        return self._run(self._initialized(world))

    async def ainitialize(self, world: Regions) -> Decision:
        """`initialize`, awaited."""
        return await self._arun(self._initialized(world))

    def update(self, event: Event, *, footprint: Footprint | None = None) -> Decision:
        """Take an event. `footprint` is what a detector reports of it; by default the reference footprint.

        Raises `PatchError` for an event that the building does not allow; then nothing has changed.
        """
        return self._run(self._updated(event, footprint))

    async def aupdate(self, event: Event, *, footprint: Footprint | None = None) -> Decision:
        """`update`, awaited. If it is cancelled, the event has happened, and what was not judged stays stale."""
        return await self._arun(self._updated(event, footprint))

    def observe(self, world: Regions, *, footprint: Footprint | None = None) -> Decision:
        """Take the building as it is now, however it came to be so; by default the two states are compared.

        Raises `LifecycleError` (``other-building``) if it has other regions.
        """
        return self._run(self._observed(world, footprint))

    async def aobserve(self, world: Regions, *, footprint: Footprint | None = None) -> Decision:
        """`observe`, awaited."""
        return await self._arun(self._observed(world, footprint))

    # -- deciding ---------------------------------------------------------------------------------

    def _run(self, deciding: Deciding) -> Decision:
        with self._one_at_a_time():
            try:
                questions = next(deciding)
                while True:
                    try:
                        answers: Answers = self._evaluator.judge(questions)
                    except Exception as error:  # whatever a model or a network does
                        answers = error
                    questions = deciding.send(answers)
            except StopIteration as end:
                return _decided(end)

    async def _arun(self, deciding: Deciding) -> Decision:
        with self._one_at_a_time():
            try:
                questions = next(deciding)
                while True:
                    try:
                        answers: Answers = await awaited(self._evaluator, questions)
                    except Exception as error:
                        answers = error
                    questions = deciding.send(answers)
            except StopIteration as end:
                return _decided(end)

    def check_free(self) -> None:
        """Raises `LifecycleError` (``still-deciding``) while judgments are awaited."""
        if self._deciding:
            help = "await its last update before the next one"
            raise LifecycleError("still-deciding", f"{self._instruction.name} awaits judgments", help=help)

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        self.check_free()
        self._deciding = True
        try:
            yield
        finally:
            self._deciding = False

    def _initialized(self, world: Regions) -> Deciding:
        self._state = world
        self._verdicts, self._memory, self._fresh = {}, {}, set()
        self._names = sorted(world.names())
        self._ranks = preference(self._instruction, world)
        self._last = Decision(-1, None, (), 0)
        return (yield from self._decide(Footprint()))

    def _updated(self, event: Event, footprint: Footprint | None) -> Deciding:
        before = self.state
        after = before.apply(event)
        report = reported(event, before) if footprint is None else footprint
        if self._relevance is not None:
            report = _relevant(self._relevance(self._instruction, event), report)
        return (yield from self._observed(after, report))

    def _observed(self, world: Regions, footprint: Footprint | None) -> Deciding:
        before = self.state
        if world.names() != before.names():
            raise LifecycleError("other-building", "this building has other regions", help="call initialize(world)")
        report = observed(before, world) if footprint is None else footprint
        self._state = world
        changed = report.categories
        if changed & self._chosen_by:
            self._ranks = preference(self._instruction, world)
        if self._policy.everything:
            self._fresh.clear()
        elif not changed & self._matters and self._last.certain and self._settled:
            self._last = replace(self._last, step=self._last.step + 1, refreshed=(), footprint=report)
            return self._last
        else:
            self._make_stale(report, before)
        return (yield from self._decide(report))

    def _make_stale(self, report: Footprint, before: Regions) -> None:
        """Equation (11), and what polarity spares."""
        semantic = [(v, regions) for v, regions in report.pairs if v in self._signature.semantic]
        for category, regions in semantic:
            if category != "inventory" and len(regions) >= len(self._names):
                self._fresh.clear()
            for region in regions & self._fresh:
                if not (category == "inventory" and self._spared(region, before)):
                    self._fresh.discard(region)

    def _spared(self, region: str, before: Regions) -> bool:
        """Whether contents only grew where the answer is yes, or only shrank where it is no."""
        if not self._grows:
            return False
        old, new = before.inventories[region], self.state.inventories[region]
        less, more = (old, new) if self._verdicts[region].holds else (new, old)
        return all(more.get(kind, 0) >= count for kind, count in less.items())

    # -- judging ----------------------------------------------------------------------------------

    def _decide(self, report: Footprint) -> Deciding:
        asked: list[str] = []
        self._failure, self._settled = "", False
        if not self._policy.lazy:  # what failed before is tried again
            yield from self._refresh([region for region in self._names if region not in self._fresh], asked)
        target, certain = yield from self._first(asked)
        step, total = self._last.step + 1, self._last.total + len(asked)
        self._last = Decision(
            step, target, tuple(asked), total, certain, self._failure, report, self._signature.semantic
        )
        self._settled = True
        return self._last

    def _first(self, asked: list[str]) -> Generator[Sequence[Question], Answers, tuple[str | None, bool]]:
        """The selector on the feasible set, equations (3) and (4): the first region in its order that qualifies. The
        rest need not be judged.
        """
        certain = True
        for region in self._order():
            if region not in self._fresh and self._policy.lazy:
                yield from self._refresh([region], asked)
            if region not in self._fresh:
                certain = False  # it could be the target
            elif self._verdicts[region].holds:
                return region, certain
        return None, certain

    def _order(self) -> Iterable[str]:
        """The regions that can be reached in the selector's order: preferred first, those of which no preference speaks
        last, ties by name.
        """
        hops, ranks = self.state.hops(), self._ranks
        if not ranks:
            return (region for region in self._names if region in hops)
        if ranks is hops:
            return self.state.nearest()
        last = max(ranks.values()) + 1
        return sorted(hops, key=lambda region: (ranks.get(region, last), region))

    def _refresh(self, regions: Sequence[str], asked: list[str]) -> Generator[Sequence[Question], Answers, None]:
        """Judge regions again, all questions at once; what the evaluator fails for stays stale."""
        todo: dict[str, Question] = {}
        for region in regions:
            question = Question.of(self._instruction.name, self.state, region, self._told)
            known = self._verdicts.get(region)
            if self._policy.exact and known is not None and known.question == question:
                self._fresh.add(region)
            else:
                todo[region] = question
        if self._policy.addressed:  # each question once
            first = {question: region for region, question in reversed(todo.items()) if question not in self._memory}
            ask = [region for region in todo if first.get(todo[region]) == region]
        else:
            ask = list(todo)
        questions = [todo[region] for region in ask]
        answers = self._accepted(questions, (yield questions) if questions else [])
        if answers is not None:
            asked += ask
        fresh = dict(zip(ask, answers or (), strict=False))
        for region, question in todo.items():
            holds = fresh.get(region, self._memory.get(question) if self._policy.addressed else None)
            if holds is not None:
                self._verdicts[region] = _Verdict(question, holds)
                self._fresh.add(region)

    def _accepted(self, questions: Sequence[Question], said: Answers) -> Sequence[bool] | None:
        """What the evaluator answered; None where it failed, and the decision tells how."""
        if isinstance(said, Exception):
            self._failure = f"{type(said).__name__}: {said}"
            return None
        try:
            answers = list(said)
        except TypeError:
            answers = []
        if len(answers) != len(questions) or not all(isinstance(answer, bool) for answer in answers):
            self._failure = f"{len(questions)} questions were answered with {said!r:.80}"
            return None
        for question, answer in zip(questions, answers, strict=True):
            if self._memory.setdefault(question, answer) != answer:
                self._fickle = question
                self._memory[question] = answer
        return answers


def _decided(end: StopIteration) -> Decision:
    decision: Decision = end.value
    return decision


def _relevant(answer: str, report: Footprint) -> Footprint:
    """What is left of a report where an event is said to matter so; nonsense is taken for ``semantic``."""
    if answer == "none":
        return Footprint()
    return Footprint.of(dict.fromkeys(report.categories, ())) if answer == "selection" else report


def _policy(given: Policy | str) -> Policy:
    return policy(given) if isinstance(given, str) else given


class Maintainers:
    """Several instructions on one building: an event is applied, and its footprint told, once for all of them.

    Decisions come by the names of the instructions. Raises `LifecycleError` (``same-instruction``) for two of one name.
    """

    def __init__(self, *maintainers: Maintainer) -> None:
        self._all = {one.instruction.name: one for one in maintainers}
        if len(self._all) < len(maintainers):
            names = [one.instruction.name for one in maintainers]
            twice = next(name for name in names if names.count(name) > 1)
            raise LifecycleError("same-instruction", f"two instructions are called {twice}", help="rename one")

    def initialize(self, world: Regions) -> dict[str, Decision]:
        """Begin on a building."""
        return {name: one.initialize(world) for name, one in self._all.items()}

    def update(self, event: Event, *, footprint: Footprint | None = None) -> dict[str, Decision]:
        """Take an event, as `Maintainer.update`."""
        if not self._all:
            return {}
        after, report = self._happened(event, footprint)
        return {name: one.observe(after, footprint=report) for name, one in self._all.items()}

    async def ainitialize(self, world: Regions) -> dict[str, Decision]:
        """`initialize`, with the judgments of all instructions awaited together."""
        return self._named(await asyncio.gather(*(one.ainitialize(world) for one in self._all.values())))

    async def aupdate(self, event: Event, *, footprint: Footprint | None = None) -> dict[str, Decision]:
        """`update`, with the judgments of all instructions awaited together."""
        if not self._all:
            return {}
        after, report = self._happened(event, footprint)
        return self._named(await asyncio.gather(*(one.aobserve(after, footprint=report) for one in self._all.values())))

    def _happened(self, event: Event, footprint: Footprint | None) -> tuple[Regions, Footprint]:
        for one in self._all.values():
            one.check_free()
        before = next(iter(self._all.values())).state
        return before.apply(event), reported(event, before) if footprint is None else footprint

    def _named(self, decisions: Iterable[Decision]) -> dict[str, Decision]:
        return dict(zip(self._all, decisions, strict=True))
