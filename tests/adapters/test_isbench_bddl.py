"""BDDL texts: what they mean, and how a bad one is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obviate.adapters.isbench.bddl import (
    MAX_DEPTH,
    MAX_QUANTIFIERS,
    And,
    Atom,
    Exists,
    Forall,
    Imply,
    Literal,
    Not,
    Or,
    parse_conditions,
    parse_goal,
    parse_problem,
)
from obviate.kb.errors import DataError, Span

PROBLEM = """\
(define (problem rinse_a_mug-0)
    (:domain omnigibson)  ; comments are skipped (even unbalanced ones
    (:objects
        mug.n.04_1 mug.n.04_2 - mug.n.04
        sink.n.01_1 - sink.n.01
    )
    (:init
        (inside mug.n.04_1 sink.n.01_1)
        (not (open mug.n.04_2))
        (inroom sink.n.01_1 kitchen)
    )
    (:goal (not (toggled_on ?sink.n.01_1)))
)
"""


def refusal(text: str, objects: dict[str, str] | None = None) -> DataError:
    with pytest.raises(DataError) as caught:
        parse_goal(text, file="rinse.bddl", objects=objects)
    return caught.value


def place(error: DataError) -> tuple[int, int]:
    assert isinstance(error.where, Span)
    return error.where.line, error.where.column


def test_a_problem_keeps_the_order_of_its_objects_and_the_sign_of_its_facts() -> None:
    problem = parse_problem(PROBLEM, file="rinse.bddl")
    assert (problem.name, problem.domain) == ("rinse_a_mug-0", "omnigibson")
    assert list(problem.objects.items()) == [
        ("mug.n.04_1", "mug.n.04"),
        ("mug.n.04_2", "mug.n.04"),
        ("sink.n.01_1", "sink.n.01"),
    ]
    assert problem.init == (
        Literal("inside", ("mug.n.04_1", "sink.n.01_1")),
        Literal("open", ("mug.n.04_2",), positive=False),
        Literal("inroom", ("sink.n.01_1", "kitchen")),
    )
    assert problem.goal == Not(Atom("toggled_on", ("sink.n.01_1",)))


def test_every_connective_has_its_own_value() -> None:
    text = """(:goal (and (or (open a) (hot a)) (imply (open a) (hot a))
                          (forall (?k - k) (exists (?m - m) (ontop ?k ?m)))))"""
    opened, hot = Atom("open", ("a",)), Atom("hot", ("a",))
    on = Atom("ontop", ("k", "m"))
    assert parse_goal(text, file="f") == And(
        (Or((opened, hot)), Imply(opened, hot), Forall("k", "k", Exists("m", "m", on)))
    )


@pytest.mark.parametrize("text", ["(:goal (ontop a.n.01_1 b))", "( :GOAL(OnTop ?A.n.01_1 ?b) )"])
def test_question_marks_and_capitals_do_not_matter(text: str) -> None:
    assert parse_goal(text, file="f") == Atom("ontop", ("a.n.01_1", "b"))


def test_a_goal_without_its_and_means_all_its_conditions() -> None:
    text = "(:goal (open a) (hot a))"
    assert parse_conditions(text, file="f") == (Atom("open", ("a",)), Atom("hot", ("a",)))
    assert parse_goal(text, file="f") == And((Atom("open", ("a",)), Atom("hot", ("a",))))


def test_keywords_may_also_be_names() -> None:
    assert parse_goal("(:goal (ontop and not))", file="f") == Atom("ontop", ("and", "not"))


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("", "expected an opening parenthesis, found the end of the text", (1, 1)),
        (
            "(:goal\n  (open a)",
            "expected a closing parenthesis or an opening parenthesis, found the end",
            (2, 11),
        ),
        ("(:goal (open a)) more", "expected the end of the text, found 'more'", (1, 18)),
        ("(:goal (open $a))", "expected a closing parenthesis, a name or a variable, found '$'", (1, 14)),
        ("(:goal (forall (?a b) (open ?a)))", "expected '-' and a kind, found 'b'", (1, 20)),
        ("(:gaol (open a))", "expected ':goal', found ':'", (1, 2)),
    ],
)
def test_a_syntax_error_says_what_was_expected_and_where(text: str, message: str, where: tuple[int, int]) -> None:
    error = refusal(text)
    assert error.code == "bddl-syntax"
    assert error.message.startswith(message)
    assert place(error) == where


def test_an_unknown_predicate_gets_a_suggestion() -> None:
    error = refusal("(:goal (not (toggle_on ?sink)))")
    assert (error.code, error.help) == ("bddl-name", "did you mean 'toggled_on'?")
    assert place(error) == (1, 14)
    assert "(:goal (not (toggle_on ?sink)))" in str(error)


def test_a_predicate_must_have_its_number_of_arguments() -> None:
    error = refusal("(:goal (open a b))")
    assert (error.code, error.message) == ("bddl-name", "'open' takes 1 argument(s), not 2")


@pytest.mark.parametrize(
    ("old", "new", "message", "where"),
    [
        ("(inside mug.n.04_1", "(inside mugg.n.04_1", "'mugg.n.04_1' is not a declared object", (8, 17)),
        ("(toggled_on ?sink", "(toggled_on ?sinc", "'sinc.n.01_1' is not a declared object", (12, 29)),
        ("mug.n.04_1 mug.n.04_2", "mug.n.04_1 mug.n.04_1", "'mug.n.04_1' is declared twice", (4, 20)),
    ],
)
def test_a_problem_names_only_what_it_declares_once(old: str, new: str, message: str, where: tuple[int, int]) -> None:
    with pytest.raises(DataError) as caught:
        parse_problem(PROBLEM.replace(old, new, 1), file="rinse.bddl")
    assert (caught.value.code, caught.value.message) == ("bddl-name", message)
    assert place(caught.value) == where


def test_a_goal_may_name_given_objects_and_bound_variables_only() -> None:
    objects = {"lid.n.02_1": "lid.n.02"}
    text = "(:goal (forall (?lid.n.02 - lid.n.02) (open ?lid.n.02)))"
    assert parse_goal(text, file="f", objects=objects) == Forall("lid.n.02", "lid.n.02", Atom("open", ("lid.n.02",)))
    unbound = refusal("(:goal (open ?lid.n.02))", objects)
    assert unbound.help == "did you mean 'lid.n.02_1'?"
    kind = refusal("(:goal (exists (?x - lad.n.02) (open ?x)))", objects)
    assert (kind.message, kind.help) == (
        "'lad.n.02' is not the kind of a declared object",
        "did you mean 'lid.n.02'?",
    )


def nested(depth: int) -> str:
    return f"(:goal {'(not ' * (depth - 1)}(open a){')' * depth}"


def test_deep_nesting_is_refused_not_a_crash() -> None:
    assert isinstance(parse_goal(nested(MAX_DEPTH), file="f"), Not)
    assert refusal(nested(MAX_DEPTH + 1)).message == f"a formula nested more than {MAX_DEPTH} deep"
    assert refusal(nested(20_000)).code == "bddl-syntax"
    assert refusal(nested(20_000)[:-1]).code == "bddl-syntax"


def test_quantifiers_within_quantifiers_are_limited() -> None:
    def text(count: int) -> str:
        return f"(:goal {'(forall (?x - k) ' * count}(open ?x){')' * count})"

    assert isinstance(parse_goal(text(MAX_QUANTIFIERS), file="f"), Forall)
    assert refusal(text(MAX_QUANTIFIERS + 1)).code == "bddl-syntax"


def test_a_huge_line_or_name_is_not_quoted_in_full() -> None:
    assert len(str(refusal(f"(:goal ({'x' * 100_000} a))"))) < 1_000


PIECES = st.lists(
    st.sampled_from([*"()?-;", " ", "\n", "(:goal ", "(not ", "(and ", "(forall (?x - k) ", "(open ?x)", "hot"])
)


@given(st.one_of(st.text(), PIECES.map("".join), PIECES.map(lambda pieces: PROBLEM[:-3] + "".join(pieces))))
def test_any_text_is_read_or_refused(text: str) -> None:
    outcomes = set()
    for read in (parse_goal, parse_problem):
        try:
            read(text, file="f")
            outcomes.add("read")
        except DataError as error:
            outcomes.add(error.code)
    assert outcomes <= {"read", "bddl-syntax", "bddl-name"}
