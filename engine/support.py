"""Why a trigger is true, and why it is not: the beliefs that a hazard stands on, or that it lacks."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import combinations

from obviate.engine.record import Trigger
from obviate.kb import BeliefGraph, Pack, asp
from obviate.kb.pack import rule_names
from obviate.kb.program import Literal, Rule, TermPattern
from obviate.kb.terms import Atom, Fun, Term, binding_of, term_of_binding

__all__ = ["obstacles", "support"]


def support(pack: Pack, graph: BeliefGraph, trigger: Trigger) -> tuple[str, ...]:
    """The literals of a hazard rule of `trigger` as they hold in `graph`, in the order of the rule.

    One instance is told if there are several; nothing if the hazard does not hold in this graph.
    """
    name = trigger.rule.removeprefix(f"{pack.name}.")
    rules = [r for r in pack.program.rules if r.head and r.head.name == "hazard" and name in rule_names(r)]
    binding = str(Atom("b", (term_of_binding(trigger.binding),)))[2:-1]
    queries = [_query(i, rule, binding) for i, rule in enumerate(rules)]
    found = asp.evaluate([pack.program.text, *queries], graph.facts(), [("_support", 2, True)], pack.consts)
    if not found:
        return ()
    first = min(found, key=str).args[1]
    assert isinstance(first, Fun)
    return tuple(_words(part) for part in first.args)


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
    """The text of an argument; a pool becomes a variable over its alternatives, so that the one met is told."""
    if term.kind == "pool":
        body.append(f"{fresh} = {term.text}")
        return fresh
    return fresh if term.text == "_" else term.text


def _reified(literal: Literal, args: list[str]) -> str:
    assert literal.atom is not None
    shown = ["any" if text == "_" else text for text in args]
    return f"_said({literal.atom.name},{int(literal.atom.positive)},{literal.negations},({','.join([*shown, ''])}))"


def _words(term: Term) -> str:
    assert isinstance(term, Fun)
    name, positive, negations, args = term.args
    assert isinstance(args, Fun)
    inner = ", ".join(part if isinstance(part, str) else str(part) for part in args.args)
    return "not " * int(str(negations)) + ("" if positive == 1 else "-") + f"{name}({inner})"


def obstacles(pack: Pack, graph: BeliefGraph, rule: str, objects: Collection[str]) -> tuple[str, ...]:
    """What keeps the hazard of `rule` from holding for one of `objects`: the fewest literals, at most two.

    Tags are static and never told. Variables that the rule does not bind otherwise are left as written. Empty
    when the hazard does hold, or when more than two literals stand in the way.
    """
    rules = [r for r in pack.program.rules if r.head and r.head.name == "hazard" and rule in rule_names(r)]
    for size in (0, 1, 2):
        cases = [(r, set(dropped)) for r in rules for dropped in combinations(_changeable(r), size)]
        queries = [_without(i, r, dropped) for i, (r, dropped) in enumerate(cases)]
        facts = asp.evaluate([pack.program.text, *queries], graph.facts(), [("_near", 2, True)], pack.consts)
        near = [(int(str(f.args[0])), binding_of(f.args[1])) for f in facts if _binds(f.args[1], objects)]
        if near:
            index, binding = min(near)
            return tuple(_instantiated(literal.text, cases[index][0], binding) for literal in _ordered(*cases[index]))
    return ()


def _changeable(rule: Rule) -> list[Literal]:
    return [literal for literal in rule.body if literal.atom is None or literal.atom.name != "tag"]


def _binds(term: Term, objects: Collection[str]) -> bool:
    parts = (term,) if isinstance(term, str) else term.args if isinstance(term, Fun) and not term.name else ()
    return bool(parts) and all(isinstance(p, str) for p in parts) and bool(set(map(str, parts)) & set(objects))


def _without(index: int, rule: Rule, dropped: set[Literal]) -> str:
    """The rule without some literals; what they alone would have bound is any object."""
    assert rule.head is not None
    kept = [literal for literal in rule.body if literal not in dropped]
    heads = rule.head.args[1].variables
    bound = heads.union(*(literal.binds for literal in kept))
    body = [f"object({name})" for name in sorted(heads)]
    body += [literal.text for literal in kept if literal.variables <= bound]
    return f"_near({index},{rule.head.args[1].text}) :- {'; '.join(body)}."


def _ordered(rule: Rule, dropped: set[Literal]) -> list[Literal]:
    return [literal for literal in rule.body if literal in dropped]


def _instantiated(text: str, rule: Rule, binding: tuple[str, ...]) -> str:
    assert rule.head is not None
    term = rule.head.args[1]
    names = [part.text for part in (term.parts if term.kind == "tuple" else (term,))]
    values = dict(zip(names, binding, strict=True))
    return re.sub(r"\b[A-Z]\w*\b", lambda match: values.get(match[0], match[0]), text)
