"""The benchmark of rule compilation: forty principles in our own words, scored by what their rules conclude.

Two texts that say the same score the same. A rule is right where it concludes, on every random graph, what the gold
rule does; how far a wrong one is off tells the share of the graphs that say anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import mean

from pydantic import BaseModel, ConfigDict

from obviate.compilers.rules.emission import emitted, pack_text
from obviate.compilers.rules.gates import doubts, of_candidate
from obviate.compilers.rules.scoring import agreement
from obviate.compilers.rules.settling import settle
from obviate.compilers.rules.shape import Shape
from obviate.compilers.rules.synthesis import Compiler
from obviate.engine.slice import Slice, slice_of
from obviate.kb import Pack, Vocabulary
from obviate.kb.kinds import Kinds

__all__ = ["Score", "Task", "run", "summary", "tasks"]


class Task(BaseModel):
    """A principle with the form of its rule."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    principle: str
    gold: Shape


class _Tasks(BaseModel):
    about: str
    principles: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """How a compiled rule compares with the gold one.

    `answered`: there was a rule, and it loads. `equal`: it concluded the same on all graphs; `agreement` is the share
    of those on which either concluded anything. `mode` and `skills` tell whether these were right. `doubted`: some gate
    would have sent it to the audit.
    """

    name: str
    answered: bool
    equal: bool
    agreement: float
    mode: bool
    skills: bool
    doubted: bool
    why: str = ""


@cache
def tasks() -> tuple[Task, ...]:
    """The forty principles."""
    text = files("obviate.compilers.rules").joinpath("data/principles.json").read_text(encoding="utf-8")
    return _Tasks.model_validate(json.loads(text)).principles


def run(
    compiler: Compiler, *, kinds: Kinds | None = None, cases: int = 300, only: Sequence[str] = ()
) -> Iterator[Score]:
    """The scores, one principle after the other."""
    for task in tasks():
        if not only or task.name in only:
            yield _score(task, compiler, kinds, cases)


def _score(task: Task, compiler: Compiler, kinds: Kinds | None, cases: int) -> Score:
    words = compiler.vocabulary
    gold = _slice(task.gold, task, words)
    found = compiler.compile(task.principle, task.name)
    if not found.candidates:
        return Score(task.name, False, False, 0.0, False, False, True, found.failure)
    best = found.candidates[0]
    mine = _slice(best.shape, task, words)
    same = agreement(gold, mine, cases)
    findings = [*of_candidate(best), *doubts(mine.pack, task.name, kinds=kinds)]
    return Score(
        name=task.name,
        answered=True,
        equal=same.equal,
        agreement=same.told_same / same.telling if same.telling else 1.0,
        mode=best.shape.mode == task.gold.mode,
        skills=set(mine.skills) == set(gold.skills),
        doubted=bool(findings),
        why="; ".join(dict.fromkeys(finding.gate for finding in findings)),
    )


def _slice(shape: Shape, task: Task, words: Vocabulary) -> Slice:
    written = emitted(settle(shape, words).shape, task.name, task.principle, words)
    pack = Pack.of({f"{task.name}.lp": pack_text([written], title=task.name)}, vocabulary=words, name=task.name)
    return slice_of(pack, task.name)


def summary(scores: Sequence[Score]) -> Mapping[str, float]:
    """The means of the scores, and how well the gates told right from wrong."""

    def share(test: Callable[[Score], bool]) -> float:
        return mean([test(score) for score in scores]) if scores else 0.0

    wrong = [score for score in scores if not score.equal]
    right = [score for score in scores if score.equal]
    return {
        "answered": share(lambda s: s.answered),
        "equal": share(lambda s: s.equal),
        "agreement": mean([score.agreement for score in scores]) if scores else 0.0,
        "mode": share(lambda s: s.mode),
        "skills": share(lambda s: s.skills),
        "wrong_doubted": mean([score.doubted for score in wrong]) if wrong else 1.0,
        "right_doubted": mean([score.doubted for score in right]) if right else 0.0,
    }
