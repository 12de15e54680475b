"""Proofs about packs for the command line: each question in a process of its own, told as it is answered."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from obviate.adapters.cli.packs import load_pack
from obviate.engine.inquiry import QUESTIONS, Task, prove, tasks, undecided
from obviate.engine.scenery import HOUSEHOLD
from obviate.engine.verdict import NO, UNDECIDED, YES, Limits
from obviate.kb import Pack, household
from obviate.kb.errors import DataError, PackError
from obviate.kb.files import read_text
from obviate.kb.sandbox import run_limited

__all__ = ["Options", "answers", "prove_pack", "scene_text"]

_MEGABYTES = 3_000
_CHECKED = ("mode", "deadline", "targeted", "advisory")
_STYLES = {YES: "green", NO: "red", UNDECIDED: "yellow"}


@dataclass(frozen=True, slots=True)
class Options:
    """What to prove: the pack, the skills, some questions and rules or all, and how far to look."""

    pack: str
    skills: str
    questions: tuple[str, ...]
    rules: tuple[str, ...]
    limits: tuple[int, int, float]
    vocabulary: tuple[Path, ...]
    json: bool


def prove_pack(options: Options) -> int:
    """Answer and tell; returns the exit code. Raises `ObviateError` for a pack that does not load, and
    ``unknown-question``, ``unknown-rule`` or ``file-missing`` for what is not there.
    """
    pack = load_pack(options.pack, household.words(*options.vocabulary))
    asked = tasks(pack, questions=options.questions or tuple(QUESTIONS), rules=options.rules)
    theory = HOUSEHOLD if options.skills == "household" else Path(options.skills)
    if not theory.is_file():
        raise DataError("file-missing", "there is no such file", where=str(theory), help="name a file, or household")
    objects, actions, seconds = options.limits
    limits = Limits(objects, actions, seconds, str(theory))
    console, found = Console(highlight=False, soft_wrap=True), []
    for i, task in enumerate(asked):
        _progress(f"{i + 1}/{len(asked)} {task.question} {task.rule}")
        for verdict in _answers(pack, task, limits):
            found.append(verdict)
            if not options.json and verdict["answer"] != YES:
                _progress("")
                console.print(_told(verdict))
    _progress("")
    if options.json:
        whole = {**pack_json(pack), "actions": read_text(theory), "verdicts": found}
        print(jsonlib.dumps(whole, ensure_ascii=False, indent=2))
    else:
        console.print(_summary(pack.name, found, limits))
    return exit_code([verdict["answer"] for verdict in found])


def exit_code(answers: list[str]) -> int:
    """0 if all is proven, 1 if something is refuted, else 3: something is not decided."""
    return 1 if NO in answers else 3 if UNDECIDED in answers else 0


def pack_json(pack: Pack) -> dict[str, Any]:
    """A pack as a checker needs it: its program, and its rules with what follows from defaults."""
    rules = {rule.name: {key: getattr(rule, key) for key in _CHECKED} for rule in pack.rules.values()}
    return {
        "pack": pack.name,
        "program": pack.program.text,
        "consts": dict(pack.consts),
        "rules": rules,
        "skills": dict(pack.vocabulary.skills),
    }


def answers(pack: Pack, question: str, rule: str, limits: Limits) -> list[dict[str, Any]]:
    """The verdicts on a task as plain data, for another process."""
    return [verdict.to_json() for verdict in prove(pack, Task(question, rule), limits)]


def _answers(pack: Pack, task: Task, limits: Limits) -> Iterator[dict[str, Any]]:
    """The verdicts on a task, from a process that is stopped when it takes too much."""
    several = 1 if task.question not in ("compatible", "unblocked") else len(pack.rules)
    most = several * limits.seconds + 5
    target = "obviate.adapters.cli.proving:answers"
    try:
        yield from run_limited(target, pack, task.question, task.rule, limits, seconds=most, megabytes=_MEGABYTES)
    except PackError as error:
        if error.code != "too-costly":
            raise
        yield undecided(task.question, (task.rule,), limits).to_json()


def _progress(text: str) -> None:
    """One line on standard error that is written over, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _told(verdict: dict[str, Any]) -> Text:
    style, question = _STYLES[verdict["answer"]], (f"[{verdict['question']}]", "dim")
    text = Text.assemble((verdict["answer"], style), f": {verdict['says']} ", question)
    if verdict["answer"] == NO:
        about = {name for _, binding in verdict["instances"] for name in binding}
        for scene in verdict["scenes"]:
            text.append(f"\n  {scene['name']}: {scene_text(scene, verdict['world'], about)}")
        for name, plan in verdict["plans"].items():
            text.append(f"\n  forbidden, though it would do for {name}: {', '.join(plan)}")
    return text


def scene_text(scene: dict[str, Any], world: Mapping[str, str], about: Collection[str] = ()) -> str:
    """A scene in one line: what is believed; in the household world, with kinds instead of tags, of the objects that
    something is said of, or that it is `about`.
    """
    beliefs = [belief for belief in scene["beliefs"] if not (world and belief.startswith(("tag(", "object(")))]
    told = [*beliefs, scene["intent"] or ""]
    named = {name for name in world if name in about or any(f'"{name}"' in each for each in told)}
    kinds = [f"{name}: {kind}" for name, kind in world.items() if name in named]
    said = ", ".join([*kinds, *beliefs]) or "nothing"
    return said + (f"; intent {scene['intent']}" if scene["intent"] else "")


def _summary(name: str, found: list[dict[str, Any]], limits: Limits) -> str:
    counts = {answer: sum(verdict["answer"] == answer for verdict in found) for answer in (YES, NO, UNDECIDED)}
    most = max((verdict["bounds"].get("objects", 0) for verdict in found if verdict["answer"] == YES), default=0)
    within = f"(up to {most} objects and {limits.actions} actions)" if counts[YES] else ""
    told = [f"{n} {answer} {within if answer == YES else ''}".strip() for answer, n in counts.items() if n]
    return f"{name}: {', '.join(told) or 'nothing to prove'}"
