"""`obviate prove`: what holds whatever happens, and the smallest case where it does not.

Exit codes: 0 proven, 1 refuted, 2 wrong use or bad input, 3 not decided within the bounds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Prove what must hold, or find the smallest case where it does not.")


@app.command()
def equivalence(
    regions: Annotated[int, typer.Option(min=1, help="Regions of the bounded proof.")] = 6,
    events: Annotated[int, typer.Option(min=1, help="Events of the bounded proof.")] = 4,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Do not assume this: semantic, selection, footprint or reselection; repeatable."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time for each proof.")] = 20.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Prove that a maintained decision is that of full recomputation (MIND paper, Proposition 1).

    For any evaluator, planner, selector, signature, report and events: up to --regions and --events by search, then for
    any number by induction. With --drop, tell the smallest story in which decisions differ, replayed on the Maintainer.
    Exits with 0 if proven, 1 if refuted, 3 if not decided.

    Example: [bold]obviate prove equivalence --drop semantic[/bold]
    """
    from obviate.adapters.cli import proofs

    ended = proofs.drop(drop, seconds, json=json) if drop else proofs.equivalence(regions, events, seconds, json=json)
    raise typer.Exit(ended)


@app.command()
def signature(
    instruction: Annotated[Path, typer.Argument(help="An instruction (.lp).")],
    regions: Annotated[int, typer.Option(min=1, max=6, help="Regions of the buildings that are tried.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time for all searches.")] = 20.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find what an instruction truly reads, by pairs of states, and compare it with its signature.

    A category is read if changing it alone changes a verdict, or the choice from the same regions. Exits with 0 if the
    signature contains what is read (equation 12), 1 if it misses something, 3 if that is not decided.

    Example: [bold]obviate prove signature nearest_mug.lp[/bold]
    """
    from obviate.adapters.cli import proofs

    raise typer.Exit(proofs.signature(instruction, regions, seconds, json=json))
