"""Turning clingo's syntax trees into our own. The trees are told by the names of their types: nothing is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from obviate.kb.errors import Span
from obviate.kb.program import Literal, Pattern, Rule, Statement, TermPattern

__all__ = ["operations", "read"]

_ARITHMETIC = ("BinaryOperation", "UnaryOperation", "Interval")
_BINARY = ("^", "?", "&", "+", "-", "*", "/", "\\", "**")  # as clingo numbers them
_UNARY = ("-", "~", "||")
_SUMS = (1, 2)  # #sum and #sum+
_SYMBOLS = {"Number": "number", "String": "string", "Function": "constant"}
_COMPARISON = (">", "<", "<=", ">=", "!=", "=")

MakeSpan = Callable[[int, int, int, int], Span]  # of the lines and bytes where a node begins and ends


def read(nodes: Iterable[Any], span: MakeSpan) -> tuple[tuple[Rule, ...], tuple[Statement, ...]]:
    """The rules among syntax trees, and the other statements."""
    reader = _Reader(span)
    for node in nodes:
        reader.read(node)
    return tuple(reader.rules), tuple(reader.others)


def _type(node: Any) -> str:
    return str(node.ast_type.name)


class _Reader:
    def __init__(self, span: MakeSpan) -> None:
        self._make_span = span
        self.rules: list[Rule] = []
        self.others: list[Statement] = []

    def _span(self, node: Any) -> Span:
        begin, end = node.location.begin, node.location.end
        return self._make_span(begin.line, begin.column, end.line, end.column)

    def read(self, node: Any) -> None:
        kind = _type(node).lower()
        if kind == "comment" or (kind == "program" and node.name == "base" and not node.parameters):
            return
        span = self._span(node)
        if kind != "rule":
            self.others.append(Statement(kind, str(node), span))
            return
        head = node.head
        if _type(head) == "Literal" and not int(head.sign):
            atom = head.atom
            kind = _type(atom)
            if kind == "SymbolicAtom":
                body, text = self._body(node.body), str(node)
                for pattern in self._patterns(atom):
                    computes = any(literal.computed for literal in body) or any(operations(pattern.args))
                    self.rules.append(Rule(pattern, body, text, span, computes))
                return
            if kind == "BooleanConstant" and not atom.value:
                self.rules.append(Rule(None, self._body(node.body), str(node), span))
                return
        self.others.append(Statement(_type(head).lower() + " head", str(node), span))

    def _body(self, body: Iterable[Any]) -> tuple[Literal, ...]:
        return tuple(map(self._literal, body))

    def _literal(self, node: Any) -> Literal:
        text, span = str(node), self._span(node)
        if _type(node) == "Literal":
            atom, negations = node.atom, int(node.sign)
            match _type(atom):
                case "SymbolicAtom":
                    found = tuple(self._patterns(atom))
                    args = [arg for pattern in found for arg in pattern.args]
                    return Literal(
                        text,
                        span,
                        negations,
                        None if found[0].pool else found[0],
                        inner=tuple((pattern, not negations) for pattern in found),
                        negated=found if negations else (),
                        variables=_named(args),
                        computed=operations(args),
                    )
                case "Comparison":
                    terms = tuple(map(self._term, (atom.term, *(guard.term for guard in atom.guards))))
                    operators = tuple(_COMPARISON[int(guard.comparison)] for guard in atom.guards)
                    return Literal(
                        text,
                        span,
                        negations,
                        variables=_named(terms),
                        compared=terms,
                        operators=operators,
                        computed=operations(terms),
                    )
        return self._compound(node, text, span)

    def _compound(self, node: Any, text: str, span: Span) -> Literal:
        """An aggregate or a condition: of its atoms the worst is assumed, that they may help and hinder."""
        inner = [pattern for found in _nodes(node, "SymbolicAtom") for pattern in self._patterns(found)]
        under = [found for child in _children(node) for found in _nodes(child, "Literal") if int(found.sign)]
        negated = [p for outer in under for found in _nodes(outer, "SymbolicAtom") for p in self._patterns(found)]
        return Literal(
            text,
            span,
            int(node.sign) if _type(node) == "Literal" else 0,
            inner=tuple((pattern, False) for pattern in inner),
            negated=tuple(negated),
            variables=frozenset(str(found.name) for found in _nodes(node, "Variable")) - {"_"},
            computed=tuple(map(self._term, _outermost(node))),
            compound=True,
            weights=tuple(self._term(element.terms[0]) for element in _summed(node) if element.terms),
            elements=tuple(map(self._element, _elements(node))),
        )

    def _element(self, literals: list[tuple[Any, bool]]) -> tuple[tuple[Pattern, bool], ...]:
        return tuple(
            (pattern, binds and not int(literal.sign))
            for literal, binds in literals
            if _type(literal.atom) == "SymbolicAtom"
            for pattern in self._patterns(literal.atom)
        )

    def _patterns(self, atom: Any) -> list[Pattern]:
        """The atoms that p(a;b) stands for, which clingo reads as p((a;b)) where each has one argument."""
        symbol, positive = atom.symbol, True
        while _type(symbol) == "UnaryOperation":
            symbol, positive = symbol.argument, not positive
        if _type(symbol) != "Pool":
            return [self._pattern(atom)]
        span = self._span(symbol)
        pool = TermPattern("pool", str(symbol), span=span)
        parts = [tuple(map(self._term, part.arguments)) for part in symbol.arguments]
        return [Pattern(symbol.arguments[0].name, part, positive, span, pool) for part in parts]

    def _pattern(self, atom: Any) -> Pattern:
        symbol, positive = atom.symbol, True
        while _type(symbol) == "UnaryOperation":
            symbol, positive = symbol.argument, not positive
        if _type(symbol) == "SymbolicTerm":
            return Pattern(str(symbol), (), positive, self._span(symbol))
        return Pattern(symbol.name, tuple(map(self._term, symbol.arguments)), positive, self._span(symbol))

    def _term(self, node: Any) -> TermPattern:
        text, span = str(node), self._span(node)
        match _type(node):
            case "Variable":
                return TermPattern("variable", text, node.name, span=span)
            case "SymbolicTerm":
                kind = _SYMBOLS.get(node.symbol.type.name, "other")
                name = {"string": "string", "constant": "name"}.get(kind, "")
                return TermPattern(kind, text, getattr(node.symbol, name) if name else "", span=span)
            case "Pool":
                return TermPattern("pool", text, parts=tuple(map(self._term, node.arguments)), span=span)
            case "Function":
                kind = "other" if node.external else "function" if node.name else "tuple"
                return TermPattern(kind, text, node.name, tuple(map(self._term, node.arguments)), span)
            case "BinaryOperation":
                name = _BINARY[int(node.operator_type)]
            case "UnaryOperation":
                name = _UNARY[int(node.operator_type)]
            case "Interval":
                name = ".."
            case _:
                return TermPattern("other", text, parts=tuple(map(self._term, _children(node))), span=span)
        return TermPattern("operation", text, name, tuple(map(self._term, _children(node))), span)


def _children(node: Any) -> list[Any]:
    found: list[Any] = []
    for key in node.child_keys:
        child = getattr(node, key)
        if child is None or isinstance(child, str):
            continue
        if hasattr(child, "child_keys"):
            found.append(child)
        else:
            found.extend(child)
    return found


def _nodes(node: Any, kind: str) -> list[Any]:
    own = [node] if _type(node) == kind else []
    return own + [found for child in _children(node) for found in _nodes(child, kind)]


def _outermost(node: Any) -> list[Any]:
    """The largest terms of a syntax tree that compute."""
    kind = _type(node)
    if kind in _ARITHMETIC and not (kind == "UnaryOperation" and _type(node.argument) == "Function"):
        return [node]
    return [found for child in _children(node) for found in _outermost(child)]


def _summed(node: Any) -> list[Any]:
    """The elements of the sums in a syntax tree."""
    sums = [found for found in _nodes(node, "BodyAggregate") if int(found.function) in _SUMS]
    return [element for found in sums for element in found.elements]


def _elements(node: Any) -> list[list[tuple[Any, bool]]]:
    """The literals of each element of an aggregate, or of a condition, whose own literal binds nothing."""
    if _type(node) == "ConditionalLiteral":
        return [[(node.literal, False), *((literal, True) for literal in node.condition)]]
    found = []
    for element in getattr(node.atom, "elements", ()):  # #true and #false have none
        own = [element.literal] if _type(element) == "ConditionalLiteral" else []
        found.append([(literal, True) for literal in (*own, *element.condition)])
    return found


def operations(terms: Iterable[TermPattern]) -> tuple[TermPattern, ...]:
    """The largest terms among and inside `terms` that compute."""
    found: list[TermPattern] = []
    for term in terms:
        found += [term] if term.kind == "operation" else operations(term.parts)
    return tuple(found)


def _named(terms: Iterable[TermPattern]) -> frozenset[str]:
    return frozenset().union(*(term.variables for term in terms)) - {"_"}
