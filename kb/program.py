"""Answer set programs as data: rules with their literals, terms and places, whoever parsed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from obviate.kb.errors import Span

__all__ = ["Literal", "Pattern", "Program", "Rule", "Statement", "TermPattern"]

Signature = tuple[str, int, bool]  # name, arity, False for classical negation


@dataclass(frozen=True, slots=True)
class TermPattern:
    """A term as written. `kind` is variable, number, string, constant, function, tuple, pool, operation (arithmetic
    or a range, by the operator in `name`) or other.
    """

    kind: str
    text: str
    name: str = ""
    parts: tuple[TermPattern, ...] = ()
    span: Span | None = field(default=None, compare=False)

    def walk(self) -> Iterator[TermPattern]:
        """The term itself, then every term inside it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(part.text for part in self.walk() if part.kind == "variable")

    def alternatives(self) -> tuple[TermPattern, ...]:
        """The terms a pool stands for; the term itself otherwise."""
        if self.kind != "pool":
            return (self,)
        return tuple(inner for part in self.parts for inner in part.alternatives())

    def valued(self, values: Mapping[str, TermPattern]) -> TermPattern:
        """The term with values for some constants."""
        if self.kind == "constant":
            return values.get(self.name, self)
        return replace(self, parts=tuple(part.valued(values) for part in self.parts)) if self.parts else self


@dataclass(frozen=True, slots=True)
class Pattern:
    """An atom as written, with variables."""

    name: str
    args: tuple[TermPattern, ...]
    positive: bool
    span: Span = field(compare=False)
    pool: TermPattern | None = None  # the pool of atoms that this one is written in

    @property
    def pooled(self) -> bool:
        """Whether the atom stands for several."""
        return self.pool is not None or any(part.kind == "pool" for arg in self.args for part in arg.walk())

    @property
    def signature(self) -> Signature:
        return self.name, len(self.args), self.positive

    def valued(self, values: Mapping[str, TermPattern]) -> Pattern:
        """The atom with values for some constants."""
        return replace(self, args=tuple(arg.valued(values) for arg in self.args))

    @property
    def variables(self) -> frozenset[str]:
        return frozenset().union(*(arg.variables for arg in self.args))


@dataclass(frozen=True, slots=True)
class Literal:
    """One element of a body. `atom` is set for a plain atom; `inner` lists every atom inside, also of
    aggregates and conditions, with whether its truth can only help the literal (`monotone`); `negated` those that
    stand under a negation. A comparison has its terms in `compared`, with an operator between each two; `computed` are
    the terms inside that calculate. `compound` is an aggregate or has a condition; `weights` are those of a sum;
    `elements` are its elements, of each the atoms and whether such an atom, being true, gives its variables values.
    """

    text: str
    span: Span = field(compare=False)
    negations: int = 0
    atom: Pattern | None = None
    inner: tuple[tuple[Pattern, bool], ...] = ()
    negated: tuple[Pattern, ...] = ()
    variables: frozenset[str] = frozenset()
    compared: tuple[TermPattern, ...] = ()
    operators: tuple[str, ...] = ()
    computed: tuple[TermPattern, ...] = ()
    compound: bool = False
    weights: tuple[TermPattern, ...] = ()
    elements: tuple[tuple[tuple[Pattern, bool], ...], ...] = ()

    @property
    def binds(self) -> frozenset[str]:
        """The variables that the literal gives a value."""
        return self.atom.variables if self.atom is not None and not self.negations else frozenset()

    def valued(self, values: Mapping[str, TermPattern]) -> Literal:
        """The literal with values for some constants, but in its text."""
        return replace(
            self,
            atom=self.atom.valued(values) if self.atom is not None else None,
            inner=tuple((pattern.valued(values), monotone) for pattern, monotone in self.inner),
            negated=tuple(pattern.valued(values) for pattern in self.negated),
            compared=tuple(term.valued(values) for term in self.compared),
            computed=tuple(term.valued(values) for term in self.computed),
            weights=tuple(term.valued(values) for term in self.weights),
            elements=tuple(tuple((p.valued(values), true) for p, true in element) for element in self.elements),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` :- `body`; an integrity constraint has no head."""

    head: Pattern | None
    body: tuple[Literal, ...]
    text: str
    span: Span = field(compare=False)
    arithmetic: bool = False  # whether it computes, so that an instance may be undefined


@dataclass(frozen=True, slots=True)
class Statement:
    """Anything in a program that is neither rule nor comment: `kind` names it, ``definition`` for #const."""

    kind: str
    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A parsed text: its rules, and the other statements in it."""

    rules: tuple[Rule, ...]
    others: tuple[Statement, ...]
    text: str = field(repr=False)

    @property
    def constants(self) -> dict[str, str]:
        """The values of ``#const``, as they are written."""
        texts = (other.text for other in self.others if other.kind == "definition")
        return {text.split()[1]: text.partition("=")[2].strip(" .") for text in texts}

    def valued(self, overrides: Mapping[str, str]) -> Program:
        """The program with the values of its ``#const``, some of them overridden, in all but its texts."""
        values = {name: _value(text) for name, text in {**self.constants, **overrides}.items()}
        if not values:
            return self
        for _ in values:  # one may be another
            values = {name: value.valued(values) for name, value in values.items()}
        rules = tuple(
            replace(
                rule,
                head=rule.head.valued(values) if rule.head is not None else None,
                body=tuple(literal.valued(values) for literal in rule.body),
            )
            for rule in self.rules
        )
        return replace(self, rules=rules)


def _value(text: str) -> TermPattern:
    """The value of a constant as a term: a number, a string or a name."""
    if text.startswith('"'):
        return TermPattern("string", text, text[1:-1])
    kind = "number" if text.lstrip("-").isdigit() else "constant"
    return TermPattern(kind, text, text if kind == "constant" else "")
