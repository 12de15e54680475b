"""What a pack costs in a crowd: everything that it reads is true of everything, of more objects than a table holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from obviate.engine.backend import KERNEL
from obviate.kb import Pack, asp
from obviate.kb.predicates import EVENTS, NAMED
from obviate.kb.terms import Atom, Fun

__all__ = ["CROWD", "ground_crowd"]

CROWD = 24  # objects


def ground_crowd(pack: Pack) -> None:
    """Ground a pack on a crowd, unguarded by any demand; what it then concludes does not matter."""
    asp.evaluate([pack.program.text, KERNEL], [*_crowd(pack), *pack.frame], (), pack.consts, [])


def _crowd(pack: Pack) -> Iterator[Atom]:
    names = [f"object {i}" for i in range(CROWD)]
    read = [p for rule in pack.program.rules for literal in rule.body for p, _ in literal.inner]
    yield from (Atom("object", (name,)) for name in names)
    yield from (Atom("moved", (name,)) for name in names)
    for sort, predicate in (("tag", "tag"), ("state", "state"), ("quantity", "value"), ("relation", "edge")):
        place = next(i for (name, i), found in NAMED.items() if (name, found) == (predicate, sort))
        said = [part for p in read if p.name == predicate for part in p.args[place].alternatives()]
        known = pack.vocabulary.names(sort)
        every = any(part.kind != "constant" for part in said)
        for word in sorted(known if every else {part.name for part in said} & known):
            if predicate == "edge":
                yield from (Atom("edge", (Fun(word), a, b)) for a, b in combinations(names, 2))
            else:
                more = (1,) if predicate == "value" else ()
                yield from (Atom(predicate, (name, Fun(word), *more)) for name in names)
    skills = {part.name for p in read if p.name in EVENTS for part in p.args[0].alternatives() if part.name}
    for skill in sorted(skills & set(pack.vocabulary.skills)):
        yield Atom("intent", (Fun(skill, tuple(names[: pack.vocabulary.skills[skill]])),))
