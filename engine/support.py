"""Why a conclusion is true, and why it is not: the literals that a rule stands on, or that it lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from obviate.engine.backend import KERNEL
from obviate.engine.record import Trigger
from obviate.engine.remainder import remainder
from obviate.kb import BeliefGraph, Pack, asp
from obviate.kb.pack import rule_names
from obviate.kb.program import Literal, Rule, TermPattern
from obviate.kb.terms import Atom, Fun, Term, binding_of, term_of_binding

__all__ = ["Gap", "gap", "grounds", "obstacles", "support"]

_ANONYMOUS = re.compile(r'("(?:[^"\\]|\\.)*")|(?<!\w)_(?!\w)')


def support(pack: Pack, graph: BeliefGraph, trigger: Trigger) -> tuple[str, ...]:
    """The literals of a hazard rule of `trigger` as they hold in `graph`, in the order of the rule.

    One instance is told if there are several; nothing if the hazard does not hold in this graph.
    """
    name = trigger.rule.removeprefix(f"{pack.name}.")
    return grounds(pack, graph.facts(), "hazard", name, trigger.binding)


def grounds(pack: Pack, facts: Iterable[Atom], member: str, rule: str, binding: Sequence[str]) -> tuple[str, ...]:
    """The same of a hazard, threat or target (`member`) of a rule, given the facts that the kernel sees."""
    goal = _binding_text(binding)
    queries = [_query(i, clause, goal) for i, clause in enumerate(_clauses(pack, member, rule))]
    found = asp.evaluate([pack.program.text, KERNEL, *queries], facts, [("_support", 2, True)], pack.consts)
    if not found:
        return ()
    first = min(found, key=str).args[1]
    assert isinstance(first, Fun)
    return tuple(_words(part) for part in first.args)


def _clauses(pack: Pack, member: str, rule: str) -> list[Rule]:
    return [r for r in pack.program.rules if r.head and r.head.name == member and rule in rule_names(r)]


def _binding_text(binding: Sequence[str]) -> str:
    return str(Atom("b", (term_of_binding(tuple(binding)),)))[2:-1]


def _query(index: int, rule: Rule, binding: str) -> str:
    assert rule.head is not None
    said, body = [], []
    for i, literal in enumerate(rule.body):
        if literal.atom is None:
            body.append(literal.text)
            continue
        sign = "" if literal.atom.positive else "-"
        fresh = [f"_V{i}_{j}" for j in range(len(literal.atom.args))]
        args = [
            arg.text if literal.negations else _argument(arg, name, body)
            for arg, name in zip(literal.atom.args, fresh, strict=True)
        ]
        atom = f"{sign}{literal.atom.name}({','.join(args)})" if args else f"{sign}{literal.atom.name}"
        body.append("not " * literal.negations + atom)
        said.append(_reified(literal, args))
    goal = f"{rule.head.args[1].text} = {binding}"
    return f"_support({index},({','.join([*said, ''])})) :- {'; '.join([*body, goal])}."


def _argument(term: TermPattern, fresh: str, body: list[str]) -> str:
    """The text of an argument; a pool becomes a variable over its alternatives, so that the one met is told, and so
    does what has parts that do not matter.
    """
    if term.text == "_":
        return fresh
    if term.kind == "pool" or any(part.text == "_" for part in term.walk()):
        body.append(f"{fresh} = {term.text}")
        return fresh
    return term.text


def _reified(literal: Literal, args: list[str]) -> str:
    assert literal.atom is not None
    shown = [_ANONYMOUS.sub(lambda match: match[1] or "any", text) for text in args]
    return f"_said({literal.atom.name},{int(literal.atom.positive)},{literal.negations},({','.join([*shown, ''])}))"


def _words(term: Term) -> str:
    assert isinstance(term, Fun)
    name, positive, negations, args = term.args
    assert isinstance(args, Fun)
    inner = ", ".join(part if isinstance(part, str) else str(part) for part in args.args)
    return "not " * int(str(negations)) + ("" if positive == 1 else "-") + f"{name}({inner})"


# -- what is lacking ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gap:
    """The fewest literals that keep a hazard, threat or target from holding: the position of each in the body of
    `clause`, from 1, and how it reads for the objects. None where nothing is in the way.
    """

    clause: Rule
    literals: tuple[tuple[int, str], ...]


def gap(pack: Pack, facts: Iterable[Atom], member: str, rule: str, binding: Sequence[str]) -> Gap | None:
    """What keeps a `member` of a rule from holding for a binding; None if the rule has no such clause."""
    facts = list(facts)
    clauses = _clauses(pack, member, rule)
    for size in range(1 + max((len(clause.body) for clause in clauses), default=-1)):
        cases = [(r, frozenset(some)) for r in clauses for some in combinations(range(len(r.body)), size)]
        near = _near([pack.program.text, KERNEL], facts, pack, cases, _binding_text(binding))
        if near:
            clause, dropped = cases[near[0][0]]
            texts = ((i + 1, _instantiated(clause.body[i].text, clause, tuple(binding))) for i in sorted(dropped))
            return Gap(clause, tuple(texts))
    return None


def obstacles(pack: Pack, graph: BeliefGraph, rule: str, objects: Collection[str]) -> tuple[str, ...]:
    """What keeps the hazard of `rule` from holding for one of `objects`: the fewest literals, at most two.

    Tags are static and never told. Variables that the rule does not bind otherwise are left as written. Empty
    when the hazard does hold, or when more than two literals stand in the way.
    """
    clauses = _clauses(pack, "hazard", rule)
    for size in (0, 1, 2):
        cases = [(r, frozenset(some)) for r in clauses for some in combinations(_changeable(r), size)]
        near = _near([pack.program.text], graph.facts(), pack, cases)
        found = [(index, binding) for index, binding in near if set(binding) & set(objects)]
        if found:
            index, binding = found[0]
            clause, dropped = cases[index]
            return tuple(_instantiated(clause.body[i].text, clause, binding) for i in sorted(dropped))
    return ()


def _changeable(rule: Rule) -> list[int]:
    return [i for i, literal in enumerate(rule.body) if literal.atom is None or literal.atom.name != "tag"]


def _near(
    program: Sequence[str],
    facts: Iterable[Atom],
    pack: Pack,
    cases: Sequence[tuple[Rule, frozenset[int]]],
    goal: str = "",
) -> list[tuple[int, tuple[str, ...]]]:
    """The cases, by index, in which what remains of a rule holds, and the bindings for which it does."""
    queries = []
    for i, (rule, dropped) in enumerate(cases):
        assert rule.head is not None
        binding = rule.head.args[1].text
        body, _ = remainder(rule, dropped, rule.head.variables)
        body += [f"{binding} = {goal}"] if goal else []
        queries.append(f"_near({i},{binding}){' :- ' if body else ''}{'; '.join(body)}.")
    found = asp.evaluate([*program, *queries], facts, [("_near", 2, True)], pack.consts)
    return sorted((int(str(atom.args[0])), binding_of(atom.args[1])) for atom in found)


def _instantiated(text: str, rule: Rule, binding: tuple[str, ...]) -> str:
    assert rule.head is not None
    term = rule.head.args[1]
    names = [part.text for part in (term.parts if term.kind == "tuple" else (term,))]
    values = dict(zip(names, binding, strict=True))
    return re.sub(r"\b[A-Z]\w*\b", lambda match: values.get(match[0], match[0]), text)
