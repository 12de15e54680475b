"""Whether a goal holds in a state of the world, and if not, which facts are to blame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from obviate.adapters.isbench.bddl import And, Atom, Exists, Forall, Formula, Imply, Literal, Not, Or

__all__ = ["Facts", "Verdict", "evaluate"]

_Binding: TypeAlias = Mapping[str, str]
_Judgment: TypeAlias = tuple[bool, tuple[Literal, ...]]


class Facts(Protocol):
    """One state of the world, closed: what does not hold is false."""

    def holds(self, predicate: str, args: tuple[str, ...]) -> bool:
        """Whether ``predicate`` holds of these object ids."""

    def instances(self, kind: str) -> Sequence[str]:
        """The ids of the declared objects of exactly this kind."""

    def is_substance(self, id: str) -> bool:
        """Whether ``id`` is a substance (water, dust, ...) rather than a rigid object."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `evaluate` finds.

    ``false_literals`` are the ground literals whose falsity makes the goal false, each once: ``not
    open(door)`` (``positive=False``) among them says that the door is open. An ``or`` blames all its
    disjuncts; a false ``exists`` without instances has nothing to blame. ``error`` is the reason why the
    goal has no truth value at all; it is then not satisfied, and the literal that has none stands in
    ``false_literals``.
    """

    satisfied: bool
    false_literals: tuple[Literal, ...] = ()
    error: str = ""


class _UndefinedError(Exception):
    def __init__(self, literal: Literal, reason: str) -> None:
        super().__init__(reason)
        self.literal = literal


def evaluate(formula: Formula, facts: Facts) -> Verdict:
    """Judge a goal, whose names outside its quantifiers are object ids, in one state.

    As in the reference evaluator every part is looked at, so an undefined part (``nextto`` of a substance,
    which is no one thing that could be next to another) leaves the whole undefined, whatever the other parts
    say.
    """
    try:
        satisfied, blame = _judge(formula, True, {}, facts)
    except _UndefinedError as error:
        return Verdict(False, (error.literal,), str(error))
    return Verdict(satisfied, tuple(dict.fromkeys(blame)))


def _judge(formula: Formula, sign: bool, binding: _Binding, facts: Facts) -> _Judgment:
    """Whether `formula` is true (`sign`) or false (not `sign`), and if that is not so, the literals to blame.

    Passing the sign down is negation normal form on the fly: under a negation `and` and `or` change places,
    as do `forall` and `exists`.
    """
    match formula:
        case Atom(predicate, names):
            return _judge_atom(predicate, tuple(binding.get(name, name) for name in names), sign, facts)
        case Not(body):
            return _judge(body, not sign, binding, facts)
        case And(parts):
            return _combine((_judge(part, sign, binding, facts) for part in parts), every=sign)
        case Or(parts):
            return _combine((_judge(part, sign, binding, facts) for part in parts), every=not sign)
        case Imply(premise, conclusion):
            parts = (Not(premise), conclusion)
            return _combine((_judge(part, sign, binding, facts) for part in parts), every=not sign)
        case Forall(variable, kind, body) | Exists(variable, kind, body):
            every = sign == isinstance(formula, Forall)
            scopes = ({**binding, variable: instance} for instance in facts.instances(kind))
            return _combine((_judge(body, sign, scope, facts) for scope in scopes), every=every)


def _judge_atom(predicate: str, args: tuple[str, ...], sign: bool, facts: Facts) -> _Judgment:
    literal = Literal(predicate, args, sign)
    if predicate == "nextto":
        for arg in args:
            if facts.is_substance(arg):
                raise _UndefinedError(literal, f"nextto relates rigid objects, and {arg} is a substance")
    satisfied = facts.holds(predicate, args) == sign
    return satisfied, () if satisfied else (literal,)


def _combine(judgments: Iterable[_Judgment], *, every: bool) -> _Judgment:
    # A list, not a generator: no part may be skipped, since any of them may be undefined.
    parts = list(judgments)
    satisfied = all(part for part, _ in parts) if every else any(part for part, _ in parts)
    return satisfied, () if satisfied else tuple(literal for _, blame in parts for literal in blame)
