"""What remains of a rule without some of its literals, as a body that is still safe."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from obviate.kb.program import Literal, Rule
from obviate.kb.scan import code_of

__all__ = ["is_idle", "needs", "remainder", "shared", "unbound"]

_ASSIGNS = re.compile(r"([A-Z_]\w*) = #")
_OBJECTS = {"object": (0,), "moved": (0,), "tag": (0,), "state": (0,), "value": (0,), "edge": (1, 2)}
_BINDINGS = ("hazard", "threatens", "resolved", "pending")


def remainder(rule: Rule, dropped: Collection[int], wanted: Collection[str] = ()) -> tuple[list[str], frozenset[str]]:
    """The body of a rule without some of its literals, and the variables that it binds.

    Variables that only these bound, and that `wanted` or another literal needs, range over all objects if they stand
    for objects; literals that need one which does not are left out too.
    """
    kept = [literal for i, literal in enumerate(rule.body) if i not in dropped]
    common = shared(rule)
    free = sorted(unbound(rule, dropped, wanted) & _object_variables(rule))
    bound = _bound(kept, frozenset(free))
    while any(not needs(literal, common) <= bound for literal in kept):
        kept = [literal for literal in kept if needs(literal, common) <= bound]
        bound = _bound(kept, frozenset(free))
    return [*(f"object({name})" for name in free), *(literal.text for literal in kept)], bound & common


def unbound(rule: Rule, dropped: Collection[int], wanted: Collection[str] = ()) -> frozenset[str]:
    """The variables that `wanted` or a literal that is kept needs, and none that is kept gives a value."""
    kept = [literal for i, literal in enumerate(rule.body) if i not in dropped]
    common = shared(rule)
    return frozenset(wanted).union(*(needs(literal, common) for literal in kept)) - _bound(kept, frozenset())


def is_idle(rule: Rule, literal: Literal) -> bool:
    """Whether the literal is no condition: all that a rule speaks of is an object, and a target is asked of records."""
    atom, head = literal.atom, rule.head
    if atom is None or head is None or literal.negations:
        return False
    own = [arg.text for arg in atom.args] == [arg.text for arg in head.args]
    return atom.name == "object" or ((head.name, atom.name) == ("resolved", "pending") and own)


def needs(literal: Literal, common: frozenset[str]) -> frozenset[str]:
    """The variables of a literal that are not its own: those of an aggregate's elements may be."""
    return literal.variables if _is_plain(literal) else literal.variables & common


def _is_plain(literal: Literal) -> bool:
    """Whether all variables of the literal belong to the rule: it is no aggregate and has no condition."""
    return literal.atom is not None or bool(literal.compared) or not re.search("[{:]", code_of(literal.text))


def shared(rule: Rule) -> frozenset[str]:
    """The variables that belong to the whole rule."""
    head = rule.head.variables if rule.head else frozenset()
    assigned = {match[1] for literal in rule.body if (match := _ASSIGNS.match(literal.text))}
    return head.union(assigned, *(literal.variables for literal in rule.body if _is_plain(literal)))


def _bound(literals: Sequence[Literal], bound: frozenset[str]) -> frozenset[str]:
    """The variables that literals give a value, besides those that have one."""
    bound = bound.union(*(literal.binds for literal in literals))
    while True:
        found = set(bound)
        for literal in literals:
            if literal.negations:
                continue
            assigns = _ASSIGNS.match(literal.text)
            if assigns is not None:
                found.add(assigns[1])
            sides = zip(literal.compared, literal.operators, literal.compared[1:], strict=False)
            for one, _, other in (side for side in sides if side[1] == "="):
                found |= other.variables if one.variables <= bound and other.kind in ("variable", "tuple") else set()
                found |= one.variables if other.variables <= bound and one.kind in ("variable", "tuple") else set()
        if found == bound:
            return bound
        bound = frozenset(found)


def _object_variables(rule: Rule) -> frozenset[str]:
    """The variables of a rule that stand for objects, as far as its literals tell."""
    found: set[str] = set()
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    for pattern in [*patterns, *([rule.head] if rule.head else [])]:
        terms = [pattern.args[i] for i in _OBJECTS.get(pattern.name, ()) if i < len(pattern.args)]
        if pattern.name in ("intent", "executed"):
            terms = [part for action in pattern.args[0].alternatives() for part in action.parts]
        elif pattern.name in _BINDINGS and len(pattern.args) == 2:
            terms = [pattern.args[1], *pattern.args[1].parts]
        found |= {part.text for term in terms for part in term.alternatives() if part.kind == "variable"}
    return frozenset(found)
