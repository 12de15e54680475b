"""What a program costs in a crowd: everything that it reads is believed of everything, and no condition spares it.

Comparisons and negations only take instances away, so that they are left out: what is ground is what the positive
atoms of each rule join to, whatever values the beliefs of a real scene have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from obviate.kb import asp
from obviate.kb.errors import PackError
from obviate.kb.predicates import BELIEFS, EVENTS, NAMED
from obviate.kb.program import Program, Rule
from obviate.kb.sandbox import run_limited
from obviate.kb.size import ground_size, widest
from obviate.kb.terms import Atom, Fun
from obviate.kb.vocabulary import Vocabulary

__all__ = ["CROWD", "ground", "refuse_costly"]

CROWD = 24  # objects, more than a table holds
MAX_GROUND = 200_000  # rule instances that a program may ground by itself in the host process, untried
MAX_CROWD = 2_000_000  # rule instances that it may have on a scene, untried
SECONDS, MEGABYTES = 5, 500


def refuse_costly(program: Program, *, vocabulary: Vocabulary | None = None, consts: Mapping[str, str]) -> None:
    """Raise `PackError` (``too-costly``), at the widest rule, for a program that grounds too much: by itself, and if
    there is a `vocabulary` on a crowd. What could be much is tried in another process.
    """
    tried = []
    if ground_size(program, consts=consts) > MAX_GROUND:
        tried.append(("by itself", program.text, 0))
    if vocabulary is not None and ground_size(program, objects=CROWD, consts=consts) > MAX_CROWD:
        tried.append((f"on {CROWD} objects", _crowded(program, vocabulary), CROWD))
    for where, text, objects in tried:
        try:
            run_limited("obviate.kb.crowd:ground", text, consts, seconds=SECONDS, megabytes=MEGABYTES)
        except PackError as error:
            place = widest(program, objects=objects, consts=consts).span
            raise PackError(error.code, f"{where}, {error.message}", where=place, help=error.help) from None


def ground(text: str, consts: Mapping[str, str]) -> None:
    """Ground a text, whatever comes of it: what `run_limited` calls in another process."""
    asp.evaluate([text], (), (), consts, [])


def _crowded(program: Program, vocabulary: Vocabulary) -> str:
    """The program without what spares it, and the crowd."""
    consts = (other.text for other in program.others if other.kind == "definition")
    rules = (text for rule in program.rules if rule.head is not None for text in _relaxed(rule))
    return "\n".join([*consts, *rules, *(f"{fact}." for fact in _crowd(program, vocabulary))])


def _relaxed(rule: Rule) -> Iterator[str]:
    """The rule with what joins and what binds only; and the join itself, where something left out told it apart."""
    assert rule.head is not None
    kept = [lit for lit in rule.body if lit.compound or (lit.inner and not lit.negations)]
    bound = frozenset().union(*(lit.variables for lit in kept if not lit.compound))
    kept += [lit for lit in rule.body if lit.compared and not lit.negations and lit.variables - bound]
    body = f" :- {'; '.join(lit.text for lit in kept)}" if kept else ""
    yield f"{rule.text.partition(' :- ')[0].rstrip('.')}{body}."
    left_out = frozenset().union(*(lit.variables for lit in rule.body if lit not in kept))
    told = sorted(bound & left_out)
    if told:
        yield f"_join({rule.span.line},{rule.span.column},({','.join(told)},)){body}."


def _crowd(program: Program, vocabulary: Vocabulary) -> Iterator[Atom]:
    read = [p for rule in program.rules for literal in rule.body for p, _ in literal.inner]
    named = [part.name for p in read for arg in p.args for part in arg.walk() if part.kind == "string"]
    names = list(dict.fromkeys([*named, *(f"object {i}" for i in range(CROWD))]))[:CROWD]
    for name in names:
        yield Atom("object", (name,))
        yield Atom("moved", (name,))
    for (predicate, place), sort in NAMED.items():
        said = [part for p in read if p.name == predicate for part in p.args[place].alternatives()]
        known = vocabulary.names(sort)
        every = any(part.kind != "constant" or part.name not in known for part in said)
        for word in sorted(known if every else {part.name for part in said}):
            yield from _beliefs(predicate, word, names)
    skills = {part.name for p in read if p.name in EVENTS for part in p.args[0].alternatives() if part.name}
    for skill in sorted(skills & set(vocabulary.skills)):
        term = Fun(skill, tuple(names[: vocabulary.skills[skill]]))
        yield from (Atom(event, (term,)) for event in EVENTS)


def _beliefs(predicate: str, word: str, names: list[str]) -> Iterator[Atom]:
    assert predicate in BELIEFS
    match predicate:
        case "edge":
            yield from (Atom("edge", (Fun(word), a, b)) for a, b in product(names, repeat=2) if a != b)
        case "value":
            yield from (Atom("value", (name, Fun(word), 1)) for name in names)
        case "state":  # a relaxed program has no use for contradictions: each is said of another half
            yield from (Atom("state", (name, Fun(word)), i % 2 == 0) for i, name in enumerate(2 * names))
        case _:
            yield from (Atom(predicate, (name, Fun(word))) for name in names)
