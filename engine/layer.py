"""Copies of a program under other names, so that several moments, or several packs, stand in one search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from obviate.engine.backend import KERNEL
from obviate.engine.search import frame
from obviate.engine.slice import Slice
from obviate.kb import asp
from obviate.kb.errors import Span
from obviate.kb.program import Pattern, Rule
from obviate.kb.scan import code_of

__all__ = ["kernel", "renamed", "side"]


def side(part: Slice, prefix: str, shared: frozenset[str]) -> str:
    """One pack's view: its slice and the kernel, concluding under a prefix from the shared predicates."""
    facts = [f"{prefix}{line}" for line in frame(part) if not line.startswith("#const")]
    own = [renamed(rule, prefix, shared, part.constants) for rule in part.rules]
    return "\n".join([*facts, *own, kernel(prefix, shared)])


@lru_cache(maxsize=8)
def kernel(prefix: str, shared: frozenset[str]) -> str:
    """The kernel under a prefix."""
    return "\n".join(renamed(rule, prefix, shared) for rule in _kernel_rules())


@lru_cache(maxsize=1)
def _kernel_rules() -> tuple[Rule, ...]:
    return asp.parse(KERNEL, "jit.lp").rules


def renamed(
    rule: Rule, prefix: str, shared: frozenset[str], constants: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The text of a rule with a prefix before each predicate that is not shared, and the values of constants."""
    code = code_of(rule.text)
    atoms = _atoms(rule, code)
    edits = {at: (at, prefix) for at, name in atoms.items() if name not in shared}
    for name, value in constants.items():
        for at in _places(name, code):
            if at not in atoms and code[at + len(name) : at + len(name) + 1] != "(":
                edits[at] = (at + len(name), f"({value})")
    pieces, last = [], 0
    for at, (end, new) in sorted(edits.items()):
        pieces += [rule.text[last:at], new]
        last = end
    return "".join([*pieces, rule.text[last:]])


def _atoms(rule: Rule, code: str) -> dict[int, str]:
    """Where the atoms of a rule begin in its text. A term may be called like a predicate: then it is parsed."""
    named: dict[str, set[Span]] = {}
    for pattern in _patterns(rule):
        named.setdefault(pattern.name, set()).add(pattern.span)
    found: dict[int, str] = {}
    for name, spans in named.items():
        places = _places(name, code)
        if len(places) != len(spans):
            (again, *_) = asp.parse(rule.text, "rule").rules
            return {pattern.span.column - 1: pattern.name for pattern in _patterns(again)}
        found |= dict.fromkeys(places, name)
    return found


def _patterns(rule: Rule) -> Iterator[Pattern]:
    if rule.head is not None:
        yield rule.head
    yield from (pattern for literal in rule.body for pattern, _ in literal.inner)


def _places(name: str, code: str) -> list[int]:
    return [match.start() for match in re.finditer(rf"(?<![\w']){re.escape(name)}(?![\w'])", code)]
