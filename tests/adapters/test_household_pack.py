"""The household pack does what its scenario tests say, and they reach and notice everything in it."""

from __future__ import annotations

import pytest
from conftest import SOAK

from obviate.adapters.cli import packs
from obviate.engine.coverage import measure
from obviate.engine.jury import Jury
from obviate.engine.mutation import Mutant, mutants
from obviate.engine.trial import try_case
from obviate.kb import household
from obviate.kb.cases import Case, load_cases

PACK = household.pack()
CASES = load_cases(*packs.test_files("household"), pack=PACK)
# Changes that mean the same: a threat reads again what its hazard reads of the same objects, and the kernel concludes
# nothing of a threat without its hazard.
EQUIVALENT = {
    ("thaw_before_cooking", "without hazard(thaw_before_cooking,X)"),
    ("clear_flammable_before_heating", "without beside(F,H)"),
    ("microwave_safe_only", "without within(X,M)"),
    ("electrical_away_from_water", "without beside(E,Y)"),
    ("clear_fragile_before_wiping", "without edge(ontop,F,Y)"),
    ("chemical_into_food_storage", "without edge(inside,Y,S)"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_scenario_comes_out_as_expected(case: Case) -> None:
    assert try_case(case, PACK, backend="crosscheck").misses == ()


def test_the_scenarios_cover_every_clause_and_literal() -> None:
    coverage = measure(PACK, [situation for case in CASES for situation in try_case(case, PACK).situations])
    assert list(coverage.gaps()) == []
    assert coverage.points > 150


def test_every_rule_has_a_scenario_that_brings_it_up() -> None:
    found = {f.rule for case in CASES for step in try_case(case, PACK).steps for f in step.findings["pending"]}
    assert found == PACK.rules.keys()


def test_test_files_are_no_part_of_a_pack() -> None:
    folder = str(household.folder / "packs")
    assert packs.pack_files(folder) == packs.pack_files("household")
    assert packs.load_pack(folder).rules.keys() == PACK.rules.keys()
    assert set(packs.test_files(folder)) == set(packs.test_files("household")) != set()


@pytest.mark.soak
def test_the_scenarios_notice_every_change_that_means_something() -> None:
    jury = Jury(PACK, CASES)
    some = list(mutants(PACK))[:: 1 if SOAK else 20]
    unnoticed = [one for one in some if jury.judge(one).outcome == "survived" and not _means_the_same(one)]
    assert unnoticed == []


def _means_the_same(one: Mutant) -> bool:
    (rule,) = {rule.head.name for rule in PACK.program.rules if rule.span == one.statement and rule.head}
    return rule == "threatens" and (one.rule, one.change) in EQUIVALENT
