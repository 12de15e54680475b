"""The catalogue of errors: every snippet raises its code, and it lists exactly the codes in the sources."""

from __future__ import annotations

import ast
import re
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from obviate.adapters import cli
from obviate.engine import Engine, Record, Snapshot
from obviate.kb.errors import LifecycleError, ObviateError
from obviate.kb.terms import Atom

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "docs" / "errors.md"
LEAVES = {cls.__name__: cls for cls in ObviateError.__subclasses__()}
CLASSES = {ObviateError.__name__, *LEAVES}

Namespace = dict[str, Any]


# -- the catalogue -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """What the catalogue says about one code: the classes it is raised as, and a snippet that raises it."""

    code: str
    classes: tuple[str, ...]
    words: str
    snippet: str


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def sections(text: str) -> Iterator[Section]:
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = re.split(r"^## ", part, flags=re.MULTILINE)[0].partition("\n")
        (snippet,) = blocks(body, "python")
        classes, _, words = body.partition("```")[0].strip().partition(". ")
        yield Section(heading.strip("`"), tuple(re.findall(r"`(\w+)`", classes)), words, snippet)


TEXT = CATALOGUE.read_text(encoding="utf-8")
INTRODUCTION = TEXT.partition("\n### ")[0]
PREAMBLE, EXAMPLE = blocks(INTRODUCTION, "python")
SECTIONS = tuple(sections(TEXT))


def run(statements: Sequence[ast.stmt], namespace: Namespace) -> None:
    exec(compile(ast.Module(list(statements), []), str(CATALOGUE), "exec"), namespace)


def engines(namespace: Namespace) -> list[Engine]:
    return [value for value in namespace.values() if isinstance(value, Engine)]


def state(engine: Engine) -> tuple[Snapshot, set[Atom], tuple[Record, ...]] | None:
    """All that an engine knows, with its beliefs and records told apart; None when it is closed."""
    try:
        return engine.snapshot(), set(engine.graph.facts()), engine.records()
    except LifecycleError:
        return None


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Namespace]:
    """What the snippets have at hand, with their folder inside `tmp_path`."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: Namespace = {"__name__": "docs.errors"}
    run(ast.parse(PREAMBLE).body, names)
    yield names
    for engine in engines(names):
        engine.close()


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.code)
def test_the_last_statement_of_a_snippet_raises_its_code_and_changes_nothing(
    section: Section, namespace: Namespace
) -> None:
    *before, last = ast.parse(section.snippet).body
    try:
        run(before, namespace)
    except ObviateError as missing:
        if missing.code == "extra-missing":
            pytest.skip(str(missing))
        raise
    followed = engines(namespace)
    states = list(map(state, followed))
    assert followed
    with pytest.raises(ObviateError) as caught:
        run([last], namespace)
    error = caught.value
    assert error.code == section.code
    assert type(error).__name__ in section.classes
    assert error.message.strip()
    assert str(error.where) or error.help
    assert list(map(state, followed)) == states
    for engine in followed:
        if state(engine) is not None and not engine.ended:
            engine.apply({})  # it goes on


def test_the_example_prints_what_the_catalogue_shows(namespace: Namespace, capsys: pytest.CaptureFixture[str]) -> None:
    run(ast.parse(EXAMPLE).body, namespace)
    assert [capsys.readouterr().out] == blocks(INTRODUCTION, "text")


def test_the_command_line_shows_an_error_as_the_catalogue_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = blocks(INTRODUCTION, "console")
    command, _, printed = shown.partition("\n")
    monkeypatch.setattr("sys.argv", command.removeprefix("$ ").split())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr()) == (2, ("", printed))


# -- the sources -------------------------------------------------------------------------------------


class Raised(NamedTuple):
    """A call in the sources that makes an error of the class `name`: its first argument, the code."""

    name: str
    code: ast.expr
    where: str


def trees() -> Iterator[tuple[str, ast.Module]]:
    """The syntax trees of all modules of the packages that the project declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in project["tool"]["setuptools"]["package-dir"].values():
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def helpers(tree: ast.Module) -> dict[ast.FunctionDef, str]:
    """The functions of a module that make an error from a code, their first parameter, and its class."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            parameters = [arg.arg for arg in node.args.args if arg.arg not in ("self", "cls")]
            made = ast.unparse(node.returns) if node.returns else ""
            if parameters[:1] == ["code"] and made in CLASSES:
                found[node] = made
    return found


def raised() -> Iterator[Raised]:
    """Every call that makes an error, but for those in a helper that are given its parameter."""
    for file, tree in trees():
        made_by = helpers(tree)
        within = {inner for helper in made_by for inner in ast.walk(helper)}
        makers = {name: name for name in CLASSES} | {helper.name: made for helper, made in made_by.items()}
        makers["Mistake"] = "PackError"  # what becomes one
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in makers:
                    codes = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                    code = (*node.args, *codes)[0]
                    if not (node in within and isinstance(code, ast.Name) and code.id == "code"):
                        yield Raised(makers[name], code, f"{file}:{node.lineno}")


def is_constant(code: ast.expr) -> bool:
    return isinstance(code, ast.Constant) and isinstance(code.value, str)


def is_passed_on(code: ast.expr) -> bool:
    """Whether the code is that of a caught error."""
    return isinstance(code, ast.Attribute) and code.attr == "code"


RAISED = tuple(raised())
IN_SOURCES: dict[str, set[str]] = {}
for made in RAISED:
    if is_constant(made.code):
        IN_SOURCES.setdefault(ast.literal_eval(made.code), set()).add(made.name)


def test_every_code_in_the_sources_can_be_told() -> None:
    assert [made.where for made in RAISED if not is_constant(made.code) and not is_passed_on(made.code)] == []


def test_the_catalogue_lists_exactly_the_codes_in_the_sources() -> None:
    documented = [section.code for section in SECTIONS]
    assert sorted(documented) == sorted(IN_SOURCES)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.code)
def test_the_catalogue_names_the_classes_that_a_code_is_raised_as(section: Section) -> None:
    passing_on = {made.name for made in RAISED if is_passed_on(made.code)}
    constant = IN_SOURCES.get(section.code, set())
    assert constant <= set(section.classes) <= constant | passing_on
    assert section.words.strip()


# -- the classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_a_leaf_is_described_and_has_no_leaves_of_its_own(name: str) -> None:
    assert (LEAVES[name].__doc__ or "").strip()
    assert LEAVES[name].__subclasses__() == []
    assert f"| `{name}` |" in INTRODUCTION
