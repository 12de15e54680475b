"""What a rule pack may say, and what it then means."""

from __future__ import annotations

from pathlib import Path

import pytest

from obviate.kb import Pack, asp, household
from obviate.kb.errors import DataError, PackError
from obviate.kb.terms import Atom, Fun, binding_of

RULE = "rule(a, temporal). "


def load(text: str, **consts: str | int) -> Pack:
    return Pack.of(text, vocabulary=household.vocabulary(), consts=consts)


def tag(name: str, what: str) -> Atom:
    return Atom("tag", (name, Fun(what)))


def state(name: str, what: str, *, positive: bool = True) -> Atom:
    return Atom("state", (name, Fun(what)), positive)


def on(name: str, below: str) -> Atom:
    return Atom("edge", (Fun("ontop"), name, below))


def hazards(text: str, *facts: Atom, **consts: str | int) -> set[str]:
    """The bindings in which the hazard of `text` holds."""
    pack = load(RULE + text, **consts)
    found = asp.evaluate([pack.program.text], facts, [("hazard", 2, True)], pack.consts)
    return {" ".join(binding_of(atom.args[1])) for atom in found}


# -- the language ----------------------------------------------------------------------------------


def test_helpers_and_recursion_are_allowed() -> None:
    text = "above(X,Y) :- edge(ontop,X,Y). above(X,Z) :- above(X,Y), edge(ontop,Y,Z). hazard(a,(X,Y)) :- above(X,Y)."
    assert hazards(text, on("cup", "tray"), on("tray", "stove")) == {
        "cup tray",
        "cup stove",
        "tray stove",
    }


def test_arithmetic_and_comparison_are_allowed() -> None:
    text = """
        hazard(a,(X,Y)) :- weight(X,N), weight(Y,M), N * 2 - 1 > M + 10, X != Y.
        weight(X,5*3) :- tag(X,heavy).  weight(X,2) :- tag(X,soil).
    """
    assert hazards(text, tag("pot", "heavy"), tag("mud", "soil")) == {"pot mud"}


def test_aggregates_are_allowed() -> None:
    text = "hazard(a,Y) :- object(Y), 2 <= #count { X : edge(ontop,X,Y) }."
    facts = [Atom("object", ("table",)), Atom("object", ("cup",)), on("cup", "table")]
    assert hazards(text, *facts) == set()
    assert hazards(text, *facts, on("pot", "table")) == {"table"}


def test_stratified_negation_is_allowed() -> None:
    text = "clean(X) :- object(X), not state(X,dusty). hazard(a,X) :- object(X), not clean(X)."
    facts = [Atom("object", ("cup",)), Atom("object", ("pot",)), state("pot", "dusty")]
    assert hazards(text, *facts) == {"pot"}


def test_seen_to_be_false_and_not_believed_are_two_negations() -> None:
    facts = [Atom("object", ("cup",)), Atom("object", ("pot",)), state("pot", "dusty", positive=False)]
    assert hazards("hazard(a,X) :- object(X), not state(X,dusty).", *facts) == {"cup", "pot"}
    assert hazards("hazard(a,X) :- object(X), -state(X,dusty).", *facts) == {"pot"}


def test_negation_between_rules_is_allowed_when_it_is_stratified() -> None:
    text = "rule(b,temporal). hazard(a,X) :- tag(X,heavy), not hazard(b,X). hazard(b,X) :- state(X,hot)."
    assert hazards(text, tag("pot", "heavy"), tag("pan", "heavy"), state("pan", "hot")) == {"pot", "pan"}


def test_a_pool_stands_for_its_alternatives() -> None:
    text = "hazard(a,X) :- state(X,(hot; wet))."
    assert hazards(text, state("pan", "hot"), state("cup", "wet"), state("pot", "open")) == {"pan", "cup"}


def test_a_condition_is_allowed() -> None:
    text = "hazard(a,Y) :- tag(Y,function_surface), state(X,dusty) : edge(ontop,X,Y)."
    facts = [tag("table", "function_surface"), on("cup", "table")]
    assert hazards(text, *facts) == set()
    assert hazards(text, *facts, state("cup", "dusty")) == {"table"}


def test_a_const_has_a_default_and_can_be_overridden() -> None:
    text = "#const strict = 0. hazard(a,X) :- object(X), strict = 1."
    cup = Atom("object", ("cup",))
    assert hazards(text, cup) == set()
    assert hazards(text, cup, strict=1) == {"cup"}
    assert hazards(text, cup, strict="1") == {"cup"}


def test_a_const_can_be_a_deadline() -> None:
    text = "#const patience = 3. rule(a,temporal). hazard(a,X) :- object(X). deadline(a,within(patience))."
    assert load(text).rules["a"].deadline == 3
    assert load(text, patience=5).rules["a"].deadline == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "% nothing but a comment",
        "%* a block\n comment *%",
        '% #include "other.lp".',
        'rule(a,temporal). hazard(a,X) :- object(X). principle(a, "Never #include @home, or choose { one }.").',
        'rule(a,temporal). hazard(a,X) :- object(X). principle(a, "Write \\"me@home\\" on it").',
        "#show near/1. #defined far/1. near(X) :- object(X).",
        "p(X) :- object(X).\r\nq(X) :- p(X).\r\n",
        "p(1..3). q(X) :- p(X), X \\ 2 = 0.",
        "step(N + 1) :- value(_, _, N), N < 5.",
        "seen(R) :- rule(R, temporal). rule(a, temporal). hazard(a, X) :- object(X).",
    ],
)
def test_a_harmless_pack_loads(text: str) -> None:
    assert load(text).program.text == text


# -- the description -------------------------------------------------------------------------------

FULL = """
rule(a, situational).
hazard(a, (X,Y)) :- tag(X, safety_food), state(Y, dusty).
threatens(a, (X,Y)) :- intent((place_on_top(X,Y); place_inside(X,Y))).
resolved(a, (X,Y)) :- pending(a, (X,Y)), not state(Y, dusty).
principle(a, "Keep food clean").
severity(a, advisory).
rule((b; c), temporal).
hazard((b; c), X) :- state(X, open).
deadline(c, within(4)).
"""


def test_rules_are_described_as_written() -> None:
    a = load(FULL).rules["a"]
    assert (a.name, a.mode, a.principle, a.advisory, a.targeted) == ("a", "situational", "Keep food clean", True, True)
    assert (a.span.file, a.span.line, a.span.column) == ("pack.lp", 2, 1)


def test_what_is_left_out_has_a_default() -> None:
    rules = load(FULL).rules
    assert (rules["a"].deadline, rules["b"].deadline, rules["c"].deadline) == ("before_intent", "before_done", 4)
    assert (rules["b"].principle, rules["b"].advisory, rules["b"].targeted) == ("", False, False)


def test_a_pool_of_names_declares_each() -> None:
    assert list(load(FULL).rules) == ["a", "b", "c"]


def test_the_kernel_learns_deadlines_and_targets() -> None:
    assert set(map(str, load(FULL).frame)) == {
        "deadline(a,before_intent)",
        "targeted(a)",
        "deadline(b,before_done)",
        "deadline(c,within(4))",
    }


def test_the_digest_follows_text_and_consts() -> None:
    text = "#const n = 1. p(n)."
    digests = [load(text).digest, load(text, n=1).digest, load(text, n=2).digest, load(text + " ").digest]
    assert load(text).digest == digests[0]
    assert len(set(digests)) == 4


# -- files -----------------------------------------------------------------------------------------


def test_the_files_of_a_pack_are_one_program(tmp_path: Path) -> None:
    one, two = tmp_path / "one.lp", tmp_path / "two.lp"
    one.write_text("rule(a, temporal). hazard(a, X) :- bad(X). % no end of line")
    two.write_text("bad(X) :- state(X, hot).")
    pack = Pack.load(one, two, vocabulary=household.vocabulary())
    assert (pack.name, list(pack.rules)) == ("one", ["a"])
    with pytest.raises(PackError) as refused:
        Pack.load(one, vocabulary=household.vocabulary(), name="mine")
    assert (refused.value.code, str(refused.value.where)) == ("undeclared-predicate", f"{one}:1:36")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        Pack.load(tmp_path / "none.lp", vocabulary=household.vocabulary())


def test_the_household_pack_loads_with_every_rule_described() -> None:
    rules = household.pack().rules.values()
    assert {rule.mode for rule in rules} == {"situational", "temporal"}
    assert all(rule.principle for rule in rules)


def test_the_household_pack_has_switches() -> None:
    assert household.pack(consts={"moved_only": 0}).digest != household.pack().digest
