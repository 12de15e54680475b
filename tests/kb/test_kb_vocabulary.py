"""The vocabulary: what it declares, and what it refuses."""

from __future__ import annotations

import pytest
from kb_strategies import toy, vocabulary_of

from obviate.kb import DONE, Action
from obviate.kb.errors import ActionError, DataError, ObviateError, Span, VocabularyError
from obviate.kb.vocabulary import Vocabulary


def refusal(*texts: str) -> ObviateError:
    with pytest.raises(ObviateError) as refused:
        vocabulary_of(*texts)
    return refused.value


def test_declarations_are_read_by_sort() -> None:
    vocabulary = toy()
    assert vocabulary.states == {"clean", "hot", "wet"}
    assert vocabulary.relations == {"ontop", "inside", "nextto", "covered"}
    assert vocabulary.supports == {"ontop", "inside"}
    assert vocabulary.symmetric == {"nextto"}
    assert vocabulary.tags == {"food", "fragile"}
    assert vocabulary.quantities == {"mass": "gram", "level": "percent"}
    assert vocabulary.moves == {"place": 1}


def test_done_is_always_a_skill() -> None:
    assert toy().skills == {"open": 1, "place": 2, "done": 0}


def test_files_are_joined() -> None:
    vocabulary = vocabulary_of("relation(on).", "support(on). unary(hot).")
    assert vocabulary.supports == {"on"}
    assert vocabulary.states == {"hot"}


def test_the_digest_follows_the_text() -> None:
    assert vocabulary_of("unary(a).").digest == vocabulary_of("unary(a).").digest
    assert vocabulary_of("unary(a).").digest != vocabulary_of("unary(b).").digest


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("unary(hot).\nunari(wet).", 2, 1),
        ("unary(hot, wet).", 1, 1),
        ("unary(hot).  :- unary(hot).", 1, 14),
        ("{ unary(hot) }.", 1, 1),
        ("#show unary/1.", 1, 1),
        ("#external unary(hot).", 1, 1),
    ],
)
def test_a_statement_that_declares_nothing_is_refused_at_its_place(text: str, line: int, column: int) -> None:
    error = refusal(text)
    assert (type(error), error.code) == (VocabularyError, "not-a-declaration")
    assert isinstance(error.where, Span)
    assert (error.where.line, error.where.column) == (line, column)


def test_a_misspelt_declaration_gets_a_suggestion() -> None:
    assert refusal("tagname(food).").help == "did you mean 'tag_name'?"


def test_a_syntax_error_is_refused_at_its_place() -> None:
    error = refusal("unary(hot).\nunary(wet))." + "\n")
    assert error.code == "syntax"
    assert isinstance(error.where, Span)
    assert (error.where.line, error.where.column) == (2, 11)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(DataError):
        Vocabulary.load("no/such/file.lp")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("relation(onto). support(ontop).", "relation 'ontop'"),
        ("symmetric(nextto).", "relation 'nextto'"),
        ("unary(dusty). appears(dust, dirty).", "state 'dirty'"),
        ("skill(open, 1). moves(place, 1).", "skill 'place'"),
    ],
)
def test_a_name_used_but_not_declared_is_refused(text: str, says: str) -> None:
    error = refusal(text)
    assert error.code == "undeclared-name"
    assert says in error.message


@pytest.mark.parametrize(
    "text",
    [
        "skill(open, one).",
        'skill(open, "1").',
        "skill(open, -1).",
        "skill(open, 1). moves(open, one).",
        "skill(open, 1). moves(open, 2).",
        "skill(open, 1). moves(open, 0).",
        "-unary(hot).",
        "unary(hot(very)).",
        "unary(3).",
        'unary("Bad Name").',
        'unary("").',
    ],
)
def test_a_malformed_declaration_is_refused(text: str) -> None:
    assert isinstance(refusal(text), VocabularyError)


@pytest.mark.parametrize(
    "text",
    [
        "skill(open, 1). skill(open, 2).",
        "skill(done, 1).",
        "quantity(mass, gram). quantity(mass, kilogram).",
        "skill(place, 2). moves(place, 1). moves(place, 2).",
        "unary((dusty; dirty)). appears(dust, dusty). appears(dust, dirty).",
    ],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(text: str) -> None:
    assert isinstance(refusal(text), VocabularyError)


def test_saying_the_same_twice_is_no_contradiction() -> None:
    assert vocabulary_of("skill(open, 1).", "skill(open, 1).").skills["open"] == 1


@pytest.mark.parametrize(
    ("sort", "wrong", "right"),
    [
        ("state", "cleen", "clean"),
        ("relation", "ontopp", "ontop"),
        ("tag", "fraglie", "fragile"),
        ("quantity", "mas", "mass"),
        ("skill", "opne", "open"),
    ],
)
def test_an_undeclared_name_is_refused_with_the_nearest(sort: str, wrong: str, right: str) -> None:
    toy().require(sort, right, "")
    with pytest.raises(VocabularyError, match=f"{sort} '{wrong}'") as refused:
        toy().require(sort, wrong, "here")
    assert (refused.value.code, refused.value.where) == ("undeclared-name", "here")
    assert refused.value.help == f"did you mean {right!r}?"


def test_where_nothing_is_near_the_known_names_are_listed() -> None:
    with pytest.raises(VocabularyError) as refused:
        toy().require("tag", "xyzzy", "")
    assert refused.value.help == "known: food, fragile"


# -- actions ---------------------------------------------------------------------------------------


def test_an_action_may_be_text_or_an_action() -> None:
    action = Action("place", ("cup", "table"))
    assert toy().check_action("place(cup, table)", ["cup", "table"]) == action
    assert toy().check_action(action, ["cup", "table"]) == action
    assert toy().check_action("done", []) == DONE


@pytest.mark.parametrize(
    ("text", "code", "says", "help"),
    [
        ("opne(cup)", "unknown-skill", "no skill 'opne'", "did you mean 'open'?"),
        ("open", "wrong-arity", "open takes 1 argument, not 0", ""),
        ("place(cup)", "wrong-arity", "place takes 2 arguments, not 1", ""),
        ("done(cup)", "wrong-arity", "done takes 0 arguments, not 1", ""),
        ("open(cupp)", "unknown-object", "no object 'cupp'", "did you mean 'cup'?"),
        ("open(", "action-syntax", "cannot read the action", ""),
    ],
)
def test_an_action_that_cannot_be_is_refused(text: str, code: str, says: str, help: str) -> None:
    with pytest.raises(ActionError, match=says) as refused:
        toy().check_action(text, ["cup", "table"])
    assert refused.value.code == code
    assert help in refused.value.help


def test_the_offending_argument_is_named() -> None:
    with pytest.raises(ActionError) as refused:
        toy().check_action("place(cup, shelf)", ["cup"])
    assert refused.value.where == "argument 2 of place(cup, shelf)"


def test_objects_given_one_by_one_are_suggested_too() -> None:
    with pytest.raises(ActionError) as refused:
        toy().check_action("open(cupp)", iter(["cup", "table"]))
    assert refused.value.help == "did you mean 'cup'?"
