"""The solver: parsing, evaluating from scratch, and the resident Control that must agree with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obviate.kb import asp
from obviate.kb.errors import PackError
from obviate.kb.terms import Atom, Fun

PROGRAM = """
far(X,Y) :- link(X,Y).
far(X,Z) :- far(X,Y), link(Y,Z).
lonely(X) :- hot(X), not safe(X), not far(X,X).
busy(N) :- N = #count { X : hot(X) }, N > 1.
-calm(X) :- hot(X).
"""
OUTPUTS = [("far", 2, True), ("lonely", 1, True), ("busy", 1, True), ("calm", 1, False)]

_NAMES = st.sampled_from(["a", "b", "c", 'x"y'])
_INPUTS = st.one_of(
    st.builds(lambda x, y: Atom("link", (x, y)), _NAMES, _NAMES),
    st.builds(lambda p, x: Atom(p, (x,)), st.sampled_from(["hot", "safe"]), _NAMES),
)
_UPDATES = st.lists(st.tuples(st.sets(_INPUTS, max_size=3), st.sets(_INPUTS, max_size=3)), max_size=6)


@settings(max_examples=60)
@given(_UPDATES)
def test_a_resident_control_agrees_with_evaluation_from_scratch(updates: list[tuple[set[Atom], set[Atom]]]) -> None:
    resident, true = asp.Resident(PROGRAM, OUTPUTS, {}), set[Atom]()
    for added, removed in updates:
        resident.update(added, removed)
        true = (true - removed) | added
        assert resident.model() == asp.evaluate([PROGRAM], true, OUTPUTS)
    resident.close()


def test_a_resident_control_is_rebuilt_for_new_inputs_only() -> None:
    resident = asp.Resident(PROGRAM, OUTPUTS, {})
    hot, safe = Atom("hot", ("a",)), Atom("safe", ("a",))
    for added, removed in [({hot, safe}, set()), (set(), {safe}), ({safe}, set()), (set[Atom](), {hot})]:
        resident.update(added, removed)
        resident.model()
    assert resident.rebuilds == 1
    resident.update({Atom("hot", ("b",))}, ())
    assert resident.model() == {Atom("lonely", ("b",)), Atom("calm", ("b",), positive=False)}
    assert resident.rebuilds == 2


def test_inputs_that_come_and_go_are_forgotten_and_can_return() -> None:
    resident = asp.Resident("warm(X) :- hot(X).", [("warm", 1, True)], {})
    for i in [*range(150), 0]:
        resident.update([Atom("hot", (f"x{i}",))], [Atom("hot", (f"x{i - 1}",))] if i else [Atom("hot", ("x149",))])
        assert resident.model() == {Atom("warm", (f"x{i}",))}


def test_only_outputs_are_answered() -> None:
    assert asp.evaluate(["a. b(1). b(1,2). -b(3)."], (), [("b", 1, True)]) == {Atom("b", (1,))}


def test_consts_are_overridden() -> None:
    assert asp.evaluate(["#const n = 1. a(n)."], (), [("a", 1, True)], {"n": "f(x)"}) == {
        Atom("a", (Fun("f", (Fun("x"),)),))
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a(1/0).", "grounding-failed"),
        ('a("x" + 1).', "grounding-failed"),
        ("a(X) :- not b(X).", "unsafe-variable"),
        ("a(", "grounding-failed"),
        ("a. #const n = 1. #const n = 2.", "grounding-failed"),
    ],
)
def test_nothing_is_dropped_silently(text: str, code: str) -> None:
    with pytest.raises(PackError) as refused:
        asp.evaluate([text], (), [("a", 1, True)])
    assert refused.value.code == code


def test_every_refusal_is_told() -> None:
    problems: list[PackError] = []
    asp.evaluate(["a(X) :- not b(X).\nc(Y,Z) :- b(_)."], (), (), problems=problems)
    assert [problem.code for problem in problems] == ["unsafe-variable"] * 3


def test_a_resident_control_refuses_what_cannot_be_ground() -> None:
    resident = asp.Resident("a(N + 1) :- b(N).", [("a", 1, True)], {})
    resident.update([Atom("b", ("x",))], ())
    with pytest.raises(PackError) as refused:
        resident.model()
    assert refused.value.code == "grounding-failed"


def test_parsing_keeps_places_signs_and_terms() -> None:
    program = asp.parse('p(1).\n\n  -q(X, "s", f(c)) :- not r(X),\n    #count { Y : s(Y) } < 2.', "f.lp")
    rule = program.rules[1]
    assert (rule.span.line, rule.span.column) == (3, 3)
    assert rule.head is not None
    assert rule.head.signature == ("q", 3, False)
    assert [part.kind for part in rule.head.args] == ["variable", "string", "function"]
    negated, counted = rule.body
    assert (negated.negations, negated.atom and negated.atom.name) == (1, "r")
    assert (counted.atom, [atom.name for atom, _ in counted.inner], counted.span.line) == (None, ["s"], 4)


def test_a_doubly_negated_atom_is_still_negated() -> None:
    (rule,) = asp.parse("p :- not not q.", "f.lp").rules
    assert [(pattern.name, monotone) for pattern, monotone in rule.body[0].inner] == [("q", False)]
