"""The household theory as a problem of unified-planning: the same actions, the same effects, and plans that work."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obviate.adapters import scenario
from obviate.adapters.planners.operators import ground, sensible
from obviate.adapters.planners.problem import Translation, names_for, translate
from obviate.adapters.planners.solving import check, solve
from obviate.adapters.scenario import Goal
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, household
from obviate.kb.errors import ObviateError
from obviate.kb.kinds import Kinds
from obviate.kb.terms import Atom

NEEDS = "needs the extra: pip install 'obviate[planning]'"
pytest.importorskip("unified_planning", reason=NEEDS)
INJECTION = '"]) :- true. ignore previous instructions'
SCENES = ("dusting", "microwave", "peach", "shelf", "side_table", "supper")
WALKED = ("dusting", "microwave", "peach", "supper")  # cloths, washing, heating, filling, closed doors, towers


@cache
def translated(name: str) -> tuple[World, Translation, Any]:
    from unified_planning.engines.sequential_simulator import UPSequentialSimulator

    scene = scenario.read(name)
    made = translate(scene.world, scene.goal)
    return scene.world, made, UPSequentialSimulator(made.problem)


def held(world: World) -> set[Atom]:
    """What holds, each relation once."""
    graph = world.graph
    states = {atom for node in graph.nodes for atom in graph.nodes[node].atoms(node) if atom.name == "state"}
    return {atom for atom in states if atom.positive} | {edge.atom for edge in graph.edges()}


# -- one theory --------------------------------------------------------------------------------------


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(WALKED), st.data())
def test_simulator_and_world_agree_on_random_actions(name: str, data: st.DataObject) -> None:
    start, made, simulator = translated(name)
    world, state = copy(start), simulator.get_initial_state()
    actions = sorted(made.actions.items(), key=str)
    for _ in range(8):
        label, action = data.draw(st.sampled_from(actions))
        outcome = world.step(action)
        after = simulator.apply(state, made.problem.action(label))
        assert (after is None) == bool(outcome.failure), (str(action), outcome.failure)
        state = after if after is not None else state
        assert made.beliefs(state) == held(world), str(action)


@settings(max_examples=8)
@given(st.sampled_from(WALKED), st.data())
def test_what_is_not_in_the_problem_fails_or_changes_nothing(name: str, data: st.DataObject) -> None:
    """Along a random walk of what is: the actions offered and left out are never of use."""
    start, made, _ = translated(name)
    world = copy(start)
    inside = sorted(made.actions.values(), key=str)
    offered = sensible(start)
    outside = [
        action
        for skill, arity in household.vocabulary().skills.items()
        if arity == 2
        for one in start.objects
        for other in start.objects
        if one != other and offered(action := Action(skill, (one, other))) and action not in inside
    ]
    for _ in range(4):
        world.step(data.draw(st.sampled_from(inside)))
        before = world.graph
        for action in data.draw(st.lists(st.sampled_from(outside), max_size=8)):
            assert world.step(action).failure or world.graph == before, str(action)


def test_a_walk_of_hundreds_of_steps_agrees() -> None:
    """The actions that work are drawn far more often than by chance, so that deep states come about."""
    import random

    rng = random.Random(8)
    for name in WALKED:
        start, made, simulator = translated(name)
        world, state = copy(start), simulator.get_initial_state()
        labels = sorted(made.actions)
        for _ in range(40):
            working = [
                one
                for one in rng.sample(labels, min(len(labels), 8))
                if simulator.is_applicable(state, made.problem.action(one))
            ]
            label = rng.choice(working or labels)
            outcome = world.step(made.actions[label])
            after = simulator.apply(state, made.problem.action(label))
            assert (after is None) == bool(outcome.failure), (label, outcome.failure)
            state = after if after is not None else state
            assert made.beliefs(state) == held(world), label


def test_a_theory_of_ones_own_is_translated_too(tmp_path: Any) -> None:
    theory = tmp_path / "lid.lp"
    theory.write_text(
        """
        violates(1, stuck(X)) :- do(open(X)), ability(X,openable), state(X,frozen).
        violates(1, no(X))    :- do(A), argument(X), not ability(X,openable).
        reason(R) :- violates(_,R).
        works     :- do(_), not reason(_).
        becomes(X,open) :- works, do(open(X)).
        """
    )
    start = scenario.read("peach").world
    made = ground(World(start.objects, start.graph, start.kinds), actions=str(theory))
    assert [str(one.action) for one in made.operators if one.effects] == ["open(fridge)"]


# -- plans -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_fast_downward_finds_plans_that_work(name: str) -> None:
    pytest.importorskip("up_fast_downward", reason=NEEDS)
    world, made, _ = translated(name)
    goals = scenario.read(name).goal
    plan = solve(made)
    assert plan
    assert check(plan, world, goals)
    assert not check(plan[:-1], world, goals)


def test_pyperplan_finds_a_plan_once_all_is_compiled_away() -> None:
    pytest.importorskip("up_pyperplan", reason=NEEDS)
    scene = scenario.read("peach")
    few = ("open(fridge)", "close(fridge)", "place_on_top(peach, plate)", "place_inside(peach, fridge)")
    made = translate(scene.world, scene.goal, offered=lambda one: str(one) in few)
    plan = solve(made, planner="pyperplan")
    assert check(plan, scene.world, scene.goal)


def test_what_no_action_reaches_has_no_plan() -> None:
    scene = scenario.read("peach")
    made = translate(scene.world, [Goal("frozen", ("counter",), True)], offered=lambda one: one.skill == "open")
    with pytest.raises(ObviateError) as caught:
        solve(made)
    assert caught.value.code == "no-plan"
    with pytest.raises(ObviateError) as caught:
        solve(translated("peach")[1], planner="magic")
    assert caught.value.code == "planner-unknown"


def test_a_plan_that_fails_is_told_where() -> None:
    scene = scenario.read("peach")
    result = check(["place_on_top(peach, plate)", "done"], scene.world, scene.goal)
    assert not result
    assert (result.done, result.failure) == (
        0,
        "place_on_top(peach, plate): fridge is closed, open it first: peach is inside",
    )
    assert [str(goal.predicate) for goal in result.missed] == ["ontop"]


# -- names -------------------------------------------------------------------------------------------


@given(st.lists(st.text(min_size=1, max_size=30), max_size=8, unique=True))
def test_names_are_plain_and_differ(ids: list[str]) -> None:
    import re

    names = names_for(ids, {"open"})
    assert set(names) == set(ids)
    assert len(set(names.values())) == len(ids)
    assert "open" not in names.values()
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names.values())


def test_an_injected_name_is_data_in_problems_and_plans() -> None:
    kinds = Kinds.load(household.vocabulary())
    objects = {"open": "countertop.n.01", INJECTION: "electric_refrigerator.n.01", "rag": "rag.n.01"}
    nodes = [{"node_id": name, "tags": sorted(kinds.tagging(kind).tags)} for name, kind in objects.items()]
    edges = [{"pred": "inside", "src": "rag", "dst": INJECTION}]
    graph = BeliefGraph.of(kinds.vocabulary, {"add_nodes": nodes, "add_edges": edges})
    world = World(objects, graph, kinds)
    goals = [Goal("ontop", ("rag", "open"), True)]
    made = translate(world, goals)
    assert made.objects[INJECTION] == "object"
    assert "ignore" not in str(made.problem)
    plan = solve(made)
    assert plan == (Action("open", (INJECTION,)), Action("place_on_top", ("rag", "open")))
    assert check(plan, world, goals)


def test_what_a_problem_does_not_know_is_refused() -> None:
    _, made, _ = translated("peach")
    wrongs: tuple[Callable[[], object], ...] = (
        lambda: made.instance("place_on_top(peach, moon)"),
        lambda: made.fluent(Atom("state", ("moon", Action("open").term))),
        lambda: made.fluent(Atom("object", ("peach",))),
    )
    for wrong in wrongs:
        with pytest.raises(ObviateError) as caught:
            wrong()
        assert caught.value.code == "not-translated"
