"""The traps of the contract, one sentence each: what a pack says is what happens, on every backend.

Each pack in ``tests/packs/traps`` begins with its sentence, and its scenario test beside it shows it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from packs_strategies import BACKENDS

from obviate.engine.trial import try_case
from obviate.kb import Pack, household
from obviate.kb.cases import load_cases

FOLDER = Path(__file__).parents[1] / "packs" / "traps"
TRAPS = sorted(file for file in FOLDER.glob("*.lp") if not file.name.endswith(".test.lp"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("file", TRAPS, ids=lambda file: file.stem)
def test_a_trap_behaves_as_its_sentence_says(file: Path, backend: str) -> None:
    sentence = file.read_text(encoding="utf-8").partition("\n")[0]
    assert sentence.startswith("% ")
    assert sentence.endswith(".")
    pack = Pack.load(file, vocabulary=household.vocabulary())
    cases = load_cases(file.with_suffix(".test.lp"), pack=pack)
    assert cases
    for case in cases:
        assert [str(miss) for miss in try_case(case, pack, backend=backend).misses] == []


def test_every_trap_checks_without_error() -> None:
    for file in TRAPS:
        problems = Pack.problems({file.name: file.read_text(encoding="utf-8")}, vocabulary=household.vocabulary())
        assert [problem for problem in problems if problem.severity == "error"] == []


def test_there_is_a_trap_for_each_sentence() -> None:
    assert len(TRAPS) >= 22
