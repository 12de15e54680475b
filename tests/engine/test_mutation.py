"""Mutants of a pack: which there are, and which its tests kill."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from case_strategies import cases, exact
from hypothesis import given, settings
from hypothesis import strategies as st
from packs_strategies import VOCABULARY, pack, pack_texts

from obviate.engine.jury import Jury, Verdict, score
from obviate.engine.mutation import Mutant, mutants
from obviate.engine.trial import follow
from obviate.kb import Pack
from obviate.kb.cases import Case, read_cases
from obviate.kb.errors import ObviateError

TEXT = """
rule(clean, situational).
hazard(clean, (X,Y)) :- tag(X, safety_food), dirty(Y).
threatens(clean, (X,Y)) :- intent(place_on_top(X,Y)).
dirty(X) :- state(X, (dusty; wet)), not moved(X).
rule(shut, temporal).
deadline(shut, within(2)).
hazard(shut, X) :- state(X, open).
resolved(shut, X) :- pending(shut, X), -state(X, open).
"""
TESTS = """
test(dirty, "Food goes onto no dusty plate").
given(dirty, (tag("fig", safety_food); state("plate", dusty); object("rag"))).
step(dirty, 1, intend(place_on_top("fig", "plate"))).
expect(dirty, 1, only(trigger(clean, ("fig","plate")))).
step(dirty, 2, intend(place_on_top("fig", "rag"))).
expect(dirty, 2, no(trigger)).
test(shut, "A drawer is shut").
given(shut, state("drawer", open)).
step(shut, 1, observe(-state("drawer", open))).
expect(shut, 1, passed(shut, "drawer")).
"""


def jury(text: str = TESTS, **options: Any) -> Jury:
    return Jury(pack(TEXT), read_cases(text, pack=pack(TEXT)), **options)


def mutant(change: str, source: str = TEXT) -> Mutant:
    (found,) = (one for one in mutants(pack(source)) if one.change == change)
    return found


def test_a_literal_is_dropped_negated_and_its_names_swapped() -> None:
    changes = {(one.rule, one.change, one.text) for one in mutants(pack(TEXT)) if one.span.line == 5}
    assert changes == {
        ("dirty/1", "without state(X,(dusty;wet))", "dirty(X) :- object(X); not moved(X)."),
        (
            "dirty/1",
            "not state(X,(dusty;wet))",
            "dirty(X) :- object(X); not state(X,dusty); not state(X,wet); not moved(X).",
        ),
        ("dirty/1", "folded for dusty in state(X,(dusty;wet))", "dirty(X) :- state(X,(folded;wet)); not moved(X)."),
        ("dirty/1", "cooked for wet in state(X,(dusty;wet))", "dirty(X) :- state(X,(dusty;cooked)); not moved(X)."),
        ("dirty/1", "without not moved(X)", "dirty(X) :- state(X,(dusty;wet))."),
        ("dirty/1", "moved(X) for not moved(X)", "dirty(X) :- state(X,(dusty;wet)); moved(X)."),
    }


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ("safety_fragile for safety_food in tag(X,safety_food)", 32),
        ("not dirty(Y)", 46),
        ("pour_into for place_on_top in intent(place_on_top(X,Y))", 35),
        ("stained for open in state(X,open)", 29),
        ("stained for open in -state(X,open)", 50),
        ("within(2+1) for within(2)", 16),
    ],
)
def test_a_mutant_knows_its_place(change: str, column: int) -> None:
    assert mutant(change).span.column == column


def test_what_is_no_condition_is_not_dropped() -> None:
    text = (
        "rule(r, temporal). hazard(r, X) :- object(X), state(X, wet). resolved(r, X) :- pending(r, X), state(X, hot)."
    )
    dropped = [one.change for one in mutants(pack(text)) if one.change.startswith("without")]
    assert dropped == ["without state(X,wet)", "without state(X,hot)"]


OUTCOMES = [
    ("folded for dusty in state(X,(dusty;wet))", "killed", "dirty"),
    ("without tag(X,safety_food)", "survived", ""),
    ("without dirty(Y)", "killed", "dirty"),
    ("cooked for wet in state(X,(dusty;wet))", "survived", ""),  # no test has anything wet
    ("without not moved(X)", "survived", ""),
    ("moved(X) for not moved(X)", "killed", "dirty"),
    ("without -state(X,open)", "killed", "shut"),
    ("within(2+1) for within(2)", "survived", ""),
    ("without intent(place_on_top(X,Y))", "invalid", ""),  # a threat needs an intent
    ("not intent(place_on_top(X,Y))", "invalid", ""),
    ("not state(X,(dusty;wet))", "killed", "dirty"),
]


@pytest.mark.parametrize(("change", "outcome", "by"), OUTCOMES, ids=[o[0] for o in OUTCOMES])
@pytest.mark.parametrize("backend", ["oneshot", "crosscheck"])
def test_a_mutant_is_killed_by_a_test_that_fails_on_it(change: str, outcome: str, by: str, backend: str) -> None:
    assert jury(backend=backend).judge(mutant(change)) == Verdict(mutant(change), outcome, by)


def test_tests_that_concern_the_changed_rules_are_tried() -> None:
    """Also those of what reads a helper, and those that expect something of every rule."""
    change = mutant("folded for dusty in state(X,(dusty;wet))")
    dirty, _, shut = TESTS.partition("test(shut")
    assert jury("test(shut" + shut).judge(change).outcome == "survived"
    assert (
        jury(dirty.replace('only(trigger(clean, ("fig","plate")))', "exactly(1, trigger)")).judge(change).by == "dirty"
    )


def test_a_mutant_of_what_a_case_overrides() -> None:
    text = """
    #const strict = 0.
    rule(r, temporal).
    hazard(r, X) :- state(X, wet), strict = 1.
    """
    tests = 'test(t, "T"). given(t, (state("cup", wet); const(strict, 1))). expect(t, 0, trigger(r, "cup")).'
    judges = Jury(pack(text), read_cases(tests, pack=pack(text)))
    assert {one.change: judges.judge(one).outcome for one in mutants(pack(text))} == {
        "without state(X,wet)": "survived",
        "not state(X,wet)": "killed",
        "cooked for wet in state(X,wet)": "killed",
        "without strict = 1": "survived",
        "not strict = 1": "killed",
    }


def test_the_pack_may_come_from_files(tmp_path: Path) -> None:
    """Statements are told apart by their places, which overridden constants must not move."""
    one, two = tmp_path / "one.lp", tmp_path / "two.lp"
    one.write_text("#const strict = 0.\nrule(r, temporal).\n")
    two.write_text("hazard(r, X) :-\n  state(X, wet), strict = 1.\n")
    loaded = Pack.load(one, two, vocabulary=VOCABULARY)
    tests = 'test(t, "T"). given(t, (state("cup", wet); const(strict, 1))). expect(t, 0, trigger(r, "cup")).'
    judges = Jury(loaded, read_cases(tests, pack=loaded))
    outcomes = [judges.judge(one).outcome for one in mutants(loaded)]
    assert Counter(outcomes) == {"killed": 3, "survived": 2}


def test_a_survivor_that_means_the_same_is_told_apart() -> None:
    def same(old: Pack, new: Pack) -> bool:
        assert (old, new.name) == (pack(TEXT), old.name)
        return "moved" not in new.program.text and "rule(shut,temporal)" in new.program.text

    judges = jury(same=same)
    assert judges.judge(mutant("without not moved(X)")).outcome == "equivalent"
    assert judges.judge(mutant("cooked for wet in state(X,(dusty;wet))")).outcome == "survived"


def test_the_score_counts_what_loads_and_differs() -> None:
    one = mutant("not dirty(Y)")
    verdicts = [
        Verdict(one, outcome) for outcome in ("killed", "killed", "killed", "survived", "invalid", "equivalent")
    ]
    assert score(verdicts) == 75
    assert score([]) == 100


def test_a_jury_can_be_sent_to_another_process() -> None:
    """As the command line does."""
    sent, every = pickle.loads(pickle.dumps((jury(), list(mutants(pack(TEXT))))))
    assert [sent.judge(one).outcome for one in every] == [jury().judge(one).outcome for one in mutants(pack(TEXT))]


@given(pack_texts())
@settings(max_examples=20)
def test_mutants_of_any_pack_are_new_texts(texts: list[str]) -> None:
    loaded = pack("\n".join(texts[:1]))
    every = list(mutants(loaded))
    written = {rule.span: rule.text for rule in loaded.program.rules}
    assert all(one.text != written[one.statement] for one in every)
    assert max(Counter((one.statement, one.text) for one in every).values(), default=1) == 1


@given(cases(), st.data())
@settings(max_examples=25)
def test_a_jury_sees_every_difference_and_no_other(drawn: tuple[Pack, Case], data: st.DataObject) -> None:
    """Its verdict on a part of the pack is that on the whole."""
    loaded, case = drawn
    steps = follow(case, loaded)
    judges = Jury(loaded, [exact(loaded, case, steps)])
    every = list(mutants(loaded))
    for one in data.draw(st.lists(st.sampled_from(every), max_size=5)) if every else ():
        verdict = judges.judge(one).outcome
        texts = {r.span: one.text if r.span == one.statement else r.text for r in loaded.program.rules}
        consts = (other.text for other in loaded.program.others)
        try:
            whole = follow(case, Pack.of("\n".join([*consts, *texts.values()]), vocabulary=VOCABULARY))
        except ObviateError:
            assert verdict in ("invalid", "killed")
        else:
            alike = [step.findings for step in whole] == [step.findings for step in steps]
            assert verdict == ("survived" if alike else "killed")
