"""Conditions over beliefs in disjunctive normal form, kept small by absorption."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from obviate.kb.errors import ObviateError
from obviate.kb.terms import Atom

__all__ = ["FALSE", "TRUE", "Conjunction", "Dnf", "Formulas", "Literal"]

Literal = tuple[Atom, bool]
Conjunction = frozenset[Literal]
Dnf = frozenset[Conjunction]
TRUE: Dnf = frozenset({frozenset()})
FALSE: Dnf = frozenset()


class Formulas:
    """Operations on conditions. `impossible` tells conjunctions that hold in no state, and may be dropped.

    All raise `ObviateError` (``translation-too-large``) when more than `most` conjunctions come about.
    """

    def __init__(self, impossible: Callable[[Conjunction], bool] = lambda one: False, *, most: int = 4_000) -> None:
        self._impossible = impossible
        self._most = most

    def either(self, *conditions: Iterable[Conjunction]) -> Dnf:
        """Their disjunction, without conjunctions that another implies."""
        found = {one for condition in conditions for one in condition}
        if frozenset() in found:
            return TRUE
        kept: list[Conjunction] = []
        for one in sorted(found, key=len):
            if not any(other <= one for other in kept):
                kept.append(one)
                if len(kept) > self._most:
                    raise ObviateError(
                        "translation-too-large",
                        f"a condition has over {self._most:,} cases",
                        help="offer fewer actions, or fewer objects that hold others and can be moved",
                    )
        return frozenset(kept)

    def both(self, one: Dnf, other: Dnf) -> Dnf:
        """Their conjunction."""
        if one == TRUE or other == FALSE:
            return other
        if other == TRUE or one == FALSE:
            return one
        joined = {left | right for left in one for right in other}
        return self.either(term for term in joined if not _contradicts(term) and not self._impossible(term))

    def negation(self, condition: Dnf) -> Dnf:
        """When it does not hold."""
        result = TRUE
        for term in sorted(condition, key=lambda one: (len(one), str(one))):
            result = self.both(result, frozenset(frozenset({(atom, not true)}) for atom, true in term))
        return result


def _contradicts(term: Conjunction) -> bool:
    return any((atom, not true) in term for atom, true in term)
