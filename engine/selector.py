"""What an instruction prefers, and whether more contents can only help: told from its program."""

from __future__ import annotations

from collections.abc import Mapping

from obviate.kb import asp
from obviate.kb.instruction import Instruction
from obviate.kb.program import Literal, Rule
from obviate.kb.regions import Regions
from obviate.kb.terms import Fun

__all__ = ["grows", "preference"]


def preference(instruction: Instruction, state: Regions) -> Mapping[str, int]:
    """The rank of each region that ``prefer`` speaks of, lower first."""
    rules = [rule for rule in instruction.program.rules if rule.head is not None and rule.head.name == "prefer"]
    if not rules:
        return {}
    if len(rules) == 1 and _is_hops(rules[0]):
        return state.hops()
    facts = [*state.facts(), *state.derived()]
    found = asp.evaluate([instruction.program.text], facts, [("prefer", 3, True)])
    ranks: dict[str, int] = {}
    for atom in found:
        name, region, rank = atom.args
        if name == Fun(instruction.name) and isinstance(region, str) and isinstance(rank, int):
            ranks[region] = min(rank, ranks.get(region, rank))
    return ranks


def _is_hops(rule: Rule) -> bool:
    """Whether the rule says ``prefer(I,R,D) :- hops(R,D)``."""
    body = rule.body[0].atom if len(rule.body) == 1 else None
    if rule.head is None or body is None or rule.body[0].negations or body.name != "hops":
        return False
    return [arg.text for arg in body.args] == [arg.text for arg in rule.head.args[1:]]


def grows(instruction: Instruction) -> bool:
    """Whether a region that qualifies still does with more in it: contents are read in no negation, aggregate or
    condition, and counts are compared with a lower bound only.
    """
    for rule in instruction.program.rules:
        counts = set()
        for literal in rule.body:
            for pattern, monotone in literal.inner:
                if not monotone and _reads_contents(instruction, pattern.signature[:2]):
                    return False
                if pattern.name == "inventory" and literal.atom is not None:
                    count = literal.atom.args[2]
                    if count.kind != "variable":
                        return False
                    counts.add(count.text)
        counts.discard("_")
        if not all(_bounds_below(literal, counts) for literal in rule.body):
            return False
        if rule.head is not None and counts & rule.head.variables:
            return False
    return True


def _reads_contents(instruction: Instruction, predicate: tuple[str, int]) -> bool:
    todo, seen = [predicate], set()
    while todo:
        current = todo.pop()
        if current == ("inventory", 3):
            return True
        if current not in seen:
            seen.add(current)
            for rule in instruction.program.rules:
                if rule.head is not None and rule.head.signature[:2] == current:
                    todo += [pattern.signature[:2] for literal in rule.body for pattern, _ in literal.inner]
    return False


def _bounds_below(literal: Literal, counts: set[str]) -> bool:
    """Whether a literal speaks of counts only as larger than a number."""
    if not literal.variables & counts or literal.atom is not None:
        return True
    if literal.negations or len(literal.compared) != 2:
        return False
    (one, other), operator = literal.compared, literal.operators[0]
    return (one.text in counts and other.kind == "number" and operator in (">", ">=")) or (
        other.text in counts and one.kind == "number" and operator in ("<", "<=")
    )
