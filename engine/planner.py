"""Planning how the objects of a rule are found from those that are known."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, combinations

from obviate.engine.occurrence import Join, Key, Occurrence, Unlocal
from obviate.engine.roles import Asked, Builder, Entry, Plan, Roles
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Planner"]

_DEAR = 16  # what an object holds: a floor holds everything


class _Again(Exception):  # noqa: N818 - no error
    """Something was found not to be possible; what took it to be is planned again."""


class Planner:
    """Plans the walks of a pack. What an intent brings about may ask the hazards of the rules `views` of all their
    bindings, as it is concluded at each intent; `others` plans what is not.
    """

    def __init__(
        self,
        joins: Mapping[Key, list[Join | Unlocal]],
        vocabulary: Vocabulary,
        views: Collection[str] = (),
        others: Planner | None = None,
    ) -> None:
        self._joins = joins
        self._vocabulary = vocabulary
        self._views = frozenset(("hazard", rule) for rule in views)
        self._others = others or self
        self._plans: dict[Asked, list[Plan]] = {}
        self._attempt: dict[Asked, list[Plan]] = {}
        self._impossible: dict[Asked, Unlocal] = {}

    def arity(self, key: Key) -> int:
        """The number of arguments of a key that is concluded somewhere. Raises `Unlocal` if that is not one number."""
        sizes = {len(join.head) for join in self._rules(key)}
        if len(sizes) != 1:
            raise Unlocal("its bindings have several lengths")
        return sizes.pop()

    def cost(self, key: Key, entry: Entry) -> int:
        """What it costs to find all from the arguments `entry`. Raises `Unlocal`."""
        return max((plan.cost for plan in self._planned(key, entry)), default=0)

    def cheapest(self, key: Key, known: Collection[int]) -> Entry:
        """The cheapest of the known arguments from which all is found. Raises `Unlocal`."""
        best: tuple[int, int, list[int]] | None = None
        reason = Unlocal("nothing links its objects")
        for entry in _subsets(known):
            try:
                rank = (self.cost(key, entry), len(entry), sorted(entry))
            except Unlocal as why:
                reason = why
                continue
            best = rank if best is None or rank < best else best
        if best is None:
            raise reason
        return frozenset(best[2])

    def roles(self, *asked: Asked) -> Roles:
        """The roles in which objects decide these conclusions about the same binding. Raises `Unlocal`."""
        builder = self._builder(*asked)
        starts: dict[int, list[int]] = {}
        for key, entry in asked:
            for place in entry:
                starts.setdefault(place, []).extend(builder.heads(key, entry, place))
        return builder.build(starts)

    def chained(self, first: Key, *then: Asked) -> Roles:
        """The roles for what an intent brings about, `first`, and for others about the bindings that it finds so, which
        are where it starts if their bindings are known. Without the next one, nothing comes of it.
        """
        nothing: Entry = frozenset()
        builder = self._builder((first, nothing), *then)
        starts: dict[int, list[int]] = {}
        for key, entry in then:
            for place in entry:
                heads = builder.heads(key, entry, place)
                starts.setdefault(place, []).extend(heads)
                for found in builder.heads(first, nothing, place):
                    for start in heads:
                        builder.join(found, start, None)
        builder.gate((first, nothing), then[0])
        return builder.build(starts)

    def _builder(self, *asked: Asked) -> Builder:
        for key, entry in asked:
            (self if key[0] == "threatens" else self._others)._planned(key, entry)
        return Builder(ChainMap(self._others._plans, self._plans), asked)

    def _rules(self, key: Key) -> list[Join]:
        found = []
        for join in self._joins.get(key, ()):
            if isinstance(join, Unlocal):
                raise join
            found.append(join)
        return found

    # -- planning ---------------------------------------------------------------------------------

    def _planned(self, key: Key, entry: Entry) -> list[Plan]:
        """The plans for the rules of a key, and for all that they call. Recursion is taken to be possible until it is
        found not to be: what holds of the parts of every proof holds of the whole.
        """
        while (key, entry) not in self._plans:
            if (key, entry) in self._impossible:
                raise self._impossible[key, entry]
            self._attempt = {}
            try:
                self._try(key, entry)
            except _Again:
                continue
            self._plans.update(self._attempt)
        return self._plans[key, entry]

    def _try(self, key: Key, entry: Entry) -> int:
        """The cost of what is asked, as far as it is known."""
        asked = key, entry
        if asked not in self._plans and asked not in self._attempt:
            self._attempt[asked] = []
            try:
                self._attempt[asked] = [self._plan(join, entry) for join in self._rules(key)]
            except Unlocal as reason:
                self._impossible[asked] = reason
                raise _Again from None
        plans = self._plans.get(asked, self._attempt.get(asked, []))
        return max((plan.cost for plan in plans), default=1)

    def _plan(self, join: Join, entry: Entry) -> Plan:
        plan = Plan(join, {name for place in entry if (name := join.head[place]) is not None})
        for atom in join.body:
            if atom.kind == "intent":
                plan.known |= atom.binds
        used: set[int] = set()
        while True:
            self._equate(plan)
            lacking = sorted(join.objects - plan.known)
            if not lacking:
                break
            options = [option for i, atom in enumerate(join.body) for option in self._steps(plan, i, atom)]
            if not options:
                raise Unlocal(f"nothing links {lacking[0].split()[0]} to the other objects")
            self._take(plan, min(options, key=lambda option: option[:2]), used)
        for i, atom in enumerate(join.body):
            if i not in used:
                self._read(plan, atom)
        return plan

    def _equate(self, plan: Plan) -> None:
        pairs = [pair for one, other in plan.join.equal for pair in ((one, other), (other, one))]
        for one, other in pairs * len(plan.join.equal):
            if one in plan.known and other not in plan.known:
                plan.same.append((one, other))
                plan.known.add(other)

    def _steps(self, plan: Plan, i: int, atom: Occurrence) -> Iterator[tuple[int, int, Occurrence, object]]:
        """The ways in which an atom finds objects that are not known yet: cost, number, atom, and how."""
        unknown = {name for name in atom.names if name is not None} - plan.known
        if not unknown or not unknown <= atom.binds:
            return
        if atom.kind == "edge":
            one, other = atom.names
            if one in plan.known:
                yield self._cost(atom, out=True), i, atom, True
            elif other in plan.known:
                yield self._cost(atom, out=False), i, atom, False
        elif atom.kind == "call":
            ways = [self._entry(key, atom, plan.known, finds=True) for key in atom.keys]
            if all(way is not None for way in ways):
                yield max(way[0] for way in ways if way), i, atom, [way[1] for way in ways if way]
            elif self._views.issuperset(atom.keys):
                yield 10 * _DEAR, i, atom, None

    def _take(self, plan: Plan, option: tuple[int, int, Occurrence, object], used: set[int]) -> None:
        cost, i, atom, how = option
        if atom.kind == "edge":
            one, other = atom.names if how else reversed(atom.names)
            plan.links.append((one or "", other or "", atom.relations, bool(how)))
        elif isinstance(how, list):
            plan.calls += [(atom, key, entry, True) for key, entry in zip(atom.keys, how, strict=True)]
        else:
            plan.scans.append(atom)
        plan.cost = max(plan.cost, cost)
        plan.known.update(name for name in atom.names if name is not None)
        if how is not None:  # what is asked of all bindings is also called with each
            used.add(i)

    def _read(self, plan: Plan, atom: Occurrence) -> None:
        """What finds no object is read where the objects are."""
        if atom.kind == "edge":
            one, other = atom.names
            ways = [(self._cost(atom, out=out), name, out) for name, out in ((one, True), (other, False)) if name]
            if not ways:
                raise Unlocal("it looks at all objects of a relation")
            cost, name, out = min(ways)
            plan.links.append((name, "", atom.relations, out))
            plan.cost = max(plan.cost, cost)
        elif atom.kind == "call":
            for key in atom.keys:
                way = self._entry(key, atom, plan.known, finds=False)
                if way is None:
                    raise Unlocal(f"it looks at {key[0]} of all objects")
                plan.calls.append((atom, key, way[1], False))
                plan.cost = max(plan.cost, way[0])

    def _entry(self, key: Key, atom: Occurrence, known: set[str], *, finds: bool) -> tuple[int, Entry] | None:
        """The cheapest way to call a key from what is known, and its cost."""
        places = [place for place, name in enumerate(atom.names) if name in known]
        best: tuple[int, int, list[int]] | None = None
        for entry in _subsets(places):
            if (key, entry) in self._impossible:
                continue
            found = [p for p, name in enumerate(atom.names) if name is not None and name not in known]
            if finds and any(join.head[p] is None for join in self._rules(key) for p in found):
                continue  # a constant is no object that could be found
            rank = (self._try(key, entry), len(entry), sorted(entry))
            best = rank if best is None or rank < best else best
        return (best[0], frozenset(best[2])) if best is not None else None

    def _cost(self, atom: Occurrence, *, out: bool) -> int:
        """Rather the one thing that holds an object than all that it holds."""
        relations, words = atom.relations, self._vocabulary
        if not relations:
            return _DEAR
        if relations & words.symmetric:
            return 4
        if relations <= words.supports:
            return 1 if out else _DEAR
        return 2 if out else 4 + (_DEAR if relations & words.supports else 0)


def _subsets(places: Collection[int]) -> Iterator[Entry]:
    """The ways to be asked: from one argument, from none, from several."""
    each = sorted(places)
    sizes = [1, 0, *range(2, min(len(each), 3) + 1)]
    yield from map(frozenset, chain.from_iterable(combinations(each, size) for size in sizes))
    if len(each) > 3:
        yield frozenset(each)
