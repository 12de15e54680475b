"""What happens when: every sentence of the contract between packs and engine, on every backend.

The docstring of each test is the sentence that it checks. The scene of a test is as small as its pack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from packs_strategies import (
    BACKENDS,
    added,
    edge,
    forgotten,
    gone,
    known,
    names,
    node,
    pack,
    placed,
    scene,
    seen,
    update,
)

from obviate.engine import Engine, Record
from obviate.kb import Pack, household
from obviate.kb.errors import ActionError, ObviateError, PackError, PatchError

Start = Callable[..., Engine]


@pytest.fixture(params=BACKENDS)
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts an episode with a pack, given as text, and the objects of the scene."""
    engines: list[Engine] = []

    def begin(text: str | Pack | list[Pack], *nodes: Any, edges: Any = (), **options: Any) -> Engine:
        packs = [household_pack(text)] if isinstance(text, str) else [text] if isinstance(text, Pack) else text
        engines.append(Engine(*packs, objects=scene(*nodes, edges=edges), backend=request.param, **options))
        return engines[-1]

    yield begin
    for engine in engines:
        engine.close()


def household_pack(text: str, **options: Any) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary(), **options)


def settled(engine: Engine) -> list[tuple[str, str, str]]:
    """The settled records as (record, verdict, reason)."""
    return [(str(r), r.verdict, r.reason) for r in engine.records() if r.verdict != "pending"]


def pending(engine: Engine) -> list[str]:
    return names(engine.obligations())


# A plate that is dusty when food is put on it: situational, with the target left out.
CLEAN = """
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
"""
PEACH, PLATE = node("peach", "safety_food"), node("plate", states=["dusty"])

# A cabinet that must be shut in the end: temporal, with the target left out.
SHUT = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
"""

# The same with a target of its own: shut is not enough, it must be seen to be shut and dry.
SHUT_AND_DRY = """
rule(shut, temporal).
hazard(shut, X) :- state(X, open).
resolved(shut, X) :- pending(shut, X), -state(X, open), -state(X, wet).
"""


# -- bindings --------------------------------------------------------------------------------------


def test_a_binding_is_one_known_object(start: Start) -> None:
    """A binding is one known object X."""
    engine = start(SHUT, node("box", states=["open"]))
    assert [trigger.binding for trigger in engine.triggers()] == [("box",)]


def test_a_binding_is_a_tuple_of_objects(start: Start) -> None:
    """A binding is a tuple of objects."""
    engine = start(CLEAN, PEACH, PLATE)
    assert [trigger.binding for trigger in engine.probe("place_on_top(peach, plate)")] == [("peach", "plate")]


def test_a_binding_is_empty_for_a_rule_about_the_whole_scene(start: Start) -> None:
    """A binding is () for a rule about the whole scene."""
    engine = start("rule(any, temporal). hazard(any, ()) :- state(_, open).", node("a", states=["open"]), "b")
    assert [trigger.binding for trigger in engine.triggers()] == [()]
    engine.apply(seen("b", "open"))
    assert names(engine.obligations()) == ["any()"]
    engine.apply(gone("a", "open"))
    assert pending(engine) == ["any()"]
    engine.apply(gone("b", "open"))
    assert settled(engine) == [("any()", "passed", "")]


def test_an_empty_binding_of_a_situational_rule(start: Start) -> None:
    """A binding is () for a rule about the whole scene."""
    engine = start(
        "rule(any, situational). hazard(any, ()) :- state(_, wet). threatens(any, ()) :- intent(toggle_on(_)).",
        node("lamp"),
        node("floor", states=["wet"]),
    )
    assert names(engine.execute("toggle_on(lamp)").failed) == ["any()"]


def test_a_binding_is_never_a_tuple_of_one() -> None:
    """A binding is one known object X (never (X,))."""
    with pytest.raises(PackError):
        household_pack("rule(shut, temporal). hazard(shut, (X,)) :- state(X, open).")


@pytest.mark.parametrize(
    "text",
    [
        "rule(shut, temporal). hazard(shut, X) :- state(X, open). hazard(shut, (X,Y)) :- edge(ontop, X, Y).",
        "rule(r, situational). hazard(r, X) :- state(X, open). threatens(r, (X,Y)) :- intent(wipe(X,Y)).",
        "rule(shut, temporal). hazard(shut, X) :- state(X, open). resolved(shut, (X,Y)) :- edge(ontop, X, Y).",
    ],
)
def test_a_rule_has_one_arity(text: str) -> None:
    """One arity per rule."""
    with pytest.raises(PackError):
        household_pack(text)


def test_a_rule_has_one_mode() -> None:
    """One mode per rule."""
    with pytest.raises(PackError):
        household_pack("rule(r, temporal). rule(r, situational). hazard(r, X) :- state(X, open). " + THREAT)


def test_a_binding_that_is_no_object_is_refused_and_changes_nothing(start: Start) -> None:
    """A binding is made of objects; nothing bad changes state."""
    engine = start(
        pack("rule(r, temporal). hazard(r, N) :- value(_, weight, N), N > 1."),
        node("a", weight=0),
    )
    before = engine.snapshot()
    with pytest.raises(ObviateError) as caught:
        engine.apply(update("a", values={"weight": 2}))
    assert caught.value.code == "bad-binding"
    assert engine.snapshot() == before
    assert engine.apply(update("a", values={"weight": 1})).step == 1


# -- what a pack may say ---------------------------------------------------------------------------

THREAT = "threatens(r, X) :- intent(open(X))."
SITUATIONAL = "rule(r, situational). hazard(r, X) :- state(X, dusty). " + THREAT


@pytest.mark.parametrize("event", ["intent(open(X))", "executed(open(X))"])
@pytest.mark.parametrize("head", ["hazard(r, X)", "resolved(r, X)"])
@pytest.mark.parametrize("helper", [False, True])
def test_hazard_and_target_do_not_depend_on_the_intent(event: str, head: str, helper: bool) -> None:
    """`hazard` and `resolved` depend on neither `intent` nor `executed`, not even through helpers."""
    rule = f"{head} :- asked(X). asked(X) :- {event}." if helper else f"{head} :- {event}."
    with pytest.raises(PackError) as caught:
        household_pack(f"{SITUATIONAL} {rule}")
    assert caught.value.code == "depends-on-intent"


@pytest.mark.parametrize(
    ("addition", "code"),
    [
        ("{ odd(X) } :- object(X).", "refused-statement"),
        ("odd(X) ; even(X) :- object(X).", "refused-statement"),
        (":- state(_, open).", "refused-statement"),
        ("hazard(r, X) :- object(X), not state(X, (dusty; stained)).", "negated-pool"),
        ("odd(X) :- object(X), not even(X). even(X) :- object(X), not odd(X).", "not-stratified"),
        ("many(X) :- object(X), #count{Y : many(Y)} > 0.", "not-stratified"),
        ("state(X, open) :- object(X).", "defines-belief"),
        ("moved(X) :- object(X).", "defines-belief"),
        ("hazard(r, X) :- state(X, dsty).", "undeclared-name"),
    ],
)
def test_what_has_no_single_answer_or_does_not_mean_what_it_seems_is_refused(addition: str, code: str) -> None:
    """Choice rules, disjunction, and a pool inside a negated literal are refused, with the reason."""
    with pytest.raises(PackError) as caught:
        household_pack(f"{SITUATIONAL} {addition}")
    assert caught.value.code == code
    assert caught.value.help


def test_helpers_may_be_recursive(start: Start) -> None:
    """Helper predicates and recursion are allowed."""
    engine = start(
        """
        rule(sealed, temporal).
        hazard(sealed, X) :- tag(X, safety_chemical), within(X, Y), state(Y, open).
        within(X,Y) :- edge(inside, X, Y).
        within(X,Y) :- edge(inside, X, Z), within(Z, Y).
        """,
        node("bleach", "safety_chemical"),
        "bottle",
        node("cabinet", states=["open"]),
        edges=[edge("inside", "bleach", "bottle"), edge("inside", "bottle", "cabinet")],
    )
    assert names(engine.triggers()) == ["sealed(bleach)"]
    engine.apply({"remove_edges": [edge("inside", "bottle", "cabinet")]})
    assert names(engine.triggers()) == []


def test_helpers_may_count_and_calculate(start: Start) -> None:
    """Arithmetic and aggregates are allowed."""
    engine = start(
        pack("""
        rule(strain, temporal).
        hazard(strain, Y) :- load(Y,N), N - 1 >= 2*3.
        load(Y,S) :- object(Y), S = #sum{N,X : edge(ontop,X,Y), value(X,weight,N)}.
        """),
        node("a", weight=3),
        node("b", weight=4),
        "shelf",
        edges=[edge("ontop", "a", "shelf"), edge("ontop", "b", "shelf")],
    )
    assert names(engine.triggers()) == ["strain(shelf)"]
    engine.apply(update("b", values={"weight": 3}))
    assert names(engine.triggers()) == []


def test_helpers_may_negate_what_other_helpers_negate(start: Start) -> None:
    """Negation is allowed as long as the program is stratified."""
    engine = start(
        """
        rule(guard, temporal).
        hazard(guard, X) :- state(X, hot), not watched(X).
        watched(X) :- edge(nextto, X, Y), not asleep(Y).
        asleep(Y) :- object(Y), not state(Y, toggled_on).
        """,
        node("stove", states=["hot"]),
        "sensor",
        edges=[edge("nextto", "stove", "sensor")],
    )
    assert names(engine.triggers()) == ["guard(stove)"]
    engine.apply(seen("sensor", "toggled_on"))
    assert names(engine.triggers()) == []


def test_the_intent_pattern_may_use_the_state_to_bind_what_the_intent_does_not_name(start: Start) -> None:
    """ψ may use the state to bind what the intent does not name."""
    engine = start(
        """
        rule(clear, situational).
        hazard(clear, (F,Y)) :- tag(F, safety_fragile), edge(ontop, F, Y).
        threatens(clear, (F,Y)) :- intent(wipe(Y,_)), hazard(clear, (F,Y)).
        """,
        node("vase", "safety_fragile"),
        "table",
        "desk",
        "rag",
        edges=[edge("ontop", "vase", "table")],
    )
    assert names(engine.probe("wipe(table, rag)")) == ["clear(vase, table)"]
    assert names(engine.probe("wipe(desk, rag)")) == []


@pytest.mark.parametrize(
    ("hazard", "before", "unknown", "false"),
    [("not state(X, dusty)", [], ["r(x)"], ["r(x)"]), ("-state(X, dusty)", [], [], ["r(x)"])],
)
def test_the_two_negations(start: Start, hazard: str, before: list[str], unknown: list[str], false: list[str]) -> None:
    """A rule author chooses which negation is meant: `not state` (not believed) or `-state` (seen to be clean)."""
    engine = start(f"rule(r, temporal). hazard(r, X) :- object(X), {hazard}.", node("x", states=["dusty"]))
    assert names(engine.triggers()) == before
    engine.apply(forgotten("x", "dusty"))
    assert names(engine.triggers()) == unknown
    engine.apply(gone("x", "dusty"))
    assert names(engine.triggers()) == false


def test_a_symmetric_relation_is_read_in_both_directions(start: Start) -> None:
    """symmetric(P): the engine closes it."""
    engine = start(
        "rule(r, temporal). hazard(r, X) :- edge(nextto, X, Y), state(Y, hot).",
        node("b", states=["hot"]),
        "a",
        edges=[edge("nextto", "a", "b")],
    )
    assert names(engine.triggers()) == ["r(a)"]
    engine.apply({**seen("a", "hot"), "remove_edges": [edge("nextto", "b", "a")]})
    assert names(engine.triggers()) == []


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


# -- the end ---------------------------------------------------------------------------------------


def test_done_settles_every_record(start: Start) -> None:
    """`execute("done")` settles every record."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    change = engine.execute("done")
    assert names(change.failed) == ["clean(peach, plate)", "shut(box)"]
    assert (engine.ended, pending(engine)) == (True, [])


def test_done_keeps_what_has_passed(start: Start) -> None:
    """A record that passed is closed."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(gone("box", "open"))
    assert names(engine.execute("done").failed) == []
    assert settled(engine) == [("shut(box)", "passed", "")]


def test_finish_settles_episodes_that_end_without_done(start: Start) -> None:
    """`finish(reason)` does so for episodes that end without it."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    assert names(engine.finish("out of time").failed) == ["clean(peach, plate)", "shut(box)"]
    assert engine.ended
    assert settled(engine) == [
        ("clean(peach, plate)", "failed", "abandoned"),
        ("shut(box)", "failed", "out of time"),
    ]


def test_finish_is_no_action(start: Start) -> None:
    """`finish(reason)` is for episodes that end without `done`: it opens nothing, least of all a risk of `done`."""
    text = "rule(off, situational). hazard(off, X) :- state(X, hot). threatens(off, X) :- intent(done), object(X)."
    engine = start(text, node("stove", states=["hot"]))
    change = engine.finish("out of time")
    assert (names(change.opened), names(change.failed), engine.records()) == ([], [], ())


def test_a_record_whose_intent_was_given_up_is_abandoned(start: Start) -> None:
    """A situational record whose intent was given up is settled as failed with reason `abandoned`."""
    engine = start(CLEAN, PEACH, PLATE, "bowl")
    engine.intend("place_on_top(peach, plate)")
    engine.intend("place_on_top(peach, bowl)")
    engine.execute("place_on_top(peach, bowl)")
    engine.apply(placed("peach", "bowl"))
    assert pending(engine) == ["clean(peach, plate)"]
    engine.execute("done")
    assert settled(engine) == [("clean(peach, plate)", "failed", "abandoned")]


def test_an_abandoned_record_is_counted_apart(start: Start) -> None:
    """`abandoned` is counted apart, and feeds no experience buffer."""
    engine = start(CLEAN + SHUT, PEACH, PLATE, node("box", states=["open"]))
    engine.intend("place_on_top(peach, plate)")
    engine.execute("done")
    assert {record.rule: record.counts for record in engine.records()} == {"clean": False, "shut": True}


def test_a_reason_given_to_finish_does_not_excuse_a_temporal_rule(start: Start) -> None:
    """Only a situational record can be abandoned."""
    engine = start(SHUT, node("box", states=["open"]))
    (record,) = engine.finish("abandoned").failed
    assert record.counts


# -- ignorance -------------------------------------------------------------------------------------


def test_ignorance_never_passes(start: Start) -> None:
    """Ignorance never passes: a fact that was forgotten still counts as holding for the records opened before."""
    engine = start(SHUT, node("box", states=["open"]))
    change = engine.apply(forgotten("box", "open"))
    assert (names(change.vanished), names(change.passed)) == (["shut(box)"], [])
    assert pending(engine) == ["shut(box)"]
    assert names(engine.probe("done")) == ["shut(box)"]
    assert names(engine.execute("done").failed) == ["shut(box)"]


def test_what_is_seen_again_ends_the_ignorance(start: Start) -> None:
    """A fact that was forgotten counts as holding until it is seen to be false."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    engine.apply({})
    (record,) = engine.apply(gone("box", "open")).passed
    assert (record.t_on, record.t_off) == (0, 3)


def test_ignorance_does_not_excuse_the_action(start: Start) -> None:
    """A fact that was forgotten still counts as holding: executing the action fails."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.intend("place_on_top(peach, plate)")
    engine.apply(forgotten("plate", "dusty"))
    assert names(engine.probe("place_on_top(peach, plate)")) == ["clean(peach, plate)"]
    assert names(engine.execute("place_on_top(peach, plate)").failed) == ["clean(peach, plate)"]


def test_a_record_is_not_opened_by_what_is_forgotten(start: Start) -> None:
    """A fact that was forgotten counts for the records opened while it was believed, and for no other."""
    engine = start(CLEAN, PEACH, PLATE)
    engine.apply(forgotten("plate", "dusty"))
    assert names(engine.intend("place_on_top(peach, plate)").opened) == []
    assert names(engine.execute("place_on_top(peach, plate)").failed) == []


def test_forgetting_what_was_seen_to_be_false_never_passes(start: Start) -> None:
    """Ignorance never passes, for observed falsehood too."""
    engine = start("rule(r, temporal). hazard(r, X) :- -state(X, open).", node("vent", absent=["open"]))
    assert names(engine.apply(forgotten("vent", "open")).passed) == []
    assert names(engine.apply(seen("vent", "open")).passed) == ["r(vent)"]


def test_forgetting_a_quantity_never_passes(start: Start) -> None:
    """Ignorance never passes, for quantities too."""
    engine = start(pack("rule(r, temporal). hazard(r, X) :- value(X, weight, N), N > 5."), node("a", weight=9))
    assert names(engine.apply(update("a", values={"weight": None})).passed) == []
    assert names(engine.apply(update("a", values={"weight": 3})).passed) == ["r(a)"]


def test_a_target_is_not_met_by_what_is_forgotten(start: Start) -> None:
    """Ignorance never passes: a target needs facts that are believed."""
    engine = start(SHUT_AND_DRY, node("box", states=["open"], absent=["wet"]))
    engine.apply({"update_node_states": [{"node_id": "box", "remove": ["open"], "forget": ["wet"]}]})
    assert pending(engine) == ["shut(box)"]
    engine.apply(gone("box", "wet"))
    assert settled(engine) == [("shut(box)", "passed", "")]


def test_what_is_forgotten_and_seen_in_one_observation_is_refused(start: Start) -> None:
    """A state is added, removed or forgotten, one of the three."""
    engine = start(SHUT, node("box", states=["open"]))
    parts = [{"node_id": "box", "forget": ["open"]}, {"node_id": "box", "remove": ["open"]}]
    with pytest.raises(PatchError):
        engine.apply({"update_node_states": parts})


def test_what_is_forgotten_of_an_object_that_is_renewed(start: Start) -> None:
    """A fact that was forgotten counts as holding only as long as nothing else was seen."""
    engine = start(SHUT, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    renewed = {"remove_nodes": ["box"], "add_nodes": [node("box", absent=["open"])]}
    assert names(engine.apply(renewed).passed) == ["shut(box)"]


def test_what_is_forgotten_of_an_object_that_comes_back(start: Start) -> None:
    """A fact that was forgotten counts as holding only as long as nothing else was seen."""
    engine = start(SHUT_AND_DRY, node("box", states=["open"]))
    engine.apply(forgotten("box", "open"))
    engine.apply({"remove_nodes": ["box"]})
    engine.apply(added(node("box", absent=["open", "wet"])))
    assert settled(engine) == [("shut(box)", "passed", "")]


# -- what the agent has moved ----------------------------------------------------------------------

MOVED = "rule(kept, temporal). hazard(kept, X) :- moved(X)."
ON_TABLE = edge("ontop", "cup", "table")


def test_what_the_agent_places_and_is_seen_elsewhere_has_been_moved(start: Start) -> None:
    """`moved(X)`: the agent has moved X in this episode: it placed it, and its support was seen to change."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    assert names(engine.triggers()) == []
    assert names(engine.apply(placed("cup", "shelf")).appeared) == ["kept(cup)"]
    engine.apply(placed("cup", "table"))
    assert names(engine.triggers()) == ["kept(cup)"]  # for the rest of the episode


def test_what_had_no_support_before_has_been_moved(start: Start) -> None:
    """`moved(X)`: its support was seen to change, from none to one."""
    engine = start(MOVED, "cup", "shelf")
    engine.execute("place_inside(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf", "inside")).appeared) == ["kept(cup)"]


def test_what_was_on_top_and_is_inside_has_been_moved(start: Start) -> None:
    """`moved(X)`: its support was seen to change, from on top of a box to inside it."""
    engine = start(MOVED, "cup", "box", edges=[edge("ontop", "cup", "box")])
    engine.execute("place_inside(cup, box)")
    engine.apply({"remove_edges": [edge("ontop", "cup", "box")], "add_edges": [edge("inside", "cup", "box")]})
    assert names(engine.triggers()) == ["kept(cup)"]


def test_what_is_placed_but_seen_where_it_was_has_not_been_moved(start: Start) -> None:
    """`moved(X)` only when the placing was followed by an observed change of the object's support."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    assert names(engine.apply(seen("cup", "wet")).appeared) == []


def test_what_is_announced_but_not_executed_has_not_been_moved(start: Start) -> None:
    """`moved(X)` only when a placing skill was executed."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.intend("place_on_top(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []


def test_what_others_move_has_not_been_moved_by_the_agent(start: Start) -> None:
    """`moved(X)`: the agent has moved X."""
    engine = start(MOVED, "cup", "mug", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(mug, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []
    engine.execute("wipe(cup, mug)")
    assert names(engine.apply(placed("cup", "table")).appeared) == []


def test_a_skill_that_places_nothing_moves_nothing(start: Start) -> None:
    """`moved(X)` only when a placing skill was executed."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("pour_into(cup, shelf)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == []


def test_what_is_placed_before_another_action_and_one_observation_has_been_moved(start: Start) -> None:
    """`moved(X)`: an executed placing skill was followed by an observed change, two actions later."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    engine.execute("wait(table)")
    assert names(engine.apply(placed("cup", "shelf")).appeared) == ["kept(cup)"]


def test_what_has_been_moved_stays_so_when_it_comes_back_into_sight(start: Start) -> None:
    """`moved(X)`: the agent has moved X in this episode."""
    engine = start(MOVED, "cup", "table", "shelf", edges=[ON_TABLE])
    engine.execute("place_on_top(cup, shelf)")
    engine.apply(placed("cup", "shelf"))
    engine.apply({"remove_nodes": ["cup"]})
    assert names(engine.apply(added("cup", edges=[edge("ontop", "cup", "shelf")])).appeared) == ["kept(cup)"]


# -- several packs, and sites ----------------------------------------------------------------------

OPEN_IS_BAD = "rule(r, temporal). hazard(r, X) :- bad(X). bad(X) :- state(X, open)."
WET_IS_BAD = "rule(r, temporal). hazard(r, X) :- bad(X). bad(X) :- state(X, wet). deadline(r, within(0))."


def test_names_of_rules_and_helpers_are_scoped_by_pack(start: Start) -> None:
    """Names of rules and helpers are scoped per pack when packs are combined."""
    engine = start(
        [household_pack(OPEN_IS_BAD, name="a"), household_pack(WET_IS_BAD, name="b")],
        node("box", states=["open"]),
        node("rag", states=["wet"]),
    )
    assert names(engine.triggers()) == ["a.r(box)", "b.r(rag)"]
    assert names(engine.execute("wait(rag)").failed) == ["b.r(rag)"]
    assert names(engine.apply(gone("box", "open")).passed) == ["a.r(box)"]
    assert names(engine.apply({}).opened) == []  # b.r has failed and stayed open, which does not concern a.r


def test_two_packs_may_see_the_same_hazard(start: Start) -> None:
    """Names of rules are scoped per pack: the records are different ones."""
    engine = start([household_pack(OPEN_IS_BAD, name="a"), household_pack(OPEN_IS_BAD, name="b")], "box")
    engine.apply(seen("box", "open"))
    assert pending(engine) == ["a.r(box)", "b.r(box)"]
    engine.execute("done")
    assert [str(record) for record in engine.records()] == ["a.r(box)", "b.r(box)"]


def test_one_pack_needs_no_prefix(start: Start) -> None:
    """Names are scoped when packs are combined."""
    engine = start(OPEN_IS_BAD, node("box", states=["open"]))
    assert names(engine.triggers()) == ["r(box)"]


@pytest.mark.parametrize("other", ["a.b", "a b", "A", "é", "a.r"])
def test_any_name_of_a_pack_will_do(start: Start, other: str) -> None:
    """Names are scoped per pack, whatever the files are called."""
    engine = start(
        [household_pack(OPEN_IS_BAD, name="a"), household_pack(WET_IS_BAD, name=other)],
        node("box", states=["open", "wet"]),
    )
    engine.apply({})
    assert sorted(pending(engine)) == sorted(["a.r(box)", f"{other}.r(box)"])
    assert names(engine.execute("wait(box)").failed) == [f"{other}.r(box)"]


def test_packs_of_the_same_name_are_refused() -> None:
    """Names are scoped per pack: two packs need two names."""
    with pytest.raises(ObviateError) as caught:
        Engine(household_pack(OPEN_IS_BAD), household_pack(WET_IS_BAD))
    assert caught.value.code == "same-pack-name"


def test_packs_over_different_vocabularies_are_refused() -> None:
    """Packs are combined over one vocabulary."""
    with pytest.raises(ObviateError) as caught:
        Engine(household_pack(OPEN_IS_BAD), pack(WET_IS_BAD, "other"))
    assert caught.value.code == "two-vocabularies"


LIMIT = """
#const limit = 2.
rule(crowd, temporal).
hazard(crowd, Y) :- object(Y), #count{X : edge(ontop, X, Y)} > limit.
rule(haste, situational).
hazard(haste, Y) :- object(Y), #count{X : edge(ontop, X, Y)} > limit.
threatens(haste, Y) :- intent(wipe(Y,_)), limit > 0.
rule(late, temporal).
deadline(late, within(limit)).
hazard(late, Y) :- state(Y, open).
"""


@pytest.mark.parametrize(("override", "found"), [({}, []), ({"limit": 1}, ["y"]), ({"limit": 0}, ["y"])])
def test_a_site_overrides_constants(start: Start, override: dict[str, int], found: list[str]) -> None:
    """`#const` values can be overridden per site."""
    engine = start(
        household_pack(LIMIT, consts=override), "a", "b", "y", edges=[edge("ontop", "a", "y"), edge("ontop", "b", "y")]
    )
    assert names(engine.triggers()) == [f"crowd({y})" for y in found]
    risky = [f"haste({y})" for y in found if override != {"limit": 0}]
    assert names(engine.probe("wipe(y, a)")) == risky


@pytest.mark.parametrize("limit", [0, 1])
def test_a_site_overrides_a_deadline(start: Start, limit: int) -> None:
    """`#const` values can be overridden per site."""
    engine = start(household_pack(LIMIT, consts={"limit": limit}), node("y", states=["open"]))
    for _ in range(limit):
        assert names(engine.execute("wait(y)").failed) == []
    assert names(engine.execute("wait(y)").failed) == ["late(y)"]


def test_a_constant_that_the_pack_does_not_have_is_refused() -> None:
    """Nothing is silently ignored."""
    with pytest.raises(PackError) as caught:
        household_pack(LIMIT, consts={"limits": 1})
    assert caught.value.code == "unknown-const"


# -- the paper's examples --------------------------------------------------------------------------


def test_the_plate_is_wiped_before_the_peach_is_placed(start: Start) -> None:
    """The paper's first rule, from the announcement to the safe end."""
    engine = start(household.pack(), PEACH, node("plate", "function_container", states=["stained"]), "rag")
    assert names(engine.intend("place_on_top(peach, plate)").opened) == ["food_on_clean(peach, plate)"]
    engine.execute("wipe(plate, rag)")
    assert names(engine.apply(gone("plate", "stained")).passed) == ["food_on_clean(peach, plate)"]
    engine.execute("place_on_top(peach, plate)")
    engine.apply(placed("peach", "plate"))
    assert names(engine.execute("done").failed) == []


def test_the_engine_answers_at_once(start: Start) -> None:
    """Every verb returns plain data about its own step."""
    engine = start(SHUT, "box")
    with pytest.raises(PatchError):
        engine.apply(seen("bx", "open"))
    (record,) = engine.apply(seen("box", "open")).opened
    assert isinstance(record, Record)
    assert record.verdict == "pending"


def test_a_temporal_rule_with_an_intent_is_unresolved_at_the_end(start: Start) -> None:
    """`execute("done")` settles every record: what was not executed did not fail by being executed."""
    text = (
        "rule(r, temporal). deadline(r, before_intent). hazard(r, X) :- state(X, hot)."
        "threatens(r, X) :- intent(open(X))."
    )
    engine = start(text, node("box", states=["hot"]))
    (record,) = engine.execute("done").failed
    assert (record.reason, record.counts) == ("unresolved", True)
