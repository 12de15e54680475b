"""`obviate bench`: measuring the engine on real tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Measure the engine on real tasks.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure the engine on real tasks."""


@app.command()
def isbench(
    data: Annotated[Path, typer.Option(help="The root of an IS-Bench checkout.", show_default=False)],
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core.")] = 1,
    perturb: Annotated[bool, typer.Option(help="Also every plan that drops one or two actions.")] = False,
    coverage: Annotated[bool, typer.Option(help="Also which rule covers which annotated goal.")] = False,
    corrected: Annotated[bool, typer.Option(help="Score every goal, without the native loopholes.")] = False,
    partial: Annotated[bool, typer.Option(help="Hide the contents of closed containers from the engine.")] = False,
    backend: Annotated[str, typer.Option(help="multishot, oneshot, or crosscheck (both, compared).")] = "multishot",
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run the golden plans of IS-Bench tasks and score them natively: TS, SS, Pre, Post.

    With --perturb, count the native violations that the rules flag, and the clean plans that they flag too.
    Needs a checkout of AI45Lab/IS-Bench; nothing of it ships with Obviate. Exits with 1 if two backends
    disagree (--backend crosscheck), not for the scores.

    Example: [bold]obviate bench isbench --data ~/IS-Bench --task cook_eggs --perturb[/bold]
    """
    from obviate.adapters.cli import results
    from obviate.adapters.isbench.bench import Settings

    settings = Settings(
        root=data, backend=backend, native=not corrected, partial=partial, perturb=perturb, coverage=coverage
    )
    results.bench_isbench(settings, task or [], jobs, json=json)


@app.command()
def mind(
    houses: Annotated[
        list[Path] | None, typer.Option(help="ProcTHOR houses, a file or a folder; repeatable. Default: those shipped.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the sequences.")] = 0,
    policy: Annotated[list[str] | None, typer.Option(help="Only this policy; may be repeated.")] = None,
    footprints: Annotated[bool, typer.Option(help="Also with footprints that report too much or too little.")] = False,
    detection: Annotated[bool, typer.Option(help="Also footprints from what a simulated detector sees.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write evaluations against rooms to this SVG file.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Follow standing instructions over houses with every maintenance policy: decisions kept, judgments needed.

    Builds the MIND paper's dependency benchmark, 240 sequences of five events, and 80 of Adjacent, and prints its
    Table I with our policies beside it. Exits with 1 if a policy that claims to preserve decisions did not.

    Example: [bold]obviate bench mind --policy reference --policy ours[/bold]
    """
    from obviate.adapters.cli import mind as results

    ok = results.bench_mind(
        houses or [],
        seed=seed,
        policies=policy or [],
        footprints=footprints,
        detection=detection,
        plot=plot,
        json=json,
    )
    raise typer.Exit(0 if ok else 1)
