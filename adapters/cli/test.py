"""`obviate test`: scenario tests of a rule pack, how much of it they reach, and which changes they would notice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["scenarios"]


def scenarios(
    pack: Annotated[str, typer.Argument(help="A rule pack: an .lp file, a folder of them, or household.")],
    vocabulary: Annotated[list[Path] | None, typer.Option(help="Words beside the household's; repeatable.")] = None,
    test_files: Annotated[
        list[Path] | None, typer.Option(help="Test files; without any, the *.test.lp beside the pack. Repeatable.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only the test of this name; repeatable.")] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="Tell which literals no test reaches.")] = False,
    min_coverage: Annotated[
        float | None, typer.Option(min=0, max=100, help="Exit with 1 below this percentage.", show_default=False)
    ] = None,
    mutate: Annotated[bool, typer.Option("--mutate", help="Tell which changes of a literal no test notices.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes for --mutate; 0 is one for each core.")] = 0,
    backend: Annotated[str, typer.Option(help="oneshot (quick on small scenes), multishot, crosscheck.")] = "oneshot",
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Run the scenario tests of a rule pack: what is given, what happens, and what must follow, as ASP facts.

    A test that fails tells what was expected, what is there instead, and which literals of the rule are to blame.
    Exits with 0 if all pass, 1 if one fails or the coverage is too low, 2 if a file is wrong or there are no tests.
    Mutants that survive are told, and change no exit code: some mean the same.

    Example: [bold]obviate test my_rules.lp --coverage --min-coverage 90[/bold]
    """
    from obviate.adapters.cli import packs, trials
    from obviate.kb import household
    from obviate.kb.cases import load_cases

    loaded = packs.load_pack(pack, household.words(*(vocabulary or ())))
    files = tuple(test_files or packs.test_files(pack))
    cases = trials.chosen(load_cases(*files, pack=loaded), only or [], pack)
    report = trials.run(loaded, cases, backend, coverage=coverage or min_coverage is not None)
    if mutate and report.passed:
        report = trials.mutated(report, loaded, jobs, backend)
    if json:
        trials.tell_json(report)
    else:
        trials.tell(report, skipped=mutate and not report.passed)
    low = report.coverage is not None and min_coverage is not None and report.coverage.percent < min_coverage
    if low:
        typer.echo(f"the coverage is below {min_coverage:g} %", err=True)
    raise typer.Exit(0 if report.passed and not low else 1)
