"""What can be proven of a rule pack, question by question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from obviate.engine import conflict, feasibility, redundancy
from obviate.engine.verdict import UNDECIDED, Limits, Verdict
from obviate.engine.witness import confirm
from obviate.kb import Pack
from obviate.kb.errors import LifecycleError, PackError, nearest

__all__ = ["QUESTIONS", "Task", "prove", "tasks", "undecided"]

Ask = Callable[[Pack, str, Limits], Verdict]
AskTwo = Callable[[Pack, str, str, Limits], Verdict]
_ONE: dict[str, Ask] = {
    "triggers": redundancy.triggers,
    "independent": redundancy.independent,
    "reachable": feasibility.reachable,
    "governable": feasibility.governable,
}
_TWO: dict[str, tuple[AskTwo, Callable[[Pack, str], list[str]]]] = {
    "compatible": (conflict.compatible, conflict.rivals),
    "unblocked": (feasibility.unblocked, feasibility.blockable),
}
# Each question, and what is asked of a rule or of two
QUESTIONS = {
    "triggers": "can it trigger?",
    "independent": "does it say what no other rules say?",
    "compatible": "can its target be met together with the targets of others?",
    "reachable": "do skills of the robot reach its target wherever it opens a record?",
    "unblocked": "is there a safe action left wherever it and another rule forbid each other's remedy?",
    "governable": "can the robot make or end its hazard?",
}


@dataclass(frozen=True, slots=True)
class Task:
    """A question about a rule, or about it and each later one that it may concern."""

    question: str
    rule: str


def tasks(pack: Pack, *, questions: tuple[str, ...] = tuple(QUESTIONS), rules: tuple[str, ...] = ()) -> list[Task]:
    """What to ask of a pack, or of some of its rules. Raises `LifecycleError` (``unknown-question``) and `PackError`
    (``unknown-rule``).
    """
    for each in questions:
        if each not in QUESTIONS:
            help = nearest(each, QUESTIONS)
            raise LifecycleError("unknown-question", f"there is no question {each!r} about packs", help=help)
    for each in rules:
        if each not in pack.rules:
            help = nearest(each, pack.rules)
            raise PackError("unknown-rule", f"the pack {pack.name} has no rule {each!r}", help=help)
    return [Task(question, rule) for question in questions for rule in rules or pack.rules]


def prove(pack: Pack, task: Task, limits: Limits) -> Iterator[Verdict]:
    """The verdicts on a task, each no confirmed by the ``oneshot`` backend. A search that runs out of time ends in
    `UNDECIDED`.
    """
    if task.question in _ONE:
        yield _answered(pack, task.question, (task.rule,), limits)
    else:
        for other in _TWO[task.question][1](pack, task.rule):
            yield _answered(pack, task.question, (task.rule, other), limits)


def undecided(question: str, rules: tuple[str, ...], limits: Limits) -> Verdict:
    """That so much time was not enough."""
    says = f"not decided within {limits.seconds:g} s"
    return Verdict(question, rules, UNDECIDED, says, {"seconds": limits.seconds})


def _answered(pack: Pack, question: str, rules: tuple[str, ...], limits: Limits) -> Verdict:
    try:
        if len(rules) == 1:
            return confirm(pack, _ONE[question](pack, rules[0], limits), limits.theory)
        return confirm(pack, _TWO[question][0](pack, rules[0], rules[1], limits), limits.theory)
    except PackError as error:
        if error.code != "search-timeout":
            raise
        return undecided(question, rules, limits)
