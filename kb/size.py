"""How much a pack could ground by itself, before anything is believed: an upper bound, told from its syntax."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import prod

import networkx as nx

from obviate.kb.program import Program, Rule, Signature, TermPattern

__all__ = ["ground_size", "widest"]

_MANY = 10**12  # no larger number is of interest


def ground_size(program: Program, consts: Mapping[str, str]) -> int:
    """At most so many rule instances follow where nothing is believed. `consts` are the values of ``#const``."""
    return min(sum(size for _, size in _sized(program, consts)), _MANY)


def widest(program: Program, consts: Mapping[str, str]) -> Rule:
    """The rule that may have the most instances; the program has at least one."""
    return max(_sized(program, consts), key=lambda item: item[1])[0]


def _sized(program: Program, consts: Mapping[str, str]) -> Iterator[tuple[Rule, int]]:
    by_head: dict[Signature, list[Rule]] = {}
    graph: nx.DiGraph[Signature] = nx.DiGraph()
    for rule in program.rules:
        if rule.head is not None:
            by_head.setdefault(rule.head.signature, []).append(rule)
            graph.add_node(rule.head.signature)
            graph.add_edges_from((p.signature, rule.head.signature) for lit in rule.body for p, _ in lit.inner)
    sizes: dict[Signature, int] = {}
    condensed = nx.condensation(graph)
    for node in nx.topological_sort(condensed):
        members: set[Signature] = condensed.nodes[node]["members"]
        rules = [rule for member in members for rule in by_head.get(member, ())]
        if _recursive(rules, members):
            seeds = sum(_instances(rule, sizes, consts) for rule in rules)  # members count as empty
            inputs = sum(sizes.get(p.signature, 0) for rule in rules for lit in rule.body for p, _ in lit.inner)
            terms = (seeds + inputs) * max(arity for _, arity, _ in members) if seeds else 0
            sizes |= {member: min(_MANY, terms ** member[1]) for member in members}
        else:
            sizes |= {m: sum(_instances(rule, sizes, consts) for rule in by_head.get(m, ())) for m in members}
        yield from ((rule, _instances(rule, sizes, consts)) for rule in rules)


def _recursive(rules: Iterable[Rule], members: Collection[Signature]) -> bool:
    return any(p.signature in members for rule in rules for literal in rule.body for p, _ in literal.inner)


def _instances(rule: Rule, sizes: Mapping[Signature, int], consts: Mapping[str, str]) -> int:
    """At most so many instances has a rule."""
    size = prod(_width(arg, consts) for arg in (rule.head.args if rule.head else ()))
    for literal in rule.body:
        if literal.atom is not None and not literal.negations:
            size *= sizes.get(literal.atom.signature, 0)
        size *= prod(_width(term, consts) for term in (*literal.computed, *literal.compared))
    return min(size, _MANY)


def _width(term: TermPattern, consts: Mapping[str, str]) -> int:
    """How many terms a term stands for."""
    if term.kind == "pool":
        return sum(_width(part, consts) for part in term.parts)
    if term.kind == "operation" and term.name == "..":
        low, high = (consts.get(part.text, part.text) for part in term.parts)
        plain = all(bound.lstrip("-").isdigit() for bound in (low, high))
        return max(0, int(high) - int(low) + 1) if plain else _MANY
    return prod(_width(part, consts) for part in term.parts)
