"""Checking packs for the command line: from the texts to what is wrong with them, told or as JSON."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from obviate.adapters.cli.packs import pack_files, pack_name
from obviate.engine.analysis import analysis
from obviate.kb import Pack, Vocabulary, household
from obviate.kb.errors import Fix, ObviateError, PackError, Span
from obviate.kb.files import replace_text
from obviate.kb.mend import mended
from obviate.kb.sandbox import run_limited
from obviate.kb.sources import gather

__all__ = ["Options", "Report", "analyse", "check_pack", "tell"]

_MEGABYTES = 2_000


@dataclass(frozen=True, slots=True)
class Options:
    """How packs are checked: vocabulary files beside the household's, seconds for the search, and which fixes."""

    vocabulary: tuple[Path, ...] = ()
    seconds: float = 20.0
    fix: bool = False
    unsafe: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one pack of so many files, and what was fixed."""

    pack: str
    files: int
    problems: tuple[ObviateError, ...]
    fixed: tuple[ObviateError, ...] = ()

    @property
    def errors(self) -> int:
        return sum(problem.severity == "error" for problem in self.problems)


def check_pack(pack: str, options: Options) -> Report:
    """Check a pack, and mend its files if asked. Raises `DataError` for files that cannot be read."""
    vocabulary = household.words(*options.vocabulary)
    try:
        texts = gather(*pack_files(pack))
    except PackError as error:  # an include that leads elsewhere
        return Report(pack, 1, (error,))

    def found(texts: Mapping[str, str]) -> Sequence[ObviateError]:
        return _found(texts, pack_name(pack), vocabulary, options.seconds)

    if not options.fix:
        return Report(pack, len(texts), tuple(found(texts)))
    new, fixed = mended(texts, found, unsafe=options.unsafe)
    for file, text in new.items():
        if text != texts[file]:
            replace_text(file, text)
    return Report(pack, len(texts), tuple(found(new)), tuple(fixed))


def _found(texts: Mapping[str, str], name: str, vocabulary: Vocabulary, seconds: float) -> Sequence[ObviateError]:
    """What the texts say wrong; if nothing, what they cannot mean, found by search in a process of its own."""
    problems = Pack.problems(texts, vocabulary=vocabulary)
    if any(problem.severity == "error" for problem in problems):
        return problems
    pack = Pack.of(texts, vocabulary=vocabulary, name=name)
    analyse = "obviate.adapters.cli.findings:analyse"
    try:
        found = run_limited(analyse, pack, seconds, seconds=seconds + 5, megabytes=_MEGABYTES)
    except PackError as error:
        if error.code != "too-costly":
            raise
        message = "the search for what can never hold took too much and was given up"
        return (*problems, PackError(error.code, message, where=name, help=error.help, severity="warning"))
    return (*problems, *(_Plain(*item).error() for item in found))


class _Plain(NamedTuple):
    """A finding as it comes from another process."""

    code: str
    message: str
    where: tuple[Any, ...]
    help: str
    severity: str

    def error(self) -> PackError:
        where = Span(*self.where)
        return PackError(self.code, self.message, where=where, help=self.help, severity=self.severity)


def analyse(pack: Pack, seconds: float) -> list[_Plain]:
    """The findings of `analysis` as plain data."""
    found = [(f, f.where) for f in analysis(pack, seconds=seconds)]
    return [
        _Plain(f.code, f.message, astuple(where), f.help, f.severity) for f, where in found if isinstance(where, Span)
    ]


def tell(reports: Sequence[Report], *, json: bool) -> None:
    """Print the reports: findings as ``file:line:column``, the line with a caret, and help; then one line a pack."""
    if json:
        print(jsonlib.dumps([_as_json(report) for report in reports], ensure_ascii=False, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for report in reports:
        for problem in report.fixed:
            title = problem.fix.title if problem.fix else ""
            console.print(Text.assemble(("fixed ", "green"), f"{problem.where}: {problem.message}: {title}"))
        for problem in report.problems:
            console.print(_told(problem))
        several = f" ({report.files} files, one pack)" if report.files > 1 else ""
        console.print(Text(f"{report.pack}{several}: {_summary(report)}"))


def _told(problem: ObviateError) -> Text:
    style = "red" if problem.severity == "error" else "yellow"
    text = Text.assemble(
        (f"{problem.where}: " if problem.where else "", "bold"),
        (problem.severity, style),
        f": {problem.message} ",
        (f"[{problem.code}]", "dim"),
    )
    if isinstance(problem.where, Span) and problem.where.source:
        text.append("\n" + problem.where.excerpt())
    if problem.help:
        text.append(f"\n  help: {problem.help}")
    if problem.fix is not None:
        text.append(f"\n  fix: {problem.fix.title}{'' if problem.fix.safe else ' (a guess: --unsafe-fixes)'}", "green")
    return text


def _summary(report: Report) -> str:
    warnings = len(report.problems) - report.errors
    counts = [(report.errors, "error"), (warnings, "warning"), (len(report.fixed), "fix")]
    ends = {"fix": "es"}
    said = [f"{n} {word}{ends.get(word, 's') * (n != 1)}" for n, word in counts if n]
    return ", ".join(said) or "fine"


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "pack": report.pack,
        "findings": [_problem(problem) for problem in report.problems],
        "fixed": [_problem(problem) for problem in report.fixed],
    }


def _problem(problem: ObviateError) -> dict[str, Any]:
    where = problem.where
    span = where if isinstance(where, Span) else Span(where, 0, 0)
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "expected": problem.help,
        "file": span.file,
        "line": span.line or None,
        "column": span.column or None,
        "end_line": span.end_line or None,
        "end_column": span.end_column or None,
        "fix": _fix(problem.fix),
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    begin, end = (fix.where.line, fix.where.column), (fix.where.end_line, fix.where.end_column)
    return {"title": fix.title, "begin": begin, "end": end, "replacement": fix.replacement, "safe": fix.safe}
