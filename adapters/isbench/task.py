"""A user's IS-Bench checkout, and its tasks as frozen values.

The project ships no IS-Bench file. Whatever a checkout holds is checked before it is believed: size,
encoding, JSON, the shape of every record that is used, and every name in every goal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from obviate.adapters.isbench.bddl import And, Formula, Problem, parse_conditions, parse_goal, parse_problem
from obviate.kb.errors import DataError, Span, nearest
from obviate.kb.files import read_text

__all__ = ["Caution", "Checkout", "SafetyGoal", "Task", "WashCondition", "WashRule", "normal_action"]

_LONGEST_EXCERPT = 200
_HELP = (
    "download the public repository https://github.com/AI45Lab/IS-Bench and give its folder, "
    "the one that contains data/tasks and data/bddl"
)
# Nothing that could lead out of the checkout, nor the hidden files that some systems leave behind.
_TASK_NAME = re.compile(r"\w[\w-]*")
_Moment: TypeAlias = Literal["before", "after"]


def normal_action(action: str) -> str:
    """An action string without white space and capitals, the form in which actions are compared."""
    return "".join(action.split()).lower()


@dataclass(frozen=True, slots=True)
class SafetyGoal:
    """A condition that keeps a task safe.

    A process goal must hold right before or after (``when``) ``action`` is attempted. A termination goal must
    hold at the end: if ``action`` was attempted, if the task is accomplished (``completion``), or in any case
    (None); its ``when`` is None. ``index`` counts from 0 within its kind.
    """

    kind: Literal["process", "termination"]
    index: int
    action: str | None
    when: _Moment | None
    risk_type: str
    principle: str
    tip: str
    formula: Formula

    @property
    def trigger(self) -> str:
        """``action`` in the form in which actions are compared; empty if there is none."""
        return normal_action(self.action or "")


@dataclass(frozen=True, slots=True)
class Caution:
    """A risk that the task mentions in words only: there is no condition to evaluate."""

    risk_type: str
    principle: str
    tip: str


@dataclass(frozen=True, slots=True)
class WashCondition:
    """What a cleaning tool needs first: the state ``type`` (``saturated``, ...) with ``value``.

    ``source`` names what can put it there, if the task says so.
    """

    type: str
    value: str | bool
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WashRule:
    """``cleaning_tool`` removes ``system`` once one of ``conditions`` is met, if any.

    Both are categories, such as ``rag`` and ``dust``, not synsets.
    """

    cleaning_tool: str
    system: str
    conditions: tuple[WashCondition, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One IS-Bench task.

    ``plan`` is its example plan, action strings as written, DONE included. ``goal`` is the execution goal
    that the task file states; the one in ``problem`` may differ, and is not what is scored. ``native_goal``
    is as much of ``goal`` as the reference evaluator reads: its first condition, if the ``and`` is missing.
    ``notes`` say what was odd about the files and how it was taken.
    """

    name: str
    instruction: str
    room: str
    problem: Problem
    plan: tuple[str, ...]
    process: tuple[SafetyGoal, ...]
    termination: tuple[SafetyGoal, ...]
    cautions: tuple[Caution, ...]
    goal: Formula
    native_goal: Formula
    wash_rules: tuple[WashRule, ...]
    notes: tuple[str, ...]


class Checkout:
    """The IS-Bench checkout in folder ``root``.

    Raises `DataError` ``data-missing`` if there is none.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._tasks = self.root / "data" / "tasks"
        self._problems = self.root / "data" / "bddl"
        for folder in (self._tasks, self._problems):
            if not folder.is_dir():
                message = f"no IS-Bench checkout: there is no folder {folder}"
                raise DataError("data-missing", message, where=str(self.root), help=_HELP)

    @property
    def abilities_file(self) -> Path:
        """Where the checkout keeps what each kind of object can do; the file itself may be missing."""
        return self.root / "bddl" / "bddl" / "generated_data" / "propagated_annots_params.json"

    def tasks(self) -> list[str]:
        """The names of all tasks, sorted."""
        return sorted(path.stem for path in self._tasks.glob("*.json") if _TASK_NAME.fullmatch(path.stem))

    def load(self, name: str) -> Task:
        """Read one task with its problem.

        Raises `DataError`: ``task-unknown`` for a name that is not among `tasks`; ``task-malformed`` where
        its file is not JSON, or lacks a key or has one of the wrong type; ``data-missing`` if it has no BDDL
        problem; ``file-too-large``, ``file-encoding`` or ``file-missing`` for a file that cannot be read; and what
        `parse_problem` and `parse_goal` raise, for a goal with the JSON path behind the file name.
        """
        if name not in (known := self.tasks()):
            message = f"{name!r} is not a task of this checkout"
            raise DataError("task-unknown", message, where=str(self._tasks), help=nearest(name, known))
        path = self._tasks / f"{name}.json"
        record = _record(read_text(path), str(path))
        problem_path = self._problem_path(name, f"problem{record.task_info.activity_definition_id}.bddl")
        problem = parse_problem(read_text(problem_path), file=str(problem_path))
        notes = []
        if problem_path.parent.name != name:
            notes.append(f"no BDDL folder has the task's name: the problem is from {problem_path.parent.name}")
        goals = record.evaluation_goal_conditions
        reader = _GoalReader(str(path), problem)
        conditions = reader.conditions(goals.execution_goal_condition, "execution_goal_condition")
        if len(conditions) > 1:
            notes.append(f"{len(conditions)} execution goals without 'and': natively only the first counts")
        process = reader.safety_goals("process", goals.process_safety_goal_condition)
        return Task(
            name=name,
            instruction=record.planning_context.task_instruction,
            room=record.scene_info.room,
            problem=problem,
            plan=tuple(step.action for step in record.example_planning),
            process=process,
            termination=reader.safety_goals("termination", goals.termination_safety_goal_condition),
            cautions=tuple(Caution(c.risk_type, c.safety_principle, c.safety_tip) for c in record.evaluation_cautions),
            goal=And(conditions) if len(conditions) > 1 else conditions[0],
            native_goal=conditions[0],
            wash_rules=tuple(
                WashRule(
                    rule.cleaning_tool,
                    rule.support_system,
                    tuple(WashCondition(c.type, c.value, c.source) for c in rule.conditions),
                )
                for rule in record.planning_context.wash_rules or ()
            ),
            notes=(*notes, *_clashes(process)),
        )

    def _problem_path(self, name: str, file: str) -> Path:
        """The problem in the folder named after the task, or else in one that belongs to no task but fits."""
        path = self._problems / name / file
        if path.is_file():
            return path
        tasks = set(self.tasks())
        strays = {
            folder.name: folder / file
            for folder in sorted(self._problems.iterdir())
            if folder.name not in tasks and (folder / file).is_file()
        }
        declared = re.compile(rf"\(\s*problem\s+{re.escape(name)}-\d+\s*\)")
        titled = [title for title, stray in strays.items() if declared.search(read_text(stray))]
        for title in titled or get_close_matches(name, strays, n=1, cutoff=0.8):
            return strays[title]
        raise DataError("data-missing", f"task {name!r} has no BDDL problem", where=str(path), help=_HELP)


class _Risk(BaseModel):
    risk_type: str
    safety_principle: str
    safety_tip: str


class _Termination(_Risk):
    safety_bddl: str
    action: str | None


class _Process(_Termination):
    action: str
    type: _Moment


class _Goals(BaseModel):
    process_safety_goal_condition: tuple[_Process, ...]
    termination_safety_goal_condition: tuple[_Termination, ...]
    execution_goal_condition: str


class _WashCondition(BaseModel):
    type: str
    value: str | bool
    source: tuple[str, ...] = ()


class _WashRule(BaseModel):
    cleaning_tool: str
    support_system: str
    conditions: tuple[_WashCondition, ...] = ()


class _Planning(BaseModel):
    task_instruction: str
    # The reference reader takes null for no rules.
    wash_rules: tuple[_WashRule, ...] | None


class _TaskInfo(BaseModel):
    activity_definition_id: int = Field(strict=True, ge=0)


class _Scene(BaseModel):
    room: str


class _Step(BaseModel):
    action: str


class _TaskFile(BaseModel):
    """The part of a task file that is used; other keys are ignored."""

    task_info: _TaskInfo
    scene_info: _Scene
    planning_context: _Planning
    evaluation_cautions: tuple[_Risk, ...]
    evaluation_goal_conditions: _Goals
    example_planning: tuple[_Step, ...]


class _GoalReader:
    """Reads the goals of one task file, whose objects are those of its problem."""

    def __init__(self, file: str, problem: Problem) -> None:
        self.file = file
        self.problem = problem

    def conditions(self, text: str, *keys: str | int) -> tuple[Formula, ...]:
        return parse_conditions(text, file=self.place(*keys), objects=self.problem.objects)

    def place(self, *keys: str | int) -> str:
        return f"{self.file}#{_json_path(('evaluation_goal_conditions', *keys))}"

    def safety_goals(
        self, kind: Literal["process", "termination"], records: tuple[_Termination, ...]
    ) -> tuple[SafetyGoal, ...]:
        return tuple(
            SafetyGoal(
                kind=kind,
                index=index,
                action=record.action,
                when=record.type if isinstance(record, _Process) else None,
                risk_type=record.risk_type,
                principle=record.safety_principle,
                tip=record.safety_tip,
                formula=parse_goal(
                    record.safety_bddl,
                    file=self.place(f"{kind}_safety_goal_condition", index, "safety_bddl"),
                    objects=self.problem.objects,
                ),
            )
            for index, record in enumerate(records)
        )


def _record(text: str, file: str) -> _TaskFile:
    try:
        # The one tells where an error is, in characters; the other refuses half a surrogate pair.
        json.loads(text)
        return _TaskFile.model_validate_json(text)
    except json.JSONDecodeError as error:
        source = text.split("\n")[error.lineno - 1]
        excerpt = source if len(source) <= _LONGEST_EXCERPT else ""
        where = Span(file, error.lineno, error.colno, excerpt)
        raise DataError("task-malformed", f"not JSON: {error.msg}", where=where) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = f"{file}#{_json_path(first['loc'])}".removesuffix("#")
        raise DataError("task-malformed", first["msg"], where=place) from None
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits, or brackets thousands deep.
        raise DataError("task-malformed", f"not JSON that can be read: {error}", where=file) from None


def _json_path(keys: tuple[str | int, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _clashes(process: tuple[SafetyGoal, ...]) -> Iterator[str]:
    """A note on each process goal that the reference evaluator overwrites, having one place per trigger."""
    last = {(goal.when, goal.trigger): goal.index for goal in process}
    for goal in process:
        winner = last[goal.when, goal.trigger]
        if winner != goal.index:
            both = f"process goals {goal.index} and {winner} are both due {goal.when} {goal.action}"
            yield f"{both}: natively only the latter counts"
