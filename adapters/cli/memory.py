"""`obviate memory`: what was experienced, and the skills that came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    help="Experience: cases and meta-skills in a file, their versions and evidence.", no_args_is_help=True
)

Memory = Annotated[Path, typer.Argument(help="The memory file.", show_default=False)]
Rule = Annotated[str, typer.Argument(help="The rule.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Packs = Annotated[
    list[Path] | None, typer.Option("--pack", help="Rules of your own beside the household's; repeatable.")
]
Words = Annotated[list[Path] | None, typer.Option("--vocabulary", help="Words beside the household's; repeatable.")]


@app.command("list")
def list_(memory: Memory, json: AsJson = False) -> None:
    """List what a memory holds of each rule: cases, what is in the buffers, the skill in force.

    Example: [bold]obviate memory list robot.db[/bold]
    """
    from obviate.adapters.cli import recollection

    recollection.tell_list(memory, json=json)


@app.command("show")
def show(
    memory: Memory,
    rule: Rule,
    version: Annotated[int, typer.Option(min=0, help="Another version than the one in force.")] = 0,
    json: AsJson = False,
) -> None:
    """Show the skill of a rule, why it was written, and the traces that caused it.

    Example: [bold]obviate memory show robot.db storage_closed[/bold]
    """
    from obviate.adapters.cli import recollection

    recollection.tell_skill(memory, rule, version, json=json)


@app.command("diff")
def diff(
    memory: Memory,
    rule: Rule,
    old: Annotated[int, typer.Option(min=0, help="A version. Default: the one before.", show_default=False)] = 0,
    new: Annotated[int, typer.Option(min=0, help="A version. Default: the one in force.", show_default=False)] = 0,
    json: AsJson = False,
) -> None:
    """Show what changed from one version of a skill to another. Exits with 1 if anything did.

    Example: [bold]obviate memory diff robot.db storage_closed[/bold]
    """
    from obviate.adapters.cli import recollection

    raise typer.Exit(1 if recollection.tell_changes(memory, rule, old, new, json=json) else 0)


@app.command("rollback")
def rollback(
    memory: Memory,
    rule: Rule,
    to: Annotated[int, typer.Option(min=0, help="A version. Default: the one before.", show_default=False)] = 0,
    json: AsJson = False,
) -> None:
    """Put an earlier version of a skill in force. All versions are kept, so that it can be undone.

    Example: [bold]obviate memory rollback robot.db storage_closed[/bold]
    """
    from obviate.adapters.cli import recollection

    recollection.roll_back(memory, rule, to, json=json)


@app.command("export")
def export(
    memory: Memory,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file. Default: print.")] = None,
) -> None:
    """Write a memory as JSON lines: every case, every version of every skill.

    Example: [bold]obviate memory export robot.db -o robot.jsonl[/bold]
    """
    from obviate.adapters.cli import recollection

    recollection.write_export(memory, output)


@app.command("import")
def import_(
    memory: Memory,
    file: Annotated[str, typer.Argument(help="A file of export; or household, its early skills.", show_default=False)],
    pack: Packs = None,
    vocabulary: Words = None,
    json: AsJson = False,
) -> None:
    """Take in an export. Cases are judged again, skills screened and rehearsed; the file is made if there is none.

    Exits with 1 if anything was refused; the rest was taken in.

    Example: [bold]obviate memory import robot.db other.jsonl[/bold]
    """
    from obviate.adapters.cli import recollection

    refused = recollection.read_import(memory, file, tuple(pack or ()), tuple(vocabulary or ()), json=json)
    raise typer.Exit(1 if refused else 0)
