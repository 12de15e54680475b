"""The folder of broken packs: each is refused with exactly one code at its place, and mended by its fix.

The first line of each pack says what is expected. A new kind of mistake is a new file in ``tests/packs/broken``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

import obviate.kb
from obviate.kb import Pack, Vocabulary, household
from obviate.kb.errors import ObviateError, PackError, Span
from obviate.kb.mend import mended

FOLDER = Path(__file__).parents[1] / "packs"
BROKEN = sorted((FOLDER / "broken").glob("*.lp"))
WARNED = sorted((FOLDER / "warned").glob("*.lp"))
ELSEWHERE = {"said-twice", "unknown-const", "empty-pack", "no-model"}  # these have no place: test_kb_pack_refusals

Place = tuple[str, int, int]


@cache
def words() -> Vocabulary:
    return household.words(FOLDER / "words.lp")


@pytest.fixture
def vocabulary() -> Vocabulary:
    return words()


@cache
def problems_of(file: Path) -> tuple[ObviateError, ...]:
    return Pack.problems({file.name: file.read_text(encoding="utf-8")}, vocabulary=words())


def expected(text: str) -> Place:
    match = re.match(r"% expect (\S+) at (\d+):(\d+)\n", text)
    assert match is not None
    return match[1], int(match[2]), int(match[3])


def places(problems: Sequence[ObviateError]) -> list[Place]:
    errors = [problem for problem in problems if problem.severity == "error"]
    return [(e.code, e.where.line, e.where.column) for e in errors if isinstance(e.where, Span)]


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_pack_has_one_finding_at_its_place(file: Path, vocabulary: Vocabulary) -> None:
    text = file.read_text(encoding="utf-8")
    assert places(problems_of(file)) == [expected(text)]
    if expected(text)[0] == "too-costly":  # once is enough
        return
    with pytest.raises(PackError) as refused:  # loading it says the same
        Pack.of({file.name: text}, vocabulary=vocabulary)
    assert places([refused.value]) == [expected(text)]


@pytest.mark.parametrize("file", WARNED, ids=lambda file: file.stem)
def test_a_doubtful_pack_has_one_warning_at_its_place_and_loads(file: Path, vocabulary: Vocabulary) -> None:
    text = file.read_text(encoding="utf-8")
    (warning,) = {(p.code, str(p.where)): p for p in Pack.problems({"p.lp": text}, vocabulary=vocabulary)}.values()
    assert warning.severity == "warning"
    assert isinstance(warning.where, Span)
    assert (warning.code, warning.where.line, warning.where.column) == expected(text)
    assert Pack.of({"p.lp": text}, vocabulary=vocabulary).rules.keys() <= {"shut"}


def test_there_are_many_of_them() -> None:
    assert len(BROKEN) >= 150


def mend(text: str, vocabulary: Vocabulary, *, unsafe: bool) -> tuple[str, Sequence[ObviateError]]:
    def problems(texts: Mapping[str, str]) -> Sequence[ObviateError]:
        return Pack.problems(texts, vocabulary=vocabulary)

    new, _ = mended({"pack.lp": text}, problems, unsafe=unsafe)
    return new["pack.lp"], problems(new)


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_fix_yields_a_pack_that_checks_clean(file: Path, vocabulary: Vocabulary) -> None:
    text = file.read_text(encoding="utf-8")
    (error,) = [problem for problem in problems_of(file) if problem.severity == "error"]
    if error.fix is None:
        return
    safe, left = mend(text, vocabulary, unsafe=False)
    if error.fix.safe:
        assert places(left) == []
    else:
        assert safe == text  # a guess is not made unasked
        assert places(mend(text, vocabulary, unsafe=True)[1]) == []


def test_what_models_write_by_habit_can_be_mended() -> None:
    codes = {"missing-period", "missing-comma", "markdown-fence", "natural-language", "foreign-operator", "dotted-id"}
    codes |= {"capitalised-constant", "unsafe-variable", "comparison-chain", "prolog-list", "negated-pool"}
    mended_codes = {
        problem.code
        for file in BROKEN
        if expected(file.read_text(encoding="utf-8"))[0] in codes
        for problem in problems_of(file)
        if problem.fix is not None
    }
    assert mended_codes == codes


@pytest.mark.parametrize("where", ["check", "mistakes.py", "dependency.py", "pack.py", "scan.py"])
def test_every_code_that_a_pack_can_be_refused_with_has_a_broken_pack(where: str) -> None:
    path = Path(obviate.kb.__path__[0], where)
    calls = [
        node
        for file in ([path] if path.suffix else path.glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and node.args
    ]
    codes = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in ("PackError", "Mistake", "error")
        and isinstance(call.args[0], ast.Constant)
    }
    assert codes
    assert codes <= {expected(file.read_text(encoding="utf-8"))[0] for file in BROKEN} | ELSEWHERE
