"""`obviate check`: what is wrong with a rule pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["check"]


def check(
    packs: Annotated[list[Path], typer.Argument(help="The .lp files of one pack.")],
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check a rule pack without running it: every problem with its place, a caret, and how to mend it.

    Exits with 0 if there is none, 1 if there are findings, 2 if a file cannot be read.

    Example: [bold]obviate check my_rules.lp --vocabulary my_words.lp[/bold]
    """
    import json as jsonlib

    from obviate.kb import Pack, household
    from obviate.kb.errors import DataError, Span

    problems = Pack.problems(*packs, vocabulary=household.words(*(vocabulary or ())))
    unreadable = next((problem for problem in problems if isinstance(problem, DataError)), None)
    if unreadable is not None:
        raise unreadable
    if json:
        found = [
            {
                "code": problem.code,
                "message": problem.message,
                "help": problem.help,
                "file": problem.where.file if isinstance(problem.where, Span) else str(problem.where),
                "line": problem.where.line if isinstance(problem.where, Span) else None,
                "column": problem.where.column if isinstance(problem.where, Span) else None,
            }
            for problem in problems
        ]
        typer.echo(jsonlib.dumps(found, ensure_ascii=False, indent=2))
    else:
        for problem in problems:
            typer.echo(str(problem))
        names = ", ".join(map(str, packs))
        typer.echo(f"{names}: {len(problems)} problem{'s' * (len(problems) != 1)}" if problems else f"{names}: fine")
    raise typer.Exit(1 if problems else 0)
