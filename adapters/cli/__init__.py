"""The `obviate` command: `main` is its entry point.

Exit codes: 0 fine, 1 findings (a rule failed, a task was not done), 2 wrong use or bad input, 3 not decided within the
bounds (`prove`, `diff`).
"""

from __future__ import annotations

import sys

import typer

from obviate.adapters.cli import (
    bench,
    check,
    compile,
    diff,
    evolve,
    explain,
    fmt,
    memory,
    models,
    prove,
    prove_pack,
    run,
    test,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="obviate",
    help="Follows robots and agents: what they believe and intend, what that endangers, and what is still owed.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(run.demo)
app.command()(run.run)
app.command()(run.replay)
app.command()(check.check)
app.command()(fmt.fmt)
app.command("test")(test.scenarios)
app.command()(explain.explain)
app.command()(diff.diff)
prove.app.command("pack")(prove_pack.pack)
app.add_typer(bench.app, name="bench")
app.add_typer(prove.app, name="prove")
app.add_typer(compile.app, name="compile")
app.add_typer(models.app, name="models")
app.command()(evolve.evolve)
app.add_typer(memory.app, name="memory")


def main() -> None:
    """Run the command line; an `ObviateError` is told in words, without a traceback."""
    try:
        app()
    except Exception as error:
        from obviate.kb.errors import ObviateError  # here, since --help must not wait for the solver

        if not isinstance(error, ObviateError):
            raise
        print(f"obviate: {error}", file=sys.stderr)
        sys.exit(2)
