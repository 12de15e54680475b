"""Search over belief graphs: what it finds, the engine confirms; what it does not find, no random scene shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import packs_strategies as ps
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.engine import Engine
from obviate.engine.difference import difference
from obviate.engine.search import Example, bound, possible, smallest
from obviate.engine.slice import slice_of
from obviate.kb import Action, Pack, household
from obviate.kb.asp import search
from obviate.kb.errors import PackError

HOUSEHOLD = household.pack()
TEXT = (household.folder / "packs" / "household.lp").read_text(encoding="utf-8")


def begun(pack: Pack, example: Example, backend: str) -> Engine:
    """An engine that believes what the example does, also of what the agent has moved."""
    engine = Engine(pack, objects=example.scene, backend=backend)
    engine.restore(replace(engine.snapshot(), graph=example.graph))
    return engine


def opened(pack: Pack, example: Example, backend: str) -> list[tuple[str, tuple[str, ...]]]:
    """The records that are open once the example is believed and its intent announced."""
    with begun(pack, example, backend) as engine:
        change = engine.apply({}) if example.intent is None else engine.intend(example.intent)
        old = [] if example.intent is not None else engine.obligations()
        return [(record.rule, record.binding) for record in {*change.opened, *old}]


def only(text: str, **options: Any) -> Pack:
    return Pack.of(text, vocabulary=ps.VOCABULARY, **options)


# -- the solver ------------------------------------------------------------------------------------


def test_a_search_tells_the_best_model_and_none_if_there_is_none() -> None:
    program = "1 { p(1..3) }. #minimize { X@2,X : p(X) }. #minimize { 1@1,X : p(X) }."
    answer = search(program, [("p", 1, True)], seconds=5)
    assert answer is not None
    assert (sorted(map(str, answer.atoms)), answer.proven) == (["p(1)"], True)
    assert search("p. :- p.", [("p", 0, True)], seconds=5) is None


def test_a_brave_search_tells_what_is_true_in_one_model_or_another() -> None:
    answer = search("1 { p(1..3) } 1. q :- p(1), p(2).", [("p", 1, True), ("q", 0, True)], seconds=5, brave=True)
    assert answer is not None
    assert sorted(map(str, answer.atoms)) == ["p(1)", "p(2)", "p(3)"]


PIGEONS = "1 { at(P,H) : H = 1..11 } 1 :- P = 1..12. :- at(P,H), at(Q,H), P < Q."


def test_a_search_ends_at_its_limit_with_an_error_or_the_best_so_far() -> None:
    with pytest.raises(PackError, match="search-timeout"):
        search(PIGEONS, [("at", 2, True)], seconds=0.05)
    soft = "{ at(P,H) : H = 1..11 } 1 :- P = 1..12. :- at(P,H), at(Q,H), P < Q. #maximize { 1,P : at(P,_) }."
    answer = search(soft, [("at", 2, True)], seconds=0.3)
    assert answer is not None
    assert not answer.proven


# -- the household -----------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ps.BACKENDS)
@pytest.mark.parametrize("rule", HOUSEHOLD.rules)
def test_the_smallest_example_of_a_household_rule_opens_its_record_in_the_engine(rule: str, backend: str) -> None:
    example = smallest(HOUSEHOLD, rule)
    assert example is not None
    assert example.proven
    mode = HOUSEHOLD.rules[rule].mode
    assert (example.intent is None) == (mode == "temporal")
    assert opened(HOUSEHOLD, example, backend) == [(rule, example.binding)]


def test_examples_are_deterministic_readable_and_of_different_objects() -> None:
    example = smallest(HOUSEHOLD, "food_on_clean")
    assert example is not None
    assert example == smallest(Pack.of(TEXT, vocabulary=household.vocabulary()), "food_on_clean")
    assert example.binding == ("food_1", "container_1")
    assert str(example.intent) == "place_on_top(food_1, container_1)"
    assert [str(atom) for atom in example.beliefs] == [
        'tag("container_1",function_container)',
        'tag("food_1",safety_food)',
        'state("container_1",dusty)',
    ]


def test_an_idle_argument_is_another_object() -> None:
    example = smallest(HOUSEHOLD, "clear_fragile_before_wiping")
    assert example is not None
    assert example.intent == Action("wipe", ("surface_1", "object_1"))


# -- one rule at a time --------------------------------------------------------------------------------


def hazard(body: str, *, head: str = "X", more: str = "") -> Pack:
    return only(f"rule(r, temporal). hazard(r, {head}) :- {body}. {more}")


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("-state(X,open)", ['-state("object_1",open)']),
        ("value(X,weight,N), N > 40", ['value("wet_1",weight,41)']),
        ("value(X,weight,N), N < -7", ['value("wet_1",weight,-8)']),
        ("tag(X,function_surface), #count{ Y : edge(ontop,Y,X) } >= 3", None),
        ('X = "stove", state(X,wet)', ['state("stove",wet)']),
        ("state(X,open), object(Y), X < Y", None),
        ("tag(X,safety_food), moved(X)", ['moved("food_1")', 'tag("food_1",safety_food)']),
        ("edge(nextto,X,Y), tag(Y,safety_food)", None),
        ("tag(X,T), state(X,S), not tag(X,safety_food)", None),
        ("limit(N), value(X,weight,N)", None),
    ],
)
def test_examples_hold_in_the_engine(body: str, facts: list[str] | None) -> None:
    with_state = body + (", state(X,wet)" if "weight" in body and "limit" not in body else "")
    pack = hazard(with_state, more="limit(top). #const top = 17.")
    example = smallest(pack, "r")
    assert example is not None
    for backend in ps.BACKENDS:
        assert ("r", example.binding) in opened(pack, example, backend)
    if facts is not None:
        assert set(facts) <= {str(atom) for atom in example.beliefs}


@pytest.mark.parametrize(
    "body",
    [
        "state(X,open), -state(X,open)",
        "state(X,open), not object(X)",
        "edge(ontop,X,X)",
        "edge(ontop,X,Y), edge(inside,X,Z), Y != Z",
        "edge(ontop,X,Y), edge(ontop,Y,Z), edge(inside,Z,X)",
        "edge(nextto,X,Y), not edge(nextto,Y,X)",
        "value(X,weight,N), value(X,weight,M), N < M",
        "value(X,weight,N), N > 3, N < 4",
    ],
)
def test_what_no_well_formed_graph_shows_is_not_found(body: str) -> None:
    assert smallest(hazard(body), "r") is None


@pytest.mark.parametrize(
    ("body", "objects", "exhaustive"),
    [
        ("state(X,open)", 4, True),
        ("tag(X,function_surface), #count{ Y : edge(ontop,Y,X) } >= 4", 6, True),
        ("tag(X,function_surface), #count{ Y : edge(ontop,Y,X) } >= 9", 6, False),
        ("value(X,weight,N), N*N > 40", 4, False),
    ],
)
def test_the_bound_follows_from_the_rule(body: str, objects: int, exhaustive: bool) -> None:
    pack = hazard(body)
    assert (bound(pack, "r"), slice_of(pack, "r").exhaustive) == (objects, exhaustive)


def test_goals_are_told_apart() -> None:
    pack = only(
        """
        rule(r, situational).
        hazard(r, X) :- tag(X, safety_food), state(X, wet).
        threatens(r, X) :- intent(open(X)).
        resolved(r, X) :- pending(r, X), state(X, open).
        """
    )
    found = {goal: smallest(pack, "r", goal) for goal in ("hazard", "trigger", "target", "both")}
    told = {goal: (len(e.beliefs), e.intent is not None) for goal, e in found.items() if e is not None}
    assert told == {"hazard": (2, False), "trigger": (2, True), "target": (1, False), "both": (3, True)}
    possible_goals = possible(pack, "r")
    assert possible_goals is not None
    assert possible_goals[0] == {"hazard", "trigger", "target", "both", "opens"}


# -- random packs --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(ps.pack_texts(), st.data())
def test_what_is_found_triggers_and_what_is_not_found_never_does(texts: list[str], data: st.DataObject) -> None:
    pack = ps.pack(texts[0])
    missing = set()
    for rule in pack.rules:
        example = smallest(pack, rule, seconds=20)
        if example is None:
            missing.add(rule)
        else:
            for backend in ps.BACKENDS:
                assert (rule, example.binding) in opened(pack, example, backend)
    if not missing:
        return
    for _ in range(4):
        with Engine(pack, objects=data.draw(ps.scenes()), backend="oneshot") as engine:
            for name in engine.graph.nodes if data.draw(st.booleans()) else ():
                engine.restore(replace(engine.snapshot(), graph=engine.graph.with_moved(name)))
            engine.apply({})
            engine.intend(data.draw(ps.actions(engine.graph)))
            assert {record.rule for record in engine.records()}.isdisjoint(missing)


# -- differences ---------------------------------------------------------------------------------------


def differ(old: str, new: str, **options: Any) -> tuple[Pack, Pack, Example | None]:
    assert old in TEXT
    other = Pack.of(TEXT.replace(old, new, 1), vocabulary=household.vocabulary(), name="household")
    return HOUSEHOLD, other, difference(HOUSEHOLD, other, **options)


def outcomes(pack: Pack, example: Example, backend: str) -> set[object]:
    """What an engine says of the example, after the record that it begins with has opened."""
    begin = example.earlier or example
    with begun(pack, begin, backend) as engine:
        if example.earlier is not None:
            if begin.intent is not None:
                engine.intend(begin.intent)
            else:
                engine.apply({})
            for _ in range(example.age):
                engine.execute(Action("wait", (min(engine.graph.nodes),)))
            engine.restore(replace(engine.snapshot(), graph=example.graph, intent=None))
            observed = engine.apply({})
        else:
            observed = None
        change = engine.intend(example.intent) if example.intent else engine.apply({})
        seen = [change] if observed is None else [observed, change]
        # the step of a record is no part of it here
        verdicts = {(r.rule, r.binding, r.verdict) for c in seen for r in (*c.passed, *c.opened)}
        true = {("true", str(trigger)) for trigger in engine.triggers()}
        return {*verdicts, *true, *map(str, change.risks), *((r.rule, r.binding) for r in engine.obligations())}


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("state(X, frozen)", "state(X, hot)", "thaw_before_cooking"),
        (" not state(Y, muddy),", "", "food_on_clean"),
        ("within(X, Y) :- rests(X, Z), within(Z, Y).", "", "microwave_safe_only"),
        ("intent(wipe(X,_))", "intent(wipe(X,Z)), X != Z", "appliance_off_before_cleaning"),
        ("not tag(Y, surface_high).", "-state(Y,wet).", "heavy_low_before_handling"),
        ("severity(floor_clear, advisory).", "deadline(floor_clear, within(2)).", "floor_clear"),
        ("#const moved_only = 1.", "#const moved_only = 0.", "flammable_away_from_appliance"),
        ("resolved(heavy_low_before_handling, X) :-", "resolved(heavy_low_before_handling, X) :- state(X,wet),", None),
    ],
)
def test_a_difference_makes_engines_differ(old: str, new: str, rule: str | None) -> None:
    pack, other, example = differ(old, new)
    assert example is not None
    assert rule is None or example.rule == rule
    for backend in ps.BACKENDS:
        assert outcomes(pack, example, backend) != outcomes(other, example, backend)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rule(", "rule("),
        ("pending(food_on_clean, (X,Y)),", "pending(food_on_clean, (X,Y)), tag(X, safety_food),"),
        ("tag(X, function_storage), state(X, open)", "tag(X, function_storage), state(X, open), not -state(X,open)"),
        ("hot_place(X) :- above(X, H),", "hot_place(X) :- above(X, H), X != H,"),
    ],
)
def test_packs_that_mean_the_same_do_not_differ(old: str, new: str) -> None:
    assert differ(old, new, objects=4)[2] is None


def test_a_predicate_called_like_a_term_and_constants_of_two_values() -> None:
    text = """
    #const top = 3.
    rule(r, temporal).
    hazard(r, X) :- open(X), value(X, weight, N), N > top.
    open(X) :- state(X, open).
    """
    low, high = only(text), only(text, consts={"top": 5})
    assert difference(low, only(text)) is None
    example = difference(low, high)
    assert example is not None
    (weight,) = (atom.args[2] for atom in example.beliefs if atom.name == "value")
    assert weight in (4, 5)


def test_a_rule_that_only_one_pack_has_differs() -> None:
    pack = hazard("state(X,open)")
    both = hazard("state(X,open)", more="rule(s, temporal). hazard(s, X) :- state(X,wet).")
    example = difference(pack, both)
    assert example is not None
    assert example.rule == "s"


@settings(max_examples=15)
@given(ps.pack_texts(), ps.pack_texts(), st.data())
def test_packs_without_a_difference_agree_on_random_scenes(
    one: list[str], other: list[str], data: st.DataObject
) -> None:
    first, second = ps.pack(one[0]), ps.pack(other[0])
    example = difference(first, second, seconds=20)
    if example is not None:
        backend = data.draw(st.sampled_from(ps.BACKENDS))
        assert outcomes(first, example, backend) != outcomes(second, example, backend)
        return
    scene = data.draw(ps.scenes())
    with Engine(first, objects=scene) as engine, Engine(second, objects=scene) as twin:
        assert engine.obligations() == twin.obligations()
        action = data.draw(ps.actions(engine.graph))
        assert engine.intend(action).opened == twin.intend(action).opened
        assert [*map(str, engine.triggers())] == [*map(str, twin.triggers())]
