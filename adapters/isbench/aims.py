"""Goals for the planner: a BDDL formula as a program that concludes ``goal`` from beliefs.

A literal holds only of things that were seen: nothing is claimed of what is hidden in a closed cupboard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from obviate.adapters.isbench.bddl import And, Atom, Exists, Forall, Formula, Imply, Not, Or
from obviate.adapters.isbench.scene import RELATIONS
from obviate.kb.kinds import Kinds
from obviate.kb.terms import Atom as Fact
from obviate.kb.terms import Fun, quote

__all__ = ["Aim", "aim_of"]

_WITHIN = """
within(X,Y) :- holder(Y), edge(inside,X,Y).
within(X,Y) :- edge((inside;ontop),X,Z), within(Z,Y).
"""


@dataclass(frozen=True, slots=True)
class Aim:
    """The program, and the objects that it names."""

    program: str
    names: frozenset[str]


def aim_of(formula: Formula, objects: Mapping[str, str], kinds: Kinds) -> Aim:
    """The aim that is reached where `evaluate` finds the formula satisfied, quantified over `objects` (id to kind)."""
    writer = _Writer(objects, kinds)
    top = writer.write(formula, True, {})
    return Aim("\n".join([f"goal :- {top}.", *dict.fromkeys(writer.rules), _WITHIN]), frozenset(writer.names))


class _Writer:
    """Writes a formula in negation normal form, a predicate for each part."""

    def __init__(self, objects: Mapping[str, str], kinds: Kinds) -> None:
        self._objects = objects
        self._kinds = kinds
        self.rules: list[str] = []
        self.names: set[str] = set()
        self._count = 0

    def write(self, formula: Formula, sign: bool, binding: Mapping[str, str]) -> str:
        match formula:
            case Atom(predicate, args):
                return self._literal(predicate, [binding.get(name, name) for name in args], sign)
            case Not(body):
                return self.write(body, not sign, binding)
            case And(parts):
                return self._join([self.write(part, sign, binding) for part in parts], every=sign)
            case Or(parts):
                return self._join([self.write(part, sign, binding) for part in parts], every=not sign)
            case Imply(premise, conclusion):
                both = [self.write(premise, not sign, binding), self.write(conclusion, sign, binding)]
                return self._join(both, every=not sign)
            case Forall(variable, kind, body) | Exists(variable, kind, body):
                scopes = [{**binding, variable: name} for name, of in self._objects.items() if of == kind]
                every = sign == isinstance(formula, Forall)
                return self._join([self.write(body, sign, scope) for scope in scopes], every=every)

    def _join(self, parts: list[str], *, every: bool) -> str:
        name = self._name()
        if every:
            self.rules.append(f"{name} :- {', '.join(parts)}." if parts else f"{name}.")
        else:
            self.rules += [f"{name} :- {part}." for part in parts]
        return name

    def _literal(self, predicate: str, args: list[str], sign: bool) -> str:
        self.names.update(args)
        name = self._name()
        if predicate == "nextto" and any(self._kinds.is_substance(self._objects.get(arg, "")) for arg in args):
            return name  # has no truth value, so it is never so
        seen = [f"seen({quote(arg)})" for arg in args if arg in self._objects]
        atom, positive = _atom(predicate, args)
        literal = str(atom) if positive == sign else f"not {atom}"
        if atom.name == "within":
            self.rules.append(f"holder({quote(args[1])}).")
        self.rules.append(f"{name} :- {', '.join([*seen, literal])}.")
        return name

    def _name(self) -> str:
        self._count += 1
        return f"part{self._count}"


def _atom(predicate: str, args: list[str]) -> tuple[Fact, bool]:
    if predicate == "real":
        return Fact("state", (args[0], Fun("future"))), False
    if len(args) == 1:
        return Fact("state", (args[0], Fun(predicate))), True
    if predicate == "inside":
        return Fact("within", tuple(args)), True
    return Fact("edge", (Fun(RELATIONS.get(predicate, predicate)), *args)), True
