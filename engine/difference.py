"""Where two packs differ: a belief graph and an intent on which they conclude different things.

Both programs run in one search on the same beliefs, their predicates renamed. A record that is open was opened, by
the first pack, on an earlier graph of the same objects: records that nothing opens tell packs apart in vain.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from obviate.engine.backend import KERNEL, Query
from obviate.engine.layer import side
from obviate.engine.search import (
    DISTINCT,
    GRAPHS,
    INPUTS,
    SMALLEST,
    Example,
    candidates,
    example_of,
    frame,
    ranks,
    readable_ids,
    renamed_example,
    smallest,
)
from obviate.engine.slice import Slice, slice_of
from obviate.engine.standing import Ledger, Standing
from obviate.kb import Pack, asp
from obviate.kb.predicates import BELIEFS
from obviate.kb.terms import Atom

__all__ = ["Difference", "compared_rules", "conclusions", "difference", "differences"]

Kind = tuple[str, bool]  # what is concluded, and whether the first pack alone does

_SHARED = frozenset({*BELIEFS, "intent", "executed", "was_pending", "spent", "age"})
_STATIC = frozenset({"object", "tag"})
_COMPARED = ("trigger", "opens", "passed", "risk")  # what failed is at risk and executed
_ALL = tuple((name, old) for name in _COMPARED for old in (True, False))
_DYNAMIC = re.compile(r"(?<!\w)(state|edge|value|moved|intent|_on|_over)(?=\()")

_OUTPUTS = [*INPUTS, ("_chosen", 1, True), ("_held", 1, True), ("age", 3, True)]
_OUTPUTS += [(f"_e_{name}", arity, sign) for name, arity, sign in INPUTS if name not in _STATIC]

_DIFFERS = """
:- not _differs(_).
1 { _chosen(B) : _differs(B) } 1.
"""
# The record that is open: of a binding for which one opened before, on a graph of the same objects and tags.
_RECORD = """
1 {{ _held(B) : _e_opens({r},B) }} 1.
was_pending({r},B) :- _held(B).
1 {{ age({r},B,N) : _age(N) }} 1 :- _held(B).
:- _e_moved(X), not moved(X).
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A graph and an intent, perhaps with a record open, on which one pack concludes `kind` of a rule and a binding,
    and the other does not; `old` tells whether it is the first pack that does. The kind ``severity`` is another: where
    a record opens that counts in one pack and is advisory in the other.
    """

    kind: str
    old: bool
    example: Example


def difference(pack: Pack, other: Pack, *, objects: int | None = None, seconds: float = 5.0) -> Example | None:
    """A graph and an intent, perhaps with a record open, on which the packs trigger, open, pass or fail differently.

    None when they are the same with up to `objects` objects (`bound` of the rule, if not given) and one record open
    at a time. The first rule that differs is told. Raises `PackError` (``search-timeout``) when `seconds` do not
    suffice.
    """
    end = time.monotonic() + seconds
    for name in compared_rules(pack, other):
        found = _differing(_parts(pack, other, name), _ALL, objects, end)
        if found is not None:
            return found
    return None


def compared_rules(pack: Pack, other: Pack) -> list[str]:
    """The rules on which the packs can differ: those that do not say the same in both."""
    names = dict.fromkeys([*pack.rules, *other.rules])
    advisory = [{name for name, rule in each.rules.items() if rule.advisory} for each in (pack, other)]
    weighed = advisory[0] ^ advisory[1]
    return [name for name in names if name in weighed or len(set(map(_said, _parts(pack, other, name)))) > 1]


def differences(
    pack: Pack, other: Pack, rule: str, *, objects: int | None = None, seconds: float = 5.0
) -> Iterator[Difference]:
    """The smallest example of each kind of difference in what the packs conclude of a rule; none, and an error, as in
    `difference`.
    """
    end, parts = time.monotonic() + seconds, _parts(pack, other, rule)
    if _differing(parts, _ALL, objects, end) is not None:
        for kind in _ALL:
            found = _differing(parts, (kind,), objects, end)
            if found is not None:
                yield Difference(kind[0], kind[1], found)
    if all(rule in each.rules for each in (pack, other)) and pack.rules[rule].advisory != other.rules[rule].advisory:
        opened = smallest(pack, rule, seconds=end - time.monotonic())
        if opened is not None:
            yield Difference("severity", not pack.rules[rule].advisory, opened)


def conclusions(pack: Pack, example: Example) -> set[Atom]:
    """What a pack concludes, of what is compared, of the rule of an example."""
    return _conclusions(_part(pack, example.rule), example)


def _part(pack: Pack, rule: str) -> Slice | None:
    return slice_of(pack, rule) if rule in pack.rules else None


def _parts(pack: Pack, other: Pack, rule: str) -> list[Slice | None]:
    return [_part(each, rule) for each in (pack, other)]


def _differing(parts: list[Slice | None], kinds: Sequence[Kind], objects: int | None, end: float) -> Example | None:
    """The smallest example of one of the kinds: first without a record that is open, then with one."""
    for recorded in (False, True) if parts[0] is not None else (False,):
        found = _search(parts, kinds, recorded, objects, end)
        if found is not None:
            return found
    return None


def _said(part: Slice | None) -> tuple[object, ...]:
    if part is None:
        return ()
    texts = frozenset(each.text for each in part.rules)
    return part.rule.mode, part.rule.deadline, part.rule.targeted, tuple(sorted(part.constants.items())), texts


def _search(
    parts: list[Slice | None], kinds: Sequence[Kind], recorded: bool, objects: int | None, end: float
) -> Example | None:
    known = [part for part in parts if part is not None]
    bound = objects or max(part.bound for part in known)

    def solve(size: int, *extra: str) -> asp.Answer | None:
        program = "\n".join([*_program(parts, size, kinds, recorded), *extra])
        return asp.search(program, _OUTPUTS, seconds=end - time.monotonic())

    if solve(bound) is None:
        return None
    for apart in (DISTINCT, ""):
        for size in range(1, bound + 1):
            answer = solve(size, SMALLEST, apart, *dict.fromkeys(line for part in known for line in ranks(part)))
            if answer is not None:
                example = _told(known[0], answer)
                renamed = renamed_example(example, readable_ids(example, known[0]))
                return renamed if _conclusions(parts[0], renamed) != _conclusions(parts[1], renamed) else example
    return None


def _told(part: Slice, answer: asp.Answer) -> Example:
    now = [atom for atom in answer.atoms if not atom.name.startswith(("_e_", "_held", "age"))]
    held = [Atom("_chosen", atom.args) for atom in answer.atoms if atom.name == "_held"]
    if not held:
        return example_of(part, now, answer.proven)
    before = [atom for atom in now if atom.name in _STATIC]
    before += [a._replace(name=a.name.removeprefix("_e_")) for a in answer.atoms if a.name.startswith("_e_")]
    (age,) = (int(str(atom.args[2])) for atom in answer.atoms if atom.name == "age")
    earlier = example_of(part, [*before, *held], answer.proven)
    return replace(example_of(part, now, answer.proven), earlier=earlier, age=age)


def _conclusions(part: Slice | None, example: Example) -> set[Atom]:
    """What one pack concludes, of what is compared."""
    if part is None:
        return set()
    record = example.earlier
    records = Ledger().opened([(record.rule, record.binding)] if record is not None else [], born=0)
    query = Query(intent=example.intent, standing=Standing(open=records, actions=example.age))
    facts = [*example.graph.facts(), *query.facts()]
    outputs = [(name, 2, True) for name in _COMPARED]
    found = asp.evaluate([*frame(part), KERNEL, part.text], facts, outputs, part.pack.consts)
    return {atom for atom in found if str(atom.args[0]) == example.rule}


# -- programs ------------------------------------------------------------------------------------


def _program(parts: list[Slice | None], size: int, kinds: Sequence[Kind], recorded: bool) -> Iterator[str]:
    known = [part for part in parts if part is not None]
    rule = known[0].rule.name
    skills = ["done", _unread(known)]  # an action of no interest lets time pass
    yield from dict.fromkeys(line for part in known for line in candidates(part, size, skills=skills))
    for prefix, part in zip(("_p_", "_q_"), parts, strict=True):
        if part is not None:
            yield side(part, prefix, _SHARED)
    for name, old in kinds:
        one, two = ("_p_", "_q_") if old else ("_q_", "_p_")
        yield f"_differs(B) :- {one}{name}({rule},B), not {two}{name}({rule},B)."
    yield _DIFFERS
    if recorded and parts[0] is not None:
        yield _DYNAMIC.sub(r"_e_\1", GRAPHS)
        yield side(parts[0], "_e_", _STATIC)
        yield _RECORD.format(r=rule)
        yield from (f"_age({age})." for age in _ages(known))


def _unread(parts: list[Slice]) -> str:
    """The simplest skill that no rule reads."""
    read = {skill for part in parts for skill in part.skills}
    skills = parts[0].vocabulary.skills
    return min(skills, key=lambda skill: (skill in read or skill == "done", skills[skill], skill))


def _ages(parts: list[Slice]) -> list[int]:
    """The ages of a record on each side of a deadline."""
    limits = [part.rule.deadline for part in parts if isinstance(part.rule.deadline, int)]
    return sorted({0}.union(*({max(0, limit - 1), limit} for limit in limits)))
