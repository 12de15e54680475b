"""Semantic evaluators: who says whether a region satisfies an instruction (MIND paper, Sections III and V)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Protocol

from obviate.kb import asp
from obviate.kb.errors import LifecycleError
from obviate.kb.instruction import Instruction
from obviate.kb.question import Question
from obviate.kb.terms import Atom, Fun

__all__ = ["AsyncJudge", "Counted", "Evaluator", "Exact", "Judge", "Limited", "Tape", "awaited"]

_CANDIDATE, _ELSEWHERE = "candidate", "elsewhere"


class Evaluator(Protocol):
    """Answers questions, several at a time. The same question has the same answer, whatever is asked beside it.

    One that answers as the instruction's own program does may have a true attribute `exact`, which polarity needs.
    """

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        """An answer for each question, in their order. May raise whatever goes wrong.

        An evaluator whose answers can be awaited has a coroutine method `ajudge` besides, which does the same.
        """


async def awaited(evaluator: Evaluator, questions: Sequence[Question]) -> Sequence[bool]:
    """The answers of an evaluator, awaited; of one that only blocks, in a thread."""
    judge = getattr(evaluator, "ajudge", None)
    answers: Sequence[bool] = await (judge(questions) if judge else asyncio.to_thread(evaluator.judge, questions))
    return answers


@dataclass(frozen=True, slots=True)
class Exact:
    """The instruction's own program, asked about one region by itself."""

    instruction: Instruction
    exact: bool = field(default=True, init=False)

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        return [self._one(question) for question in questions]

    def _one(self, question: Question) -> bool:
        text = self.instruction.program.text
        found = asp.evaluate([text], _facts(question), [("qualifies", 2, True)])
        return Atom("qualifies", (Fun(self.instruction.name), _CANDIDATE)) in found


def _facts(question: Question) -> Iterator[Atom]:
    """A building of the candidate and what the question tells about it."""
    fields = dict(question.fields)
    here = fields.get("position")
    yield Atom("at", (_CANDIDATE if here is True else _ELSEWHERE,))
    for category, value in question.fields:
        if category == "inventory" and isinstance(value, tuple):
            for part in value:
                if not isinstance(part, str):
                    yield Atom("inventory", (_CANDIDATE, Fun(part[0]), part[1]))
        elif category == "label":
            yield Atom("label", (_CANDIDATE, Fun(str(value))))
        elif category == "history" and value is True:
            yield Atom("used", (_CANDIDATE,))
        elif category == "topology":
            others = value if isinstance(value, tuple) else (_ELSEWHERE,) if value else ()
            for other in others:
                yield Atom("door", (_CANDIDATE, str(other)))
                yield Atom("door", (str(other), _CANDIDATE))


@dataclass(frozen=True, slots=True)
class Judge:
    """Any callable from a prompt to an answer, such as a language model: True and False, or ``yes`` and ``no``.

    Raises `LifecycleError` (``no-answer``) for anything else.
    """

    ask: Callable[[str], bool | str]

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        return [_answer(self.ask(question.prompt())) for question in questions]


@dataclass(frozen=True, slots=True)
class AsyncJudge:
    """As `Judge`, for a coroutine function: the questions of a batch are asked together, `at_once` at most."""

    ask: Callable[[str], Awaitable[bool | str]]
    at_once: int = 8

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        return asyncio.run(self.ajudge(questions))

    async def ajudge(self, questions: Sequence[Question]) -> Sequence[bool]:
        free = asyncio.Semaphore(self.at_once)

        async def one(question: Question) -> bool:
            async with free:
                return _answer(await self.ask(question.prompt()))

        try:
            async with asyncio.TaskGroup() as group:  # when one fails, the others are not waited for
                tasks = [group.create_task(one(question)) for question in questions]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]


def _answer(said: object) -> bool:
    word = said.strip().rstrip(".").lower() if isinstance(said, str) else said
    if word in (True, "yes"):
        return True
    if word in (False, "no"):
        return False
    raise LifecycleError("no-answer", f"{said!r:.60} is no answer", help="answer yes or no")


@dataclass(frozen=True, slots=True)
class Tape:
    """Verdicts recorded once, by prompt. Raises `LifecycleError` (``no-answer``) for a question that is not on it."""

    verdicts: Mapping[str, bool]

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        for question in questions:
            if question.prompt() not in self.verdicts:
                raise LifecycleError(
                    "no-answer", f"the tape has no verdict for {question.prompt()!r:.120}", help="record it first"
                )
        return [self.verdicts[question.prompt()] for question in questions]


@dataclass(frozen=True, slots=True)
class Limited:
    """Another evaluator, waited for no longer than `seconds` for a batch.

    Raises `LifecycleError` (``no-answer``) when it takes longer; what it says later is not heard.
    """

    evaluator: Evaluator
    seconds: float

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        heard: SimpleQueue[Sequence[bool] | Exception] = SimpleQueue()

        def ask() -> None:
            try:
                heard.put(self.evaluator.judge(questions))
            except Exception as error:
                heard.put(error)

        Thread(target=ask, daemon=True).start()
        try:
            said = heard.get(timeout=self.seconds)
        except Empty:
            raise self._late() from None
        if isinstance(said, Exception):
            raise said
        return said

    async def ajudge(self, questions: Sequence[Question]) -> Sequence[bool]:
        try:
            return await asyncio.wait_for(awaited(self.evaluator, questions), self.seconds)
        except TimeoutError:
            raise self._late() from None

    def _late(self) -> LifecycleError:
        message = f"the evaluator took over {self.seconds:g} s"
        return LifecycleError("no-answer", message, help="allow more time, or ask less at once")


@dataclass(slots=True)
class Counted:
    """Another evaluator, with the questions it was asked counted, the distinct ones kept, and the time taken."""

    evaluator: Evaluator
    asked: int = 0
    batches: int = 0
    seconds: float = 0.0
    answers: dict[Question, bool] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether the other evaluator is the program."""
        return bool(getattr(self.evaluator, "exact", False))

    def judge(self, questions: Sequence[Question]) -> Sequence[bool]:
        began = perf_counter()
        return self._count(began, questions, self.evaluator.judge(questions))

    async def ajudge(self, questions: Sequence[Question]) -> Sequence[bool]:
        began = perf_counter()
        return self._count(began, questions, await awaited(self.evaluator, questions))

    def _count(self, began: float, questions: Sequence[Question], answers: Sequence[bool]) -> Sequence[bool]:
        self.seconds += perf_counter() - began
        self.asked += len(questions)
        self.batches += 1
        self.answers.update(zip(questions, answers, strict=True))
        return answers
