"""How much a pack could ground, on nothing and on a crowd of objects: upper bounds, told from its syntax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from obviate.kb import digraph
from obviate.kb.check.sorts import OBJECT, Sorts
from obviate.kb.predicates import BELIEFS
from obviate.kb.program import Literal, Pattern, Program, Rule, Signature, TermPattern

__all__ = ["ground_size", "widest"]

_MANY = 10**15  # no larger number is of interest
_NAMES = 20  # tags, states, relations or numbers that a belief can have for an object
_BELIEVED = {"object": (1, 0), "moved": (1, 0), "tag": (1, 1), "state": (1, 1), "value": (1, 2), "edge": (2, 1)}


def ground_size(program: Program, *, objects: int = 0, consts: Mapping[str, str] | None = None) -> int:
    """At most so many rule instances follow on a scene of so many objects, of which everything is believed.

    `consts` are the values of ``#const`` that a site overrides.
    """
    return min(sum(size for _, size in _Sizes(program, objects, consts or {}).rules()), _MANY)


def widest(program: Program, *, objects: int = 0, consts: Mapping[str, str] | None = None) -> Rule:
    """The rule that may have the most instances; the program has at least one."""
    return max(_Sizes(program, objects, consts or {}).rules(), key=lambda item: item[1])[0]


class _Sizes:
    """Bounds the atoms of each predicate, from what is read to what is concluded."""

    def __init__(self, program: Program, objects: int, consts: Mapping[str, str]) -> None:
        self._program = program
        self._objects = objects
        self._consts = {**program.constants, **consts}
        self._sorts = Sorts(program)
        self._sizes: dict[Signature, int] = {}

    def rules(self) -> Iterator[tuple[Rule, int]]:
        """The rules with the number of instances that each can have."""
        by_head: dict[Signature, list[Rule]] = {}
        graph: digraph.DiGraph[Signature] = digraph.DiGraph()
        for rule in self._program.rules:
            if rule.head is not None:
                by_head.setdefault(rule.head.signature, []).append(rule)
                graph.add_node(rule.head.signature)
                graph.add_edges_from((p.signature, rule.head.signature) for lit in rule.body for p, _ in lit.inner)
        condensed = digraph.condensation(graph)
        for node in digraph.topological_sort(condensed):
            members: set[Signature] = condensed.nodes[node]["members"]
            rules = [rule for member in members for rule in by_head.get(member, ())]
            read = {p.signature for rule in rules for lit in rule.body for p, _ in lit.inner}
            if members & read:
                self._recursive(rules, members)
            else:
                found = {m: sum(map(self._instances, by_head[m])) for m in members if m in by_head}
                self._sizes |= {m: min(size, self._columns(m, size)) for m, size in found.items()}
            yield from ((rule, self._instances(rule)) for rule in rules)

    def _recursive(self, rules: list[Rule], members: Iterable[Signature]) -> None:
        seeds = sum(map(self._instances, rules))  # members count as empty
        inputs = sum(self._size(p) for rule in rules for lit in rule.body for p, _ in lit.inner)
        for member in members:
            self._sizes[member] = self._columns(member, seeds + inputs) if seeds else 0

    def _columns(self, member: Signature, others: int) -> int:
        """At most so many atoms: one for each combination of what its places can hold."""
        name, arity, _ = member
        kinds = (self._sorts.of_place(name, arity, i) for i in range(arity))
        return min(_MANY, prod(self._objects if kind == {OBJECT} else others for kind in kinds))

    def _size(self, pattern: Pattern) -> int:
        if pattern.name in BELIEFS:
            objects, names = _BELIEVED[pattern.name]
            return int(self._objects**objects * _NAMES**names)
        if pattern.name in ("intent", "executed"):
            return 1
        if pattern.name == "pending":
            return int(self._objects ** len(pattern.args[-1].parts or (0,)))
        return self._sizes.get(pattern.signature, 0)

    def _instances(self, rule: Rule) -> int:
        """At most so many instances has a rule: as its atoms combine, or as its variables do."""
        head = rule.head.args if rule.head else ()
        atoms = [lit.atom for lit in rule.body if lit.atom is not None and not lit.negations]
        size = self._joined(atoms)
        for literal in rule.body:
            size *= prod(self._width(term) for term in (*literal.computed, *literal.compared))
            if literal.compound:
                size = max(1, size) * self._elements(literal)
        return min(_MANY, size * prod(map(self._width, head)))

    def _joined(self, atoms: list[Pattern]) -> int:
        sizes = [self._size(atom) for atom in atoms]
        if 0 in sizes:
            return 0
        domains: dict[str, int] = {}
        for atom, size in zip(atoms, sizes, strict=True):
            for name, objects in self._bound(atom):
                domains[name] = min(domains.get(name, _MANY), self._objects if objects else size)
        return min(prod(sizes), prod(domains.values()) if domains else 1, _MANY)

    def _bound(self, atom: Pattern) -> Iterator[tuple[str, bool]]:
        """The variables of an atom, and whether they stand for objects."""
        for i, arg in enumerate(atom.args):
            inside = atom.name in ("intent", "executed", "hazard", "threatens", "resolved", "pending")
            objects = self._sorts.at(atom, i) == {OBJECT} or (inside and arg.kind != "constant")
            for part in arg.walk():
                if part.kind == "variable":
                    yield (f"_{id(part)}" if part.text == "_" else part.text), objects

    def _elements(self, literal: Literal) -> int:
        sizes = [max(1, self._size(pattern)) for pattern, _ in literal.inner]
        domains: dict[str, int] = {}
        for (pattern, _), size in zip(literal.inner, sizes, strict=True):
            for name, objects in self._bound(pattern):
                domains[name] = min(domains.get(name, _MANY), max(1, self._objects) if objects else size)
        return min(prod(sizes), prod(domains.values()), _MANY)

    def _width(self, term: TermPattern) -> int:
        """How many terms a term stands for."""
        if term.kind == "pool":
            return sum(map(self._width, term.parts))
        if term.kind == "operation" and term.name == "..":
            low, high = (self._consts.get(part.text, part.text) for part in term.parts)
            plain = all(bound.lstrip("-").isdigit() for bound in (low, high))
            return max(0, int(high) - int(low) + 1) if plain else _MANY
        return prod(map(self._width, term.parts))
