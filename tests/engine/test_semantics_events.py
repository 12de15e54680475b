"""What happens at observations, intents, probes and executions.

Every sentence of the contract between packs and engine, on every backend: the docstring of each test is the
sentence that it checks, and its scene is as small as its pack.
"""

from __future__ import annotations

from typing import Any

import pytest
from packs_strategies import (
    edge,
    gone,
    known,
    names,
    node,
    pack,
    seen,
    update,
)
from semantics import CLEAN, PEACH, PLATE, SHUT, Start, pending, settled
from semantics import begin as begin  # the fixture start

from obviate.kb.errors import ActionError, ObviateError, PackError

# -- observations ----------------------------------------------------------------------------------


def test_apply_is_an_observation(start: Start) -> None:
    """`apply(patch)` is an observation: conclusions are recomputed on the new graph."""
    engine = start(SHUT, "box")
    change = engine.apply(seen("box", "open"))
    assert (change.step, names(change.appeared), names(change.vanished)) == (1, ["shut(box)"], [])
    change = engine.apply(gone("box", "open"))
    assert (change.step, names(change.appeared), names(change.vanished)) == (2, [], ["shut(box)"])


def test_the_first_scene_is_an_observation(start: Start) -> None:
    """A record opens when its trigger is true, at the first graph too."""
    engine = start(SHUT, node("box", states=["open"]))
    assert [(str(record), record.t_on) for record in engine.obligations()] == [("shut(box)", 0)]


def test_a_trigger_tells_rule_mode_principle_and_source(start: Start) -> None:
    """Every verb returns the triggers that appeared, with bindings, principle, rule and source line."""
    engine = start('principle(shut, "Shut it.").\n' + SHUT, "box")
    (trigger,) = engine.apply(seen("box", "open")).appeared
    assert (trigger.rule, trigger.binding, trigger.mode) == ("shut", ("box",), "temporal")
    assert (trigger.principle, trigger.source, trigger.advisory) == ("Shut it.", "pack.lp:3", False)


def test_an_object_may_be_updated_by_the_patch_that_adds_it(start: Start) -> None:
    """Merge: additions of nodes come before updates."""
    engine = start(SHUT, "a")
    change = engine.apply({"add_nodes": known("box"), **seen("box", "open")})
    assert names(change.opened) == ["shut(box)"]


@pytest.mark.parametrize(
    "patch",
    [
        seen("bx", "open"),
        seen("box", "opne"),
        {**seen("box", "open"), "add_edges": [edge("ontop", "box", "box")]},
        {**seen("box", "open"), "surprise": []},
    ],
)
def test_a_refused_patch_changes_nothing(start: Start, patch: dict[str, Any]) -> None:
    """A refused update changes nothing."""
    engine = start(SHUT, "box")
    before = engine.snapshot()
    with pytest.raises(ObviateError):
        engine.apply(patch)
    assert engine.snapshot() == before
    assert names(engine.apply(seen("box", "open")).opened) == ["shut(box)"]


def test_a_number_that_the_rules_cannot_take_is_refused_and_forgotten(start: Start) -> None:
    """Nothing bad changes state: what follows a refused observation is as if it had not been made."""
    engine = start(pack("rule(r, temporal). hazard(r, X) :- value(X, weight, N), 6/N > 2."), node("a", weight=6))
    with pytest.raises(PackError):
        engine.apply(update("a", values={"weight": 0}))
    assert names(engine.apply(update("a", values={"weight": 2})).appeared) == ["r(a)"]


# -- intents and probes ----------------------------------------------------------------------------


def test_an_intent_opens_a_record(start: Start) -> None:
    """`intend(A)` commits the lookahead and opens records."""
    engine = start(CLEAN, PEACH, PLATE)
    change = engine.intend("place_on_top(peach, plate)")
    assert (names(change.appeared), names(change.opened)) == (["clean(peach, plate)"],) * 2
    assert names(change.risks) == ["clean(peach, plate)"]
    assert pending(engine) == ["clean(peach, plate)"]


def test_a_hazard_without_the_intent_is_no_trigger(start: Start) -> None:
    """ψ: the intent that makes the local state a hazard."""
    engine = start(CLEAN, PEACH, PLATE)
    assert names(engine.triggers()) == []
    assert names(engine.intend("place_on_top(plate, peach)").opened) == []
    assert names(engine.intend("place_inside(peach, plate)").opened) == []


def test_an_intent_without_the_hazard_is_no_trigger(start: Start) -> None:
    """φ: the hazardous local state."""
    engine = start(CLEAN, PEACH, "plate")
    assert names(engine.intend("place_on_top(peach, plate)").opened) == []


def test_an_intent_stands_until_the_next_intent(start: Start) -> None:
    """The intent stands until the next `intend` or `execute`."""
    engine = start(CLEAN, PEACH, "plate", "bowl")
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.apply(seen("plate", "dusty")).opened) == ["clean(peach, plate)"]
    assert names(engine.apply({}).risks) == ["clean(peach, plate)"]
    assert names(engine.intend("place_on_top(peach, bowl)").vanished) == ["clean(peach, plate)"]
    assert names(engine.apply({}).risks) == []


def test_an_intent_stands_until_the_next_action(start: Start) -> None:
    """The intent stands until the next `intend` or `execute`."""
    engine = start(CLEAN, PEACH, "plate")
    engine.intend("place_on_top(peach, plate)")
    engine.execute("wait(peach)")
    assert names(engine.apply(seen("plate", "dusty")).appeared) == []


def test_an_executed_action_is_intended_no_more(start: Start) -> None:
    """The intent stands until the next `intend` or `execute`: its triggers are not true any longer."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.triggers()) == ["clean(peach, plate)", "shut(box)"]
    assert names(engine.execute("place_on_top(peach, plate)").vanished) == ["clean(peach, plate)"]
    assert names(engine.triggers()) == ["shut(box)"]


def test_a_probe_answers_the_same_question_as_an_intent(start: Start) -> None:
    """`probe(A)` answers the same question."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    for action in ("place_on_top(peach, plate)", "place_on_top(plate, peach)", "done"):
        risks = engine.probe(action)
        assert engine.intend(action).risks == risks


def test_a_probe_commits_nothing(start: Start) -> None:
    """`probe(A)` commits nothing."""
    engine = start(CLEAN, PEACH, PLATE, "bowl")
    engine.intend("place_on_top(peach, bowl)")
    before = engine.snapshot()
    assert names(engine.probe("place_on_top(peach, plate)")) == ["clean(peach, plate)"]
    assert engine.snapshot() == before
    assert (pending(engine), names(engine.triggers())) == ([], [])
    assert names(engine.apply({}).risks) == []  # the standing intent is still the one before the probe


def test_a_probe_of_done_returns_the_obligations_that_would_fail(start: Start) -> None:
    """`probe` of `done` returns the obligations that would fail."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]), node("tin", states=["open"]))
    engine.apply(gone("tin", "open"))
    engine.intend("place_on_top(peach, plate)")  # its record would be abandoned, which is no failure to count
    assert names(engine.probe("done")) == ["shut(box)"]
    assert not engine.ended
    counted = [str(record) for record in engine.execute("done").failed if record.counts]
    assert counted == ["shut(box)"]


def test_an_unknown_action_is_refused(start: Start) -> None:
    """Nothing is silently ignored; nothing bad changes state."""
    engine = start(CLEAN, PEACH, PLATE)
    before = engine.snapshot()
    for verb in (engine.intend, engine.probe, engine.execute):
        for action in ("place_on_top(peach, plte)", "plce(peach)", "open(peach, plate)", "open(", ""):
            with pytest.raises(ActionError):
                verb(action)
    assert engine.snapshot() == before


# -- execution -------------------------------------------------------------------------------------


def test_an_announced_risky_action_fails_when_it_is_executed(start: Start) -> None:
    """An open record that A threatens and whose target is false fails."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    change = engine.execute("place_on_top(peach, plate)")
    assert (names(change.opened), names(change.failed)) == ([], ["clean(peach, plate)"])
    assert settled(engine) == [("clean(peach, plate)", "failed", "executed")]
    assert pending(engine) == []


def test_an_unannounced_risky_action_opens_and_fails_in_one_step(start: Start) -> None:
    """A risky action never announced opens and fails in one step."""
    engine = start(CLEAN, PEACH, PLATE)
    change = engine.execute("place_on_top(peach, plate)")
    assert (names(change.opened), names(change.failed)) == (["clean(peach, plate)"],) * 2
    assert settled(engine) == [("clean(peach, plate)", "failed", "executed")]


def test_an_action_is_judged_with_its_own_intent_alone(start: Start) -> None:
    """`execute(A)` is judged with `intent(A)` alone true."""
    engine = start(CLEAN, PEACH, PLATE, "rag")
    engine.intend("place_on_top(peach, plate)")
    change = engine.execute("wipe(plate, rag)")
    assert names(change.failed) == []
    assert pending(engine) == ["clean(peach, plate)"]


def test_an_action_is_judged_on_the_graph_before_its_effects(start: Start) -> None:
    """`execute(A)` is judged on the graph before its effects. Effects arrive by the next `apply`."""
    engine = start(CLEAN, PEACH, PLATE, "rag")
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.execute("wipe(plate, rag)").passed) == []
    assert names(engine.apply(gone("plate", "dusty")).passed) == ["clean(peach, plate)"]
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []


def test_an_action_without_a_hazard_fails_nothing(start: Start) -> None:
    """Only an open record that A threatens fails."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, "bowl", node("box", states=["open"]))
    change = engine.execute("place_on_top(peach, bowl)")
    assert (names(change.opened), names(change.failed)) == ([], [])
    assert pending(engine) == ["shut(box)"]


def test_a_target_that_holds_already_opens_nothing(start: Start) -> None:
    """A record opens when its trigger is true and its target false."""
    engine = start(
        CLEAN + "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), edge(covered, Y, Z), Z != X.",
        PEACH,
        PLATE,
        "napkin",
        edges=[edge("covered", "plate", "napkin")],
    )
    assert names(engine.probe("place_on_top(peach, plate)")) == []
    change = engine.intend("place_on_top(peach, plate)")
    assert (names(change.appeared), names(change.opened)) == (["clean(peach, plate)"], [])
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []
    assert engine.records() == ()


def test_a_risky_action_that_happens_to_be_done(start: Start) -> None:
    """A risky action never announced opens and fails in one step, also when it is `done`."""
    text = "rule(off, situational). hazard(off, X) :- state(X, hot). threatens(off, X) :- intent(done), object(X)."
    engine = start(text, node("stove", states=["hot"]))
    assert names(engine.probe("done")) == ["off(stove)"]
    engine.execute("done")
    (record,) = engine.records()
    assert (record.verdict, record.counts) == ("failed", True)
