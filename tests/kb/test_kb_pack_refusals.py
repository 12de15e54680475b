"""What a rule pack may not say, beside the folder of broken packs: what has no place, and what the messages say.

In some texts ``▸`` stands before the character that the error must point at; it is not part of the pack.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from obviate.kb import Pack, asp, household
from obviate.kb.errors import ObviateError, PackError, Span
from obviate.kb.terms import Atom

# A pack without faults, to be spoiled.
GOOD = "rule(a, temporal). hazard(a, X) :- object(X). "

UNPLACED: list[tuple[str, Callable[[], object]]] = [
    ("unknown-const", lambda: load("#const n = 1. p(n).", consts={"m": 1})),
    ("no-model", lambda: asp.Resident(":- not a.", [("a", 0, True)], {}).model()),
    ("search-timeout", lambda: asp.search("a.", [("a", 0, True)], seconds=0)),
    ("not-stratified", lambda: asp.evaluate(["a :- not b. b :- not a."], (), [("a", 0, True)])),
    ("grounding-failed", lambda: asp.evaluate(["a :- "], (), [("a", 0, True)])),
    ("syntax", lambda: load("p(\ud800).")),
    ("bad-deadline", lambda: load(GOOD + "deadline(a, soon).")),
    ("bad-const", lambda: load("#const n = 1. p(n).", consts={"n": "("})),
    ("empty-pack", lambda: Pack.load(vocabulary=household.vocabulary())),
]


def load(text: str, **options: dict[str, str | int]) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary(), **options)  # type: ignore[arg-type]


def refusal(text: str) -> PackError:
    with pytest.raises(PackError) as refused:
        load(text)
    return refused.value


@pytest.mark.parametrize(("code", "use"), UNPLACED)
def test_what_has_no_place_in_the_text_is_refused_with_its_code(code: str, use: Callable[[], object]) -> None:
    with pytest.raises(PackError) as refused:
        use()
    assert refused.value.code == code


# -- what the message says -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("p(X) :- objct(X).", "did you mean 'object'?"),
        ("near(X) :- object(X). p(X) :- neer(X).", "did you mean 'near'?"),
        ("p(X) :- state(X, dustyy).", "did you mean 'dusty'?"),
        ("p(X) :- intent(opne(X)).", "did you mean 'open'?"),
        ("rule(a, temporl).", "did you mean 'temporal'?"),
        ("rule(closed, temporal). hazard(close, X) :- object(X).", "did you mean 'closed'?"),
    ],
)
def test_a_misspelt_name_gets_a_suggestion(text: str, help: str) -> None:
    assert refusal(text).help == help


def test_an_unstratified_pack_names_the_cycle() -> None:
    text = "p(X) :- object(X), not q(X). q(X) :- r(X). r(X) :- p(X)."
    assert "p/1 <- q/1 <- r/1 <- p/1" in refusal(text).message


def test_a_cycle_through_hazards_names_the_rules() -> None:
    text = "rule((a; b), temporal). hazard(a, X) :- object(X), not hazard(b, X). hazard(b, X) :- hazard(a, X)."
    assert "hazard/a <- hazard/b <- hazard/a" in refusal(text).message


def test_a_cycle_through_any_rule_is_found() -> None:
    text = "rule(a, temporal). hazard(a, X) :- object(X), not calm(X). calm(X) :- object(X), hazard(R, X)."
    assert refusal(text).code == "not-stratified"


def test_an_error_shows_the_line_with_a_caret() -> None:
    text = "p(1).\n\tq(X) :- state(X, dustyy)."
    assert "  q(X) :- state(X, dustyy).\n" + " " * 20 + "^" in str(refusal(text))


@pytest.mark.parametrize("before", ['principle(a, "é"). ', "%* 皿 *% ", 'p("\U0001f37d"). '])
@pytest.mark.parametrize("broken", ["p(X) :- ▸objct(X).", "p(1)▸(2)."])
def test_columns_count_characters_not_bytes(before: str, broken: str) -> None:
    text = GOOD + before + broken
    error = refusal(text.replace("▸", ""))
    assert isinstance(error.where, Span)
    assert error.where.column == text.index("▸") + 1


def test_an_error_names_the_file_and_the_line_in_it() -> None:
    with pytest.raises(PackError) as refused:
        Pack.of({"one.lp": "p(1).\n\n", "two.lp": "p(2).\nq :- r."}, vocabulary=household.vocabulary())
    assert str(refused.value).startswith("two.lp:2:6: ")


def test_a_bad_deadline_is_shown_where_it_is_written() -> None:
    error = refusal(GOOD + "\n\ndeadline(a, within(-1)).")
    assert error.code == "bad-deadline"
    assert isinstance(error.where, Span)
    assert error.where.line == 3


@pytest.mark.parametrize("deadline", ["soon", "within(-1)", "within(x)", "within(1, 2)", "3", '"before_done"'])
def test_anything_but_the_three_deadlines_is_refused(deadline: str) -> None:
    assert refusal(GOOD + f"deadline(a, {deadline}).").code == "bad-deadline"


# -- what else is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "rule(a, temporal). rule(a, situational). hazard(a, X) :- object(X). threatens(a, X) :- intent(open(X)).",
            id="mode",
        ),
        pytest.param(GOOD + "deadline(a, within(1)). deadline(a, before_done).", id="deadline"),
        pytest.param(GOOD + 'principle(a, "One"). principle(a, "Two").', id="principle"),
    ],
)
def test_a_rule_is_described_once(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "rule(a, situational). hazard(a, (X,Y)) :- edge(ontop, X, Y). threatens(a, X) :- intent(open(X)).",
        "rule(a, temporal). hazard(a, X) :- object(X). hazard(a, (X,Y)) :- edge(ontop, X, Y).",
        "rule(a, temporal). hazard(a, X) :- object(X). resolved(a, (X,Y)) :- edge(ontop, X, Y).",
    ],
)
def test_a_rule_has_one_number_of_objects(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("binding", ["(X,)", "3", "f(X)", "dusty", "X+1"])
def test_a_binding_is_an_object_or_a_tuple_of_objects(binding: str) -> None:
    refusal(f"rule(a, temporal). hazard(a, {binding}) :- object(X).")


@pytest.mark.parametrize("text", ["severity(a, advsory).", "severity(a, 3)."])
def test_a_description_that_means_nothing_is_refused(text: str) -> None:
    refusal(GOOD + text)


@pytest.mark.parametrize(
    "text",
    [
        "-rule(a, temporal). hazard(a, X) :- object(X).",
        "rule(a, temporal). -hazard(a, X) :- object(X).",
        GOOD + "-severity(a, advisory).",
        GOOD + "-resolved(a, X) :- pending(a, X).",
    ],
)
def test_a_description_cannot_be_negated(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("value", ["3", "b", '"a"'])
def test_a_constant_may_not_rename_a_rule(value: str) -> None:
    refusal(f"#const a = {value}. " + GOOD)


def test_a_helper_and_its_opposite_may_not_both_follow() -> None:
    refusal("ok(X) :- tag(X, soil). -ok(X) :- state(X, wet).")  # the two would leave no answer


def test_negation_may_not_run_through_the_kernel() -> None:
    # what threatens opens records, so this one would follow from its own absence
    refusal("rule(a, situational). hazard(a, X) :- object(X). threatens(a, X) :- intent(open(X)), not pending(a, X).")


@pytest.mark.parametrize(
    "literal",
    [
        "1 < #count { Y : object(Y), not state(Y, (dusty; stained)) }",
        "state(X, wet) : not tag(X, (soil; heavy))",
        "not tag(X, (soil; heavy)) : state(X, wet)",
    ],
)
def test_a_negated_pool_is_found_inside_other_literals(literal: str) -> None:
    assert refusal(f"p(X) :- object(X), {literal}.").code == "negated-pool"


@pytest.mark.parametrize(
    "atom", ['state(X, "dusty")', 'tag(X, "soil")', 'edge("ontop", X, _)', "state(X, f(dusty))", "state(X, 3)"]
)
def test_a_name_that_is_no_constant_never_holds_and_is_refused(atom: str) -> None:
    refusal(f"p(X) :- object(X), {atom}.")


@pytest.mark.parametrize(
    "text",
    [
        "#const n = @f(1). p(n).",
        'p(X) :- object(X), X != "\\"", X = @f(1).',
        'p(X) :- object(X), X != "\\"", #count { @f(1) } > 0.',
        "#show @f(1).",
    ],
)
def test_a_call_is_refused_wherever_it_stands(text: str) -> None:
    assert refusal(text).code == "refused-function"


@pytest.mark.parametrize("before", ["%**%", "p(1). %* one *%", '%* " *%', "%*\n*%"])
def test_an_include_after_a_block_comment_is_refused_unread(tmp_path: Path, before: str) -> None:
    (tmp_path / "secret.lp").write_text("secret.")
    assert refusal(f'{before} #include "{tmp_path}/secret.lp".').code == "include-refused"


@pytest.mark.parametrize("text", ["p(1).\0 p(", "\0p(", "p(1). % \0"])
def test_nul_which_would_hide_the_rest_of_the_text_is_refused(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("text", ["p(2147483648).", "p(X) :- value(X, _, N), N > 4294967296."])
def test_a_number_that_would_wrap_silently_is_refused(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("value", ["1 2", "1..3", "X", "1,m=2", 2**40, "@f()"])
def test_a_const_must_be_a_term(value: str | int) -> None:
    with pytest.raises(ObviateError):
        load("#const n = 1. p(n).", consts={"n": value})


def test_what_is_shown_cannot_forge_conclusions() -> None:
    forged = asp.Resident("a. b. #show b/0. #show c : a.", [("a", 0, True)], {})
    assert forged.model() == {Atom("a")}
