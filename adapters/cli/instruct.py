"""`obviate compile instruction`: an instruction in words to an instruction file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from obviate.compilers.instructions.compiler import Compiled, Compiler

__all__ = ["instruction", "make"]


def instruction(
    text: Annotated[str, typer.Argument(help="The instruction, in English.", show_default=False)],
    model: Annotated[
        str, typer.Option(help="A known model, a folder, a .gguf file, a .jsonl tape, or http://host/v1#model.")
    ] = "smollm2-135m",
    no_model: Annotated[bool, typer.Option("--no-model", help="By the words alone, without a language model.")] = False,
    method: Annotated[str, typer.Option(help="score or ask. Default: what suits the model.", show_default=False)] = "",
    mode: Annotated[
        str, typer.Option(help="default (wide where unsure) or safe (universal where unsure).")
    ] = "default",
    orders: Annotated[
        int, typer.Option("--orders", "-k", min=0, help="Orders of the examples to unite; 0 is what suits the method.")
    ] = 0,
    type: Annotated[list[str] | None, typer.Option(help="Another object type of the building; repeatable.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Another kind of room; repeatable.")] = None,
    name: Annotated[str, typer.Option(help="What the instruction is called. Default: its first words.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the file here.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file without asking.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the file.")] = False,
) -> None:
    """Compile an instruction to its program and its dependencies, and tell how sure that is.

    What cannot be computed with certainty is left to a semantic evaluator (judged). The file goes to standard output,
    the report to standard error. Exits with 0 if the compiler is sure, with 1 if not.

    Example: [bold]obviate compile instruction "Bring me the nearest mug" --no-model[/bold]
    """
    from obviate.compilers.instructions.compiler import MODES

    if mode not in MODES:
        raise typer.BadParameter(f"{mode!r} is not {' or '.join(MODES)}", param_hint="--mode")
    if output is not None and output.exists() and not force:
        _ask(output)
    compiler = make("" if no_model else model, method=method, mode=mode, k=orders, types=type or (), labels=label or ())
    compiled = compiler.compile(text, name=name)
    if output is not None:
        _write(output, compiled.text)
    if json:
        import json as jsonlib

        typer.echo(jsonlib.dumps(compiled.to_json(), ensure_ascii=False, indent=2))
    else:
        if output is None:
            typer.echo(compiled.text, nl=False)
        for line in _report(compiled):
            typer.echo(line, err=True)
    raise typer.Exit(0 if compiled.sure else 1)


def make(
    model: str,
    *,
    method: str = "",
    mode: str = "default",
    k: int = 0,
    types: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Compiler:
    """The compiler with a model, or with none if that is empty; loading and calibrating are told on standard error."""
    from obviate.compilers.instructions.compiler import Compiler
    from obviate.compilers.instructions.cues import Cues
    from obviate.compilers.instructions.synthesis import Synthesis
    from obviate.compilers.instructions.words import LABELS, TYPES, Lexicon
    from obviate.kb.regions import constant

    lexicon = Lexicon(
        TYPES | {constant(type, "--type") for type in types}, LABELS | {constant(label, "--label") for label in labels}
    )
    cues = Cues(lexicon)
    if not model:
        return Compiler(cues=cues, mode=mode)

    from rich.console import Console

    from obviate.compilers.backends import open_decoder
    from obviate.compilers.instructions import voters

    with Console(stderr=True).status(f"loading {model}") as status:
        decoder = open_decoder(model)
        chosen = voters.method_of(decoder, method)
        orders = k or voters.default_k(chosen)
        voter = voters.voter(
            decoder, chosen, k=orders, progress=lambda done, total: status.update(f"calibrating, {done} of {total}")
        )
    synthesis = Synthesis(decoder, lexicon) if chosen == "ask" else None
    return Compiler(voter=voter, synthesis=synthesis, cues=cues, mode=mode, k=orders)


def _report(compiled: Compiled) -> list[str]:
    from obviate.kb.regions import CATEGORIES

    def words(categories: frozenset[str]) -> str:
        return ", ".join(category for category in CATEGORIES if category in categories) or "nothing"

    who = "a semantic evaluator judges" if compiled.judged else "the program judges"
    lines = [
        f"{'sure' if compiled.sure else 'not sure'}: {who}",
        *(f"  {reason}" for reason in compiled.reasons),
        f"qualification reads {words(compiled.signature.semantic)}; choice reads {words(compiled.signature.selection)}",
    ]
    if compiled.inferred is not None:
        same = compiled.signature == compiled.inferred
        lines.append(
            "  the same as the program reads"
            if same
            else f"  the program reads {words(compiled.inferred.semantic)}; {words(compiled.inferred.selection)}"
        )
    if compiled.extra:
        lines.append(
            f"caution: {compiled.inflation:.1f} times the categories; each change of {' or '.join(compiled.extra)} "
            "refreshes every room, likely in vain"
        )
    if compiled.abstained:
        lines.append("abstained: the signature is universal")
    return lines


def _ask(output: Path) -> None:
    from obviate.kb.errors import DataError

    if not sys.stdin.isatty():
        raise DataError("file-exists", "there is such a file already", where=str(output), help="add --force")
    typer.confirm(f"{output} exists. Replace it?", abort=True)


def _write(output: Path, text: str) -> None:
    from obviate.kb.errors import DataError
    from obviate.kb.files import replace_text

    try:
        if output.exists():
            replace_text(output, text)
        else:
            output.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        raise DataError("file-missing", message, where=str(output), help="give a file you may write") from error
