"""The true read sets of an instruction, as the paper defines them: by pairs of states (MIND paper, Section IV-A).

A category is read if two states that differ in it alone have another verdict, or another choice from the same
feasible regions. `readings` looks for such pairs; what the program does not even mention is not read, in
buildings of any size.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from obviate.engine.evaluator import Exact
from obviate.engine.maintainer import Maintainer
from obviate.engine.proofs.equivalence import text
from obviate.engine.selector import preference
from obviate.kb import asp
from obviate.kb.copies import prefixed
from obviate.kb.errors import PackError
from obviate.kb.footprint import observed
from obviate.kb.instruction import READS, STAGES, Instruction, Signature
from obviate.kb.program import TermPattern
from obviate.kb.question import Question
from obviate.kb.regions import CATEGORIES, Regions
from obviate.kb.terms import Atom, Fun, Term, quote

__all__ = ["MOST", "Reading", "Witness", "readings", "stale_target", "true_signature"]

MOST = 3  # regions: the candidate, the robot's, and one more to choose or to pass
_COUNTS = 6  # how many different counts of a type are tried
_ROOMS = ("attic", "bath", "cellar", "den", "entry", "garage", "hall")
_ATOMS = [("inventory", 4), ("label", 3), ("at", 2), ("used", 2), ("joined", 3), ("candidate", 1), ("among", 1)]
_OUTPUTS = [(name, arity, True) for name, arity in [*_ATOMS, ("target", 2), ("astray", 2)]]


@dataclass(frozen=True, slots=True)
class Witness:
    """Two states that differ in one category, and what that changes.

    Of the stage semantic: the `region` qualifies before and not after. Of selection: `before` and `after` are the
    choices from the regions `among`. `real` says that the target changes with it, too.
    """

    stage: str
    category: str
    states: tuple[Regions, Regions] = field(repr=False)
    region: str
    among: tuple[str, ...]
    before: str | bool
    after: str | bool
    real: bool

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "stage": self.stage,
            "category": self.category,
            "states": [state.to_json() for state in self.states],
            "region": self.region,
            "among": list(self.among),
            "before": self.before,
            "after": self.after,
            "real": self.real,
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """Whether a stage reads a category: ``read`` with a witness, ``unread`` whatever the building, ``unseen`` with
    up to as many regions as were tried, or ``undecided``; `why` says how it is known, or what prevents it.
    """

    stage: str
    category: str
    verdict: str
    why: str
    witness: Witness | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        witness = self.witness.to_json() if self.witness else None
        names = ("stage", "category", "verdict", "why")
        return {**{name: getattr(self, name) for name in names}, "witness": witness}


def readings(instruction: Instruction, *, regions: int = MOST, seconds: float = 20.0) -> tuple[Reading, ...]:
    """Every stage with every category, sought with up to so many regions."""
    end = time.monotonic() + seconds
    return tuple(_reading(instruction, stage, v, regions, seconds, end) for stage in STAGES for v in CATEGORIES)


def true_signature(found: tuple[Reading, ...]) -> Signature:
    """The categories with a witness."""
    read = [frozenset(one.category for one in found if one.stage == s and one.verdict == "read") for s in STAGES]
    return Signature(*read)


def _reading(instruction: Instruction, stage: str, category: str, regions: int, seconds: float, end: float) -> Reading:
    if stage == "semantic" and instruction.judged:
        return Reading(stage, category, "undecided", "an evaluator judges, and what it reads is not in the program")
    if category not in getattr(instruction.inferred, stage):
        return Reading(stage, category, "unread", "nothing in the program leads to it")
    best: Witness | None = None
    try:
        for size in range(1, regions + 1):
            found = _search(instruction, stage, category, size, end - time.monotonic())
            best = found if found is not None and (best is None or found.real) else best
            if best is not None and best.real:
                break
    except PackError as error:
        if error.code != "search-timeout":
            raise
        if best is None:
            return Reading(stage, category, "undecided", f"not within {seconds:g} s")
    if best is None:
        return Reading(stage, category, "unseen", f"no two states with up to {regions} regions show it")
    if not _checks(instruction, best):
        return Reading(stage, category, "undecided", "two states show it, and the Maintainer sees no difference", best)
    return Reading(stage, category, "read", "as two states show", best)


# -- searching -----------------------------------------------------------------------------------


def _search(instruction: Instruction, stage: str, category: str, size: int, seconds: float) -> Witness | None:
    kernel = files("obviate.kb").joinpath("kernel/maintenance.lp").read_text(encoding="utf-8")
    program = [text("states"), text("reads"), kernel, f"#const varied = {category}.", f"#const stage = {stage}."]
    program += [f"#const far = {size}.", *_domain(instruction, size), *_sides(instruction)]
    program += (other.text for other in instruction.program.others if other.kind == "definition")
    found = asp.search("\n".join(program), _OUTPUTS, seconds=seconds)
    return _witness(found.atoms, stage, category, _names(instruction, size)) if found else None


def _sides(instruction: Instruction) -> Iterator[str]:
    """The instruction's program on each of the two states."""
    for side in ("a", "b"):
        prefix = f"_{side}_"
        yield prefixed(instruction.program, prefix)
        for name, arity in READS:
            args = ",".join("XYZ"[:arity])
            yield f"{prefix}{name}({args}) :- {name}({side},{args})."
        yield f"qualifies({side},R) :- {prefix}qualifies({instruction.name},R)."
        yield f"prefer({side},R,D) :- {prefix}prefer({instruction.name},R,D)."


def _domain(instruction: Instruction, size: int) -> Iterator[str]:
    """The regions, types, labels and counts that can make a difference, and one more of each."""
    terms = list(_terms(instruction))
    words = {term.name for term in terms if term.kind == "constant"}
    numbers = {int(term.text) for term in terms if term.kind == "number"}
    counts = {1, 2, *(n + more for n in numbers for more in (-1, 0, 1) if 0 < n + more < 10_000)}
    for name in ("thing", "word"):
        yield from (f"{name}({word})." for word in sorted({*words, "other"}))
    yield from (f"count({count})." for count in sorted(counts)[:_COUNTS])
    yield from (f"region({quote(name)})." for name in _names(instruction, size))


def _names(instruction: Instruction, size: int) -> list[str]:
    """The regions that the program names, and others; in order."""
    named = sorted({term.name for term in _terms(instruction) if term.kind == "string"})
    return sorted([*named, *(room for room in _ROOMS if room not in named)][:size])


def _terms(instruction: Instruction) -> Iterator[TermPattern]:
    """Every term of the program but the instruction's own name and what it says and declares."""
    for rule in instruction.program.rules:
        args = [arg for literal in rule.body for pattern, _ in literal.inner for arg in pattern.args]
        args += [term for literal in rule.body for term in literal.compared]
        if rule.head is not None and rule.head.name not in ("says", "depends"):
            args += rule.head.args[rule.head.name in ("instruction", "judged", "qualifies", "prefer") :]
        yield from (term for arg in args for term in arg.walk())


def _witness(atoms: frozenset[Atom], stage: str, category: str, names: list[str]) -> Witness:
    def all_of(name: str, *first: Term) -> list[tuple[Any, ...]]:
        found = (a.args for a in atoms if a.name == name and a.args[: len(first)] == first)
        return sorted((args[len(first) :] for args in found), key=str)

    def state(side: Fun) -> Regions:
        data: dict[str, Any] = {"regions": {name: {"inventory": {}} for name in names}}
        for room, label in all_of("label", side):
            data["regions"][room]["label"] = str(label)
        for room, type, count in all_of("inventory", side):
            data["regions"][room]["inventory"][str(type)] = count
        joined = all_of("joined", side)
        data |= {"doors": [list(pair) for pair in joined], "at": all_of("at", side)[0][0]}
        return Regions.of({**data, "used": [room for (room,) in all_of("used", side)]})

    before, after = Fun("a"), Fun("b")
    real = not all_of("astray")
    both = (state(before), state(after))
    among = tuple(room for (room,) in all_of("among"))
    if stage == "semantic":
        return Witness(stage, category, both, all_of("candidate")[0][0], (), True, False, real)
    chosen = [all_of("target", side)[0][0] for side in (before, after)]
    return Witness(stage, category, both, "", among, chosen[0], chosen[1], real)


# -- checking ------------------------------------------------------------------------------------


def _checks(instruction: Instruction, found: Witness) -> bool:
    """Whether what is carried out at run time sees the difference, too, and the states differ in the category alone."""
    if set(found.states[0].difference(found.states[1])) != {found.category}:
        return False
    if found.stage == "semantic":
        told = instruction.inferred.semantic
        asked = [Question.of(instruction.name, state, found.region, told) for state in found.states]
        if Exact(instruction).judge(asked) != [found.before, found.after]:
            return False
        targets: list[str | None] = [found.region, None]
    else:
        chosen = [_chosen(instruction, state, found.among) for state in found.states]
        if chosen != [found.before, found.after]:
            return False
        targets = [str(found.before), str(found.after)]
    if not found.real or instruction.judged:
        return True
    full = Maintainer(instruction, policy="full")
    return [full.initialize(found.states[0]).target, full.observe(found.states[1]).target] == targets


def _chosen(instruction: Instruction, state: Regions, among: tuple[str, ...]) -> str:
    ranks = preference(instruction, state)
    last = max(ranks.values(), default=0) + 1
    return min(among, key=lambda region: (ranks.get(region, last), region))


def stale_target(instruction: Instruction, found: Witness) -> tuple[str | None, str | None] | None:
    """The target by the declared signature and by full recomputation, where a witness makes them differ."""
    if instruction.judged:
        return None
    declared, full = Maintainer(instruction, policy="declared"), Maintainer(instruction, policy="full")
    before, after = found.states
    for one in (declared, full):
        one.initialize(before)
    report = observed(before, after)
    kept, right = (one.observe(after, footprint=report).target for one in (declared, full))
    return (kept, right) if kept != right else None
