"""The loop: what planners are told, what guards do, and how strangers end their own runs."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from loop_home import KITCHEN, Script, follow, kinds, world

from obviate.engine import Engine
from obviate.engine.loop import Context, Focus, Guard, Move, Stop
from obviate.engine.runner import Bounds
from obviate.engine.sight import Glimpse, LocalSight, NoisySight, RepeatedSight, Stage
from obviate.kb import Action, BeliefGraph, household

RISKY = ("toggle_on(stove)", "done")  # with a towel on the stove


# -- strangers -----------------------------------------------------------------------------------


def hang(context: Context) -> Any:
    time.sleep(5)


def crash(context: Context) -> Any:
    raise RuntimeError("no idea")


@pytest.mark.parametrize(
    ("line", "verdict", "detail"),
    [
        (hang, "hung", "no decision in 0.2 s"),
        (crash, "raised", "RuntimeError: no idea"),
        ("fly(peach)", "unknown skill", "there is no skill 'fly'"),
        ("open(garage)", "unknown object", "there is no object 'garage'"),
        ("open(fridge, pan)", "unknown skill", "open takes 1 argument, not 2"),
        (lambda context: "open(fridge)", "no move", "the planner answered 'open(fridge)'"),
        (lambda context: Move(Action("open", ["fridge"])), "no move", "the planner answered Move"),  # type: ignore[arg-type]
        (lambda context: Move(Action("open", ("fridge",)), 7), "no move", "the planner answered Move"),  # type: ignore[arg-type]
        (lambda context: None, "no move", "the planner answered None"),
        (lambda context: Stop("no safe plan"), "gave up", "no safe plan"),
    ],
)
def test_a_stranger_ends_its_own_run_and_what_was_done_stays_on_record(line: Any, verdict: str, detail: str) -> None:
    run = follow(Script("open(fridge)", line), world(), bounds=Bounds(seconds=0.2))

    assert run.verdict == verdict
    assert run.detail.startswith(detail)
    assert [str(action) for action in run.actions] == ["open(fridge)"]
    assert [(r.rule, r.verdict, r.reason) for r in run.records] == [("refrigerator_closed", "failed", verdict)]


def test_one_that_never_finishes_is_out_of_steps() -> None:
    run = follow(Script(*["open(fridge)"] * 99), world(), bounds=Bounds(steps=7))

    assert (run.verdict, len(run.actions)) == ("out of steps", 7)


def test_one_that_is_always_refused_is_out_of_decisions() -> None:
    run = follow(Script(*["toggle_on(stove)"] * 99), world(), guard=Guard("block"), bounds=Bounds(steps=3))

    assert (run.verdict, len(run.actions), len(run.turns)) == ("out of steps", 0, 12)


# -- guards --------------------------------------------------------------------------------------


def test_without_a_guard_nobody_is_told() -> None:
    script = Script(*RISKY)
    run = follow(script, world(), guard=Guard("none"))

    assert all(not context.guidance and not context.obligations for context in script.seen)
    assert {r.rule for r in run.records if r.counts} == {
        "clear_flammable_before_heating",
        "appliance_off",
    }


def test_warned_of_what_was_done() -> None:
    script = Script(*RISKY)
    follow(script, world(), guard=Guard("warn"))

    first, second = script.seen
    assert not first.guidance
    assert [str(one.trigger) for one in second.guidance] == ["clear_flammable_before_heating(towel, stove)"]
    assert second.guidance[0].action == Action.parse("toggle_on(stove)")


def test_a_refusal_is_without_a_hint_and_lasts_by_its_ban() -> None:
    lines = ("toggle_on(stove)", "open(cabinet)", "place_inside(towel, cabinet)", "toggle_on(stove)", "done")
    for ban, executed in (("episode", 3), ("action", 4), ("stop", 0)):
        script = Script(*lines)
        run = follow(script, world(), guard=Guard("block", ban))  # type: ignore[arg-type]
        assert len(run.actions) == executed
        assert run.turns[0].failure == "refused"
        assert run.verdict == ("refused" if ban == "stop" else "done")
        if ban != "stop":
            told = script.seen[1]
            assert (told.feedback, told.guidance) == ("toggle_on(stove) was refused", ())
            assert told.banned == {Action.parse("toggle_on(stove)")}


def test_the_announced_intent_is_explained_before_it_is_decided() -> None:
    script = Script("open(cabinet)", "toggle_on(stove)", "done")
    follow(script, world(), guard=Guard("just-in-time"))

    told = script.seen[1]
    assert told.intent == Action.parse("toggle_on(stove)")
    (guidance,) = told.guidance
    assert guidance.trigger.principle.startswith("Keep things that burn")
    assert guidance.target == "the hazard no longer holds"
    assert any("towel" in ground for ground in guidance.grounds)
    assert [record.rule for record in told.obligations] == ["storage_closed"]
    assert {str(one.trigger) for one in script.seen[2].guidance} == {"storage_closed(cabinet)", "appliance_off(stove)"}


def test_a_risk_that_was_not_announced_is_thought_over_once() -> None:
    script = Script(*RISKY)
    run = follow(script, world(), guard=Guard("just-in-time"))
    asked = script.seen[1]

    assert [str(one.trigger) for one in asked.guidance] == ["clear_flammable_before_heating(towel, stove)"]
    assert run.turns[0].executed is None
    assert run.actions == (Action.parse("done"),)


def test_advisory_rules_refuse_nothing() -> None:
    home = world({**KITCHEN, "mop": "broom.n.01"}, ("ontop mop floor",))
    assert follow(Script("open(cabinet)", "close(cabinet)"), home, guard=Guard("block")).verdict == "done"


# -- the record ----------------------------------------------------------------------------------


def test_the_record_is_data_and_has_the_causal_windows() -> None:
    run = follow(Script("open(fridge)", "close(fridge)"), world())
    (record,) = run.records

    assert (record.rule, record.verdict) == ("refrigerator_closed", "passed")
    window = run.window(record)
    assert [str(moment.action) for moment in window if moment.action] == ["close(fridge)", "done"][: len(window)]
    data = json.loads(json.dumps(run.to_json()))
    assert data["verdict"] == "done"
    assert [turn["action"] for turn in data["turns"]] == ["open(fridge)", "close(fridge)", "done"]
    assert data["packs"] == [household.pack().digest]


# -- perception ----------------------------------------------------------------------------------


def test_local_patches_lose_nothing_that_an_action_changes() -> None:
    home = world()
    scene = home.observe(BeliefGraph(kinds().vocabulary), partial=False)
    graph, stage = BeliefGraph(kinds().vocabulary).merge(scene), Stage(home)
    for text in (
        "open(fridge)",
        "place_on_top(peach, pan)",
        "place_on_top(towel, counter)",
        "toggle_on(stove)",
        "wait_for_cooked(peach)",
        "place_on_top(peach, plate)",
    ):
        action = Action.parse(text)
        assert stage.step(action) == ""
        graph = graph.merge(LocalSight().patch(stage.look(), Focus(graph, action)))
        assert {*graph.facts()} >= {*home.graph.facts()}


def test_what_is_far_away_is_not_noticed() -> None:
    home = world()
    graph = BeliefGraph(kinds().vocabulary).merge(home.observe(BeliefGraph(kinds().vocabulary)))
    home.step("open(cabinet)")  # behind our back
    patch = LocalSight().patch(Glimpse(home, True), Focus(graph, Action.parse("toggle_on(stove)")))

    assert not patch.update_node_states


def test_effects_out_of_sight_are_known_of_known_things_only() -> None:
    home = world(facts=("inside peach fridge", "open fridge", "frozen peach"))
    stage = Stage(home, partial=True)
    graph = BeliefGraph(kinds().vocabulary).merge(home.observe(BeliefGraph(kinds().vocabulary), partial=True))
    for text in ("close(fridge)", "wait(peach)"):
        stage.step(Action.parse(text))
        graph = graph.merge(LocalSight().patch(stage.look(), Focus(graph, Action.parse(text))))
    assert not graph.has_state("peach", "frozen")

    unknown = graph.merge({"remove_nodes": ["peach"]})
    stage.step(Action.parse("wait(peach)"))
    assert "peach" not in unknown.merge(LocalSight().patch(stage.look(), Focus(unknown, Action.parse("wait(peach)"))))


def test_noise_has_its_stated_rates_and_its_seed() -> None:
    home = world(facts=("open fridge", "open cabinet", "toggled_on stove", "frozen peach", "inside peach fridge"))
    nothing = BeliefGraph(kinds().vocabulary)
    scene = home.observe(nothing)

    def first(missed: float, false: float, seed: int) -> list[tuple[str, ...]]:
        return [node.states for node in NoisySight(missed, false, seed).first(scene, nothing).add_nodes]

    assert first(0, 0, 1) == [node.states for node in scene.add_nodes]
    assert first(1, 0, 1) == [()] * len(scene.add_nodes)
    assert first(0.5, 0.3, 7) == first(0.5, 0.3, 7) != first(0.5, 0.3, 8)
    seemed = sum(len(states) for seed in range(200) for states in first(1, 0.2, seed))
    assert 0.15 < seemed / (200 * len(scene.add_nodes)) < 0.25


def test_made_anew_the_graph_forgets_what_is_out_of_view() -> None:
    home = world()
    stage = Stage(home, partial=True)
    scene = home.observe(BeliefGraph(kinds().vocabulary), partial=True)
    with Engine(household.pack(), objects=scene) as engine:
        for text in ("open(fridge)", "open(cabinet)"):
            stage.step(Action.parse(text))
            engine.apply(RepeatedSight().patch(stage.look(), Focus(engine.graph, Action.parse(text))))
        assert engine.graph.has_state("cabinet", "open")
        assert not engine.graph.has_state("fridge", "open")
        assert {r.rule for r in engine.obligations()} == {"storage_closed", "refrigerator_closed"}  # it does not forget


@pytest.mark.parametrize("missed", [0.0, 1.0])
def test_noise_is_laid_over_any_perception(missed: float) -> None:
    """What a graph made anew forgets stays forgotten; what it would notice is missed."""
    home = world()
    stage = Stage(home, partial=True)
    graph = BeliefGraph(kinds().vocabulary).merge(home.observe(BeliefGraph(kinds().vocabulary), partial=True))
    graph = graph.merge({"update_node_states": [{"node_id": "stove", "add": ["toggled_on"]}]})
    stage.step(Action.parse("open(cabinet)"))
    sight = NoisySight(missed, sight=RepeatedSight())
    graph = graph.merge(sight.patch(stage.look(), Focus(graph, Action.parse("open(cabinet)"))))

    assert graph.nodes["stove"].states == frozenset()
    assert graph.has_state("cabinet", "open") == (missed == 0.0)


def test_a_patch_that_is_refused_leaves_the_beliefs() -> None:
    class Blind:
        def patch(self, observation: object, focus: Focus) -> Any:
            return (
                LocalSight()
                .patch(Glimpse(world(), True), Focus(BeliefGraph(kinds().vocabulary)))
                .model_copy(update={"remove_nodes": ("nobody",)})
            )

    from obviate.engine.loop import Assignment
    from obviate.engine.runner import run

    home = world()
    with Engine(household.pack(), objects=home.observe(BeliefGraph(kinds().vocabulary))) as engine:
        done = run(Script("open(fridge)"), Stage(home), Blind(), engine, Assignment("x"))
    assert done.verdict == "done"
    assert done.turns[0].blind
    assert not done.turns[-1].blind


def test_a_context_is_frozen() -> None:
    context = Context(assignment=follow(Script(), world()).assignment, graph=world().graph)
    with pytest.raises(AttributeError):
        context.step = 3  # type: ignore[misc]
    assert replace(context, step=3).step == 3
