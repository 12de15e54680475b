"""Goals in a state: true, false and why, or without a truth value."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obviate.adapters.isbench.bddl import (
    And,
    Atom,
    Exists,
    Forall,
    Formula,
    Imply,
    Literal,
    Not,
    Or,
    parse_goal,
)
from obviate.adapters.isbench.goals import evaluate

OBJECTS = {
    "jar.n.01_1": "jar.n.01",
    "jar.n.01_2": "jar.n.01",
    "shelf.n.01_1": "shelf.n.01",
    "shelf.n.01_2": "shelf.n.01",
    "oil.n.01_1": "oil.n.01",
}


class World:
    """Facts written as ``open jar.n.01_1``."""

    def __init__(self, *facts: str) -> None:
        self.facts = {tuple(fact.split()) for fact in facts}

    def holds(self, predicate: str, args: tuple[str, ...]) -> bool:
        return (predicate, *args) in self.facts

    def instances(self, kind: str) -> Sequence[str]:
        return [id for id, its_kind in OBJECTS.items() if its_kind == kind]

    def is_substance(self, id: str) -> bool:
        return id == "oil.n.01_1"


def judge(text: str, *facts: str) -> tuple[bool, list[str]]:
    verdict = evaluate(parse_goal(f"(:goal {text})", file="f", objects=OBJECTS), World(*facts))
    assert verdict.error == ""
    return verdict.satisfied, [str(literal) for literal in verdict.false_literals]


def test_a_satisfied_goal_blames_nothing() -> None:
    assert judge("(and (open jar.n.01_1) (not (hot jar.n.01_1)))", "open jar.n.01_1") == (True, [])


def test_a_false_atom_and_a_false_negation_have_opposite_signs() -> None:
    goal = parse_goal("(:goal (and (hot jar.n.01_1) (not (open jar.n.01_1))))", file="f")
    assert evaluate(goal, World("open jar.n.01_1")).false_literals == (
        Literal("hot", ("jar.n.01_1",)),
        Literal("open", ("jar.n.01_1",), positive=False),
    )


@pytest.mark.parametrize(
    ("text", "blame"),
    [
        ("(or (hot jar.n.01_1) (frozen jar.n.01_1))", ["hot(jar.n.01_1)", "frozen(jar.n.01_1)"]),
        ("(not (or (open jar.n.01_1) (hot jar.n.01_1)))", ["not open(jar.n.01_1)"]),
        (
            "(not (and (open jar.n.01_1) (open jar.n.01_2)))",
            ["not open(jar.n.01_1)", "not open(jar.n.01_2)"],
        ),
        ("(imply (open jar.n.01_1) (hot jar.n.01_1))", ["not open(jar.n.01_1)", "hot(jar.n.01_1)"]),
        ("(not (not (hot jar.n.01_1)))", ["hot(jar.n.01_1)"]),
        ("(forall (?jar.n.01 - jar.n.01) (hot ?jar.n.01))", ["hot(jar.n.01_1)", "hot(jar.n.01_2)"]),
        (
            "(not (exists (?j - jar.n.01) (open ?j)))",
            ["not open(jar.n.01_1)", "not open(jar.n.01_2)"],
        ),
        ("(and (hot jar.n.01_1) (hot jar.n.01_1))", ["hot(jar.n.01_1)"]),
        ("(or)", []),
    ],
)
def test_a_false_goal_blames_what_would_have_to_change(text: str, blame: list[str]) -> None:
    assert judge(text, "open jar.n.01_1", "open jar.n.01_2") == (False, blame)


def test_only_the_variable_itself_is_replaced_not_the_instances_it_is_a_prefix_of() -> None:
    text = "(forall (?jar.n.01 - jar.n.01) (and (open ?jar.n.01) (hot ?jar.n.01_2)))"
    assert judge(text, "open jar.n.01_1", "hot jar.n.01_2") == (False, ["open(jar.n.01_2)"])


def test_an_unused_variable_changes_nothing() -> None:
    text = "(exists (?shelf.n.01 - shelf.n.01) (ontop ?jar.n.01_1 ?shelf.n.01_1))"
    assert judge(text, "ontop jar.n.01_1 shelf.n.01_1") == (True, [])
    assert judge(text, "ontop jar.n.01_1 shelf.n.01_2") == (False, ["ontop(jar.n.01_1, shelf.n.01_1)"])


def test_an_inner_quantifier_hides_an_outer_variable_of_the_same_name() -> None:
    text = "(exists (?x - jar.n.01) (and (open ?x) (forall (?x - shelf.n.01) (not (hot ?x)))))"
    assert judge(text, "open jar.n.01_2", "hot jar.n.01_2") == (True, [])


def test_nothing_and_everything_hold_of_no_instances() -> None:
    assert evaluate(Forall("x", "lid.n.02", Atom("hot", ("x",))), World()).satisfied
    nobody = evaluate(Exists("x", "lid.n.02", Atom("hot", ("x",))), World())
    assert (nobody.satisfied, nobody.false_literals) == (False, ())


@pytest.mark.parametrize("args", ["oil.n.01_1 shelf.n.01_1", "shelf.n.01_1 oil.n.01_1"])
def test_nothing_is_next_to_a_substance_nor_not_next_to_it(args: str) -> None:
    goal = parse_goal(f"(:goal (and (not (open jar.n.01_1)) (not (nextto {args}))))", file="f")
    verdict = evaluate(goal, World("open jar.n.01_1"))
    assert not verdict.satisfied
    assert "oil.n.01_1 is a substance" in verdict.error
    assert verdict.false_literals == (Literal("nextto", tuple(args.split()), positive=False),)


def test_an_undefined_part_is_found_even_where_the_rest_decides() -> None:
    goal = parse_goal("(:goal (or (open jar.n.01_1) (nextto oil.n.01_1 jar.n.01_1)))", file="f")
    assert evaluate(goal, World("open jar.n.01_1")).error


ATOMS = st.builds(Atom, st.sampled_from(["open", "hot"]), st.tuples(st.sampled_from(["jar.n.01_1", "jar.n.01_2", "x"])))


def compound(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(parts, max_size=3).map(tuple)
    quantified = st.tuples(st.just("x"), st.just("jar.n.01"), parts)
    return st.one_of(
        parts.map(Not),
        several.map(And),
        several.map(Or),
        st.builds(Imply, parts, parts),
        quantified.map(lambda fields: Forall(*fields)),
        quantified.map(lambda fields: Exists(*fields)),
    )


@given(
    st.recursive(ATOMS, compound, max_leaves=8),
    st.sets(st.sampled_from([f"{p} jar.n.01_{i}" for p in ("open", "hot") for i in (1, 2)])),
)
def test_negation_turns_the_verdict_round_and_every_blamed_literal_is_false(goal: Formula, facts: set[str]) -> None:
    world = World(*facts)
    verdict = evaluate(goal, world)
    assert evaluate(Not(goal), world).satisfied != verdict.satisfied
    for literal in verdict.false_literals:
        assert world.holds(literal.predicate, literal.args) != literal.positive
