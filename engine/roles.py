"""How far a change reaches: for each safety rule, the roles that objects play in it and the relations between them.

Whatever decides a conclusion about some objects is found by walking from them along the relations that the rule
names, in the directions that it names them; and what a change may concern, by walking back. A rule for which that is
not so is not local.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from obviate.engine.occurrence import Join, Key, Occurrence, Topic

__all__ = ["Ask", "Asked", "Builder", "Entry", "Link", "Plan", "Role", "Roles", "Scan"]

Entry = frozenset[int]  # the arguments of a key that are known where it is asked
Asked = tuple[Key, Entry]


@dataclass(frozen=True, slots=True)
class Link:
    """A step along one of `relations` (none: any) to another object, forward (`out`) or backward; `target` is the role
    that it has there, or -1 where only the relation itself is read.
    """

    relations: frozenset[str]
    out: bool
    target: int


@dataclass(slots=True)
class Role:
    """What is read of an object that plays a part: the topics, and of each of `needs` one must hold, or it plays none.

    `gate` are roles of which it must be fit for one (none: for any), unless a record is about it. `same` are other
    roles of the same object, `back` the roles that lead here and how (None: the same object).
    """

    needs: list[frozenset[Topic]] = field(default_factory=list)
    gate: list[int] = field(default_factory=list)
    reads: set[Topic] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    back: list[tuple[int, Link | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scan:
    """The role of what all hazards of a rule have at a place."""

    rule: str
    place: int
    role: int


@dataclass(frozen=True, slots=True)
class Ask:
    """What begins with an intent that has a `skill` (none: any): the roles of its arguments, by place, and the hazards
    that are asked of all their bindings. If it is `strict`, nothing does unless all of the arguments are fit.
    """

    skill: str
    seeds: tuple[tuple[int, int], ...]
    scans: tuple[Scan, ...] = ()
    strict: bool = True


@dataclass(slots=True)
class Roles:
    """The roles in which objects decide some conclusions.

    `starts` are those of the arguments, by place; `asks` those of what an intent names. `joins` are the rules that take
    part.
    """

    roles: list[Role]
    starts: dict[int, list[int]]
    asks: list[Ask]
    joins: tuple[Join, ...]


@dataclass(slots=True)
class Plan:
    """How the objects of a rule are found from those that are known: relations that are followed or read, what is the
    same, what is called from which known arguments (and whether it finds others), what is asked of all its bindings.
    """

    join: Join
    known: set[str]
    links: list[tuple[str, str, frozenset[str], bool]] = field(default_factory=list)  # from, to ("": read), how
    same: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[Occurrence, Key, Entry, bool]] = field(default_factory=list)
    scans: list[Occurrence] = field(default_factory=list)
    cost: int = 0


class Builder:
    """Lays the plans of what is asked out as roles: one for each variable of a rule, by how the rule is asked."""

    def __init__(self, plans: Mapping[Asked, list[Plan]], asked: Collection[Asked]) -> None:
        self._plans = plans
        self._numbers: dict[tuple[Asked, int, str], int] = {}
        self._roles: list[Role] = []
        self._joins: dict[int, Join] = {}
        self._asks: list[Ask] = []
        self._laid: set[Asked] = set()
        for one in asked:
            self._lay(one)

    def build(self, starts: dict[int, list[int]]) -> Roles:
        return Roles(self._roles, starts, self._asks, tuple(self._joins.values()))

    def heads(self, key: Key, entry: Entry, place: int) -> list[int]:
        """The roles of an argument in the rules of a key."""
        found = []
        for i, plan in enumerate(self._plans[key, entry]):
            name = plan.join.head[place]
            if name is not None:
                found.append(self._number((key, entry), i, name))
        return found

    def join(self, source: int, target: int, link: Link | None) -> None:
        """One role leads to another."""
        if link is None:
            self._roles[source].same.append(target)
        else:
            self._roles[source].links.append(link)
        if target >= 0:
            self._roles[target].back.append((source, link))

    def _number(self, asked: Asked, i: int, name: str) -> int:
        if (asked, i, name) not in self._numbers:
            self._numbers[asked, i, name] = len(self._roles)
            self._roles.append(Role())
        return self._numbers[asked, i, name]

    def _lay(self, asked: Asked) -> None:
        if asked in self._laid:
            return
        self._laid.add(asked)
        for i, plan in enumerate(self._plans[asked]):
            self._joins[id(plan.join)] = plan.join
            numbers = {name: self._number(asked, i, name) for name in sorted(plan.known)}
            for atom in plan.join.body:
                self._note(atom, numbers)
            for one, other in plan.same:
                self.join(numbers[one], numbers[other], None)
            for one, other, relations, out in plan.links:
                target = numbers[other] if other else -1
                self.join(numbers[one], target, Link(relations, out, target))
            self._ask(plan, numbers)
            for atom, key, entry, finds in plan.calls:
                self._lay((key, entry))
                self._call(atom, key, entry, numbers, finds=finds)

    def _call(self, atom: Occurrence, key: Key, entry: Entry, numbers: Mapping[str, int], *, finds: bool) -> None:
        """Lead from the known arguments of a call into the rules of its key, and from there to those that it finds."""
        for place, name in enumerate(atom.names):
            if name is not None and (place in entry or finds):
                for head in self.heads(key, entry, place):
                    source, target = (numbers[name], head) if place in entry else (head, numbers[name])
                    self.join(source, target, None)

    def _note(self, atom: Occurrence, numbers: Mapping[str, int]) -> None:
        """What an atom reads of an object, or asks of an intent."""
        if atom.kind == "unary" and (name := atom.names[0]) is not None:
            role = self._roles[numbers[name]]
            role.reads |= atom.topics
            if atom.filters and all(about or what in ("object", "moved") for what, _, about in atom.topics):
                role.needs.append(atom.topics)

    def _ask(self, plan: Plan, numbers: Mapping[str, int]) -> None:
        """What begins with an intent in a rule."""
        scans = tuple(
            Scan(rule, place, numbers[name])
            for atom in plan.scans
            for _, rule in atom.keys
            for place, name in enumerate(atom.names)
            if name is not None
        )
        intents = [(skill, names, atom.filters) for atom in plan.join.body for skill, names in atom.skills]
        for skill, names, strict in intents:
            seeds = tuple((place, numbers[name]) for place, name in enumerate(names) if name and name in numbers)
            self._asks.append(Ask(skill, seeds, scans if strict else (), strict))
        if scans and not any(strict for _, _, strict in intents):
            self._asks.append(Ask("", (), scans))

    def gate(self, first: Asked, then: Asked) -> None:
        """Let only those objects play a part in what is asked `first` that are fit for what is asked `then`."""
        called = {
            (key, entry) for asked in self._laid for plan in self._plans[asked] for _, key, entry, _ in plan.calls
        }
        rules = [plan.join for plan in self._plans[then]]
        if first in called or not rules:
            return
        for place in range(len(rules[0].head)):
            if all(join.head[place] is not None for join in rules):
                for number in self.heads(*first, place):
                    self._roles[number].gate = self.heads(*then, place)
