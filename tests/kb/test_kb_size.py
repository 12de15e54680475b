"""How much a pack could ground: the bound is never below what really follows, and small where little does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import VOCABULARY, actions, pack_texts, scenes

from obviate.kb import Action, BeliefGraph, Pack, asp, household
from obviate.kb.predicates import DESCRIPTIONS
from obviate.kb.size import ground_size, widest
from obviate.kb.terms import Atom


@pytest.mark.parametrize(
    ("text", "alone", "crowd"),
    [
        ("p(1..100).", 100, 100),
        ("p(1..100). q(A,B) :- p(A), p(B).", 10_100, 10_100),
        ("p(a;b;c).", 3, 3),
        ("#const n = 7. p(1..n).", 7, 7),
        ("p(X) :- object(X).", 0, 10),
        ("p(X,Y) :- edge(ontop,X,Y), edge(inside,X,Y), tag(Y,soil).", 0, 100),
        ("p(X,Z) :- edge(ontop,X,Z). p(X,Z) :- edge(ontop,X,Y), p(Y,Z).", 0, 1_100),
    ],
)
def test_bounds_are_told_from_the_syntax(text: str, alone: int, crowd: int) -> None:
    program = asp.parse(text, "pack.lp")
    assert ground_size(program) == alone
    assert ground_size(program, objects=10) <= max(crowd, 1) * 1.5
    assert ground_size(program, objects=10) >= crowd * 0.9


def test_a_site_overrides_the_bound_of_a_range() -> None:
    assert ground_size(asp.parse("#const n = 7. p(1..n).", "p"), consts={"n": "90"}) == 90


def test_the_widest_rule_is_named() -> None:
    program = asp.parse("p(1..9). q(A,B) :- p(A), p(B). r :- q(_,_).", "p")
    assert widest(program).text == "q(A,B) :- p(A); p(B)."


def test_the_household_pack_is_small() -> None:
    assert ground_size(household.pack().program) < 100
    assert ground_size(household.pack().program, objects=24) < 500_000


@settings(max_examples=60)
@given(texts=pack_texts(), data=st.data())
def test_no_more_follows_than_the_bound(texts: list[str], data: st.DataObject) -> None:
    pack = Pack.of(texts[0], vocabulary=VOCABULARY)
    graph = BeliefGraph.of(VOCABULARY, data.draw(scenes()))
    action = Action.parse(data.draw(actions(graph)))
    heads = {rule.head.signature for rule in pack.program.rules if rule.head and rule.head.name not in DESCRIPTIONS}
    facts = [*graph.facts(), Atom("intent", (action.term,)), Atom("executed", (action.term,))]
    found = asp.evaluate([pack.program.text], facts, heads)
    assert len(found) <= ground_size(pack.program, objects=len(graph.nodes))
