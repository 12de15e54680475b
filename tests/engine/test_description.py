"""A rule in words: what each literal says, and what resolves a rule."""

from __future__ import annotations

import packs_strategies as ps
import pytest

from obviate.engine import Engine
from obviate.engine.description import describe
from obviate.engine.rehearsal import rehearsal
from obviate.engine.resolution import resolution
from obviate.engine.search import smallest
from obviate.kb import Pack, household
from obviate.kb.errors import PackError

HOUSEHOLD = household.pack()


def pack(body: str, more: str = "") -> Pack:
    return Pack.of(f"rule(r, temporal). hazard(r, X) :- {body}.\n{more}", vocabulary=ps.VOCABULARY)


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        ("object(X)", "X is known"),
        ("tag(X,safety_food)", "X is food (safety_food)"),
        ("tag(X,function_container)", "X is a container (function_container)"),
        ("tag(X,function_electrical_appliance)", "X is an electrical appliance (function_electrical_appliance)"),
        ("tag(X,surface_high)", "X is a high surface (surface_high)"),
        ("tag(X,heavy)", "X is heavy"),
        (
            "tag(X,(function_container;function_surface;heavy))",
            "X is a container, a surface or heavy (function_container, function_surface or heavy)",
        ),
        ("not tag(X,appliance_refrigerator)", "X is not a refrigerator (appliance_refrigerator)"),
        ("state(X,dusty)", "X is dusty"),
        ("state(X,(dusty;toggled_on))", "X is dusty or toggled on"),
        ("-state(X,dusty)", "X was seen not to be dusty"),
        ("not state(X,dusty)", "X is not believed to be dusty"),
        ("not -state(X,dusty)", "X was not seen not to be dusty"),
        ("state(X,_)", "X is in some state"),
        ("edge(ontop,X,Y)", "X is on top of Y"),
        ("edge((inside;ontop),X,Y)", "X is inside or on top of Y"),
        ("not edge(ontop,X,_)", "X is not on top of anything"),
        ("edge(contains,X,Y)", "X contains Y"),
        ("not edge(contains,X,X)", "X does not contain X"),
        ('edge(nextto,X,"the stove")', "X is next to the stove"),
        ("value(X,weight,N)", "N is the weight of X in gram"),
        ("not value(X,weight,3)", "the weight of X is not known to be 3 gram"),
        ("moved(X)", "the agent has moved X"),
        ("not moved(X)", "the agent has not moved X"),
        ("1 < 2", "1 is less than 2"),
        ('X != "b"', "X is not b"),
        ("clean(X)", "clean(X) (pack.lp:2)"),
        ("not clean(X)", "not clean(X) (pack.lp:2)"),
        ("hazard(r,X)", "the hazard of r holds for X"),
        ("#count{ Z : edge(nextto,Z,X), not moved(Z) } >= 2",
         "the number of Z such that Z is next to X and the agent has not moved Z is at least 2"),
        ("#sum{ N,Z : value(Z,weight,N) } > 10",
         "the sum of N,Z such that N is the weight of Z in gram is greater than 10"),
        ("not #count{ Z : moved(Z) } = 1", "it is not so that the number of Z such that the agent has moved Z is 1"),
        ("state(X,open) : state(X,dusty)", "X is open whenever X is dusty"),
    ],
)  # fmt: skip
def test_a_literal_in_words(literal: str, words: str) -> None:
    body = f"object(X); {literal}" if literal != "object(X)" else literal
    loaded = pack(body, "clean(X) :- object(X), not state(X,dusty).")
    assert describe(loaded, "r").hazard[0].conditions[-1] == words


def test_the_three_ways_not_to_be_dusty_are_told_apart() -> None:
    (clause,) = describe(pack("not state(X,dusty), -state(X,wet), not -state(X,open), object(X)"), "r").hazard
    assert len(set(clause.conditions)) == 4


def test_a_description_tells_variables_helpers_deadline_and_severity() -> None:
    told = describe(HOUSEHOLD, "thaw_before_cooking")
    assert told.variables == (("X", "food"), ("H", "a heat source"), ("Y", "an object"))
    assert [clause.head for clause in told.helpers] == ["hot_place(H)", "hot_place(X)"]
    assert "above(X, H) (household.lp:16)" in told.helpers[1].conditions
    assert [len(part) for part in (told.hazard, told.threat, told.target)] == [1, 2, 0]
    assert (told.deadline, told.severity[:6]) == ("before the intended action is executed", "counts")
    floor = describe(HOUSEHOLD, "floor_clear")
    assert (floor.deadline, floor.severity[:8]) == ("before the episode ends", "advisory")
    within = describe(pack("state(X,open)", "deadline(r, within(1))."), "r")
    assert within.deadline == "within 1 action after the trigger"


def test_the_kinds_of_an_object_are_joined_by_and_within_a_clause_and_by_or_between() -> None:
    told = dict(describe(HOUSEHOLD, "fragile_low").variables)
    assert told["S"] == "a storage and a high surface"
    assert dict(describe(HOUSEHOLD, "chemical_into_food_storage").variables)["X"] == "chemical or food"


def test_every_household_rule_is_told_without_code_that_has_words() -> None:
    for rule in HOUSEHOLD.rules:
        told = describe(HOUSEHOLD, rule)
        words = [word for clause in (*told.hazard, *told.threat, *told.target) for word in clause.conditions]
        assert words
        assert not [word for word in words if word.startswith(("tag(", "state(", "edge(", "-state", "not state"))]


def test_an_unknown_rule_is_refused_with_what_was_meant() -> None:
    with pytest.raises(PackError, match="did you mean 'food_on_clean'"):
        describe(HOUSEHOLD, "food_clean")


# -- what resolves it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", HOUSEHOLD.rules)
def test_the_engine_passes_a_record_once_its_resolution_is_seen(rule: str) -> None:
    """The example is reached by the verbs of the engine alone."""
    example = smallest(HOUSEHOLD, rule)
    assert example is not None
    way, patch = rehearsal(example), resolution(HOUSEHOLD, example)
    assert way is not None
    for backend in ps.BACKENDS:
        with Engine(HOUSEHOLD, objects=way.scene, backend=backend) as engine:
            way.play(engine)
            assert engine.graph == example.graph or "elsewhere" in engine.graph
            assert (rule, example.binding) in {(r.rule, r.binding) for r in engine.obligations()}
            if patch is not None:
                passed = engine.apply(patch).passed
                assert (rule, example.binding) in {(r.rule, r.binding) for r in passed}
    static = {"keep_metal_out_of_microwave", "fragile_into_high_storage"}
    assert (patch is None) == (rule in static)


@pytest.mark.parametrize(
    ("body", "more", "change"),
    [
        ("state(X,open)", "", "update_node_states"),
        ("-state(X,open)", "", "update_node_states"),
        ("not state(X,open), tag(X,safety_food)", "", "update_node_states"),
        ("value(X,weight,N), N > 4", "", "update_node_states"),
        ("tag(X,safety_food), not edge(inside,X,_)", "", "add_edges"),
        ("edge(nextto,X,Y), tag(Y,safety_food)", "", "remove_edges"),
        ("state(X,open)", "resolved(r, X) :- pending(r,X), value(X,weight,3).", "update_node_states"),
    ],
)
def test_a_resolution_is_a_change_of_what_can_change(body: str, more: str, change: str) -> None:
    loaded = pack(body, more)
    example = smallest(loaded, "r")
    assert example is not None
    patch = resolution(loaded, example)
    assert patch is not None
    assert getattr(patch, change)
    assert not any(update.forget for update in patch.update_node_states)
    with Engine(loaded, objects=example.scene) as engine:
        assert example.binding in {record.binding for record in engine.apply(patch).passed}
