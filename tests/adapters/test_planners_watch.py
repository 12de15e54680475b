"""The engine beside a simulator of unified-planning: of our own translation, and of a stranger's problem."""

from __future__ import annotations

from typing import Any

import pytest

from obviate.adapters import scenario
from obviate.adapters.planners.problem import translate
from obviate.adapters.planners.watch import Reading, Watch, audit
from obviate.kb import Action, household
from obviate.kb.errors import LifecycleError, PatchError

NEEDS = "needs the extra: pip install 'obviate[planning]'"
up = pytest.importorskip("unified_planning.shortcuts", reason=NEEDS)
RISKY = ("open(fridge)", "place_on_top(peach, plate)")
SAFE = ("wipe(plate, sponge)", *RISKY, "close(fridge)")


def peach() -> tuple[Any, Reading]:
    scene = scenario.read("peach")
    made = translate(scene.world, scene.goal)
    return made, Reading.translated(made, scene.world)


def test_a_plan_is_told_which_step_triggers_which_rule_and_what_stays_open() -> None:
    made, reading = peach()
    found = audit(made.problem, made.plan(RISKY), household.pack(), reading=reading)
    assert [[risk.rule for risk in step.risks] for step in found.steps] == [[], ["food_on_clean"]]
    assert [str(one) for one in found.unmet] == ["refrigerator_closed(fridge)"]
    assert {(one.rule, one.reason) for one in found.violations} == {
        ("food_on_clean", "executed"),
        ("refrigerator_closed", "unresolved"),
    }


def test_a_safe_plan_passes() -> None:
    made, reading = peach()
    soaked = ("soak_inside(sponge, soap)", *SAFE)
    found = audit(made.problem, made.plan(soaked), household.pack(), reading=reading)
    assert [step.failure for step in found.steps] == [""] * len(soaked)
    assert found.violations == ()
    assert found.unmet == ()
    assert {record.verdict for record in found.records} == {"passed"}


def test_what_the_simulator_refuses_changes_nothing() -> None:
    made, reading = peach()
    with Watch(made.problem, household.pack(), reading=reading) as watch:
        before = watch.engine.graph
        step = watch.step(made.instance("place_inside(peach, plate)"))
        assert (step.taken, step.failure) == (False, "its conditions do not hold")
        assert watch.engine.graph == before


def test_with_a_veto_a_triggered_action_is_not_done() -> None:
    made, reading = peach()
    with Watch(made.problem, household.pack(), reading=reading, veto=True) as watch:
        watch.step(made.instance("open(fridge)"))
        step = watch.step(made.instance("place_on_top(peach, plate)"))
        assert (step.taken, step.vetoed) == (False, True)
        assert not watch.engine.graph.has_edge("ontop", "peach", "plate")
        watch.step(made.instance("close(fridge)"))
        assert watch.finish().violations == ()
        with pytest.raises(LifecycleError, match="has ended"):
            watch.step(made.instance("open(fridge)"))


# -- a problem that others wrote ---------------------------------------------------------------------


def foreign() -> Any:
    """Lifted actions and types of its own, a numeric fluent, and an action that is no skill of ours."""
    thing = up.UserType("item")
    problem = up.Problem("breakfast")
    on, stained, fuel = (
        up.Fluent("OnTop", up.BoolType(), a=thing, b=thing),
        up.Fluent("soiled", up.BoolType(), a=thing),
        up.Fluent("fuel", up.IntType()),
    )
    for fluent in (on, stained):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_fluent(fuel, default_initial_value=3)
    put = up.InstantaneousAction("Place_On_Top", x=thing, y=thing)
    put.add_effect(on(put.x, put.y), True)
    scrub = up.InstantaneousAction("scrub", y=thing)
    scrub.add_precondition(stained(scrub.y))
    scrub.add_effect(stained(scrub.y), False)
    problem.add_actions([put, scrub])
    peach_, plate, table = (up.Object(name, thing) for name in ("peach", "plate", "table"))
    problem.add_objects([peach_, plate, table])
    problem.set_initial_value(stained(plate), True)
    problem.set_initial_value(on(plate, table), True)
    return problem


TAGS = {"peach": ["safety_food"], "plate": ["function_container"], "table": ["function_surface"]}


def instance(problem: Any, name: str, *objects: str) -> Any:
    from unified_planning.plans import ActionInstance

    build = problem.environment.expression_manager
    return ActionInstance(problem.action(name), tuple(build.ObjectExp(problem.object(one)) for one in objects))


def test_any_problem_can_be_read_by_its_names() -> None:
    problem = foreign()
    reading = Reading.of(problem, household.vocabulary(), TAGS, words={"soiled": "stained"})
    assert reading.action(instance(problem, "scrub", "plate")) is None
    assert reading.action(instance(problem, "Place_On_Top", "peach", "plate")) == Action(
        "place_on_top", ("peach", "plate")
    )
    from unified_planning.plans import SequentialPlan

    put, scrub = instance(problem, "Place_On_Top", "peach", "plate"), instance(problem, "scrub", "plate")
    risky = audit(problem, SequentialPlan([put]), household.pack(), reading=reading)
    assert [one.rule for one in risky.violations] == ["food_on_clean"]
    safe = audit(problem, SequentialPlan([scrub, put]), household.pack(), reading=reading)
    assert safe.violations == ()
    assert [step.action for step in safe.steps] == [None, Action("place_on_top", ("peach", "plate"))]


def test_a_state_that_cannot_be_is_refused() -> None:
    """On two things at once: the problem never takes the old place away."""
    problem = foreign()
    reading = Reading.of(problem, household.vocabulary(), TAGS)
    with Watch(problem, household.pack(), reading=reading) as watch, pytest.raises(PatchError) as caught:
        watch.step(instance(problem, "Place_On_Top", "plate", "peach"))
    assert watch.steps == []
    assert caught.value.code == "two-supports"
