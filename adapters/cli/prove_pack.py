"""`obviate prove pack`: what can be proven of a rule pack, and the smallest scenes where it does not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["pack"]


def pack(
    pack: Annotated[str, typer.Argument(help="A .lp file, a folder of them, or household.")],
    skills: Annotated[str, typer.Option(help="The action theory: a .lp file, or household.")] = "household",
    question: Annotated[
        list[str] | None,
        typer.Option(help="Ask only this: triggers, independent, compatible, reachable, unblocked or governable."),
    ] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Ask only about this rule; may be repeated.")] = None,
    objects: Annotated[int, typer.Option(min=0, max=6, help="Objects at most; 0: as many as a rule needs.")] = 0,
    actions: Annotated[int, typer.Option(min=1, max=8, help="Actions in a plan at most.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most time for each answer.")] = 20.0,
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: every verdict, and what a checker needs.")] = False,
) -> None:
    """Prove of each rule that it can trigger, is not implied, and asks for what the robot can do; or show the scene.

    Each answer is yes within bounds, no with the smallest belief graph and intent, or not decided. A no is concluded
    again by the oneshot backend before it is printed. Exits with 0 if every answer is yes, 1 if one is no, 2 for wrong
    use, 3 if none is no but one is not decided.

    Example: [bold]obviate prove pack household --question triggers --rule water_off[/bold]
    """
    from obviate.adapters.cli import proving

    limits = (objects, actions, seconds)
    asked = (tuple(question or ()), tuple(rule or ()))
    options = proving.Options(pack, skills, *asked, limits, tuple(vocabulary or ()), json)
    raise typer.Exit(proving.prove_pack(options))
