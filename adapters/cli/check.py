"""`obviate check`: what is wrong with rule packs, and mending it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["check"]


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"


def check(
    packs: Annotated[list[str], typer.Argument(help="Packs: a file, a folder of .lp files, or household.")],
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print findings.")] = Format.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes to the files.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="Apply the fixes that guess, too; read the result.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as findings.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most time for the search in each pack.")] = 20.0,
) -> None:
    """Check rule packs without running them: every problem with its place, a caret, and how to mend it.

    Syntax and names first; then, by search over small belief graphs, hazards and targets that can never hold.
    Exits with 0 if there is no error, 1 if there is one, 2 if a file cannot be read.

    Example: [bold]obviate check my_rules.lp --vocabulary my_words.lp --fix[/bold]
    """
    from obviate.adapters.cli import findings

    options = findings.Options(tuple(vocabulary or ()), seconds, fix=fix or unsafe_fixes, unsafe=unsafe_fixes)
    reports = [findings.check_pack(pack, options) for pack in packs]
    findings.tell(reports, json=json or format is Format.JSON)
    failed = any(report.errors or (strict and report.problems) for report in reports)
    raise typer.Exit(1 if failed else 0)
