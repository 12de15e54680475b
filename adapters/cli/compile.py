"""`obviate compile`: from words to rules and instructions. Other modules add their commands to `app`."""

from __future__ import annotations

import typer

from obviate.adapters.cli import instruct, principles

__all__ = ["app"]

app = typer.Typer(help="Compile words into rules and instructions.", no_args_is_help=True)


@app.callback()
def compile_() -> None:
    """Compile words into rules and instructions."""


app.command()(principles.rules)
app.command()(instruct.instruction)
