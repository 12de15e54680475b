"""`obviate fmt`: rule packs in the one canonical layout."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["fmt"]

STDIN = "-"


def fmt(
    packs: Annotated[list[str], typer.Argument(help="Files, folders, household, or - for standard input.")],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit with 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Like --check, and print what would change.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Format rule packs in place: only whitespace changes, never a rule or a comment.

    Exits with 0, with 1 if --check or --diff found a difference, with 2 if a file cannot be read; then none is changed.

    Example: [bold]obviate fmt my_rules.lp --diff[/bold]
    """
    import json as jsonlib

    from obviate.adapters.cli.packs import pack_files
    from obviate.kb.files import read_text, replace_text
    from obviate.kb.format import formatted

    if STDIN in packs and len(packs) > 1:
        raise typer.BadParameter("- stands alone: standard input is one text")
    files = dict.fromkeys(STDIN if pack == STDIN else str(file) for pack in packs for file in pack_files(pack))
    before = {file: _standard_input() if file == STDIN else read_text(file) for file in files}
    after = {file: formatted(text, file=file) for file, text in before.items()}
    changed = [file for file in files if before[file] != after[file]]
    dry = check or diff
    for file in changed:
        if not dry and file != STDIN:
            replace_text(file, after[file])

    if json:
        found = [
            {"file": file, "changed": file in changed, "diff": _difference(file, before[file], after[file])}
            for file in files
        ]
        typer.echo(jsonlib.dumps(found, ensure_ascii=False, indent=2))
    elif diff:
        typer.echo("".join(_difference(file, before[file], after[file]) for file in changed), nl=False)
    elif STDIN in files and not check:
        typer.echo(after[STDIN], nl=False)
    else:
        for file in files:
            done = "would change" if dry else "formatted"
            typer.echo(f"{file}: {done if file in changed else 'fine'}")
    raise typer.Exit(1 if dry and changed else 0)


def _standard_input() -> str:
    from obviate.kb.errors import DataError

    try:
        return typer.get_binary_stream("stdin").read().decode()
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=STDIN) from None


def _difference(file: str, before: str, after: str) -> str:
    from difflib import unified_diff
    from io import StringIO

    lines = unified_diff([*StringIO(before)], [*StringIO(after)], file, file)  # lines end at newlines and nothing else
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
