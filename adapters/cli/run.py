"""`obviate demo`, `obviate run` and `obviate replay`: following one episode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo", "replay", "run"]

Backend = Annotated[str, typer.Option(help="auto, sliced, multishot, oneshot, or crosscheck (all of them).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Log = Annotated[Path | None, typer.Option(help="Write the decision log here, as JSON lines.")]
DEMO = "supper"


def demo(json: AsJson = False) -> None:
    """Watch the engine follow a household task: beliefs, hazards, obligations, verdicts.

    Example: [bold]obviate demo[/bold]
    """
    from obviate.adapters.cli import report

    report.follow_scenario(DEMO, report.Options(json=json))
    if not json:
        typer.echo("Next: `obviate run peach`, or `obviate run --help` to write a scenario of your own.")


def run(
    scenario: Annotated[str, typer.Argument(help="A shipped scenario, a .toml file, or with --data an IS-Bench task.")],
    data: Annotated[Path | None, typer.Option(help="The root of an IS-Bench checkout.")] = None,
    pack: Annotated[
        list[Path] | None, typer.Option(help="Rules of your own beside the household's; repeatable.")
    ] = None,
    vocabulary: Annotated[list[Path] | None, typer.Option(help="Words beside the household's; repeatable.")] = None,
    backend: Backend = "auto",
    partial: Annotated[bool | None, typer.Option("--partial/--full", help="See into closed containers?")] = None,
    json: AsJson = False,
    log: Log = None,
) -> None:
    """Act a plan out and follow it: one row a step, and a summary. Exits with 1 if a rule failed.

    A scenario is a TOML file with title, instruction, plan, goal and a table of objects; the shipped ones are
    peach, supper, shelf, side_table, microwave and dusting.

    Example: [bold]obviate run peach --log peach.jsonl[/bold]
    """
    from obviate.adapters.cli import report

    options = report.Options(backend, json, log, tuple(pack or ()), tuple(vocabulary or ()))
    if data is None:
        ok = report.follow_scenario(scenario, options, partial=partial)
    else:
        ok = report.follow_task(scenario, data, options, partial=bool(partial))
    raise typer.Exit(0 if ok else 1)


def replay(
    log: Annotated[Path, typer.Argument(help="A decision log written with --log.")],
    backend: Backend = "auto",
    json: AsJson = False,
) -> None:
    """Replay a decision log and compare it byte for byte. Exits with 1 at the first difference.

    Example: [bold]obviate run peach --log peach.jsonl && obviate replay peach.jsonl[/bold]
    """
    from obviate.adapters.cli import report

    raise typer.Exit(0 if report.replay_log(log, backend=backend, json=json) else 1)
