"""The household pack does what its scenario tests say, and they reach and notice everything in it."""

from __future__ import annotations

import pytest
from conftest import SOAK

from obviate.adapters.cli import packs
from obviate.engine.coverage import measure
from obviate.engine.jury import Jury, indistinguishable
from obviate.engine.mutation import mutants
from obviate.engine.trial import try_case
from obviate.kb import household
from obviate.kb.cases import Case, load_cases

PACK = household.pack()
CASES = load_cases(*packs.test_files("household"), pack=PACK)


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
    assert packs.load_pack(folder, household.vocabulary()).rules.keys() == PACK.rules.keys()
    assert set(packs.test_files(folder)) == set(packs.test_files("household")) != set()


@pytest.mark.soak
def test_the_scenarios_notice_every_change_that_means_something() -> None:
    jury = Jury(PACK, CASES, same=indistinguishable)
    verdicts = [jury.judge(one) for one in list(mutants(PACK))[:: 1 if SOAK else 20]]
    assert [verdict for verdict in verdicts if verdict.outcome == "survived"] == []
    assert sum(verdict.outcome == "killed" for verdict in verdicts) > len(verdicts) / 2
