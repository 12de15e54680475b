"""`obviate diff`: the smallest scenes on which two rule packs disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["diff"]


def diff(
    old: Annotated[str, typer.Argument(help="A .lp file, a folder of them, or household.")],
    new: Annotated[str, typer.Argument(help="The pack to compare it with.")],
    objects: Annotated[int, typer.Option(min=0, max=6, help="Objects at most; 0: as many as a rule needs.")] = 0,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most time for each rule.")] = 20.0,
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with all that a checker needs.")] = False,
) -> None:
    """Show where two packs disagree: for each rule and kind of disagreement, the smallest belief graph and intent.

    The kinds: one pack triggers, opens, passes or puts at risk what the other does not, or counts what is advisory in
    the other. Exits with 0 if the packs are equivalent within the bounds, 1 if they differ, 2 for wrong use, 3 if no
    difference was found and some rule was not decided.

    Example: [bold]obviate diff old_rules.lp new_rules.lp[/bold]
    """
    from obviate.adapters.cli import differing

    raise typer.Exit(differing.compare(old, new, (objects, seconds), tuple(vocabulary or ()), json=json))
