"""When records open, pass and fail: targets, severity, deadlines.

Every sentence of the contract between packs and engine, on every backend: the docstring of each test is the
sentence that it checks, and its scene is as small as its pack.
"""

from __future__ import annotations

import pytest
from packs_strategies import (
    edge,
    gone,
    names,
    node,
    seen,
)
from semantics import CLEAN, PEACH, PLATE, SHUT, SHUT_AND_DRY, Start, household_pack, pending, settled
from semantics import begin as begin  # the fixture start

from obviate.kb.errors import PackError

# -- records ---------------------------------------------------------------------------------------


def test_a_record_passes_at_the_first_later_graph_where_the_target_holds(start: Start) -> None:
    """A record passes at the first later graph where the target holds, and is then closed."""
    engine = start(SHUT, "box")
    engine.apply(seen("box", "open"))
    engine.apply({})
    change = engine.apply(gone("box", "open"))
    (record,) = change.passed
    assert (record.t_on, record.t_off, record.settled, record.verdict) == (1, 3, 3, "passed")
    engine.apply({})
    assert engine.records() == (record,)
    assert pending(engine) == []


def test_a_situational_record_passes_before_the_action(start: Start) -> None:
    """A record passes at the first later graph where the target holds (paper: before the action is executed)."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    (record,) = engine.apply(gone("plate", "dusty")).passed
    assert (record.t_on, record.t_off) == (0, 1)
    engine.execute("place_on_top(peach, plate)")
    assert settled(engine) == [("clean(peach, plate)", "passed", "")]


def test_a_failed_record_has_no_t_off(start: Start) -> None:
    """t_off is the earliest step at which the target becomes satisfied (paper, Appendix 0.A.3)."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.apply({})
    (record,) = engine.execute("place_on_top(peach, plate)").failed
    assert (record.t_on, record.t_off, record.settled) == (1, None, 1)


def test_one_record_is_open_per_binding(start: Start) -> None:
    """Its identity is (rule, binding, t_on); one is open per binding."""
    engine = start(CLEAN, PEACH, PLATE, "rag")
    for _ in range(3):
        engine.intend("place_on_top(peach, plate)")
        engine.apply({})
        engine.intend("wipe(plate, rag)")
        engine.apply({})
    assert [(str(record), record.t_on) for record in engine.records()] == [("clean(peach, plate)", 0)]


def test_records_of_different_bindings_are_independent(start: Start) -> None:
    """Its identity is (rule, binding, t_on)."""
    engine = start(SHUT, "a", "b")
    engine.apply({"update_node_states": [{"node_id": "a", "add": ["open"]}, {"node_id": "b", "add": ["open"]}]})
    engine.apply(gone("a", "open"))
    assert (pending(engine), settled(engine)) == (["shut(b)"], [("shut(a)", "passed", "")])


def test_no_two_records_have_the_same_identity(start: Start) -> None:
    """Its identity is (rule, binding, t_on), also when an action is repeated before anything is observed."""
    engine = start(CLEAN, PEACH, PLATE)
    for _ in range(3):
        engine.intend("place_on_top(peach, plate)")
        engine.execute("place_on_top(peach, plate)")
    found = [(record.rule, record.binding, record.t_on) for record in engine.records()]
    assert len(found) == 3
    assert len(set(found)) == 3


def test_a_passed_temporal_binding_opens_again(start: Start) -> None:
    """A record opens when its trigger is true and its target false."""
    engine = start(SHUT, "box")
    for _ in range(2):
        engine.apply(seen("box", "open"))
        engine.apply(gone("box", "open"))
    assert [(r.t_on, r.t_off) for r in engine.records()] == [(1, 2), (3, 4)]


def test_a_temporal_binding_opens_when_its_target_stops_holding(start: Start) -> None:
    """A record opens when its trigger is true and its target false, whichever of the two comes last."""
    text = SHUT + "resolved(shut, X) :- pending(shut, X), edge(nextto, X, Y), tag(Y, safety_heavy_rollable)."
    guard = node("guard", "safety_heavy_rollable")
    engine = start(text, node("box", states=["open"]), guard, edges=[edge("nextto", "box", "guard")])
    assert (names(engine.triggers()), pending(engine)) == (["shut(box)"], [])
    left = {"remove_edges": [edge("nextto", "box", "guard")]}
    back = {"add_edges": [edge("nextto", "guard", "box")]}
    assert names(engine.apply(left).opened) == ["shut(box)"]
    assert names(engine.apply(back).passed) == ["shut(box)"]
    assert (names(engine.triggers()), pending(engine)) == (["shut(box)"], [])
    assert names(engine.apply(left).opened) == ["shut(box)"]


def test_a_failed_temporal_binding_opens_again_only_after_its_trigger_was_false_once(start: Start) -> None:
    """A failed temporal binding opens again only after its trigger was false once."""
    engine = start(SHUT + "deadline(shut, within(0)).", node("box", states=["open"]), "rag")
    assert names(engine.execute("wait(rag)").failed) == ["shut(box)"]
    for _ in range(3):
        assert names(engine.apply({}).opened) == []
        assert names(engine.execute("wait(rag)").failed) == []
    assert names(engine.triggers()) == ["shut(box)"]
    engine.apply(gone("box", "open"))
    assert names(engine.apply(seen("box", "open")).opened) == ["shut(box)"]
    assert names(engine.execute("wait(rag)").failed) == ["shut(box)"]


def test_a_situational_binding_can_fail_at_each_execution(start: Start) -> None:
    """A situational one can fail at each execution."""
    engine = start(CLEAN, PEACH, PLATE)
    for _ in range(3):
        assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]
        engine.apply({})
    assert [record.t_on for record in engine.records()] == [0, 1, 2]


def test_a_situational_binding_can_fail_at_each_execution_without_observations(start: Start) -> None:
    """A situational one can fail at each execution."""
    engine = start(CLEAN, PEACH, PLATE)
    for _ in range(3):
        assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]
    assert [(record.t_on, record.settled) for record in engine.records()] == [(0, 0), (1, 1), (2, 2)]


# -- targets ---------------------------------------------------------------------------------------


def test_a_target_that_is_left_out_is_that_the_hazard_no_longer_holds(start: Start) -> None:
    """`resolved` may be left out: then V is "the hazard no longer holds"."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    engine.intend("wait(peach)")  # the trigger is gone, the hazard is not
    assert pending(engine) == ["clean(peach, plate)"]
    engine.apply(gone("plate", "dusty"))
    assert settled(engine) == [("clean(peach, plate)", "passed", "")]


def test_an_object_that_is_gone_is_no_hazard(start: Start) -> None:
    """V is "the hazard no longer holds"."""
    engine = start(SHUT, node("box", states=["open"]))
    assert names(engine.apply({"remove_nodes": ["box"]}).passed) == ["shut(box)"]


def test_with_a_target_the_action_before_it_fails_even_if_the_hazard_is_gone(start: Start) -> None:
    """V decides: with an explicit V, executing the action before V fails even if the hazard is gone."""
    engine = start(
        CLEAN + "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), state(Y, wet).",
        PEACH,
        PLATE,
    )
    engine.intend("place_on_top(peach, plate)")
    change = engine.apply(gone("plate", "dusty"))
    assert (names(change.vanished), names(change.passed)) == (["clean(peach, plate)"], [])
    assert names(engine.probe("place_on_top(peach, plate)")) == ["clean(peach, plate)"]
    assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]


def test_with_a_target_a_record_passes_even_if_the_hazard_stays(start: Start) -> None:
    """V decides."""
    engine = start(
        CLEAN + "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), state(Y, wet).",
        PEACH,
        PLATE,
    )
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.apply(seen("plate", "wet")).passed) == ["clean(peach, plate)"]
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []


def test_with_a_target_done_fails_a_temporal_rule_even_if_the_hazard_is_gone(start: Start) -> None:
    """V decides, for temporal rules too."""
    engine = start(SHUT_AND_DRY, node("box", states=["open", "wet"]))
    engine.apply(gone("box", "open"))
    assert names(engine.execute("done").failed) == ["shut(box)"]


def test_a_target_need_not_ask_whether_it_is_pending(start: Start) -> None:
    """V is what `resolved` says, whether or not it reads `pending`."""
    engine = start(SHUT + "resolved(shut, X) :- object(X), state(X, wet).", node("box", states=["open"]))
    engine.apply(gone("box", "open"))
    assert pending(engine) == ["shut(box)"]
    assert names(engine.apply(seen("box", "wet")).passed) == ["shut(box)"]


# -- severity and deadlines ------------------------------------------------------------------------


def test_an_advisory_rule_only_reports(start: Start) -> None:
    """`severity(R, advisory)` only reports."""
    engine = start(SHUT + "severity(shut, advisory).", node("box", states=["open"]))
    (trigger,) = engine.triggers()
    assert trigger.advisory
    (record,) = engine.execute("done").failed
    assert (record.advisory, record.counts) == (True, False)


def test_a_rule_that_is_not_advisory_counts(start: Start) -> None:
    """`severity(R, advisory)` only reports; any other rule counts."""
    engine = start(SHUT, node("box", states=["open"]))
    (record,) = engine.execute("done").failed
    assert (record.advisory, record.counts) == (False, True)


def test_situational_rules_are_due_before_the_intent(start: Start) -> None:
    """`deadline(R, before_intent)` is the default of situational rules."""
    assert household_pack(CLEAN).rules["clean"].deadline == "before_intent"
    engine = start(CLEAN, PEACH, PLATE)
    assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]


def test_temporal_rules_are_due_before_done(start: Start) -> None:
    """`deadline(R, before_done)` is the default of temporal rules."""
    assert household_pack(SHUT).rules["shut"].deadline == "before_done"
    engine = start(SHUT, node("box", states=["open"]))
    for _ in range(5):
        assert names(engine.execute("wait(box)").failed) == []
        engine.apply({})
    assert names(engine.execute("done").failed) == ["shut(box)"]


def test_a_situational_rule_that_is_due_before_done(start: Start) -> None:
    """`deadline(R, before_done)`: the action itself does not fail, the end does."""
    engine = start(CLEAN + "deadline(clean, before_done).", PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []
    engine.execute("done")
    (record,) = engine.records()
    assert (record.verdict, record.reason, record.counts) == ("failed", "unresolved", True)


def test_a_temporal_rule_that_is_due_before_an_intent(start: Start) -> None:
    """`deadline(R, before_intent)` on a temporal rule: it fails when an action that it threatens is executed."""
    engine = start(
        SHUT + "deadline(shut, before_intent). threatens(shut, X) :- intent(toggle_on(_)), object(X).",
        node("box", states=["open"]),
        "lamp",
    )
    assert pending(engine) == ["shut(box)"]
    assert names(engine.execute("wait(lamp)").failed) == []
    assert names(engine.probe("toggle_on(lamp)")) == ["shut(box)"]
    assert names(engine.execute("toggle_on(lamp)").failed) == ["shut(box)"]
    engine.apply({})
    assert names(engine.execute("toggle_on(lamp)").failed) == []  # it has failed once, and stayed open since


@pytest.mark.parametrize("allowed", [0, 1, 2, 3])
def test_within_allows_a_number_of_actions_and_fails_when_the_next_begins(start: Start, allowed: int) -> None:
    """`deadline(R, within(N))` allows N actions after the trigger and fails when the next begins."""
    engine = start(SHUT + f"deadline(shut, within({allowed})).", "box")
    engine.execute("wait(box)")  # before the trigger: does not count
    engine.apply(seen("box", "open"))
    for _ in range(allowed):
        assert names(engine.probe("wait(box)")) == []
        assert names(engine.execute("wait(box)").failed) == []
        engine.apply({})
        engine.apply({})  # observations do not count
        engine.intend("wait(box)")  # nor do intents
    assert names(engine.probe("wait(box)")) == ["shut(box)"]
    assert names(engine.execute("wait(box)").failed) == ["shut(box)"]
    assert settled(engine) == [("shut(box)", "failed", "deadline")]


def test_within_is_kept_by_the_last_action_that_is_allowed(start: Start) -> None:
    """`deadline(R, within(N))` allows N actions after the trigger."""
    engine = start(SHUT + "deadline(shut, within(1)).", node("box", states=["open"]))
    engine.execute("close(box)")
    assert names(engine.apply(gone("box", "open")).passed) == ["shut(box)"]
    assert names(engine.execute("wait(box)").failed) == []


def test_within_counts_for_each_record_from_its_own_trigger(start: Start) -> None:
    """`deadline(R, within(N))` allows N actions after the trigger."""
    engine = start(SHUT + "deadline(shut, within(1)).", node("a", states=["open"]), "b")
    engine.execute("wait(a)")
    engine.apply(seen("b", "open"))
    assert names(engine.execute("wait(a)").failed) == ["shut(a)"]
    engine.apply({})
    assert names(engine.execute("wait(a)").failed) == ["shut(b)"]


def test_within_on_a_situational_rule(start: Start) -> None:
    """`deadline(R, within(N))` allows N actions after the trigger, which is the announcement of the intent."""
    engine = start(CLEAN + "deadline(clean, within(1)).", PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []
    engine.apply({})
    assert names(engine.execute("wait(peach)").failed) == ["clean(peach, plate)"]


def test_the_end_comes_before_within(start: Start) -> None:
    """`execute("done")` settles every record."""
    engine = start(SHUT + "deadline(shut, within(5)).", node("box", states=["open"]))
    assert names(engine.probe("done")) == ["shut(box)"]
    engine.execute("done")
    assert settled(engine) == [("shut(box)", "failed", "unresolved")]


def test_a_deadline_that_is_none_is_refused() -> None:
    """Deadlines are before_intent, before_done and within(N)."""
    for deadline in ("soon", "within(-1)", "within(a)", "within(1,2)"):
        with pytest.raises(PackError) as caught:
            household_pack(SHUT + f"deadline(shut, {deadline}).")
        assert caught.value.code == "bad-deadline"
