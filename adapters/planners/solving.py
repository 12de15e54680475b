"""Having a translated task solved, and the plan checked in the world that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from obviate.adapters.planners.problem import EXTRA, Translation
from obviate.adapters.scenario import Goal
from obviate.engine.world import World
from obviate.kb import DONE, Action
from obviate.kb.errors import ObviateError, nearest
from obviate.kb.extras import module

__all__ = ["Checked", "check", "solve"]

# FF needs to know when a derived atom is false. Exactly, that takes seconds for the conditions that we quantify over;
# roughly, it takes none, and plans are found as well.
_SEARCH = "let(h,ff(axioms=approximate_negative),lazy_greedy([h],preferred=[h]))"
_PARAMETERS = {"fast-downward": {"fast_downward_search_config": _SEARCH}}


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan acted out: `done` actions worked; `failure` is why the next did not; `missed` are the goals not met."""

    done: int
    failure: str
    missed: tuple[Goal, ...]

    def __bool__(self) -> bool:
        return not self.failure and not self.missed


def solve(translation: Translation, *, planner: str = "fast-downward", seconds: float = 60.0) -> tuple[Action, ...]:
    """A plan for the translated task by one of unified-planning's planners, such as ``fast-downward``, ``pyperplan``.

    What the planner does not understand is compiled away before, as far as unified-planning can. `seconds` is for
    planners that take a limit; pyperplan takes none. Raises `ObviateError`: ``planner-unknown``, ``no-plan``,
    ``extra-missing``.
    """
    for goal in translation.problem.goals:
        if goal.simplify().is_false():
            raise ObviateError("no-plan", "no action brings about one of the goals", help="offer other actions")
    factory = translation.problem.environment.factory
    known = [name for name in factory.engines if factory.engine(name).is_oneshot_planner()]
    if planner not in known:
        raise ObviateError(
            "planner-unknown", f"there is no planner {planner!r} here", help=nearest(planner, known) or "install one"
        )
    problem, back = _simplified(translation.problem, factory.engine(planner))
    with factory.OneshotPlanner(name=planner, params=_PARAMETERS.get(planner, {})) as engine:
        limit = {} if planner.startswith("pyperplan") else {"timeout": seconds}
        result = engine.solve(problem, **limit)
    if result.plan is None:
        status = result.status.name.lower().replace("_", " ")
        raise ObviateError(
            "no-plan", f"{planner} found no plan: {status}", help="offer other actions, or allow more time"
        )
    plan = result.plan
    for step in back:
        plan = plan.replace_action_instances(step)
    return tuple(translation.action(instance) for instance in plan.actions)


def check(actions: Iterable[Action | str], world: World, goals: Sequence[Goal] = ()) -> Checked:
    """Act a plan out in a copy of the world; ``done`` is passed over."""
    world, done = copy(world), 0
    for action in actions:
        if action == DONE or action == DONE.skill:
            continue
        outcome = world.step(action)
        if outcome.failure:
            return Checked(done, f"{outcome.action}: {outcome.failure}", _missed(world, goals))
        done += 1
    return Checked(done, "", _missed(world, goals))


def _missed(world: World, goals: Sequence[Goal]) -> tuple[Goal, ...]:
    return tuple(goal for goal in goals if not goal.holds(world.graph))


def _simplified(problem: Any, engine: Any) -> tuple[Any, list[Any]]:
    """The problem within what a planner supports, and how its actions are led back, the last first."""
    kinds = module("unified_planning.engines", extra=EXTRA).CompilationKind
    supported = engine.supported_kind()
    back: list[Any] = []
    for feature, kind in (
        ("UNIVERSAL_CONDITIONS", kinds.QUANTIFIERS_REMOVING),
        ("CONDITIONAL_EFFECTS", kinds.CONDITIONAL_EFFECTS_REMOVING),
        ("DISJUNCTIVE_CONDITIONS", kinds.DISJUNCTIVE_CONDITIONS_REMOVING),
        ("NEGATIVE_CONDITIONS", kinds.NEGATIVE_CONDITIONS_REMOVING),
    ):
        if feature in problem.kind.features - supported.features:
            with problem.environment.factory.Compiler(problem_kind=problem.kind, compilation_kind=kind) as compiler:
                result = compiler.compile(problem, kind)
            problem = result.problem
            back.insert(0, result.map_back_action_instance)
    return problem, back
