"""Whether two rules conclude the same: on random belief graphs with intents and open records, by conclusions alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

from obviate.engine.backend import KERNEL
from obviate.engine.search import frame
from obviate.engine.slice import Slice, slice_of
from obviate.kb import Pack, asp
from obviate.kb.predicates import MEMBERS
from obviate.kb.terms import Atom, Fun, Term, binding_of

__all__ = ["NAME", "Agreement", "Case", "agreement", "alone", "random_case"]

NAME = "the_rule"
_COMPARED = ("trigger", "opens", "passed", "risk")
_OBJECTS = (2, 5)
_OFTEN, _SELDOM = 0.55, 0.25

Conclusions = frozenset[tuple[str, tuple[Term, ...]]]


@dataclass(frozen=True, slots=True)
class Case:
    """Beliefs and an intent, now and before: what opened then may be open now."""

    before: tuple[Atom, ...]
    now: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """On how many of the cases two rules concluded the same, and on how many of those that told either anything."""

    cases: int
    same: int
    telling: int
    told_same: int

    @property
    def equal(self) -> bool:
        """Whether they concluded the same on all."""
        return self.same == self.cases


def alone(part: Slice) -> Pack:
    """A rule and what it reads as a pack of its own, in which it is called `NAME`."""
    old = part.rule.name
    lines = [f"#const {name} = {value}." for name, value in part.constants.items()]
    lines.append(f"rule({NAME}, {part.rule.mode}).")
    lines += [
        f"deadline({NAME}, {f.args[1]})." for f in part.pack.frame if f.name == "deadline" and f.args[0] == Fun(old)
    ]
    names = "|".join([*MEMBERS, "pending"])
    lines.append(re.sub(rf"\b({names})\({re.escape(old)}\b", rf"\1({NAME}", part.text))
    return Pack.of("\n".join(lines), vocabulary=part.vocabulary, name="rule")


def agreement(gold: Slice, other: Slice | None, cases: int, *, seed: int = 0) -> Agreement:
    """How often a rule concludes what the gold rule does, the objects of its binding in whichever order fits best.

    The graphs are about what either of them reads. A rule that is missing concludes nothing.
    """
    parts = [gold] if other is None else [gold, other]
    packs = [slice_of(alone(part), NAME) for part in parts]
    rng = Random(seed)
    judges = [_Concluding(part) for part in packs]
    told = []
    for case in (random_case(packs, rng) for _ in range(cases)):
        told.append([judge(case) for judge in judges])
    orders = list(permutations(range(gold.arity)))
    if other is None or other.arity != gold.arity:
        orders = [()]
    return max((_compared(told, order) for order in orders), key=lambda found: found.same)


def _compared(told: Sequence[Sequence[Conclusions]], order: tuple[int, ...]) -> Agreement:
    same = telling = told_same = 0
    for first, *rest in told:
        second = (
            frozenset((kind, tuple(b[i] for i in order) if order else b) for kind, b in rest[0])
            if rest
            else frozenset()
        )
        equal = first == second
        same += equal
        if first or second:
            telling += 1
            told_same += equal
    return Agreement(len(told), same, telling, told_same)


class _Concluding:
    """Concludes from one case after the other, in one resident program."""

    def __init__(self, part: Slice) -> None:
        program = "\n".join([*frame(part), KERNEL, part.text])
        self._resident = asp.Resident(program, [(name, 2, True) for name in _COMPARED], part.pack.consts)
        self._true: frozenset[Atom] = frozenset()

    def __call__(self, case: Case) -> Conclusions:
        """What the kernel concludes before and now; what opened before is open now."""
        before = self._of(case.before)
        opened = [atom for atom in before if atom.name == "opens"]
        records = [Atom("was_pending", atom.args) for atom in opened]
        records += [Atom("age", (*atom.args, 1)) for atom in opened]
        now = self._of([*case.now, *records])
        told = [("then", atom) for atom in before] + [("now", atom) for atom in now]
        return frozenset((f"{when} {atom.name}", tuple(binding_of(atom.args[1]))) for when, atom in told)

    def _of(self, facts: Iterable[Atom]) -> frozenset[Atom]:
        true = frozenset(facts)
        self._resident.update(true - self._true, self._true - true, possible=true)
        self._true = true
        return self._resident.model()


# -- random graphs ---------------------------------------------------------------------------------


def random_case(parts: Sequence[Slice], rng: Random) -> Case:
    """Two graphs of the same objects with the same tags, over the names that some rules read, each with an intent."""
    names = [f"object {i}" for i in range(rng.randint(*_OBJECTS))]
    tags = sorted({tag for part in parts for tag in part.reads("tag")})
    density = rng.choice((_OFTEN, _SELDOM))
    static = [Atom("object", (name,)) for name in names]
    static += [Atom("tag", (name, Fun(tag))) for name in names for tag in tags if rng.random() < density]
    before, now = ((*static, *_dynamic(parts, names, density, rng)) for _ in range(2))
    return Case(before, now)


def _dynamic(parts: Sequence[Slice], names: Sequence[str], density: float, rng: Random) -> Iterator[Atom]:
    states = sorted({s for part in parts for s in (*part.reads("state"), *part.reads("state", positive=False))})
    for name in names:
        for state in states:
            if rng.random() < 2 * density:
                yield Atom("state", (name, Fun(state)), rng.random() < 0.6)
        if rng.random() < _OFTEN:
            yield Atom("moved", (name,))
        for quantity in sorted({q for part in parts for q in part.reads("value")}):
            yield Atom("value", (name, Fun(quantity), rng.choice([n for part in parts for n in part.numbers])))
    yield from _edges(parts, names, density, rng)
    skills = sorted({skill for part in parts for skill in part.skills})
    if skills and rng.random() < 0.9:
        skill = rng.choice(skills)
        arity = parts[0].vocabulary.skills[skill]
        args = rng.sample(names, arity) if arity <= len(names) else rng.choices(names, k=arity)
        action = Fun(skill, tuple(args))
        yield Atom("intent", (action,))
        if rng.random() < 0.5:
            yield Atom("executed", (action,))


def _edges(parts: Sequence[Slice], names: Sequence[str], density: float, rng: Random) -> Iterator[Atom]:
    """Well-formed: symmetric relations both ways, one supporter each, and nothing holds itself up."""
    vocabulary = parts[0].vocabulary
    relations = sorted({relation for part in parts for relation in part.reads("edge")})
    supports = [relation for relation in relations if relation in vocabulary.supports]
    for i, name in enumerate(names[:-1]):
        if supports and rng.random() < 0.75:
            other = rng.choice(names[i + 1 :])
            for relation in {rng.choice(supports), rng.choice(supports)}:
                yield Atom("edge", (Fun(relation), name, other))
    for relation in relations:
        if relation not in vocabulary.supports:
            for one in names:
                for other in names:
                    if one != other and rng.random() < density / 2:
                        yield Atom("edge", (Fun(relation), one, other))
                        if relation in vocabulary.symmetric:
                            yield Atom("edge", (Fun(relation), other, one))
