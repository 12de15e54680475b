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
    backend: Annotated[
        str, typer.Option(help="auto, sliced, multishot, oneshot, or crosscheck (all of them).")
    ] = "auto",
    policy: Annotated[
        list[str] | None, typer.Option(help="Plan, by this policy, or all; may be repeated.", show_default=False)
    ] = None,
    full: Annotated[bool, typer.Option(help="With --policy: the planner sees into closed containers.")] = False,
    noise: Annotated[
        list[str] | None,
        typer.Option(help="With --policy: perception errors, MISSED or MISSED:FALSE as rates; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="With --noise: draws the errors.")] = 0,
    episodes: Annotated[
        Path | None,
        typer.Option(help="With --policy: a file of finished episodes, to go on with.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="With --policy: write an SVG picture to this file.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run the golden plans of IS-Bench tasks and score them natively: TS, SS, Pre, Post.

    With --perturb, count the native violations that the rules flag, and the clean plans that they flag too.
    With --policy, a planner acts instead, and a guard deals with what it triggers; closed containers hide things.
    Needs a checkout of AI45Lab/IS-Bench; nothing of it ships with Obviate. Exits with 1 if two backends
    disagree (--backend crosscheck), not for the scores.

    Example: [bold]obviate bench isbench --data ~/IS-Bench --task cook_eggs --perturb[/bold]
    """
    if policy:
        from obviate.adapters.cli.policies import bench_policies
        from obviate.adapters.isbench.pursuit import Setting

        bench_policies(
            Setting(data, partial=not full, native=not corrected, seed=seed),
            policy,
            task or [],
            noise or [],
            jobs=jobs,
            episodes=episodes,
            plot=plot,
            json=json,
        )
        return
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
    images: Annotated[
        Path | None, typer.Option(help="With --weights: a real detector on the images in this folder.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="The folder of a zero-shot detector of transformers, such as OWLv2.")
    ] = None,
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
    if (images is None) != (weights is None):
        raise typer.BadParameter("--images and --weights go together: what is looked at, and with what")

    from obviate.adapters.cli import mind as results

    ok = results.bench_mind(
        houses or [],
        seed=seed,
        policies=policy or [],
        footprints=footprints,
        detection=detection,
        sight=(images, weights) if images and weights else None,
        plot=plot,
        json=json,
    )
    raise typer.Exit(0 if ok else 1)


@app.command("compile")
def compile_(
    requests: Annotated[bool, typer.Option("--requests", help="The compiler of instructions.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="The compiler of rules.")] = False,
    model: Annotated[
        str, typer.Option(help="A known model, a folder, a .gguf file, a .jsonl tape, or http://host/v1#model.")
    ] = "smollm2-135m",
    no_model: Annotated[bool, typer.Option("--no-model", help="Requests without a language model.")] = False,
    method: Annotated[
        str,
        typer.Option(help="ask the model, or score by its probabilities. Default: what suits it.", show_default=False),
    ] = "",
    orders: Annotated[
        list[int] | None, typer.Option("--orders", "-k", help="Orders of the examples to unite; repeatable.")
    ] = None,
    development: Annotated[
        bool, typer.Option(help="Also cross-validation on the development templates; takes minutes.")
    ] = False,
    samples: Annotated[int, typer.Option(min=1, max=20, help="Answers to draw for each principle; they vote.")] = 1,
    cases: Annotated[int, typer.Option(min=1, help="Random graphs for each rule.")] = 300,
    only: Annotated[list[str] | None, typer.Option(help="Only the principle of this name; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Score compilers on language that they have not seen, by what comes of it.

    With --requests, instructions: exact, containment, inflation, minimal pairs, time. With --rules, forty safety
    principles, compared with gold rules by their conclusions on random graphs. Exits with 0, whatever the scores.

    Example: [bold]obviate bench compile --requests --no-model[/bold]
    """
    if requests == rules:
        raise typer.BadParameter("say what to score: --requests or --rules")
    if requests:
        from obviate.adapters.cli import requests as results

        chosen = "" if no_model else model
        results.bench_requests(chosen, method=method, orders=orders or (), development=development, json=json)
        return
    from obviate.adapters.cli import rulebench

    rulebench.bench_rules(model, samples=samples, method=method or "ask", cases=cases, only=only or [], json=json)


@app.command()
def step(
    objects: Annotated[
        list[int] | None,
        typer.Option(min=10, help="The size of a house; repeatable. Default: eight from 10 to 100,000."),
    ] = None,
    backend: Annotated[
        list[str] | None, typer.Option(help="Only this backend or peer; repeatable. Default: all.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Timed steps of each pair, after the warm-up.")] = 300,
    seed: Annotated[int, typer.Option(help="Draws the houses and the updates.")] = 0,
    budget: Annotated[float, typer.Option(min=0.1, help="Seconds for the steps of a pair.")] = 6.0,
    peers: Annotated[bool, typer.Option(help="Also what is not ours: matcher, networkx, prolog.")] = True,
    plot: Annotated[
        Path | None, typer.Option(help="Write time against size to this SVG file.", show_default=False)
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Store the rows in this file.", show_default=False)] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Compare with the rows stored in this file.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure what a step costs in houses from 10 to 100,000 objects: every backend, and other ways beside it.

    A step is an observation of three changed facts. Each backend and peer follows the same updates in a process of its
    own, and their answers are compared. A unit is one fresh small clingo Control. Exits with 1 if any two disagree, or
    a median took over 1.5 times the units of the row to --compare with.

    Example: [bold]obviate bench step --objects 1000 --backend multishot --backend matcher[/bold]
    """
    from obviate.adapters.cli import step as results

    ok = results.bench_step(
        objects=objects or [],
        names=backend or [],
        steps=steps,
        seed=seed,
        budget=budget,
        peers=peers,
        json=json,
        plot=plot,
        save=save,
        against=compare,
    )
    raise typer.Exit(0 if ok else 1)
