"""From any sentence of the form to one that can be true: what contradicts itself is dropped, and told.

A schema bounds names and numbers, not sense: it cannot keep a model from asking that a thing be open and not open. The
reading is that the first of two conditions counts. What is dropped is a reason for a person to look at the rule, and
without it `obviate check` finds no error, whatever the model wrote. Where it is not sure that conditions go together,
the later one is dropped as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from obviate.compilers.rules.escape import escapes
from obviate.compilers.rules.shape import (
    BOUND,
    EXTRA,
    Clause,
    Lack,
    Measure,
    Place,
    Shape,
    Thing,
    Threat,
    derived,
    said,
)
from obviate.kb import Vocabulary

__all__ = ["Facts", "Settled", "settle"]

Tell = Callable[[str], None]
_MOST_OBJECTS = 3


@dataclass(frozen=True, slots=True)
class Settled:
    """A form whose rule can be true, and what had to be dropped for that, in words."""

    shape: Shape
    dropped: tuple[str, ...]


def settle(shape: Shape, vocabulary: Vocabulary) -> Settled:
    """The form without its contradictions, its objects in order; what a threat or target names is bound."""
    dropped: list[str] = []
    tell = dropped.append
    relations = Relations(vocabulary)
    named = {*shape.about, *(arg for threat in shape.threats for arg in threat.args)}
    named |= {letter for threat in shape.threats for letter in _letters(threat.given)}
    named |= {letter for clause in shape.target for letter in _letters(clause)}
    about = tuple(letter for letter in BOUND if letter in named)
    hazard = tuple(Facts(relations).add(clause, tell, "hazard").clause() for clause in shape.hazard)
    uncrowded = [
        threat.model_copy(update={"given": _uncrowded(threat.given, {*about, *threat.args}, tell, "threat")})
        for threat in shape.threats
    ]
    threats = _threats(uncrowded, hazard, relations, tell)
    clauses = [_uncrowded(clause, set(about), tell, "target") for clause in shape.target]
    target = _target(clauses, hazard, threats, relations, tell)
    changes = {"about": about, "hazard": hazard, "threats": threats, "target": target}
    return Settled(shape.model_copy(update=changes), tuple(dict.fromkeys(dropped)))


def _letters(clause: Clause) -> set[str]:
    return {thing.object for thing in clause} | {place.of for thing in clause for place in thing.at}


def _uncrowded(clause: Clause, named: set[str], tell: Tell, member: str) -> Clause:
    """The clause without further objects beyond three in all, but for one of which a single thing is said: a rule
    about more grounds too much.
    """
    for extra in reversed(EXTRA):
        once = {letter for letter in EXTRA if _is_lonely(clause, named, letter)}
        if extra not in once and len((named | _letters(clause)) - once - {"_"}) > _MOST_OBJECTS:
            tell(f"{member}: more than {_MOST_OBJECTS} objects, so that {extra} was left out")
            clause = tuple(
                thing.model_copy(update={"at": tuple(place for place in thing.at if place.of != extra)})
                for thing in clause
                if thing.object != extra
            )
    return clause


def _is_lonely(clause: Clause, named: set[str], letter: str) -> bool:
    """Whether an object is spoken of once, and only as what another one is related to, or an action done with."""
    own = [thing for thing in clause if thing.object == letter]
    places = sum(len(thing.at) for thing in own) + sum(place.of == letter for thing in clause for place in thing.at)
    return all(len(said(thing)) == len(thing.at) for thing in own) and places + (letter in named) <= 1


def _threats(
    threats: Sequence[Threat], hazard: Sequence[Clause], relations: Relations, tell: Tell
) -> tuple[Threat, ...]:
    """The threats, what is given in each agreeing with every clause of the hazard."""
    settled = []
    for threat in threats:
        facts = Facts(relations, [Facts(relations).add(clause) for clause in hazard])
        given = facts.add(threat.given, tell, "threat").clause()
        settled.append(Threat(skills=tuple(dict.fromkeys(threat.skills)), args=threat.args, given=given))
    return tuple(dict.fromkeys(settled))


def _target(
    target: Sequence[Clause], hazard: Sequence[Clause], threats: Sequence[Threat], relations: Relations, tell: Tell
) -> tuple[Clause, ...]:
    """The clauses of the target, unless they may hold whenever the hazard does: then none, and the default target."""
    clauses = [Facts(relations).add(clause, tell, "target").clause() for clause in target]
    clauses = [clause for clause in clauses if clause]
    before = [Facts(relations).add(clause) for clause in (*hazard, *(threat.given for threat in threats))]
    if clauses and not escapes(clauses, before):
        tell("target: it may hold whenever the hazard does")
        return ()
    return tuple(dict.fromkeys(clauses))


class Relations:
    """What relations rest on: supports, of which an object has one, and what follows from them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._derived = derived(vocabulary)
        self._supports = vocabulary.supports

    def bases(self, relation: str) -> frozenset[str]:
        """The declared relations that a relation follows from."""
        name = relation.removesuffix("_it") if relation.endswith("_it") else relation
        found = self._derived.get(name)
        return frozenset({name}) if found is None else frozenset({found[0], *found[1]} - {""})

    def supports(self, place: Place) -> bool:
        """Whether it may need a supporter of the object."""
        return any(self.bases(name) & self._supports for name in place.relations)

    def meet(self, relation: str, place: Place) -> bool:
        """Whether a place may be an instance of a relation."""
        return any(self.bases(relation) & self.bases(name) for name in place.relations)


@dataclass(slots=True)
class About:
    """What is known of one object."""

    tags: list[tuple[str, ...]] = field(default_factory=list)
    states: list[tuple[str, ...]] = field(default_factory=list)
    not_tags: list[str] = field(default_factory=list)
    not_states: list[str] = field(default_factory=list)
    seen_not: list[str] = field(default_factory=list)
    moved: bool = False
    at: list[Place] = field(default_factory=list)
    lacks: list[Lack] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)


class Facts:
    """Conditions that go together, and with those `before` them: one clause, taken thing by thing."""

    def __init__(self, relations: Relations, before: Iterable[Facts] = ()) -> None:
        self.relations = relations
        self.before = tuple(before)
        self.about: dict[str, About] = {}

    def add(self, clause: Clause, tell: Tell = lambda _: None, member: str = "") -> Facts:
        """Take the conditions of a clause one by one, what says what must be so before what must not."""

        def drop(thing: str, what: str) -> None:
            tell(f"{member}: {what} of {thing} contradicts what is said before it")

        for thing in clause:
            self._tags_and_states(thing, drop)
        for thing in clause:
            for place in thing.at:
                self._place(thing.object, place, drop)
        for thing in clause:
            self._negations(thing, drop)
        return self

    def clause(self) -> Clause:
        """The things, in the order of their letters."""
        order = {letter: i for i, letter in enumerate("XYZUV")}
        return tuple(_thing(name, self.about[name]) for name in sorted(self.about, key=order.__getitem__))

    def known(self, name: str) -> list[About]:
        """What this clause and those before it say of an object."""
        facts = (self, *self.before)
        return [each.about[name] for each in facts if name in each.about]

    def everything(self) -> list[tuple[str, About]]:
        """What this clause and those before it say of all objects."""
        return [item for each in (self, *self.before) for item in each.about.items()]

    # -- taking conditions ---------------------------------------------------------------------------

    def _tags_and_states(self, thing: Thing, drop: Callable[[str, str], None]) -> None:
        name = thing.object
        mine = self.about.setdefault(name, About())
        mine.moved |= thing.moved
        for groups, into, denied in (
            (thing.tags, mine.tags, [about.not_tags for about in self.known(name)]),
            (thing.states, mine.states, [[*about.not_states, *about.seen_not] for about in self.known(name)]),
        ):
            for group in groups:
                words = tuple(dict.fromkeys(group))
                if set(words) & {word for names in denied for word in names} or (
                    set(words) & self._lacking() and into is mine.tags
                ):
                    drop(name, " or ".join(words))
                elif words and words not in into:
                    into.append(words)
        for measure in thing.measures:
            if any(measure.quantity == other.quantity for about in self.known(name) for other in about.measures):
                drop(name, f"{measure.quantity} {measure.side} {measure.number}")
            else:
                mine.measures.append(measure)

    def _lacking(self) -> set[str]:
        """The tags of which something may have to lack an object near it, by what was said before."""
        return {
            tag for each in self.before for about in each.about.values() for lack in about.lacks for tag in lack.tags
        }

    def _place(self, name: str, place: Place, drop: Callable[[str, str], None]) -> None:
        wanted = Place(relations=tuple(dict.fromkeys(place.relations)), of=place.of)
        mine = self.about.setdefault(name, About())
        lacks = [lack for _, about in self.everything() for lack in about.lacks]
        clash = any(self.relations.meet(lack.relation, wanted) for lack in lacks)
        if place.of == name or clash or (self.relations.supports(wanted) and not self._can_rest(name, place.of)):
            drop(name, f"{' or '.join(wanted.relations)} {place.of}")
        elif wanted not in mine.at:
            mine.at.append(wanted)
            self.about.setdefault(place.of, About())

    def _can_rest(self, name: str, other: str) -> bool:
        """Whether an object may rest on another: it rests on nothing else, and the other does not rest on it."""
        on: dict[str, set[str]] = {}
        for src, about in self.everything():
            on.setdefault(src, set()).update(place.of for place in about.at if self.relations.supports(place))
        if on.get(name, set()) - {other}:
            return False
        seen, todo = set(), [other]
        while todo:
            src = todo.pop()
            if src not in seen:
                seen.add(src)
                todo += on.get(src, ())
        return name not in seen

    def _negations(self, thing: Thing, drop: Callable[[str, str], None]) -> None:
        mine = self.about[thing.object]
        denied = [word for word in thing.not_states if word not in {*thing.seen_not, *mine.seen_not}]
        self._deny(thing.object, thing.not_tags, mine.tags, mine.not_tags, drop)
        self._deny(thing.object, thing.seen_not, mine.states, mine.seen_not, drop)
        self._deny(thing.object, denied, mine.states, mine.not_states, drop)
        for lack in thing.lacks:
            wanted = Lack(relation=lack.relation, tags=tuple(dict.fromkeys(lack.tags)))
            if not self._can_lack(wanted):
                drop(thing.object, f"nothing {wanted.relation}")
            elif wanted not in mine.lacks:
                mine.lacks.append(wanted)

    def _deny(
        self,
        name: str,
        words: Iterable[str],
        groups: list[tuple[str, ...]],
        into: list[str],
        drop: Callable[[str, str], None],
    ) -> None:
        """Deny words of an object, which leaves fewer alternatives in the groups that ask for one of several."""
        for word in dict.fromkeys(words):
            if self._can_deny(name, word, "tags" if groups is self.about[name].tags else "states"):
                groups[:] = [_without(group, word) for group in groups]
                _add(into, word)
            else:
                drop(name, f"not {word}")

    def _can_deny(self, name: str, word: str, kind: str) -> bool:
        """Whether a word may be denied: what asks for it leaves a choice in this clause, and nothing did before."""
        own = self.about[name]
        groups = own.tags if kind == "tags" else own.states
        others = [about for about in self.known(name) if about is not own]
        earlier = [group for about in others for group in (about.tags if kind == "tags" else about.states)]
        return all(group != (word,) for group in groups) and all(word not in group for group in earlier)

    def _can_lack(self, lack: Lack) -> bool:
        """Whether nothing that is said could be the thing that is lacking."""
        near = any(self.relations.meet(lack.relation, place) for _, about in self.everything() for place in about.at)
        tagged = {word for _, about in self.everything() for group in about.tags for word in group}
        return not near or (bool(lack.tags) and not tagged & set(lack.tags))


def _add(words: list[str], word: str) -> None:
    if word not in words:
        words.append(word)


def _without(group: tuple[str, ...], word: str) -> tuple[str, ...]:
    return tuple(other for other in group if other != word)


def _thing(name: str, about: About) -> Thing:
    return Thing(
        object=name,
        tags=tuple(dict.fromkeys(about.tags)),
        states=tuple(dict.fromkeys(about.states)),
        not_tags=tuple(about.not_tags),
        not_states=tuple(about.not_states),
        seen_not=tuple(about.seen_not),
        moved=about.moved,
        at=tuple(about.at),
        lacks=tuple(about.lacks),
        measures=tuple(about.measures),
    )
