"""Running and telling the proofs about standing instructions."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from obviate.engine.proofs import (
    CONDITIONS,
    CUTOFF,
    HYPOTHESES,
    Bounds,
    Reading,
    Result,
    choose,
    confirm,
    counterexample,
    induct,
    ours,
    prove,
    readings,
    stale_target,
    true_signature,
)
from obviate.kb.errors import PackError
from obviate.kb.instruction import Instruction, Signature

__all__ = ["drop", "equivalence", "signature"]

_EXITS = {"proven": 0, "refuted": 1, "undecided": 3}
_BESIDE = (1, 2, CUTOFF, CUTOFF + 1, CUTOFF + 2)  # the cutoff and the sizes around it


def equivalence(regions: int, events: int, seconds: float, *, json: bool) -> int:
    """Prove decision equivalence, and print it; returns the exit code."""
    bounded = prove(Bounds(regions, events), seconds=seconds)
    steps = [induct(size, seconds=seconds) for size in _BESIDE]
    chosen = [choose(size, seconds=seconds) for size in _BESIDE]
    policies = [ours(size, seconds=seconds) for size in _BESIDE]
    results = [bounded, *steps, *chosen, *policies]
    verdict = _worst(results)
    if json:
        groups = {"bounded": [bounded], "inductive": steps, "selector": chosen, "policies": policies}
        data: dict[str, Any] = {
            "verdict": verdict,
            **{name: [asdict(one) for one in found] for name, found in groups.items()},
        }
        data |= {"hypotheses": dict(HYPOTHESES), "conditions": dict(CONDITIONS)}
        typer.echo(jsonlib.dumps(data, indent=2))
        return _EXITS[verdict]
    typer.echo("After every event the maintained target is that of full recomputation, provided that")
    for line in HYPOTHESES.values():
        typer.echo(f"  - {line}")
    typer.echo(_line(f"with {regions} regions and {events} events, whatever happens", [bounded]))
    sizes = f"{_BESIDE[0]} to {_BESIDE[-1]} regions; {CUTOFF} are enough for any number"
    typer.echo(_line(f"in sequences of any length, one step at a time ({sizes})", steps))
    typer.echo(_line("the kernel's own selector takes the least feasible region", chosen))
    typer.echo(_line("our policies, in any combination, if also", policies))
    for line in CONDITIONS.values():
        typer.echo(f"  - {line}")
    return _EXITS[verdict]


def drop(hypotheses: Sequence[str], seconds: float, *, json: bool) -> int:
    """Tell the smallest counterexample without each hypothesis, once it has been replayed; returns the exit code."""
    told: list[dict[str, Any]] = []
    ends = []
    for name in hypotheses:
        try:
            story = counterexample(name, seconds=seconds)
        except PackError as error:
            if error.code != "search-timeout":
                raise
            ends.append("undecided")
            told.append({"kind": "equivalence", "dropped": name, "undecided": f"not within {seconds:g} s"})
            continue
        if story is None:
            ends.append("undecided")
            told.append(
                {"kind": "equivalence", "dropped": name, "undecided": "no story with up to 3 regions and events"}
            )
            continue
        confirm(story)
        ends.append("refuted")
        told.append(story.to_json())
    if json:
        typer.echo(jsonlib.dumps(told, indent=2))
    else:
        for one in told:
            typer.echo(f"Not assumed: {HYPOTHESES[one['dropped']]}.")
            for line in one.get("story", [f"not decided: {one.get('undecided')}"]):
                typer.echo(f"  {line}")
            if "story" in one:
                typer.echo("  Replayed on the Maintainer: it decides exactly so.")
    return 3 if "undecided" in ends else 1


def signature(file: Path, regions: int, seconds: float, *, json: bool) -> int:
    """Find the true signature of an instruction, compare and print; returns the exit code."""
    instruction = Instruction.load(file)
    found = readings(instruction, regions=regions, seconds=seconds)
    true, known = true_signature(found), instruction.signature
    missing = [one for one in found if one.verdict == "read" and not _covered(one, known)]
    open_ = [one for one in found if one.verdict in ("undecided", "unseen") and not _covered(one, known)]
    verdict = "refuted" if missing else "undecided" if open_ else "proven"
    if json:
        data = {
            "kind": "signature",
            "verdict": verdict,
            "instruction": instruction.program.text,
            "name": instruction.name,
            "regions": regions,
            "true": _slots(true),
            "declared": _slots(instruction.declared) if instruction.declared else None,
            "inferred": _slots(instruction.inferred),
            "missing": [[one.stage, one.category] for one in missing],
            "inflation": None if any(one.verdict == "undecided" for one in found) else known.inflation(true),
            "readings": [one.to_json() for one in found],
        }
        typer.echo(jsonlib.dumps(data, indent=2))
        return _EXITS[verdict]
    for stage, slot in _slots(true).items():
        left = [one.category for one in found if one.stage == stage and one.verdict == "undecided"]
        more = f"; not decided: {', '.join(left)}" if left else ""
        typer.echo(f"{stage}: truly reads {', '.join(slot) or 'nothing'}{more}")
    for one in found:
        typer.echo(_reading(one)) if one.verdict != "unread" else None
    _compare(instruction, found, missing, true)
    typer.echo({"proven": "contained", "refuted": "refuted", "undecided": "not decided"}[verdict])
    return _EXITS[verdict]


def _covered(one: Reading, known: Signature) -> bool:
    """Whether a signature contains a category of a stage, equation (12)."""
    return one.category in (known.semantic if one.stage == "semantic" else known.semantic | known.selection)


def _slots(signature: Signature) -> Mapping[str, list[str]]:
    return {"semantic": sorted(signature.semantic), "selection": sorted(signature.selection)}


def _told(signature: Signature) -> str:
    return "; ".join(f"{stage} {', '.join(slot) or 'nothing'}" for stage, slot in _slots(signature).items())


def _reading(one: Reading) -> str:
    text = f"  {one.category} ({one.stage}): {one.verdict}, {one.why}"
    if one.witness is None:
        return text
    before, after = one.witness.states
    what = (
        f"{one.witness.region} qualifies, then no more"
        if one.stage == "semantic"
        else f"of {', '.join(one.witness.among)}, {one.witness.before} is chosen, then {one.witness.after}"
    )
    own = {"inventory": "inventories", "label": "labels", "position": "at", "history": "used", "topology": "doors"}
    values = [_value(state.to_json(), own[one.category]) for state in (before, after)]
    return f"{text}\n    {own[one.category]} {values[0]}, then {values[1]}: {what}"


def _value(state: dict[str, Any], part: str) -> str:
    if part in ("inventories", "labels"):
        key = "inventory" if part == "inventories" else "label"
        return jsonlib.dumps({name: region[key] for name, region in state["regions"].items()})
    return jsonlib.dumps(state[part])


def _compare(instruction: Instruction, found: Sequence[Reading], missing: Sequence[Reading], true: Signature) -> None:
    known = instruction.signature
    undecided = any(one.stage == "semantic" and one.verdict == "undecided" for one in found)
    which = "declared" if instruction.declared else "inferred"
    for name, signature in (
        ("inferred", instruction.inferred),
        *((("declared", known),) if which == "declared" else ()),
    ):
        unread = {(one.stage, one.category) for one in found if one.verdict in ("unread", "unseen")}
        extra = [f"{stage} {v}" for stage, slot in _slots(signature).items() for v in slot if (stage, v) in unread]
        more = f"; more than is read: {', '.join(extra)}" if extra else ""
        inflation = "not decided" if undecided else f"{signature.inflation(true):g}"
        typer.echo(f"{name}: {_told(signature)}; inflation {inflation}{more}")
    for one in missing:
        typer.echo(f"missing: {one.category} ({one.stage})")
        differing = stale_target(instruction, one.witness) if one.witness else None
        if differing:
            kept, right = (target or "none" for target in differing)
            typer.echo(f"  from the first state to the second, the Maintainer keeps {kept}, and {right} is right")


def _line(claim: str, results: Sequence[Result]) -> str:
    verdict = _worst(results)
    why = next((one.why for one in results if one.verdict == verdict and one.why), "")
    words = {"undecided": "not decided"}.get(verdict, verdict)
    return f"{words}: {claim}{' (' + why + ')' if why else ''}"


def _worst(results: Sequence[Result]) -> str:
    verdicts = {one.verdict for one in results}
    return "refuted" if "refuted" in verdicts else "undecided" if "undecided" in verdicts else "proven"
