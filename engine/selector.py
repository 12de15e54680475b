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
    condition, and each count is a variable of its own that is compared with a lower bound only.
    """
    return all(_grows(rule, instruction) for rule in instruction.program.rules)


def _grows(rule: Rule, instruction: Instruction) -> bool:
    read = [(pattern, monotone) for literal in rule.body for pattern, monotone in literal.inner]
    if any(not monotone and _reads_contents(instruction, pattern.signature[:2]) for pattern, monotone in read):
        return False
    counts = [pattern.args[2] for pattern, _ in read if pattern.name == "inventory"]
    if any(count.kind != "variable" for count in counts):
        return False
    heads = rule.head.args if rule.head is not None else ()
    terms = [term for args in (heads, *(pattern.args for pattern, _ in read)) for arg in args for term in arg.walk()]
    names = {count.text for count in counts} - {"_"}
    if any(sum(term.text == name for term in terms) > 1 for name in names):
        return False  # it joins: two counts are equal, or a helper or the head says more of it
    return all(_bounds_below(literal, names) for literal in rule.body)


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
