"""`obviate explain`: a rule in words, and the smallest scene that triggers it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["explain"]


def explain(
    pack: Annotated[str, typer.Argument(help="A .lp file, a folder of them, or household.")],
    rule: Annotated[str, typer.Argument(help="The rule; without one, the rules are listed.")] = "",
    vocabulary: Annotated[
        list[Path] | None, typer.Option(help="A vocabulary file beside the household one; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Tell a rule in words: its hazard, what triggers and what resolves it, and the smallest scene that does.

    Example: [bold]obviate explain household food_on_clean[/bold]
    """
    from obviate.adapters.cli.explanation import list_rules, tell_rule
    from obviate.adapters.cli.packs import load_pack
    from obviate.kb import household

    loaded = load_pack(pack, household.words(*(vocabulary or ())))
    if rule:
        tell_rule(loaded, rule, json=json)
    else:
        list_rules(loaded, json=json)
