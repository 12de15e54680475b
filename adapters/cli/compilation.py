"""Compiling rules for the command line: progress, the review, and what is written where."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from obviate.adapters.cli.packs import load_pack
from obviate.compilers.backends import open_decoder
from obviate.compilers.rules.audit import Entry, dumped, entry_pack, read_audit
from obviate.compilers.rules.batch import Batch, Outcome, read_principles
from obviate.compilers.rules.emission import Written, pack_text
from obviate.compilers.rules.skills import retarget, robot
from obviate.compilers.rules.synthesis import Compiler
from obviate.compilers.rules.work import Work
from obviate.kb import Vocabulary, household
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.kinds import Kinds

__all__ = ["Options", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `obviate compile rules` was asked to do."""

    principles: Path
    out: Path
    model: str
    vocabulary: tuple[Path, ...] = ()
    samples: int = 1
    method: str = "ask"
    against: tuple[str, ...] = ()
    skills: Path | None = None
    audit: Path
    review: bool = False
    force: bool = False
    seconds: float = 10.0
    json: bool = False


def run(options: Options) -> int:
    """Compile, and return the exit code. Raises `ObviateError`."""
    words = household.words(*options.vocabulary)
    work = Work.load(options.out.with_name(f"{options.out.name}.work.jsonl"))
    if options.out.exists() and not options.force and not work.is_ours(options.out):
        _ask_to_replace(options.out)
    if options.skills is not None:
        return _retargeted(options, options.skills, words, work)
    principles = read_principles(options.principles)
    decided = read_audit(options.audit)
    batch = Batch(
        Compiler(open_decoder(options.model), words, samples=options.samples, method=options.method),
        work,
        kinds=Kinds.load(words),
        others=[load_pack(pack, words) for pack in options.against],
        seconds=options.seconds,
    )
    console = Console(stderr=True, highlight=False)
    bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True)
    with bar:
        task = bar.add_task("compiling", total=len(principles))
        outcomes = batch.run(principles, decided, lambda _: bar.advance(task))
    if options.review:
        outcomes = _reviewed(outcomes, words)
    return _finish(options, outcomes, work)


def _finish(options: Options, outcomes: Sequence[Outcome], work: Work) -> int:
    """Write the pack and the audit, tell what became of each principle, and return the exit code."""
    rules = [outcome.written for outcome in outcomes if outcome.written is not None]
    title = f"Compiled from {options.principles.name}; the helpers come first, then the rules."
    if rules:
        write(options.out, pack_text(rules, title=title), work)
    entries = [outcome.entry for outcome in outcomes if outcome.entry is not None]
    if entries or options.audit.exists():
        write(options.audit, dumped(entries), work)
    pending = [outcome for outcome in outcomes if outcome.verdict == "audit"]
    if options.json:
        print(jsonlib.dumps([_as_json(outcome) for outcome in outcomes], ensure_ascii=False, indent=2))
    else:
        _tell(options, outcomes, len(rules), len(pending))
    return 1 if pending else 0


def write(file: Path, text: str, work: Work) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        raise DataError("output-unwritable", message, where=str(file), help="choose another -o") from error
    work.wrote(file, text)


def _ask_to_replace(file: Path) -> None:
    """Ask before a file is lost that is not as we wrote it. Raises `DataError` (``output-exists``)."""
    if sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm(f"{file} is there already. Replace it?", err=True):
        return
    message = "the file is there already, and not as it was compiled"
    raise DataError("output-exists", message, where=str(file), help="choose another -o, or add --force")


# -- telling ---------------------------------------------------------------------------------------


def _tell(options: Options, outcomes: Sequence[Outcome], written: int, pending: int) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for outcome in outcomes:
        style = {"audit": "yellow", "rejected": "dim"}.get(outcome.verdict, "green")
        console.print(Text.assemble((f"{outcome.verdict:<9}", style), outcome.principle.name))
        for doubt in outcome.entry.doubts if outcome.verdict == "audit" and outcome.entry else ():
            console.print(Text(f"         {doubt.gate}: {doubt.reason}"))
    if written:
        console.print(Text(f"{options.out}: {written} rule{'s' * (written != 1)}"))
    if pending:
        console.print(Text(f"{options.audit}: {pending} to decide on"))


def _as_json(outcome: Outcome) -> dict[str, Any]:
    doubts = outcome.entry.doubts if outcome.entry is not None else ()
    return {
        "name": outcome.principle.name,
        "principle": outcome.principle.text,
        "verdict": outcome.verdict,
        "rule": outcome.written.text if outcome.written is not None else None,
        "doubts": [doubt.model_dump() for doubt in doubts],
    }


# -- the review ------------------------------------------------------------------------------------


def _reviewed(outcomes: Iterable[Outcome], words: Vocabulary) -> list[Outcome]:
    """Each doubted rule, decided on by the person at the terminal."""
    console = Console(stderr=True, highlight=False)
    return [
        _decided(outcome, outcome.entry, words, console) if outcome.verdict == "audit" and outcome.entry else outcome
        for outcome in outcomes
    ]


def _decided(outcome: Outcome, entry: Entry, words: Vocabulary, console: Console) -> Outcome:
    while True:
        _show(entry, console)
        choice = typer.prompt("accept, edit, reject, or later (a/e/r/l)", default="l", err=True).strip().lower()[:1]
        if choice == "e":
            edited = click.edit(entry.rule, extension=".lp", require_save=False)
            entry = entry.model_copy(update={"rule": edited if edited is not None else entry.rule})
        elif choice == "r":
            return Outcome(outcome.principle, "rejected", None, entry.model_copy(update={"decision": "reject"}))
        elif choice == "a":
            try:
                entry_pack(entry, words)
            except ObviateError as error:
                console.print(Text(str(error), "red"))
                continue
            accepted = entry.model_copy(update={"decision": "accept"})
            return Outcome(outcome.principle, "accepted", Written(entry.rule, entry.helpers), accepted)
        else:
            return Outcome(outcome.principle, "audit", None, entry)


def _show(entry: Entry, console: Console) -> None:
    """A rule with all that speaks against it, in words, as text: names and principles are data."""
    console.print()
    console.print(Text(f"{entry.name}: {entry.principle}", "bold"))
    for doubt in entry.doubts:
        console.print(Text(f"  {doubt.gate}: {doubt.reason}", "yellow"))
    for member in ("hazard", "threat", "target"):
        for clause in entry.words.get(member, ()):
            console.print(Text(f"  {member}: {'; '.join(clause['conditions'])}"))
    if entry.scene:
        console.print(Text(f"  smallest scene: {'; '.join(entry.scene)}"))
    console.print(Text(entry.rule or "  the model gave no rule"))


# -- another robot ---------------------------------------------------------------------------------


def _retargeted(options: Options, skills: Path, words: Vocabulary, work: Work) -> int:
    """Recompile the intents of a pack for the skills of another robot."""
    name = str(options.principles)
    pack = load_pack(name, words)
    found = retarget(pack, robot(words, skills), open_decoder(options.model))
    write(options.out, found.text, work)
    if options.json:
        print(jsonlib.dumps({"rules": found.kept, "without_threat": found.lost}, ensure_ascii=False, indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        console.print(Text(f"{options.out}: {len(found.kept)} rule{'s' * (len(found.kept) != 1)}"))
        for rule, why in found.lost.items():
            console.print(Text(f"left out {rule}: {why}"))
    return 1 if found.lost else 0
