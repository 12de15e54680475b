"""Telling a memory: lists, skills with their causes, changes between versions."""

from __future__ import annotations

import difflib
import json as jsonlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from obviate.adapters.cli.packs import load_pack
from obviate.kb import extras, household
from obviate.kb.errors import DataError
from obviate.kb.experience.case import Case
from obviate.kb.experience.seeds import early_skills
from obviate.kb.files import replace_text

if TYPE_CHECKING:
    from obviate.kb.experience.store import Store, Version

__all__ = ["open_memory", "read_import", "roll_back", "tell_changes", "tell_list", "tell_skill", "write_export"]

HOUSEHOLD = "household"


@contextmanager
def open_memory(path: Path, *, create: bool = False) -> Iterator[Store]:
    """The memory in a file. Raises `ObviateError` (``extra-missing``) without the extra ``memory``."""
    extras.module("sqlalchemy", extra="memory")
    from obviate.kb.experience.store import Store

    with Store(path, create=create) as store:
        yield store


def tell_list(path: Path, *, json: bool) -> None:
    """Print what there is of each rule."""
    with open_memory(path) as store:
        entries = store.entries()
    if json:
        data = [
            {
                "rule": one.rule,
                "version": one.version,
                "cases": one.outcomes,
                "buffers": {"positive": one.positive, "negative": one.negative},
            }
            for one in entries
        ]
        print(jsonlib.dumps(data, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("rule", "skill", "cases", "B+", "B-"):
        table.add_column(column, justify="right" if column in ("B+", "B-") else "left", overflow="fold")
    for one in entries:
        cases = ", ".join(f"{count} {outcome}" for outcome, count in one.outcomes.items()) or "none"
        version = f"version {one.version}" if one.version else "none yet"
        table.add_row(Text(one.rule), version, cases, str(one.positive), str(one.negative))
    Console(highlight=False).print(table)


def tell_skill(path: Path, rule: str, number: int, *, json: bool) -> None:
    """Print a version of a skill, with the cases that it came from and the latest success."""
    with open_memory(path) as store:
        store.require(rule)
        version = _version(store, rule, number)
        causes = _causes(store, version) if version else []
        latest = store.recall(rule).case
        others = [one.number for one in store.history(rule)]
    if json:
        data: dict[str, Any] = {"rule": rule, "version": None, "versions": others}
        if version is not None:
            data |= {"version": version.number, "current": version.current, "skill": version.skill.to_json()}
            data |= {"origin": version.origin, "reason": version.reason, "causes": [case.to_json() for case in causes]}
        data["latest"] = latest.to_json() if latest else None
        print(jsonlib.dumps(data, ensure_ascii=False, indent=2))
        return
    if version is None:
        print(f"{rule} has no skill yet")
    else:
        print(version.skill.text())
        print(
            f"\nVersion {version.number} of {len(others)}, by {version.origin}: {version.reason or 'no reason given'}"
        )
    for title, cases in (("Caused by", causes), ("Latest success", [latest] if latest else [])):
        for case in cases:
            print(f"{title}: {_trace(case)}")


def tell_changes(path: Path, rule: str, old: int, new: int, *, json: bool) -> bool:
    """Print what changed between two versions; whether anything did."""
    with open_memory(path) as store:
        store.require(rule)
        after = _version(store, rule, new)
        if after is None:
            raise DataError("unknown-version", f"{rule} has no skill yet", where=rule, help="let it learn first")
        before = _version(store, rule, old) if old else None
        if before is None and after.number > 1:
            before = _version(store, rule, after.number - 1)
    old_text = before.skill.text().splitlines() if before else []
    names = f"version {before.number}" if before else "nothing", f"version {after.number}"
    lines = list(difflib.unified_diff(old_text, after.skill.text().splitlines(), *names, lineterm="", n=50))
    if json:
        data = {"rule": rule, "from": before.number if before else 0, "to": after.number, "reason": after.reason}
        print(jsonlib.dumps({**data, "lines": lines}, ensure_ascii=False, indent=2))
    else:
        console = Console(highlight=False)
        for line in lines:
            console.print(Text(line, {"+": "green", "-": "red"}.get(line[:1], "")), soft_wrap=True)
        if lines and after.reason:
            console.print(Text(f"because: {after.reason}"), soft_wrap=True)
    return bool(lines)


def roll_back(path: Path, rule: str, number: int, *, json: bool) -> None:
    """Put an earlier version in force."""
    with open_memory(path) as store:
        store.require(rule)
        version = store.rollback(rule, number)
    if json:
        print(jsonlib.dumps({"rule": rule, "version": version.number}))
    else:
        print(f"{rule}: version {version.number} is in force")


def write_export(path: Path, output: Path | None) -> None:
    """Write or print a memory."""
    from obviate.engine.experience.exchange import take_out

    with open_memory(path) as store:
        if output is None:
            for line in take_out(store):
                print(line)
        else:
            replace_text(output, "".join(line + "\n" for line in take_out(store)))


def read_import(path: Path, file: str, packs: tuple[Path, ...], words: tuple[Path, ...], *, json: bool) -> bool:
    """Take in a file; whether anything was refused."""
    from obviate.engine.experience.exchange import bring_in
    from obviate.engine.experience.rehearsal import Rehearser
    from obviate.kb.kinds import Kinds

    vocabulary = household.words(*words)
    own = [load_pack(str(pack), vocabulary) for pack in packs]
    rehearser = Rehearser((household.pack(vocabulary=vocabulary if words else None), *own), Kinds.load(vocabulary))
    with _lines(file) as lines, open_memory(path, create=True) as store:
        found = bring_in(store, lines, rehearser)
    if json:
        refused = [{"line": one.line, "code": one.code, "reason": one.reason} for one in found.refused]
        data: dict[str, Any] = {"cases": found.cases, "skills": found.skills, "known": found.known, "refused": refused}
        print(jsonlib.dumps(data, ensure_ascii=False, indent=2))
    else:
        print(f"{found.cases} cases and {found.skills} skills are new, {found.known} were known")
        for one in found.refused:
            print(f"{file}:{one.line}: refused: {one.reason} [{one.code}]")
    return bool(found.refused)


@contextmanager
def _lines(file: str) -> Iterator[Iterator[str]]:
    """The lines of a file, or of the household's early skills."""
    if file == HOUSEHOLD and not Path(file).exists():
        skills = [jsonlib.dumps({"skill": s.to_json(), "origin": HOUSEHOLD, "current": True}) for s in early_skills()]
        yield iter(['{"obviate_memory": 1}', *skills])
        return
    try:
        with Path(file).open(encoding="utf-8", newline="\n") as stream:
            yield iter(stream)
    except UnicodeDecodeError as error:
        raise DataError("file-encoding", f"byte {error.start} is not UTF-8", where=file) from None
    except OSError as error:
        help = "name a file of `obviate memory export`, or household"
        raise DataError("file-missing", f"it cannot be read: {error.strerror}", where=file, help=help) from None


def _version(store: Store, rule: str, number: int) -> Version | None:
    if not number:
        return store.skill(rule)
    found = next((one for one in store.history(rule) if one.number == number), None)
    if found is None:
        known = ", ".join(str(one.number) for one in store.history(rule)) or "none yet"
        raise DataError("unknown-version", f"{rule} has no version {number}", where=rule, help=f"versions: {known}")
    return found


def _causes(store: Store, version: Version) -> list[Case]:
    return [case for case in store.archive(version.skill.rule) if case.digest in version.evidence]


def _trace(case: Case) -> str:
    deeds = " -> ".join(f"{deed.action}{f' (fails: {deed.failure})' if deed.failure else ''}" for deed in case.deeds)
    intended = f"{case.intent} was intended; " if case.intent else ""
    return f"{case.outcome}, {case.episode or 'an episode'} at step {case.step}: {intended}{deeds or 'nothing done'}"
