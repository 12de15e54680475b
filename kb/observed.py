"""Belief atoms written as terms, read as a first scene or as one observation.

``state("plate",dusty)`` is believed, ``-state("plate",dusty)`` seen to be false, ``unknown(state("plate",dusty))``
forgotten, and ``-object("plate")`` says that the plate is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from obviate.kb.belief import BeliefGraph
from obviate.kb.errors import DataError, ObviateError, Span, nearest
from obviate.kb.patch import MAX_INT, Patch
from obviate.kb.places import written
from obviate.kb.terms import Fun, Term, check_id
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Written", "observation_of", "scene_of"]

Written = tuple[Term, Callable[..., Span]]  # a term, and where the part of it at a path was written

_SORTS = {
    "object": ("object",),
    "tag": ("object", "tag"),
    "state": ("object", "state"),
    "edge": ("relation", "object", "object"),
    "value": ("object", "quantity", "number"),
}
_GIVEN = {"": tuple(_SORTS), "-": ("state",)}
_SEEN = {"": tuple(_SORTS), "-": ("state", "edge", "object"), "unknown": ("state", "value")}


@dataclass(frozen=True, slots=True)
class _Belief:
    """A belief atom, its sign ("", "-" or "unknown"), and where its arguments were written."""

    sign: str
    atom: Fun
    place: Callable[..., Span]

    @property
    def objects(self) -> dict[int, str]:
        """The objects that it is about, by position."""
        sorts = enumerate(_SORTS[self.atom.name])
        return {i: str(self.atom.args[i]) for i, sort in sorts if sort == "object"}


def scene_of(terms: Sequence[Written], vocabulary: Vocabulary) -> Patch:
    """A first scene; what it mentions is thereby known. Raises `DataError` at the place of what is no belief."""
    beliefs = [_read(term, place, _GIVEN, vocabulary) for term, place in terms]
    new = {name for belief in beliefs for name in belief.objects.values()}
    return _Draft(new).patch(beliefs)


def observation_of(terms: Sequence[Written], graph: BeliefGraph) -> Patch:
    """One observation of what `graph` holds. Raises `DataError` at the place of what cannot be observed."""
    beliefs = [_read(term, place, _SEEN, graph.vocabulary) for term, place in terms]
    appear, gone = ({str(b.atom.args[0]) for b in beliefs if (b.sign, b.atom.name) == (s, "object")} for s in ("", "-"))
    known = (set(graph.nodes) - gone) | appear
    for belief in beliefs:
        for i, name in belief.objects.items():
            if name not in (graph.nodes if (belief.sign, belief.atom.name) == ("-", "object") else known):
                help = nearest(name, known) or f'observe(object("{name}")) makes it known'
                raise DataError("unknown-object", f"there is no object {name!r}", where=belief.place(i), help=help)
        if belief.atom.name == "tag" and belief.objects[0] not in appear:
            told = f"{written(belief.atom)}: tags are static, and {belief.objects[0]} is known already"
            raise DataError("test-form", told, where=belief.place(), help="give it from the start")
    return _Draft(appear).patch(beliefs)


def _read(term: Term, place: Callable[..., Span], forms: dict[str, tuple[str, ...]], vocabulary: Vocabulary) -> _Belief:
    """The belief that a term stands for, checked against its form and the vocabulary."""
    signed = isinstance(term, Fun) and term.name in forms and len(term.args) == 1
    sign, atom = (term.name, term.args[0]) if signed and isinstance(term, Fun) else ("", term)
    at = partial(place, 0) if signed else place
    if not isinstance(atom, Fun) or atom.name not in forms[sign]:
        known = [f"-{name}" if s == "-" else name for s in forms for name in (forms[s] if s != "unknown" else [s])]
        name = atom.name.partition("(")[0] if isinstance(atom, Fun) else str(atom)
        told = f"{written(term)} is no belief that can stand here"
        raise DataError("test-form", told, where=place(), help=nearest(f"-{name}" if sign == "-" else name, known))
    sorts: tuple[str, ...] = _SORTS[atom.name]
    if (sign, atom.name) == ("unknown", "value"):
        sorts = sorts[:2]  # whatever number it had
    if len(atom.args) != len(sorts):
        told = f"{atom.name} takes {len(sorts)} arguments, not {len(atom.args)}"
        raise DataError("predicate-arity", told, where=at(), help=f"write {atom.name}({', '.join(sorts)})")
    for i, (sort, arg) in enumerate(zip(sorts, atom.args, strict=True)):
        _check(sort, arg, at(i), vocabulary)
    return _Belief(sign, atom, at)


def _check(sort: str, term: Term, where: Span, vocabulary: Vocabulary) -> None:
    if sort == "number":
        if not isinstance(term, int) or abs(term) > MAX_INT:
            raise DataError("test-form", f"{written(term)} is no number", where=where, help="a whole number")
    elif sort == "object":
        if not isinstance(term, str):
            told = f"{written(term)} is never an object: ids are strings"
            raise DataError("constant-object", told, where=where, help=f'write "{term}"')
        try:
            check_id(term, "")
        except ObviateError as error:
            raise DataError(error.code, error.message, where=where, help=error.help) from None
    elif not isinstance(term, Fun) or term.args:
        raise DataError("test-form", f"{written(term)} is not the name of a {sort}", where=where, help=f"name a {sort}")
    else:
        try:
            vocabulary.require(sort, term.name, "")
        except ObviateError as error:
            raise DataError(error.code, error.message, where=where, help=error.help) from None


@dataclass(slots=True)
class _Draft:
    """A patch in the making; `new` are the objects that it adds."""

    new: Collection[str]
    parts: dict[str, list[Any]] = field(default_factory=dict)
    about: dict[str, dict[str, Any]] = field(default_factory=dict)

    def patch(self, beliefs: Sequence[_Belief]) -> Patch:
        for name in sorted(self.new):
            self._of(name)
        for belief in beliefs:
            self._say(belief)
        return Patch.read(self.parts)

    def _of(self, name: str) -> dict[str, Any]:
        """What the patch says of an object, and of nothing else."""
        if name not in self.about:
            self.about[name] = {"node_id": name}
            part = "add_nodes" if name in self.new else "update_node_states"
            self.parts.setdefault(part, []).append(self.about[name])
        return self.about[name]

    def _say(self, belief: _Belief) -> None:
        args: list[Any] = [arg.name if isinstance(arg, Fun) else arg for arg in belief.atom.args]
        match belief.sign, belief.atom.name:
            case "-", "object":
                self.parts.setdefault("remove_nodes", []).append(args[0])
            case sign, "edge":
                part = "remove_edges" if sign else "add_edges"
                self.parts.setdefault(part, []).append(dict(zip(("pred", "src", "dst"), args, strict=True)))
            case _, "tag":
                self._of(args[0]).setdefault("tags", []).append(args[1])
            case sign, "value":
                value = None if sign else args[2]
                if self._of(args[0]).setdefault("values", {}).setdefault(args[1], value) != value:
                    told = f"{args[0]!r} is said to have two values of {args[1]}"
                    raise DataError("contradictory-patch", told, where=belief.place(), help="say one of them")
            case sign, "state":
                fresh = args[0] in self.new
                lists = {"": "states" if fresh else "add", "-": "absent" if fresh else "remove", "unknown": "forget"}
                self._of(args[0]).setdefault(lists[sign], []).append(args[1])
