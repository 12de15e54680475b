"""Actions: what people and models write, and what it means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_strategies import ids

from obviate.kb import DONE, Action, asp
from obviate.kb.errors import ActionError, ObviateError
from obviate.kb.terms import Atom

skills = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name != "not")
actions = st.builds(Action, skills, st.lists(ids, max_size=4).map(tuple))


@settings(max_examples=300)
@given(actions)
def test_a_written_action_reads_back_as_itself(action: Action) -> None:
    assert Action.parse(str(action)) == action


@given(actions)
def test_the_term_of_an_action_goes_through_clingo_unchanged(action: Action) -> None:
    intent = Atom("intent", (action.term,))
    assert asp.evaluate([], [intent], [("intent", 1, True)]) == {intent}


@settings(max_examples=300)
@given(st.text(max_size=20) | st.text('open(),"\\ \n', max_size=15))
def test_any_text_is_an_action_or_refused(text: str) -> None:
    try:
        action = Action.parse(text)
    except ObviateError:
        return
    assert Action.parse(str(action)) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("done", DONE),
        ("done()", DONE),
        ("DONE( )", DONE),
        ("place_on_top(peach, plate)", Action("place_on_top", ("peach", "plate"))),
        ("PLACE_ON_TOP(apple.n.01_1,plate.n.04_1)", Action("place_on_top", ("apple.n.01_1", "plate.n.04_1"))),
        ("  open (\n cabinet )\n", Action("open", ("cabinet",))),
        ("open(Top Cabinet)", Action("open", ("Top Cabinet",))),
        (r'open("a, \"b\" (c)\\\n")', Action("open", ('a, "b" (c)\\\n',))),
        ('open("cup")', Action("open", ("cup",))),
        ("open(Éclair)", Action("open", ("Éclair",))),
    ],
)
def test_common_ways_to_write_an_action_are_understood(text: str, action: Action) -> None:
    assert Action.parse(text) == action


def test_an_action_is_written_as_plainly_as_possible() -> None:
    assert str(Action("wipe", ("table", "a,b"))) == 'wipe(table, "a,b")'


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("3(cup)", 1),
        ("(cup)", 1),
        ("öffne(cup)", 1),
        ("open cup", 1),
        ("open(", 6),
        ("open(cup", 6),
        ("open(,cup)", 6),
        ("open(cup,)", 10),
        ("open(cup, (a))", 10),
        ('open("cup)', 6),
        ('open("cup"s)', 6),
        ("open(cup) now", 10),
        ("open(cup))", 10),
    ],
)
def test_bad_syntax_is_refused_at_its_column(text: str, column: int) -> None:
    with pytest.raises(ActionError) as refused:
        Action.parse(text)
    assert (refused.value.code, refused.value.where) == ("action-syntax", f"column {column}")


@pytest.mark.parametrize("text", ['open("")', "open(a\0b)", f"open({'x' * 2000})"])
def test_an_impossible_id_in_an_action_is_refused_by_its_argument(text: str) -> None:
    with pytest.raises(ObviateError) as refused:
        Action.parse(text)
    assert (refused.value.code, refused.value.where) == ("bad-id", "argument 1 of open")
