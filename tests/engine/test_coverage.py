"""Coverage of a pack by situations: which bodies held, and which literals made a difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import VOCABULARY, actions, edge, node, pack, pack_texts, scene, scenes

from obviate.engine.account import Situation
from obviate.engine.backend import Query
from obviate.engine.coverage import Coverage, measure
from obviate.engine.standing import Ledger, Standing
from obviate.kb import Action, BeliefGraph


def situation(text: str, *nodes: Any, edges: Any = (), intent: str = "", pending: Any = ()) -> Situation:
    graph = BeliefGraph.of(VOCABULARY, scene(*nodes, edges=edges))
    return Situation(
        pack(text),
        graph,
        Query(
            intent=Action.parse(intent) if intent else None, standing=Standing(open=Ledger().opened(pending, born=0))
        ),
    )


def reached(coverage: Coverage) -> list[tuple[bool, list[bool | None]]]:
    return [(clause.fired, [literal.false for literal in clause.literals]) for clause in coverage.clauses]


WET, DRY = node("cup", "safety_food", states=["wet"]), node("cup", "safety_food")
# The body of a hazard of X, the objects of a scene, whether the body holds there, and which literals are false while
# the others hold (None: it cannot be).
CASES = [
    ("tag(X,safety_food), state(X,wet)", [WET], [], True, [False, False]),
    ("tag(X,safety_food), state(X,wet)", [DRY], [], False, [False, True]),
    ("tag(X,safety_food), state(X,wet)", [WET, node("mug", "heavy", states=["wet"])], [], True, [True, False]),
    ("tag(X,safety_food), not state(X,wet)", [WET], [], False, [False, True]),
    ("tag(X,safety_food), not state(X,wet)", [DRY], [], True, [False, False]),
    # a pool is false only where none of its alternatives holds
    ("tag(X,safety_food), state(X,(open; wet))", [WET], [], True, [False, False]),
    ("tag(X,safety_food), state(X,(open; dusty))", [WET], [], False, [False, True]),
    # an aggregate has variables of its own
    ("tag(X,safety_food), #count{Y : edge(ontop,Y,X)} >= 1", [WET], [], False, [False, True]),
    ("tag(X,safety_food), #count{Y : edge(_,Y,X)} > 0", [WET, "fly"], [edge("ontop", "fly", "cup")], True, 2 * [False]),
    # what gives a variable its value is no condition
    ("object(X), N = #count{Y : edge(ontop,Y,X)}, N > 0", ["cup"], [], False, [None, None, True]),
    ("object(X), value(X,weight,W), V = W+1, V > 4", [node("cup", weight=3)], [], False, [None, False, None, True]),
    ("object(X), value(X,weight,W), W > 4", ["cup"], [], False, [None, True, False]),
    # what only the dropped literal binds: objects range over all, and a literal of its own is false of none of them
    ("edge(ontop,X,Y), tag(Y,heavy)", ["cup", node("box", "heavy")], [], False, [True, False]),
    ("edge(ontop,X,Y), tag(Y,heavy)", ["cup", "box"], [edge("ontop", "cup", "box")], False, [False, True]),
    ("state(X,wet), edge(ontop,X,_)", [WET], [], False, [False, True]),
    ("edge(ontop,X,Y), not state(Y,wet)", ["cup", "box"], [edge("ontop", "cup", "box")], True, [True, False]),
    # conditions
    ("tag(X,safety_food), state(X,wet) : moved(X)", [DRY], [], True, [False, False]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "nodes", "edges", "fired", "false"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_a_literal_is_covered_where_it_alone_is_false(
    body: str, nodes: list[Any], edges: list[Any], fired: bool, false: list[bool | None]
) -> None:
    text = f"rule(r, temporal). hazard(r, X) :- {body}."
    coverage = measure(pack(text), [situation(text, *nodes, edges=edges)])
    assert reached(coverage) == [(fired, false)]
    assert (coverage.points, coverage.covered) == (
        1 + sum(f is not None for f in false),
        fired + sum(f is True for f in false),
    )


TARGET = """
rule(r, situational).
hazard(r, X) :- state(X, wet).
threatens(r, X) :- intent(open(X)).
resolved(r, X) :- pending(r, X), not state(X, wet), dry(X).
dry(X) :- -state(X, wet).
"""


def test_intents_and_records_are_part_of_a_situation() -> None:
    wet, dry = node("cup", states=["wet"]), node("cup", absent=["wet"])
    idle = situation(TARGET, wet)
    intended = situation(TARGET, wet, "mug", intent="open(cup)")
    open_record = situation(TARGET, dry, "mug", pending=[("r", ("cup",))])
    assert reached(measure(pack(TARGET), [idle])) == [
        (True, [False]), (False, [True]), (False, [None, False, False]), (False, [True])
    ]  # fmt: skip
    assert reached(measure(pack(TARGET), [intended]))[:2] == [(True, [True]), (True, [True])]
    assert reached(measure(pack(TARGET), [open_record]))[2:] == [(True, [None, False, False]), (True, [True])]


def test_gaps_are_told_in_words_at_their_place() -> None:
    text = "rule(r, temporal).\nhazard(r, X) :- tag(X,safety_food),\n  state(X,wet).\nwet(X) :- state(X,wet).\n"
    coverage = measure(pack(text), [situation(text, DRY)])
    assert [(span.line, span.column, told) for span, told in coverage.gaps()] == [
        (2, 1, "r: the body of this clause never held"),
        (2, 17, "r: literal 1, tag(X,safety_food), was never false while the others held"),
        (4, 1, "wet/1: the body of this clause never held"),
    ]
    assert (coverage.covered, coverage.points) == (2, 5)
    assert coverage.percent == 40


def test_a_pack_of_facts_has_nothing_to_cover() -> None:
    coverage = measure(pack("rule(r, temporal). hazard(r, ())."), [])
    assert (coverage.clauses, coverage.percent) == ((), 100)


@st.composite
def situations(draw: st.DrawFn) -> tuple[str, list[Situation]]:
    text = "\n".join(draw(pack_texts())[:1])
    found = []
    for _ in range(draw(st.integers(1, 3))):
        graph = BeliefGraph.of(VOCABULARY, draw(scenes()))
        found.append(Situation(pack(text), graph, Query(intent=Action.parse(draw(actions(graph))))))
    return text, found


@given(situations())
@settings(max_examples=20)
def test_any_pack_is_measured_and_more_situations_never_cover_less(drawn: tuple[str, list[Situation]]) -> None:
    """The questions of every clause ground; points add up over situations, in whatever order."""
    text, some = drawn
    whole = reached(measure(pack(text), some))
    assert whole == reached(measure(pack(text), some[::-1]))
    each = [reached(measure(pack(text), [one])) for one in some]
    for i, (fired, false) in enumerate(whole):
        assert fired == any(one[i][0] for one in each)
        for k, covered in enumerate(false):
            assert covered == (None if covered is None else any(one[i][1][k] for one in each))
