"""BDDL, the language of IS-Bench's problems and goals: text in, frozen values out.

Names lose their leading ``?`` and their capitals, as in the reference reader. Every predicate, object and
kind is checked where it stands, so what comes out names nothing that does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.tree import Meta

from obviate.kb.errors import DataError, Span, nearest

__all__ = [
    "MAX_DEPTH",
    "MAX_QUANTIFIERS",
    "PREDICATES",
    "And",
    "Atom",
    "Exists",
    "Forall",
    "Formula",
    "Imply",
    "Literal",
    "Not",
    "Or",
    "Problem",
    "parse_conditions",
    "parse_goal",
    "parse_problem",
]

_UNARY = "assembled broken cooked folded frozen future hot on_fire open real toggled_on unfolded"
_BINARY = (
    "attached contains covered draped filled grasped inroom inside insource nextto ontop overlaid saturated "
    "touching under"
)
PREDICATES: Mapping[str, int] = dict.fromkeys(_UNARY.split(), 1) | dict.fromkeys(_BINARY.split(), 2)
"""The predicates of the simulator's BDDL domain and their number of arguments."""

MAX_DEPTH = 64
"""Formulas nested deeper are refused: whatever walks them may then recurse safely."""

MAX_QUANTIFIERS = 4
"""Quantifiers within quantifiers beyond this are refused: evaluating them is exponential in their number."""

_LONGEST_EXCERPT = 200
_LONGEST_QUOTE = 60
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Atom:
    """``predicate`` holds of ``args``, each an object id or a variable of an enclosing quantifier."""

    predicate: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """``body`` does not hold."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And:
    """All ``parts`` hold; true when there are none."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of ``parts`` holds; false when there are none."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Imply:
    """``conclusion`` holds if ``premise`` does."""

    premise: Formula
    conclusion: Formula


@dataclass(frozen=True, slots=True)
class Forall:
    """``body`` holds for every instance of ``kind`` in place of ``variable``."""

    variable: str
    kind: str
    body: Formula


@dataclass(frozen=True, slots=True)
class Exists:
    """``body`` holds for some instance of ``kind`` in place of ``variable``."""

    variable: str
    kind: str
    body: Formula


Formula: TypeAlias = Atom | Not | And | Or | Imply | Forall | Exists


@dataclass(frozen=True, slots=True)
class Literal:
    """A ground atom, or its negation when not ``positive``."""

    predicate: str
    args: tuple[str, ...]
    positive: bool = True

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{self.predicate}({', '.join(self.args)})"


@dataclass(frozen=True, slots=True)
class Problem:
    """One BDDL problem.

    ``objects`` maps each id to its kind (a synset such as ``plate.n.04``), in declared order.
    ``init`` and ``goal`` name only those objects (and, in ``inroom``, a room).
    """

    name: str
    domain: str
    objects: dict[str, str]
    init: tuple[Literal, ...]
    goal: Formula


def parse_problem(text: str, *, file: str) -> Problem:
    """Read a whole problem; ``file`` is the name that errors show.

    Raises `DataError`: ``bddl-syntax`` where the text is not BDDL or is nested too deeply, ``bddl-name``
    where it declares an object twice, names one that it does not declare, or misuses a predicate.
    """
    reader = _Reader(text, file)
    tree = reader.tree("problem")
    name, domain = _tokens(tree)
    groups, init, *goal = _trees(tree)
    objects = reader.declarations(groups)
    reader.declare(objects)
    return Problem(
        name=_name(name),
        domain=_name(domain),
        objects=objects,
        init=tuple(reader.literal(child) for child in _trees(init)),
        goal=_conjunction([reader.formula(child) for child in goal]),
    )


def parse_goal(text: str, *, file: str, objects: Mapping[str, str] | None = None) -> Formula:
    """Read one goal, ``(:goal ...)``, which holds if all conditions in it do; see `parse_conditions`."""
    return _conjunction(parse_conditions(text, file=file, objects=objects))


def parse_conditions(text: str, *, file: str, objects: Mapping[str, str] | None = None) -> tuple[Formula, ...]:
    """Read the conditions in one goal: a single one, unless its author left out the ``and``.

    ``file`` is the name that errors show. ``objects`` (id to kind, as in `Problem`) are the ones that the
    goal may name; without them any name will do.

    Raises `DataError`: ``bddl-syntax`` where the text is not a goal or is nested too deeply, ``bddl-name``
    where it misuses a predicate or names something that is not among ``objects``.
    """
    reader = _Reader(text, file)
    if objects is not None:
        reader.declare(objects)
    return tuple(reader.formula(child) for child in _trees(reader.tree("goal")))


@cache
def _parser() -> Lark:
    grammar = resources.files("obviate.adapters.isbench").joinpath("bddl.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["problem", "goal"], propagate_positions=True)


@cache
def _words() -> Mapping[str, str]:
    """What to call each terminal of the grammar when it is missing."""
    plain = {"(": "an opening parenthesis", ")": "a closing parenthesis", "-": "'-' and a kind"}
    named = {"NAME": "a name", "VARIABLE": "a variable"}
    # Lark's parser and its lexer each have a name of their own for it.
    end = dict.fromkeys(("$END", "<END-OF-FILE>"), "the end of the text")
    keywords = {t.name: plain.get(t.pattern.value, f"'{t.pattern.value}'") for t in _parser().terminals}
    return keywords | named | end


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _tokens(tree: Tree[Token]) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token)]


def _conjunction(parts: Sequence[Formula]) -> Formula:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _name(token: Token) -> str:
    return token.removeprefix("?")


def _shown(text: str) -> str:
    return repr(text[:_LONGEST_QUOTE] + ("..." if len(text) > _LONGEST_QUOTE else ""))


class _Reader:
    """Turns the parse tree of one text into values, and knows where everything stood."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.objects: Collection[str] | None = None
        self.kinds: Collection[str] = ()

    def declare(self, objects: Mapping[str, str]) -> None:
        """From here on, only these objects (id to kind) may be named."""
        self.objects = objects.keys()
        self.kinds = set(objects.values())

    def tree(self, start: str) -> Tree[Token]:
        try:
            # Unlike str.lower, this keeps the length, and with it every column.
            return _parser().parse(self.text.translate(_LOWER), start=start)
        except UnexpectedToken as error:
            if error.token.type == "$END":
                shown = self.text.rstrip()
                line, column = shown.count("\n") + 1, len(shown) - shown.rfind("\n")
                raise self.unexpected("the end of the text", error.expected, line, column) from None
            raise self.unexpected(_shown(error.token), error.expected, error.line, error.column) from None
        except UnexpectedCharacters as error:
            raise self.unexpected(_shown(error.char), error.allowed or {"$END"}, error.line, error.column) from None

    def unexpected(self, found: str, expected: Iterable[str], line: int, column: int) -> DataError:
        *most, last = sorted({_words()[terminal] for terminal in expected})
        wanted = f"{', '.join(most)} or {last}" if most else last
        return DataError("bddl-syntax", f"expected {wanted}, found {found}", where=self.span(line, column))

    def refusal(self, code: str, message: str, place: Token | Meta, help: str = "") -> DataError:
        return DataError(code, message, where=self.span(place.line or 1, place.column or 1), help=help)

    def span(self, line: int, column: int) -> Span:
        source = self.text.split("\n")[line - 1]
        return Span(self.file, line, column, source if len(source) <= _LONGEST_EXCERPT else "")

    def declarations(self, tree: Tree[Token]) -> dict[str, str]:
        objects: dict[str, str] = {}
        for group in _trees(tree):
            *members, kind = _tokens(group)
            for token in members:
                name = _name(token)
                if name in objects:
                    raise self.refusal("bddl-name", f"{_shown(name)} is declared twice", token)
                objects[name] = _name(kind)
        return objects

    def literal(self, tree: Tree[Token]) -> Literal:
        positive = tree.data == "atom"
        atom = self.atom(tree if positive else _trees(tree)[0], ())
        return Literal(atom.predicate, atom.args, positive)

    def formula(self, tree: Tree[Token], bound: tuple[str, ...] = (), depth: int = 1) -> Formula:
        if depth > MAX_DEPTH:
            message = f"a formula nested more than {MAX_DEPTH} deep"
            raise self.refusal("bddl-syntax", message, tree.meta)
        if tree.data == "atom":
            return self.atom(tree, bound)
        if tree.data in ("universal", "existential"):
            return self.quantified(tree, bound, depth)
        parts = tuple(self.formula(part, bound, depth + 1) for part in _trees(tree))
        match tree.data:
            case "negation":
                return Not(*parts)
            case "conjunction":
                return And(parts)
            case "disjunction":
                return Or(parts)
            case _:
                return Imply(*parts)

    def quantified(self, tree: Tree[Token], bound: tuple[str, ...], depth: int) -> Formula:
        variable, kind = _tokens(tree)
        if len(bound) == MAX_QUANTIFIERS:
            message = f"more than {MAX_QUANTIFIERS} quantifiers within each other"
            raise self.refusal("bddl-syntax", message, tree.meta)
        if self.objects is not None:
            self.known(kind, "the kind of a declared object", self.kinds)
        body = self.formula(_trees(tree)[0], (*bound, _name(variable)), depth + 1)
        quantifier = Forall if tree.data == "universal" else Exists
        return quantifier(_name(variable), _name(kind), body)

    def atom(self, tree: Tree[Token], bound: tuple[str, ...]) -> Atom:
        predicate, *args = _tokens(tree)
        self.known(predicate, "a predicate", PREDICATES)
        name = _name(predicate)
        if len(args) != PREDICATES[name]:
            message = f"{name!r} takes {PREDICATES[name]} argument(s), not {len(args)}"
            raise self.refusal("bddl-name", message, predicate)
        if self.objects is not None:
            # The second argument of inroom is a room, which no problem declares.
            for token in args[:1] if name == "inroom" else args:
                self.known(token, "a declared object", bound, self.objects)
        return Atom(name, tuple(map(_name, args)))

    def known(self, token: Token, what: str, *scopes: Collection[str]) -> None:
        name = _name(token)
        if not any(name in scope for scope in scopes):
            help = nearest(name, chain(*scopes))
            raise self.refusal("bddl-name", f"{_shown(name)} is not {what}", token, help)
