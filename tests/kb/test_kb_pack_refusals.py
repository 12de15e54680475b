"""What a rule pack may not say: one minimal broken pack per reason, refused with its code at its place.

In the packs below, ``▸`` stands before the character that the error must point at; it is not part of the pack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import obviate.kb
from obviate.kb import Pack, asp, household
from obviate.kb.errors import ObviateError, PackError, Span
from obviate.kb.terms import Atom

# A pack without faults, to be spoiled.
GOOD = "rule(a, temporal). hazard(a, X) :- object(X). "

PLACED = [
    ("syntax", "p(1).\nq(▸."),
    ("syntax", 'p(▸"one\ntwo").'),
    ("include-refused", 'p(1).\n  ▸#include "other.lp".'),
    ("include-refused", 'p("%"). ▸#include <incmode>.'),
    ("refused-statement", "p(1). ▸{ q }."),
    ("refused-statement", "p(1). ▸q : p(2)."),
    ("refused-statement", "p(1).\n▸q; r."),
    ("refused-statement", "▸#count{ X : object(X) } = 1."),
    ("refused-statement", "▸#script (python)\nprint()\n#end."),
    ("refused-statement", "▸#script (lua) #end."),
    ("refused-statement", "▸#external p(1)."),
    ("refused-statement", "▸#program later."),
    ("refused-statement", "▸:~ object(X). [1, X]"),
    ("refused-statement", "▸#edge (1, 2)."),
    ("refused-statement", "▸#theory t { }."),
    ("refused-statement", "▸&t { 1 }."),
    ("refused-statement", "p(1). ▸:- object(X)."),
    ("refused-statement", "p(1). ▸not q."),
    ("refused-function", "p(1). p(X) :- X = ▸@f(1)."),
    ("refused-function", "p(▸@f(1) + 1)."),
    ("refused-function", "p(X) :- object(X), 1 < #sum { ▸@f(1), Y : object(Y) }."),
    ("negated-pool", GOOD + "\nresolved(a, X) :- pending(a, X), ▸not state(X, (dusty; stained))."),
    ("negated-pool", "p(X) :- object(X), ▸not not state(X, (dusty; stained))."),
    ("negated-pool", "p(X) :- object(X), ▸not state(X, dusty; X, stained)."),
    ("defines-belief", "▸object(1)."),
    ("defines-belief", "p(1). ▸tag(X, soil) :- object(X)."),
    ("defines-belief", "▸state(X, dusty) :- object(X)."),
    ("defines-belief", "▸edge(ontop, X, X) :- object(X)."),
    ("defines-belief", "▸value(X, mass, 1) :- object(X)."),
    ("defines-belief", "▸moved(X) :- object(X)."),
    ("defines-belief", "▸intent(done)."),
    ("defines-belief", "▸executed(done)."),
    ("defines-kernel", "▸trigger(a, X) :- object(X)."),
    ("defines-kernel", "▸pending(a, X) :- object(X)."),
    ("defines-kernel", "▸target(a, X) :- object(X)."),
    ("defines-kernel", "▸opens(a, X) :- object(X)."),
    ("defines-kernel", "▸passed(a, X) :- object(X)."),
    ("defines-kernel", "▸due(a, X) :- object(X)."),
    ("defines-kernel", "▸failed(a, X) :- object(X)."),
    ("defines-kernel", "▸was_pending(a, X) :- object(X)."),
    ("defines-kernel", "▸_hidden(X) :- object(X)."),
    ("predicate-arity", "▸rule(a)."),
    ("predicate-arity", GOOD + "▸hazard(a) :- object(X)."),
    ("predicate-arity", "p(X) :- ▸object(X, X)."),
    ("predicate-arity", "p(X, X) :- object(X). q(X) :- object(X), not ▸p(X)."),
    ("not-a-fact", "p(1). ▸rule(a, temporal) :- object(X)."),
    ("not-a-fact", GOOD + '▸severity(a, advisory) :- object("x").'),
    ("variable-rule-name", "rule(▸A, temporal)."),
    ("variable-rule-name", GOOD + "hazard(▸R, X) :- rule(R, temporal), object(X)."),
    ("variable-rule-name", GOOD + 'hazard(▸"a", X) :- object(X).'),
    ("unknown-mode", "rule(a, ▸always)."),
    ("unknown-mode", "rule(a, ▸(temporal; situational))."),
    ("unknown-rule", GOOD + "hazard(▸aa, X) :- object(X)."),
    ("unknown-rule", GOOD + 'principle((a; ▸b), "Be careful").'),
    ("reads-kernel", "p(X) :- object(X), ▸failed(a, X)."),
    ("reads-kernel", "p(X) :- object(X), not ▸trigger(a, X)."),
    ("undeclared-predicate", "p(X) :- ▸objct(X)."),
    ("undeclared-predicate", "p(X) :- object(X), 1 < #count { Y : ▸nearby(X, Y) }."),
    ("undeclared-name", "p(X) :- state(X, ▸dustyy)."),
    ("undeclared-name", "p(X) :- state(X, (dusty; ▸stainedd))."),
    ("undeclared-name", "p(X) :- object(X), not -state(X, ▸dustyy)."),
    ("undeclared-name", "p(X) :- tag(X, ▸safety_fod)."),
    ("undeclared-name", "p(X) :- tag(X, soil; X, ▸safety_fod)."),
    ("undeclared-name", "p(X) :- edge(▸ontopp, X, Y)."),
    ("undeclared-name", "p(X) :- value(X, ▸mass, N)."),
    ("undeclared-name", "p(X) :- intent(▸opne(X))."),
    ("undeclared-name", "p(X) :- executed((open(X); ▸opne(X)))."),
    ("wrong-arity", "p(X) :- intent(▸open(X, X))."),
    ("wrong-arity", "p(X) :- object(X), intent(▸open)."),
    ("no-hazard", "p(1). ▸rule(a, temporal)."),
    ("no-intent", "p(1). ▸rule(a, situational). hazard(a, X) :- object(X)."),
    ("depends-on-intent", "rule(a, temporal).\n▸hazard(a, X) :- intent(open(X))."),
    ("depends-on-intent", "rule(a, temporal). q(X) :- executed(open(X)). p(X) :- q(X).\n▸hazard(a, X) :- p(X)."),
    ("depends-on-intent", GOOD + "p :- executed(done). ▸resolved(a, X) :- pending(a, X), not p."),
    ("reads-kernel", "rule(a, temporal). hazard(a, X) :- object(X), ▸pending(a, X)."),
    ("reads-kernel", GOOD + "rule(b, temporal). hazard(b, X) :- object(X). resolved(b, X) :- ▸pending(a, X)."),
    (
        "depends-on-intent",
        GOOD + "rule(b, situational). hazard(b, X) :- object(X).\n▸threatens(b, X) :- "
        "intent(open(X)), executed(open(X)).",
    ),
    ("undeclared-predicate", GOOD + "p(X) :- object(X), ▸deadline(a, before_done)."),
    ("bad-const", "p(1).\n▸#const n = 2 * 3."),
    ("bad-const", "p(1).\n▸#const n = 2. [override]"),
    ("endless-recursion", "p(0).\n▸p(N + 1) :- p(N), N > 0."),
    ("too-wide", "p(▸1..20000)."),
    ("too-wide", "p(▸1..1000*1000)."),
    (
        "depends-on-intent",
        GOOD + "rule(b, temporal). threatens(a, X) :- intent(open(X)). ▸hazard(b, X) :- threatens(a, X).",
    ),
    (
        "depends-on-intent",
        GOOD + "rule(b, temporal). p(X) :- threatens(a, X). threatens(a, X) :- intent(open(X)). ▸hazard(b, X) :- p(X).",
    ),
    ("not-stratified", "p(X) :- object(X), ▸not q(X). q(X) :- object(X), p(X)."),
    ("not-stratified", "n(N) :- ▸N = #count { X : p(X) }. p(X) :- object(X), n(1)."),
    ("not-stratified", "rule(a, temporal). hazard(a, X) :- object(X), ▸not hazard(a, X)."),
    ("no-intent", "rule(a, situational). hazard(a, X) :- object(X).\n▸threatens(a, X) :- state(X, hot)."),
    ("no-intent", GOOD + "p(X) :- intent(open(X)). p(X) :- state(X, hot). ▸threatens(a, X) :- p(X)."),
    ("opposites", "ok(X) :- tag(X, soil).\n▸-ok(X) :- state(X, wet)."),
    ("endless-recursion", "p(0).\n▸p(N + 1) :- p(N)."),
    ("endless-recursion", "p(X) :- object(X). ▸p(f(X)) :- p(X)."),
    ("bad-binding", "rule(a, temporal). hazard(a, (▸X,)) :- object(X)."),
    ("bad-binding", "rule(a, temporal). hazard(a, ▸3) :- object(X)."),
    ("binding-arity", GOOD + "resolved(a, (▸X,Y)) :- edge(ontop, X, Y)."),
    ("constant-object", "p :- state(▸plate, dusty)."),
    ("constant-object", "p :- edge(ontop, X, ▸plate), object(X)."),
    ("constant-object", GOOD + "threatens(a, X) :- intent(place_on_top(X, ▸plate))."),
    ("undeclared-name", "p(X) :- tag(X, ▸SOIL)."),
    ("idle-threat", GOOD + "\n▸threatens(a, X) :- intent(open(X))."),
    ("bad-severity", GOOD + "\n▸severity(a, advsory)."),
    ("said-twice", GOOD + 'principle(a, "Two").\nprinciple(a, "One").'.replace("principle", "▸principle", 1)),
    ("bad-const", "p(1).\n▸#const dusty = hot."),
    ("integer-overflow", "p(▸2147483648)."),
    ("too-deep", "p(" + "f(" * 48 + "(▸(1))" + ")" * 49 + "."),
    ("too-deep", "▸p(" + "1+" * 10_000 + "1)."),
    ("grounding-failed", "p(1).\np(▸1/0)."),
    ("grounding-failed", "p(1).\n▸p(X) :- not object(X)."),
]

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


@pytest.mark.parametrize(("code", "marked"), PLACED)
def test_a_broken_pack_is_refused_with_its_code_at_its_place(code: str, marked: str) -> None:
    before, _ = marked.split("▸")
    error = refusal(marked.replace("▸", ""))
    assert error.code == code
    assert isinstance(error.where, Span)
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert (error.where.file, error.where.line, error.where.column) == ("pack.lp", *place)


@pytest.mark.parametrize(("code", "use"), UNPLACED)
def test_what_has_no_place_in_the_text_is_refused_with_its_code(code: str, use: Callable[[], object]) -> None:
    with pytest.raises(PackError) as refused:
        use()
    assert refused.value.code == code


@pytest.mark.parametrize("module", ["check", "dependency", "pack", "asp"])
def test_every_code_that_a_pack_can_be_refused_with_is_tested_here(module: str) -> None:
    source = Path(obviate.kb.__path__[0], f"{module}.py").read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    codes = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id.endswith("Error") and isinstance(call.args[0], ast.Constant)
    }
    assert codes
    assert codes <= {code for code, _ in PLACED} | {code for code, _ in UNPLACED}


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
@pytest.mark.parametrize("broken", ["p(X) :- ▸objct(X).", "p(▸."])
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
