"""What a pack says and cannot mean: hazards that nothing makes true, targets that nothing reaches.

Each finding comes from a search over belief graphs (`search.possible`), one for each rule of the pack. A rule that
is written with a ``#const`` is a switch of the site, and never found to be idle.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from itertools import chain

from obviate.engine.search import Example, possible, satisfiable, smallest
from obviate.engine.slice import Slice, keys_of, object_variables, slice_of
from obviate.kb import Pack
from obviate.kb.dependency import MEMBERS, Key, dependency_key
from obviate.kb.errors import PackError, Span
from obviate.kb.program import Literal, Rule

__all__ = ["analysis", "safe_body"]


def analysis(pack: Pack, *, seconds: float = 5.0) -> list[PackError]:
    """The findings on a pack that loads, in the order of its text; a warning if `seconds` do not reach every rule.

    A finding is an error where the search is exhaustive (`Slice.exhaustive`) and the rule can do nothing at all.
    """
    end = time.monotonic() + seconds
    found: list[PackError] = []
    idle: dict[Span, PackError | None] = {}  # None: it fires somewhere
    missed: list[str] = []
    for name in pack.rules:
        part = slice_of(pack, name)
        known = possible(pack, name, seconds=end - time.monotonic()) if time.monotonic() < end else None
        if known is None:
            missed.append(name)
        else:
            goals, fires = known
            found += _findings(part, goals, end)
            idle |= {rule.span: None for i, rule in enumerate(part.rules) if i in fires}
            for rule in _idle(part, fires, goals):
                idle.setdefault(rule.span, _never_holds(part, rule))
    if missed:
        yet = f"{len(missed)} of {len(pack.rules)} rules were not searched, {missed[0]} first: over {seconds:g} s"
        where = pack.rules[missed[0]].span
        found.append(PackError("search-timeout", yet, where=where, help="allow more time", severity="warning"))
    found += [finding for finding in idle.values() if finding is not None]
    return sorted(found, key=_place)


def _findings(part: Slice, goals: frozenset[str], end: float) -> Iterator[PackError]:
    """What is wrong with a rule as a whole: the first thing that keeps it from opening records, and its target."""
    name, graph = part.rule.name, f"no belief graph of up to {part.bound} objects"
    surely = "error" if part.exhaustive else "warning"
    if "hazard" not in goals:
        yield PackError(
            "never-hazard",
            f"{graph} makes the hazard of {name} true",
            where=_where(part, "hazard"),
            help=_excluding(part, "hazard", end),
            severity=surely,
        )
    elif "trigger" not in goals:
        yield PackError(
            "never-threatens",
            f"{graph} and no intent make the hazard of {name} and its threat true together",
            where=_where(part, "threatens"),
            help="they must hold for the same objects, in the same order",
            severity=surely,
        )
    elif "both" in goals:
        example = _example(part, end)
        shown = f", as with {_told(example)}" if example is not None else ""
        always = "opens" not in goals
        yield PackError(
            "hazard-with-target",
            f"{name} is resolved {'whenever' if always else 'at times while'} its hazard holds, "
            f"and then opens no record{shown}",
            where=_where(part, "resolved"),
            help="say in the target that the hazard is over, or leave the target out if that is all it means",
            severity=surely if always else "warning",
        )
    if "target" not in goals:
        yield PackError(
            "never-resolved",
            f"{graph} resolves {name}: its records can only fail",
            where=_where(part, "resolved" if part.rule.targeted else "hazard"),
            help="its conditions exclude each other, or the hazard always holds",
            severity="warning",
        )


def _idle(part: Slice, fires: frozenset[int], goals: frozenset[str]) -> Iterator[Rule]:
    """The rules that never fire, but for what follows from a finding already made."""
    holds = {key for i, rule in enumerate(part.rules) if i in fires or not rule.body for key in keys_of(rule)}
    concluded = set(chain.from_iterable(map(keys_of, part.rules)))
    told = {"hazard": "hazard", "threatens": "trigger", "resolved": "target"}
    for i, rule in enumerate(part.rules):
        switch = set(re.findall(r"\w+", rule.text)) & part.constants.keys()
        if i in fires or not rule.body or switch:
            continue
        if any(key[0] in MEMBERS and (key[1] != part.rule.name or told[key[0]] not in goals) for key in keys_of(rule)):
            continue
        read = {key for literal in rule.body for p, monotone in literal.inner if monotone for key in dependency_key(p)}
        if not any(_concluded(key, concluded) and not _concluded(key, holds) for key in read):
            yield rule


def _concluded(key: Key, keys: set[Key]) -> bool:
    return key in keys or (key[1] == "*" and any(other[0] == key[0] for other in keys))


def _never_holds(part: Slice, rule: Rule) -> PackError:
    return PackError(
        "never-holds",
        f"no belief graph of up to {part.bound} objects makes the body of this rule true",
        where=rule.span,
        help="its conditions exclude each other: mend it, or remove it",
        severity="warning",
    )


def _excluding(part: Slice, member: str, end: float) -> str:
    """Which conditions exclude each other, so few that any one of them could be left out; if there is one rule."""
    help = "its conditions exclude each other"
    rules = [rule for rule in part.rules if (member, part.rule.name) in keys_of(rule)]
    if len(rules) != 1:
        return help
    kept = list(rules[0].body)
    try:
        for literal in rules[0].body:
            fewer = [other for other in kept if other is not literal]
            body = safe_body(rules[0], fewer)
            if body and not satisfiable(part, body, seconds=end - time.monotonic()):
                kept = fewer
    except PackError:  # out of time
        return help
    return f"nothing makes this true: {'; '.join(literal.text for literal in kept)}"


def safe_body(rule: Rule, literals: Sequence[Literal]) -> str:
    """Some literals of a rule as a body, over all objects where nothing else binds them; empty if that is not so."""
    bound = frozenset().union(*(literal.binds for literal in literals))
    loose = frozenset().union(*(literal.variables for literal in literals)) - bound
    if not literals or not loose <= set(object_variables(rule)):
        return ""
    return "; ".join([*(f"object({name})" for name in sorted(loose)), *(literal.text for literal in literals)])


def _example(part: Slice, end: float) -> Example | None:
    try:
        return smallest(part.pack, part.rule.name, "both", seconds=end - time.monotonic())
    except PackError:  # out of time: then without an example
        return None


def _told(example: Example) -> str:
    facts = ", ".join(map(str, example.beliefs)) or "nothing believed"
    return f"{facts} and the intent {example.intent}" if example.intent is not None else facts


def _where(part: Slice, member: str) -> Span:
    """The place of the first rule for a hazard, threat or target."""
    spans = (rule.span for rule in part.rules if (member, part.rule.name) in keys_of(rule))
    return next(spans, part.rule.span)


def _place(finding: PackError) -> tuple[str, int, int, str]:
    where = finding.where
    assert isinstance(where, Span)
    return where.file, where.line, where.column, finding.code
