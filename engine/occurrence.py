"""The rules of a pack as joins: which atoms link which objects, so that it can be told how far a change reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from obviate.engine.remainder import shared
from obviate.kb.dependency import dependency_key
from obviate.kb.predicates import BELIEFS, MEMBERS, NAMED
from obviate.kb.program import Literal, Pattern, Rule, TermPattern

__all__ = ["Join", "Key", "Occurrence", "Unlocal", "joins"]

Key = tuple[str, str]  # as in kb.dependency: a predicate and its arity; of a safety rule's members, the rule
Topic = tuple[str, bool, str]  # predicate, sign, and the constant that it is about ("" for any)

NameOf = Callable[[TermPattern], str | None]
_NAMED = {"tag": 1, "state": 1, "value": 1}
_OBJECT = {"object": (0,), "moved": (0,), "tag": (0,), "state": (0,), "value": (0,), "edge": (1, 2)}


class Unlocal(Exception):  # noqa: N818 - no error, a reason
    """Why it cannot be told from the objects of a rule how far a change reaches."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An atom in a body. `kind` is unary (about one object), edge, call (of what other rules conclude), intent or
    record (that one of the rule's own is open).

    `names` are the variables at its places for objects, None for anything else there, such as ``_``. `topics` are what
    a unary one reads, `relations` what an edge may be (none: anything), `keys` what is called. `binds` are those of
    `names` that have values only where it is true; in an element of an aggregate, the element's own. `filters`: whether
    a unary one must be true of whatever plays the part of its variable, or an intent where the body is.
    """

    kind: str
    names: tuple[str | None, ...]
    binds: frozenset[str]
    filters: bool
    keys: tuple[Key, ...] = ()
    topics: frozenset[Topic] = frozenset()
    relations: frozenset[str] = frozenset()
    skills: tuple[tuple[str, tuple[str | None, ...]], ...] = ()  # of an intent: the skill ("" for any) and its names


@dataclass(frozen=True, slots=True)
class Join:
    """A rule: the keys and variables of its head, the atoms of its body, and the variables that are equal there."""

    rule: Rule
    keys: tuple[Key, ...]
    head: tuple[str | None, ...]
    body: tuple[Occurrence, ...]
    equal: tuple[tuple[str, str], ...]
    objects: frozenset[str]


def joins(rules: Iterable[Rule]) -> dict[Key, list[Join | Unlocal]]:
    """The joins that conclude each key, or why one of them cannot be told."""
    rules = [rule for rule in rules if rule.head is not None]
    places = _places(rules)
    found: dict[Key, list[Join | Unlocal]] = {}
    for rule in rules:
        assert rule.head is not None
        join: Join | Unlocal
        try:
            join = _join(rule, places)
        except Unlocal as reason:
            join = reason
        for key in dependency_key(rule.head):
            found.setdefault(key, []).append(join)
    return found


# -- which arguments are objects -----------------------------------------------------------------------


def _places(rules: Iterable[Rule]) -> dict[Key, frozenset[int]]:
    """The arguments of what rules conclude that stand for objects."""
    found: dict[Key, frozenset[int]] = {}
    grew = True
    while grew:
        grew = False
        for rule in rules:
            assert rule.head is not None
            names = _object_names(rule, found)
            args = _args(rule.head)
            for key in dependency_key(rule.head):
                own = {i for i, arg in enumerate(args) if arg.kind == "variable" and arg.text in names}
                own |= set(range(len(args))) if rule.head.name in MEMBERS else set()
                old = found.get(key, frozenset())
                if not own <= old:
                    found[key], grew = old | own, True
    return found


def _object_names(rule: Rule, places: dict[Key, frozenset[int]]) -> frozenset[str]:
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    names: set[str] = set()
    for pattern in [*patterns, *([rule.head] if rule.head else [])]:
        if pattern.name == "intent":
            names |= pattern.variables
            continue
        args = _args(pattern)
        for i in _objects_of(pattern, places):
            if i < len(args):
                names |= args[i].variables
    return frozenset(names) - {"_"}


def _objects_of(pattern: Pattern, places: dict[Key, frozenset[int]]) -> frozenset[int]:
    if pattern.name in BELIEFS:
        return frozenset(_OBJECT[pattern.name])
    if pattern.name in MEMBERS or pattern.name == "pending":
        return frozenset(range(len(_args(pattern))))
    return frozenset().union(*(places.get(key, frozenset()) for key in dependency_key(pattern)))


def _args(pattern: Pattern) -> tuple[TermPattern, ...]:
    """The arguments; of a member of a safety rule, the objects that it is bound to."""
    if pattern.name not in MEMBERS and pattern.name != "pending":
        return pattern.args
    term = pattern.args[1]
    return term.parts if term.kind == "tuple" else (term,)


# -- one rule ------------------------------------------------------------------------------------------


class _Namer:
    """Tells the variables of a rule that stand for objects, and renames those that are an element's own."""

    def __init__(self, rule: Rule, objects: frozenset[str]) -> None:
        self._objects = objects
        self._shared = shared(rule)
        self.element = ""
        self.found: set[str] = set()

    def __call__(self, term: TermPattern) -> str | None:
        if term.kind != "variable":
            if term.variables & self._objects or term.kind in ("pool", "other"):
                raise Unlocal(f"{term.text} is no plain variable")
            return None
        if term.text not in self._objects:
            return None
        text = term.text if term.text in self._shared else term.text + self.element
        self.found.add(text)
        return text


def _join(rule: Rule, places: dict[Key, frozenset[int]]) -> Join:
    assert rule.head is not None
    if rule.head.pool is not None:
        raise Unlocal(f"it has the pool {rule.head.pool.text}")
    if rule.arithmetic and not _always_defined(rule):
        raise Unlocal("it calculates, which may be undefined")
    objects = _object_names(rule, places)
    weights = frozenset().union(*(weight.variables for literal in rule.body for weight in literal.weights))
    if weights & (objects | _words(rule)):
        raise Unlocal("it adds up what may be no numbers")
    name = _Namer(rule, objects)
    head = tuple(map(name, _args(rule.head)))
    body: list[Occurrence] = []
    for number, literal in enumerate(rule.body):
        elements = (
            literal.elements if literal.compound else (tuple((p, not literal.negations) for p, _ in literal.inner),)
        )
        for part, element in enumerate(elements):
            name.element = f" {number}.{part}" if literal.compound else ""
            body += [_occurrence(pattern, rule, name, true, not literal.compound, places) for pattern, true in element]
    equal = tuple(pair for literal in rule.body for pair in _equal(literal, objects))
    return Join(rule, dependency_key(rule.head), head, tuple(body), equal, frozenset(name.found))


def _words(rule: Rule) -> frozenset[str]:
    """The variables that stand for names of the vocabulary."""
    patterns = [pattern for literal in rule.body for pattern, _ in literal.inner]
    places = [pattern.args[place] for pattern in patterns for name, place in NAMED if pattern.name == name]
    return frozenset().union(*(term.variables for term in places)) - {"_"}


def _always_defined(rule: Rule) -> bool:
    """Whether all that is calculated are sums and products of quantities, which are integers."""
    atoms = [literal.atom for literal in rule.body if literal.atom is not None and not literal.negations]
    quantities = {atom.args[2].text for atom in atoms if atom.name == "value" and atom.args[2].kind == "variable"}
    terms = [term for literal in rule.body for term in literal.computed]
    plain = not any(arg.kind == "operation" for arg in (rule.head.args if rule.head else ()))
    return plain and all(
        part.name in ("+", "-", "*") if part.kind == "operation" else part.kind == "number" or part.text in quantities
        for term in terms
        for part in term.walk()
    )


def _occurrence(
    pattern: Pattern, rule: Rule, name: NameOf, true: bool, plain: bool, places: dict[Key, frozenset[int]]
) -> Occurrence:
    if pattern.pool is not None:
        raise Unlocal(f"it has the pool {pattern.pool.text}")

    def bound(names: Iterable[str | None]) -> frozenset[str]:
        return frozenset(n for n in names if n and true and (plain or " " in n))  # an element's own are renamed

    args = _args(pattern)
    if pattern.name == "intent":
        skills = tuple(_skill(term, name) for term in pattern.args[0].alternatives())
        together = frozenset.intersection(*(frozenset(n for n in names if n) for _, names in skills))
        return Occurrence("intent", tuple(sorted(together)), bound(together), true and plain, skills=skills)
    if pattern.name == "edge":
        named = pattern.args[0].alternatives()
        any_relation = any(part.kind != "constant" for part in named)
        relations = frozenset() if any_relation else frozenset(part.name for part in named)
        ends = name(args[1]), name(args[2])
        return Occurrence("edge", ends, bound(ends), False, relations=relations)
    if pattern.name in BELIEFS:
        (own,) = (name(args[0]),)
        if own is None:
            raise Unlocal(f"it looks at {args[0].text}, wherever that is")
        return Occurrence("unary", (own,), bound((own,)), bool(bound((own,))), topics=frozenset(_topics(pattern)))
    if pattern.name == "pending":
        head = rule.head
        if head is None or [a.text for a in args] != [a.text for a in _args(head)] or head.name != "resolved":
            raise Unlocal("it reads the records of others")
        return Occurrence("record", tuple(map(name, args)), frozenset(), False)
    keys = dependency_key(pattern)
    if any(owner == "*" for _, owner in keys):
        raise Unlocal(f"it leaves open which rule {pattern.name} is of")
    wanted = _objects_of(pattern, places)
    names = tuple(name(arg) if i in wanted else None for i, arg in enumerate(args))
    return Occurrence("call", names, bound(names), False, keys=keys)


def _skill(term: TermPattern, name: NameOf) -> tuple[str, tuple[str | None, ...]]:
    if term.kind == "function":
        return term.name, tuple(name(part) for part in term.parts)
    if term.kind == "constant":
        return term.name, ()
    raise Unlocal("it leaves open which intent it reads")


def _topics(pattern: Pattern) -> Iterator[Topic]:
    place = _NAMED.get(pattern.name)
    named = pattern.args[place].alternatives() if place is not None else ()
    if named and all(part.kind == "constant" for part in named):
        yield from ((pattern.name, pattern.positive, part.name) for part in named)
    else:
        yield pattern.name, pattern.positive, ""


def _equal(literal: Literal, objects: frozenset[str]) -> Iterator[tuple[str, str]]:
    if literal.negations or literal.compound:
        return
    for one, operator, other in zip(literal.compared, literal.operators, literal.compared[1:], strict=False):
        if operator == "=" and {one.kind, other.kind} == {"variable"} and {one.text, other.text} <= objects:
            yield one.text, other.text
