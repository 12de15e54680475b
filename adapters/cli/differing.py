"""Differences of packs for the command line: what each concludes where they disagree."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Any

from rich.console import Console

from obviate.adapters.cli.packs import load_pack
from obviate.adapters.cli.proving import exit_code, pack_json, scene_text
from obviate.engine.difference import Difference, compared_rules, conclusions, differences
from obviate.engine.slice import slice_of
from obviate.engine.verdict import NO, UNDECIDED, YES, Scene, instance_text
from obviate.kb import Pack, household
from obviate.kb.errors import DisagreementError, PackError
from obviate.kb.sandbox import run_limited
from obviate.kb.terms import Atom, Fun, term_of_binding

__all__ = ["compare", "differing"]

_MEGABYTES = 3_000
_WORDS = {
    "trigger": "{one} triggers {rule}, {other} does not",
    "opens": "{one} opens a record of {rule}, {other} does not",
    "passed": "{one} passes the record of {rule}, {other} does not",
    "risk": "{one} sees {rule} at risk, {other} does not",
    "severity": "{one} counts {rule}, in {other} it is advisory",
}


def compare(old: str, new: str, limits: tuple[int, float], vocabulary: tuple[Path, ...], *, json: bool) -> int:
    """Compare two packs and tell; returns the exit code."""
    words = household.words(*vocabulary)
    packs = [load_pack(each, words) for each in (old, new)]
    found: list[dict[str, Any]] = []
    missed: list[str] = []
    for rule in compared_rules(*packs):
        try:
            found += run_limited(
                "obviate.adapters.cli.differing:differing",
                *packs,
                rule,
                limits,
                seconds=limits[1] + 5,
                megabytes=_MEGABYTES,
            )
        except PackError as error:
            if error.code not in ("search-timeout", "too-costly"):
                raise
            missed.append(rule)
    bounds = {"objects": limits[0] or max(_bound(pack) for pack in packs), "records": 1, "seconds": limits[1]}
    answer = NO if found else UNDECIDED if missed else YES
    if json:
        whole = {"old": pack_json(packs[0]), "new": pack_json(packs[1]), "bounds": bounds, "equivalent": answer}
        print(jsonlib.dumps({**whole, "differences": found, "not_decided": missed}, ensure_ascii=False, indent=2))
    else:
        _tell(found, missed, bounds, [old, new])
    return exit_code([answer])


def _bound(pack: Pack) -> int:
    return max((slice_of(pack, rule).bound for rule in pack.rules), default=0)


def differing(old: Pack, new: Pack, rule: str, limits: tuple[int, float]) -> list[dict[str, Any]]:
    """The differences in a rule as plain data, each concluded again from scratch."""
    found = differences(old, new, rule, objects=limits[0] or None, seconds=limits[1])
    return [_confirmed(old, new, each) for each in found]


def _confirmed(old: Pack, new: Pack, found: Difference) -> dict[str, Any]:
    """A difference as JSON data. Raises `DisagreementError` when the packs agree there after all."""
    example = found.example
    said = [conclusions(pack, example) if example.rule in pack.rules else set() for pack in (old, new)]
    about = Atom(found.kind, (Fun(example.rule), term_of_binding(example.binding)))
    if found.kind != "severity" and [about in each for each in said] != [found.old, not found.old]:
        raise DisagreementError(
            "backends-disagree",
            f"the search says that the packs differ in {found.kind} of {example.rule}, and oneshot does not",
            help="this is a bug in Obviate: please report it with the packs",
        )
    record = example.earlier
    return {
        "kind": found.kind,
        "rule": example.rule,
        "by": "old" if found.old else "new",
        "binding": list(example.binding),
        "scene": Scene("now", example.graph, example.intent).to_json(),
        "record": instance_text((record.rule, record.binding)) if record is not None else None,
        "opened": Scene("opened", record.graph, record.intent).to_json() if record is not None else None,
        "age": example.age,
        "old": sorted(map(str, said[0])),
        "new": sorted(map(str, said[1])),
    }


def _tell(found: list[dict[str, Any]], missed: list[str], bounds: dict[str, Any], names: list[str]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for each in found:
        one, other = names if each["by"] == "old" else names[::-1]
        console.print(_WORDS[each["kind"]].format(one=one, other=other, rule=each["rule"]), style="bold")
        if each["record"] is not None:
            console.print(f"  opened: {scene_text(each['opened'], {})}")
            console.print(f"  then, {each['age']} actions later: {scene_text(each['scene'], {})}")
        else:
            console.print(f"  where: {scene_text(each['scene'], {})}")
    for rule in missed:
        console.print(f"not decided within {bounds['seconds']:g} s: {rule}", style="yellow")
    if not found and not missed:
        console.print(f"equivalent within these bounds: up to {bounds['objects']} objects, one open record at a time")
