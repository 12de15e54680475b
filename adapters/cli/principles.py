"""`obviate compile rules`: safety principles in words to a rule pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["rules"]


def rules(
    principles: Annotated[
        Path,
        typer.Argument(help="Safety principles, one a line, or a .json list; with --skills, a pack."),
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help="The pack to write.", show_default=False)],
    model: Annotated[
        str, typer.Option(help="A known model, a folder, a .gguf file, a .jsonl tape, or http://host/v1#model.")
    ] = "smollm2-135m",
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, max=20, help="Answers to draw for each principle; they vote.")] = 1,
    method: Annotated[
        str, typer.Option(help="ask the model for rules, or score enumerated ones; small models need score.")
    ] = "ask",
    against: Annotated[
        list[str] | None, typer.Option(help="A pack whose rules are not to be repeated; may be repeated.")
    ] = None,
    skills: Annotated[
        Path | None, typer.Option(help="Recompile only the intents, for the skills of this vocabulary.")
    ] = None,
    audit: Annotated[Path | None, typer.Option(help="The audit file; OUTPUT with .audit.json if not given.")] = None,
    review: Annotated[bool, typer.Option("--review", help="Decide on doubted rules now, one by one.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the pack without asking.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most time for each search of a gate.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compile safety principles into a rule pack, and an audit of the rules that a person should look at.

    The model fills in a form, ASP is written from it, and gates that need no model look at each rule. Run it again to
    go on where it stopped, and to take over what was decided in the audit. Exits with 0 if every rule is in the
    pack, 1 if some await a decision, 2 for wrong use.

    Example: [bold]obviate compile rules principles.txt -o rules.lp --model http://localhost:8000/v1#qwen3[/bold]
    """
    from obviate.adapters.cli import compilation

    options = compilation.Options(
        principles=principles,
        out=out,
        model=model,
        vocabulary=tuple(vocabulary or ()),
        samples=samples,
        method=method,
        against=tuple(against or ()),
        skills=skills,
        audit=audit or out.with_name(f"{out.stem}.audit.json"),
        review=review,
        force=force,
        seconds=seconds,
        json=json,
    )
    raise typer.Exit(compilation.run(options))
