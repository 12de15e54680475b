"""The backend whose steps cost what they change: only what a change can concern is concluded anew.

The hazards of temporal rules are kept, by an object that each is about; a change leads back to those it may concern,
and from each of them to the facts that decide it (see `roles`). Records and intents are answered from the facts around
their objects. Every such slice is evaluated by clingo, once for all that look alike (see `answers`). Rules that are
not local are left to the resident backend.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from rpds import HashTrieSet

from obviate.engine.answers import Answer, Answers
from obviate.engine.backend import OUTPUTS, Capability, Conclusions, Query
from obviate.engine.hazards import Hazards, Seen, Sight, Since
from obviate.engine.locality import Local, View, locality
from obviate.engine.multishot import MultiShot
from obviate.engine.reach import Fact, Part, back, forward, is_fit, lost
from obviate.engine.roles import Roles
from obviate.engine.standing import Binding, Instance, Ledger, Standing
from obviate.kb import DONE, Action, BeliefGraph, Pack
from obviate.kb.belief import Delta

__all__ = ["Sliced"]

_ANY = Action("_any")  # an action of which it only matters that it is one
Found = dict[str, set[Instance]]


class Sliced:
    """Keeps hazards, and asks about slices."""

    name = "sliced"

    def __init__(self, pack: Pack) -> None:
        plan = locality(pack)
        self._pack = pack
        self._local = plan.local
        self._views = plan.views
        self._answers = Answers(pack.consts, plan.constants)
        self._hazards = Hazards(plan, self._answers)
        self._sight = Sight({name: one.roles for name, one in plan.local.items() if one.roles is not None})
        self._others = MultiShot(plan.others) if plan.others is not None else None
        self._reasons = plan.reasons
        self._timed = [name for name, one in plan.local.items() if isinstance(one.deadline, int)]

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        seen = self._hazards.on(graph)
        known = self._hazards.since(query.standing.since, seen)
        since = known or self._since_ever(query.standing, seen)
        concerned = self._concerned(graph, query, seen, since, everything=known is None or query.intent == DONE)
        found: Found = {name: set() for name, _, _ in OUTPUTS}
        for rule, one in self._local.items():
            bindings = concerned.get(rule, ())
            if one.mode == "situational" and _is_asked(one, query.intent):
                _take(found, self._intended(graph, query, seen, one, bindings), rule)
            else:
                for binding in bindings:
                    _take(found, self._recorded(graph, query, seen, one, binding), rule, binding)
        answers = self._conclusions(found, query.standing, since)
        if self._others is not None:
            theirs = self._others.conclude(graph, _only(query, self._reasons))
            answers |= Conclusions(*(_of(getattr(theirs, name), self._reasons) for name in Conclusions.__slots__))
        return answers

    def capabilities(self) -> tuple[Capability, ...]:
        others = {one.rule: one for one in (self._others.capabilities() if self._others is not None else ())}
        return tuple(self._capability(rule, others) for rule in self._pack.rules)

    def _capability(self, rule: str, others: Mapping[str, Capability]) -> Capability:
        if rule in others:
            return Capability(rule, others[rule].backend, f"not local: {self._reasons[rule]}")
        one = self._local[rule]
        roles = self._views[rule].roles if one.mode == "temporal" else one.roles
        return Capability(rule, self.name, f"from {_origin(self._views.get(rule), one)}{_ways(roles)}")

    @property
    def symbols(self) -> int:
        return self._answers.symbols + (self._others.symbols if self._others is not None else 0)

    def close(self) -> None:
        self._hazards.clear()
        if self._others is not None:
            self._others.close()

    def _conclusions(self, found: Found, standing: Standing, since: Since) -> Conclusions:
        now = frozenset(i for i in found.pop("trigger") if self._local[i[0]].mode == "situational")
        before = _of(standing.situational, self._local)
        return Conclusions(
            appeared=since.appeared.union(now - before),
            vanished=since.vanished.union(before - now),
            **{name: frozenset(instances) for name, instances in found.items()},
        )

    # -- what is concerned -------------------------------------------------------------------------

    def _since_ever(self, standing: Standing, seen: Seen) -> Since:
        """What is new, if it is not known where one comes from."""
        appeared = frozenset(i for i in seen.temporal if i not in standing.temporal)
        vanished = frozenset(i for i in standing.temporal if i not in seen.temporal and i[0] in self._local)
        return Since(appeared, vanished, Delta())

    def _concerned(
        self, graph: BeliefGraph, query: Query, seen: Seen, since: Since, *, everything: bool
    ) -> dict[str, set[Binding]]:
        """The bindings of which something may be new, by rule, but for those that an intent brings about."""
        concerned: dict[str, set[Binding]] = {}
        for rule, binding in (*since.appeared, *since.vanished, *_of(query.doubted, self._local)):
            concerned.setdefault(rule, set()).add(binding)
        if everything:
            for rule, binding in (*query.standing.open, *seen.temporal):
                if rule in self._local:
                    concerned.setdefault(rule, set()).add(binding)
            return concerned
        for rule, touched in self._sight.touched(since.delta).items():
            bindings = self._touched(graph, self._local[rule], touched, query.standing.open, seen, since.delta)
            concerned.setdefault(rule, set()).update(bindings)
        if query.intent is not None:
            for rule in self._timed:
                concerned.setdefault(rule, set()).update(query.standing.open.of_rule(rule))
        return concerned

    def _touched(
        self, graph: BeliefGraph, one: Local, touched: set[Part], records: Ledger, seen: Seen, delta: Delta
    ) -> Iterator[Binding]:
        """The bindings of open records, and of hazards with a target, that a change may concern."""
        if one.roles is None or not (one.mode == "temporal" or records.of_rule(one.rule)):
            return
        places = {number: place for place, numbers in one.roles.starts.items() for number in numbers}
        for number, name in back(one.roles, touched, graph, lost(delta.removed)):
            if number in places:
                hazards = seen.kept.get((one.rule, name), ()) if one.mode == "temporal" else ()
                for binding in (*records.about(one.rule, name), *hazards):
                    if binding[places[number]] == name:
                        yield binding

    # -- what is asked ----------------------------------------------------------------------------

    def _recorded(self, graph: BeliefGraph, query: Query, seen: Seen, one: Local, binding: Binding) -> Answer:
        """What is concluded about one binding, whatever is intended."""
        facts: set[Fact] = set()
        if one.roles is not None:
            parts, facts = forward(one.roles, _starts(one, binding), graph)
            facts |= set(_given(one, {name for _, name in parts}.union(binding), seen))
        facts |= set(_record(query.standing, one, binding))
        if one.mode == "temporal" and (one.rule, binding) in seen.temporal:
            facts.add((("hazard", True, one.rule), binding, 0))
        skeleton = [None if action is None else DONE if action == DONE else _ANY for action in _actions(query)]
        facts |= set(_events(*skeleton))
        return self._answers.ask(one.program, facts, OUTPUTS)

    def _intended(
        self, graph: BeliefGraph, query: Query, seen: Seen, one: Local, bindings: Collection[Binding]
    ) -> Answer:
        """What an intent brings about, and what is concluded about open records with these bindings."""
        assert one.roles is not None
        assert query.intent is not None
        records = query.standing.open
        spared = _Spared(records, one.rule) if records.of_rule(one.rule) else ()
        seeds = list(_seeds(one, query.intent, seen, graph, spared))
        parts, facts = forward(one.roles, seeds, graph, spared)
        wanted = {binding for binding in bindings if (one.rule, binding) in records}
        if records.of_rule(one.rule):
            names = {name for _, name in parts}.union(query.intent.args)  # which may be gone
            wanted |= {b for name in names for b in records.about(one.rule, name) if names.issuperset(b)}
        if not seeds and not wanted:
            return frozenset()
        if wanted:
            seeds += [part for binding in wanted for part in _starts(one, binding)]
            parts, facts = forward(one.roles, seeds, graph, spared)
        facts |= set(_given(one, {name for _, name in parts}.union(*wanted), seen))
        for binding in wanted:
            facts |= set(_record(query.standing, one, binding))
        facts |= set(_events(*_actions(query)))
        return self._answers.ask(one.program, facts, OUTPUTS)


def _origin(view: View | None, one: Local) -> str:
    """Where a rule is followed from."""
    if one.mode == "situational":
        return "the intent" + "".join(f" and every hazard of {rule}" for rule in sorted(one.scanned))
    return f"object {view.anchor + 1} of its binding" if view is not None else "its binding"


def _ways(roles: Roles | None) -> str:
    """The relations along which it is followed."""
    links = {
        f"{relation or 'any relation'} {'outward' if link.out else 'inward'}"
        for role in (roles.roles if roles is not None else ())
        for link in role.links
        for relation in (link.relations or ("",))
    }
    return f" along {', '.join(sorted(links))}" if links else ""


def _take(found: Found, answer: Answer, rule: str, binding: Binding | None = None) -> None:
    """Take over what was answered about a rule, or about one binding of it."""
    for what, of, about in answer:
        if of == rule and binding in (None, about):
            found[what].add((rule, about))


def _is_asked(one: Local, intent: Action | None) -> bool:
    """Whether an intent can threaten by a rule."""
    return intent is not None and (one.skills is None or intent.skill in one.skills)


def _actions(query: Query) -> tuple[Action | None, Action | None]:
    return query.intent, query.executed


def _events(intent: Action | None, executed: Action | None) -> Iterator[Fact]:
    for what, action in (("intent", intent), ("executed", executed)):
        if action is not None:
            yield (what, True, action.skill), action.args, 0


def _record(standing: Standing, one: Local, binding: Binding) -> Iterator[Fact]:
    """What the kernel is told about a binding."""
    instance = one.rule, binding
    if instance in standing.open:
        yield ("was_pending", True, one.rule), binding, 0
        if isinstance(one.deadline, int):
            yield ("age", True, one.rule), binding, standing.actions - standing.open.born[instance]
    if instance in standing.spent:
        yield ("spent", True, one.rule), binding, 0


def _starts(one: Local, binding: Binding) -> Iterator[Part]:
    """The parts that the objects of a binding play."""
    if one.roles is not None:
        for place, numbers in one.roles.starts.items():
            yield from ((number, binding[place]) for number in numbers)


def _seeds(one: Local, intent: Action, seen: Seen, graph: BeliefGraph, spared: Container[str]) -> Iterator[Part]:
    """The parts that the objects of an intent play, and those of the hazards that it is asked about."""
    if one.roles is None:
        return
    for ask in one.roles.asks:
        if ask.skill not in ("", intent.skill):
            continue
        seeds = [(number, intent.args[place]) for place, number in ask.seeds if place < len(intent.args)]
        strict = seeds if ask.strict else ()
        if all(is_fit(one.roles, number, name, graph.nodes.get(name), spared) for number, name in strict):
            yield from seeds
            for scan in ask.scans:
                yield from ((scan.role, binding[scan.place]) for binding in seen.kept.get((scan.rule, ""), ()))


def _given(one: Local, names: set[str], seen: Seen) -> Iterator[Fact]:
    """The hazards of scanned rules about these objects alone."""
    for rule in one.scanned:
        for name in names:
            for binding in seen.kept.get((rule, name), ()):
                if names.issuperset(binding):
                    yield ("hazard", True, rule), binding, 0


class _Spared:
    """The objects that open records of a rule are about."""

    def __init__(self, records: Ledger, rule: str) -> None:
        self._records, self._rule = records, rule

    def __contains__(self, name: object) -> bool:
        return bool(self._records.about(self._rule, str(name)))


def _of(instances: Iterable[Instance], rules: Collection[str]) -> frozenset[Instance]:
    return frozenset(instance for instance in instances if instance[0] in rules)


def _only(query: Query, rules: Collection[str]) -> Query:
    """The same query about some rules alone."""
    before = query.standing
    standing = replace(
        before,
        open=before.open.closed([i for i in before.open if i[0] not in rules]),
        spent=HashTrieSet(_of(before.spent, rules)),
        temporal=HashTrieSet(_of(before.temporal, rules)),
        situational=_of(before.situational, rules),
    )
    return replace(query, standing=standing, doubted=_of(query.doubted, rules))
