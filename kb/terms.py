"""Ground terms and atoms, independent of any solver.

A term is an `int`, a `str` (an object id or other quoted string) or a `Fun` (a constant, compound or tuple).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from obviate.kb.errors import ObviateError

__all__ = ["Atom", "Fun", "Term", "binding_of", "check_id", "quote", "term_of_binding"]

MAX_ID_LENGTH = 1_000


class Fun(NamedTuple):
    """A constant (``Fun("dusty")``), a compound term, or a tuple (``Fun("", (a, b))``)."""

    name: str
    args: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return _text(self)


Term: TypeAlias = "int | str | Fun"


class Atom(NamedTuple):
    """A ground atom; `positive` is False for classical negation (``-state("plate",dusty)``)."""

    name: str
    args: tuple[Term, ...] = ()
    positive: bool = True

    def __str__(self) -> str:
        return ("" if self.positive else "-") + _text(Fun(self.name, self.args))


def quote(text: str) -> str:
    """`text` as an ASP string literal; whatever it contains, it stays one string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _text(term: Term) -> str:
    if isinstance(term, str):
        return quote(term)
    if isinstance(term, int):
        return str(term)
    if not term.args:
        return term.name or "()"
    inner = ",".join(map(_text, term.args))
    return f"({inner},)" if not term.name and len(term.args) == 1 else f"{term.name}({inner})"


def check_id(name: str, where: str) -> str:
    """Return `name` if it can be an object id: any text but the empty one, NUL and lone surrogates.

    Raises `ObviateError` with code ``bad-id``, placed at `where`.
    """
    problem = ""
    if not name:
        problem = "an object id is empty"
    elif len(name) > MAX_ID_LENGTH:
        problem = f"an object id has {len(name)} characters, at most {MAX_ID_LENGTH} are allowed"
    elif "\0" in name or not _encodable(name):
        problem = f"the object id {name!a} contains NUL or a lone surrogate"
    if problem:
        raise ObviateError("bad-id", problem, where=where, help="use any other text, such as plate_1")
    return name


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def binding_of(term: Term) -> tuple[str, ...]:
    """The objects of a binding term: one object, a tuple of objects, or ``()``."""
    if isinstance(term, str):
        return (term,)
    whole = isinstance(term, Fun) and not term.name and len(term.args) != 1  # (X,) is not X
    if isinstance(term, Fun) and whole and all(isinstance(part, str) for part in term.args):
        return tuple(str(part) for part in term.args)
    raise ObviateError(
        "bad-binding",
        f"{term if isinstance(term, int) else _text(term)} is not a binding",
        help="a binding is one object X, a tuple of objects (X,Y), or ()",
    )


def term_of_binding(binding: tuple[str, ...]) -> Term:
    """The inverse of `binding_of`: a single object stands alone, never as ``(X,)``."""
    return binding[0] if len(binding) == 1 else Fun("", binding)
