"""What a pack may say, and what it says of bindings and of several packs.

Every sentence of the contract between packs and engine, on every backend: the docstring of each test is the
sentence that it checks, and its scene is as small as its pack.
"""

from __future__ import annotations

import pytest
from packs_strategies import (
    edge,
    forgotten,
    gone,
    names,
    node,
    pack,
    seen,
    update,
)
from semantics import CLEAN, PEACH, PLATE, SHUT, Start, household_pack, pending, settled
from semantics import begin as begin  # the fixture start

from obviate.engine import Engine
from obviate.kb.errors import ObviateError, PackError

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
        pack("""
        rule(r, temporal).
        hazard(r, X) :- odd(X).
        odd(X) :- tag(X, safety_food).
        odd(N) :- value(_, weight, N), N > 1.
        """),
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
