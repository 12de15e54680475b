"""Where a ground atom was written, and how: from what a program concludes back to its text."""

from __future__ import annotations

from obviate.kb.errors import Span
from obviate.kb.program import Program, Rule, Signature, TermPattern
from obviate.kb.terms import Atom, Fun, Term

__all__ = ["Places", "written"]


class Places:
    """Finds in a program the rule head that a ground atom stands for."""

    def __init__(self, program: Program) -> None:
        self._rules: dict[tuple[Signature, str], list[Rule]] = {}  # by what they conclude, and of what
        for rule in program.rules:
            if rule.head is not None:
                first = rule.head.args[0] if rule.head.args else None
                named = first.name if first is not None and first.kind == "constant" else ""
                self._rules.setdefault((rule.head.signature, named), []).append(rule)

    def of(self, atom: Atom, *path: int) -> Span:
        """The place of the first such head, or of the part of it at `path`.

        A path is the position of an argument, then of an argument of that one, and so on; where the text has a
        variable, it ends there. The atom must be one that the program concludes.
        """
        signature = (atom.name, len(atom.args), atom.positive)
        named = str(atom.args[0]) if atom.args else ""
        rules = (*self._rules.get((signature, named), ()), *self._rules.get((signature, ""), ()))
        for rule in rules:
            if rule.head is not None and all(map(_one_matches, rule.head.args, atom.args)):
                return _part(rule.head.args[path[0]], atom.args[path[0]], path[1:], rule.span) if path else rule.span
        raise LookupError(f"{atom} is not concluded")


def written(term: Term) -> str:
    """A term as one writes it: strings in quotes, classical negation as a sign, a space after each comma."""
    if isinstance(term, Fun) and term.args:
        inner = ", ".join(map(written, term.args))
        if term.name == "-" and len(term.args) == 1:
            return f"-{inner}"
        return f"({inner},)" if not term.name and len(term.args) == 1 else f"{term.name}({inner})"
    return str(Atom("b", (term,)))[2:-1]


def _part(pattern: TermPattern, term: Term, path: tuple[int, ...], outer: Span) -> Span:
    pattern = next(part for part in pattern.alternatives() if _matches(part, term))
    span = pattern.span or outer
    if path and isinstance(term, Fun) and len(pattern.parts) == len(term.args) and pattern.kind != "operation":
        return _part(pattern.parts[path[0]], term.args[path[0]], path[1:], span)
    if path and pattern.kind == "operation" and isinstance(term, Fun) and term.name == "-":
        return _part(pattern.parts[0], term.args[0], path[1:], span)
    return span


def _one_matches(pattern: TermPattern, term: Term) -> bool:
    return any(_matches(part, term) for part in pattern.alternatives())


def _matches(pattern: TermPattern, term: Term) -> bool:
    """Whether a pattern without alternatives can stand for a term; what is computed may be anything."""
    match pattern.kind:
        case "number":
            return str(term) == pattern.text
        case "string":
            return isinstance(term, str) and term == pattern.name
        case "constant" | "function" | "tuple":
            named = isinstance(term, Fun) and term.name == pattern.name and len(term.args) == len(pattern.parts)
            return named and isinstance(term, Fun) and all(map(_one_matches, pattern.parts, term.args))
        case "operation" if pattern.name == "-" and len(pattern.parts) == 1:
            if isinstance(term, Fun):
                return term.name[:1] == "-" and (not term.args or _one_matches(pattern.parts[0], term.args[0]))
    return True
