"""Ids, terms and bindings: whatever an object is called, it stays one string."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from kb_strategies import ids

from obviate.kb import asp
from obviate.kb.errors import ObviateError, Span
from obviate.kb.terms import MAX_ID_LENGTH, Atom, Fun, Term, binding_of, check_id, quote, term_of_binding


@settings(max_examples=200)
@given(ids)
def test_a_quoted_id_comes_back_from_clingo_unchanged(name: str) -> None:
    assert asp.evaluate([f"p({quote(name)})."], (), [("p", 1, True)]) == {Atom("p", (name,))}


@given(ids, ids)
def test_an_atom_comes_back_from_clingo_unchanged(one: str, two: str) -> None:
    given_atoms = {
        Atom("p", (Fun("", (one, two)), -3)),
        Atom("p", (Fun("", (one,)), Fun("place", (two,)))),
        Atom("p", (Fun(""), Fun("dusty")), positive=False),
    }
    assert asp.evaluate([], given_atoms, [("p", 2, True), ("p", 2, False)]) == given_atoms


@given(ids)
def test_an_id_never_becomes_a_rule(name: str) -> None:
    program = asp.parse(f"p({quote(name)}).", "f.lp")
    assert [(rule.head and rule.head.name, rule.body) for rule in program.rules] == [("p", ())]
    assert program.others == ()


@given(ids)
def test_any_text_without_nul_and_surrogates_is_an_id(name: str) -> None:
    assert check_id(name, "") == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ("x" * (MAX_ID_LENGTH + 1), f"{MAX_ID_LENGTH + 1} characters"),
    ],
)
def test_an_impossible_id_is_refused_where_it_stands(name: str, says: str) -> None:
    with pytest.raises(ObviateError, match=says) as refused:
        check_id(name, "nodes[3].node_id")
    assert (refused.value.code, refused.value.where) == ("bad-id", "nodes[3].node_id")


def test_the_longest_id_is_accepted() -> None:
    assert check_id("x" * MAX_ID_LENGTH, "") == "x" * MAX_ID_LENGTH


@pytest.mark.parametrize("binding", [(), ("x",), ("x", "y"), ("x", "y", "z")])
def test_a_binding_is_the_inverse_of_its_term(binding: tuple[str, ...]) -> None:
    assert binding_of(term_of_binding(binding)) == binding


def test_a_single_object_stands_alone() -> None:
    assert term_of_binding(("x",)) == "x"


@pytest.mark.parametrize("term", [3, Fun("dusty"), Fun("open", ("x",)), Fun("", ("x", 3))])
def test_a_term_that_is_no_binding_is_refused(term: Term) -> None:
    with pytest.raises(ObviateError) as refused:
        binding_of(term)
    assert refused.value.code == "bad-binding"


def test_an_error_shows_place_code_caret_and_help() -> None:
    error = ObviateError("some-code", "this is wrong", where=Span("f.lp", 7, 4, "ab\tcd"), help="mend it")
    assert str(error) == "f.lp:7:4: this is wrong [some-code]\n  ab cd\n     ^\n  help: mend it"
