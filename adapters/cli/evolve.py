"""`obviate evolve`: skills learned over the tasks of a benchmark, and what they are worth on held-out ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["evolve"]


def evolve(
    memory: Annotated[Path, typer.Argument(help="The memory file; made if there is none.", show_default=False)],
    data: Annotated[Path, typer.Option(help="The root of an IS-Bench checkout.", show_default=False)],
    train: Annotated[int, typer.Option(min=1, help="Tasks to learn from, in order.")] = 50,
    test: Annotated[int, typer.Option(min=0, help="Tasks held out; 0 is all others.")] = 80,
    every: Annotated[int, typer.Option(min=1, help="Episodes between two evaluations.")] = 10,
    seed: Annotated[int, typer.Option(help="Draws the two sets.")] = 0,
    model: Annotated[
        str, typer.Option(help="A language model that revises the skills. Default: induction.", show_default=False)
    ] = "",
    learning: Annotated[bool, typer.Option("--learning/--no-learning", help="Write what was learned?")] = True,
    plot: Annotated[Path | None, typer.Option(help="Write the curve to this SVG file.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run IS-Bench tasks in order, learn from each, and evaluate on held-out tasks with the memory frozen.

    A memory without skills begins with the household's early ones. The last rows are what the task alone scores, and
    planning with all rules. Exits with 1 if SS fell, or TS ended below that of the task alone.

    Example: [bold]obviate evolve robot.db --data ~/IS-Bench --train 50 --plot curve.svg[/bold]
    """
    from obviate.adapters.cli import curve

    options = curve.Options(memory, data, train, test, every, seed, model, learning, plot, json)
    raise typer.Exit(0 if curve.draw(options) else 1)
