"""Where two packs differ: a belief graph and an intent on which they conclude different things.

Both programs run in one search on the same beliefs, their predicates renamed. A record that is open was opened, by
the first pack, on an earlier graph of the same objects: records that nothing opens tell packs apart in vain.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from obviate.engine.backend import KERNEL, Query
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
)
from obviate.engine.slice import Slice, slice_of
from obviate.kb import Pack, asp
from obviate.kb.errors import Span
from obviate.kb.predicates import BELIEFS
from obviate.kb.program import Pattern, Rule
from obviate.kb.scan import code_of
from obviate.kb.terms import Atom

__all__ = ["difference"]

_SHARED = frozenset({*BELIEFS, "intent", "executed", "was_pending", "spent", "age"})
_STATIC = frozenset({"object", "tag"})
_COMPARED = ("trigger", "opens", "passed", "risk")  # what failed is at risk and executed
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


def difference(pack: Pack, other: Pack, *, objects: int | None = None, seconds: float = 5.0) -> Example | None:
    """A graph and an intent, perhaps with a record open, on which the packs trigger, open, pass or fail differently.

    None when they are the same with up to `objects` objects (`bound` of the rule, if not given) and one record open
    at a time. The first rule that differs is told. Raises `PackError` (``search-timeout``) when `seconds` do not
    suffice.
    """
    end = time.monotonic() + seconds
    for name in dict.fromkeys([*pack.rules, *other.rules]):
        parts = [slice_of(each, name) if name in each.rules else None for each in (pack, other)]
        if len(set(map(_said, parts))) == 1:
            continue
        for recorded in (False, True) if parts[0] is not None else (False,):
            found = _search(parts, recorded, objects, end)
            if found is not None:
                return found
    return None


def _said(part: Slice | None) -> tuple[object, ...]:
    if part is None:
        return ()
    texts = frozenset(each.text for each in part.rules)
    return part.rule.mode, part.rule.deadline, part.rule.targeted, tuple(sorted(part.constants.items())), texts


def _search(parts: list[Slice | None], recorded: bool, objects: int | None, end: float) -> Example | None:
    known = [part for part in parts if part is not None]
    bound = objects or max(part.bound for part in known)

    def solve(size: int, *extra: str) -> asp.Answer | None:
        program = "\n".join([*_program(parts, size, recorded), *extra])
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
    pending = (((record.rule, record.binding), example.age),) if record is not None else ()
    facts = [*example.graph.facts(), *Query(intent=example.intent, pending=pending).facts()]
    outputs = [(name, 2, True) for name in _COMPARED]
    found = asp.evaluate([*frame(part), KERNEL, part.text], facts, outputs, part.pack.consts)
    return {atom for atom in found if str(atom.args[0]) == example.rule}


# -- programs ------------------------------------------------------------------------------------


def _program(parts: list[Slice | None], size: int, recorded: bool) -> Iterator[str]:
    known = [part for part in parts if part is not None]
    rule = known[0].rule.name
    skills = ["done", _unread(known)]  # an action of no interest lets time pass
    yield from dict.fromkeys(line for part in known for line in candidates(part, size, skills=skills))
    for prefix, part in zip(("_p_", "_q_"), parts, strict=True):
        if part is not None:
            yield _side(part, prefix, _SHARED)
    for name in _COMPARED:
        for one, two in (("_p_", "_q_"), ("_q_", "_p_")):
            yield f"_differs(B) :- {one}{name}({rule},B), not {two}{name}({rule},B)."
    yield _DIFFERS
    if recorded and parts[0] is not None:
        yield _DYNAMIC.sub(r"_e_\1", GRAPHS)
        yield _side(parts[0], "_e_", _STATIC)
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


def _side(part: Slice, prefix: str, shared: frozenset[str]) -> str:
    """One pack's view: its slice and the kernel, concluding under a prefix from the shared predicates."""
    facts = [f"{prefix}{line}" for line in frame(part) if not line.startswith("#const")]
    own = [_renamed(rule, prefix, shared, part.constants) for rule in part.rules]
    return "\n".join([*facts, *own, _kernel(prefix, shared)])


@lru_cache(maxsize=8)
def _kernel(prefix: str, shared: frozenset[str]) -> str:
    return "\n".join(_renamed(rule, prefix, shared, {}) for rule in _kernel_rules())


@lru_cache(maxsize=1)
def _kernel_rules() -> tuple[Rule, ...]:
    return asp.parse(KERNEL, "jit.lp").rules


def _renamed(rule: Rule, prefix: str, shared: frozenset[str], constants: Mapping[str, str]) -> str:
    """The text of a rule with a prefix before each predicate that is not shared, and the values of constants."""
    code = code_of(rule.text)
    atoms = _atoms(rule, code)
    edits = {at: (at, prefix) for at, name in atoms.items() if name not in shared}
    for name, value in constants.items():
        for at in _places(name, code):
            if at not in atoms and code[at + len(name) : at + len(name) + 1] != "(":
                edits[at] = (at + len(name), f"({value})")
    pieces, last = [], 0
    for at, (end, new) in sorted(edits.items()):
        pieces += [rule.text[last:at], new]
        last = end
    return "".join([*pieces, rule.text[last:]])


def _atoms(rule: Rule, code: str) -> dict[int, str]:
    """Where the atoms of a rule begin in its text. A term may be called like a predicate: then it is parsed."""
    named: dict[str, set[Span]] = {}
    for pattern in _patterns(rule):
        named.setdefault(pattern.name, set()).add(pattern.span)
    found: dict[int, str] = {}
    for name, spans in named.items():
        places = _places(name, code)
        if len(places) != len(spans):
            (again, *_) = asp.parse(rule.text, "rule").rules
            return {pattern.span.column - 1: pattern.name for pattern in _patterns(again)}
        found |= dict.fromkeys(places, name)
    return found


def _patterns(rule: Rule) -> Iterator[Pattern]:
    if rule.head is not None:
        yield rule.head
    yield from (pattern for literal in rule.body for pattern, _ in literal.inner)


def _places(name: str, code: str) -> list[int]:
    return [match.start() for match in re.finditer(rf"(?<![\w']){re.escape(name)}(?![\w'])", code)]
