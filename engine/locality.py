"""Which rules of a pack can be followed where a change is, and how; and why the others cannot."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from obviate.engine.backend import KERNEL
from obviate.engine.demand import skills_of
from obviate.engine.occurrence import Join, Key, Unlocal, joins
from obviate.engine.planner import Planner
from obviate.engine.roles import Asked, Roles
from obviate.kb import Pack, digraph
from obviate.kb.dependency import MEMBERS, dependency_key
from obviate.kb.predicates import DESCRIPTIONS
from obviate.kb.program import Program, Rule

__all__ = ["Local", "Locality", "View", "locality"]

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = {r"\n": "\n", r"\"": '"', r"\\": "\\"}


@dataclass(frozen=True, slots=True)
class View:
    """The hazards of a rule, kept by the object at the place `anchor` of their bindings."""

    roles: Roles
    anchor: int
    program: str


@dataclass(frozen=True, slots=True)
class Local:
    """How the records of a rule are followed: the roles that decide about their bindings and, of a situational rule,
    what intents of `skills` (None: any) bring about. Without roles the hazard alone decides. `program` does not
    conclude the hazards of rules that are `scanned`: those are given, since a slice tells them of its own objects only.
    """

    rule: str
    mode: str
    deadline: str | int
    roles: Roles | None
    skills: frozenset[str] | None
    program: str

    @property
    def scanned(self) -> frozenset[str]:
        """The rules whose hazards are asked of all their bindings."""
        asks = self.roles.asks if self.roles is not None else ()
        return frozenset(scan.rule for ask in asks for scan in ask.scans)


@dataclass(frozen=True, slots=True, eq=False)
class Locality:
    """The hazards of a pack that are kept, its local rules, and a pack of the others, if any, with the reasons.

    `constants` are the objects that rules name.
    """

    views: Mapping[str, View]
    local: Mapping[str, Local]
    others: Pack | None
    reasons: Mapping[str, str]
    constants: frozenset[str]


@lru_cache(maxsize=32)
def locality(pack: Pack) -> Locality:
    """Tell the local rules of a pack."""
    telling = _Telling(pack)
    local: dict[str, Local] = {}
    reasons: dict[str, str] = {}
    for name in pack.rules:
        try:
            local[name] = telling.local(name)
        except Unlocal as reason:
            reasons[name] = str(reason)
    kept = {name for name, one in local.items() if one.mode == "temporal"}
    kept |= {rule for one in local.values() for rule in one.scanned}
    views = {name: telling.views[name] for name in sorted(kept)}
    return Locality(views, local, _rest(pack, reasons) if reasons else None, reasons, _constants(pack))


class _Telling:
    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._program = pack.program.valued(pack.consts)
        self._joins = joins(self._program.rules)
        self._consts = [other.text for other in pack.program.others if other.kind == "definition"]
        self._planner = Planner(self._joins, pack.vocabulary)
        read = (p for rule in self._program.rules for literal in rule.body for p, _ in literal.inner)
        self._asked = {key for pattern in read for key in dependency_key(pattern)}
        self.views: dict[str, View] = {}
        self._reasons: dict[str, Unlocal] = {}
        for name in pack.rules:
            try:
                self.views[name] = self._view(name)
            except Unlocal as reason:
                self._reasons[name] = reason
        self._threats = Planner(self._joins, pack.vocabulary, self.views, self._planner)

    def _view(self, name: str) -> View:
        key = "hazard", name
        best: tuple[int, int] | None = None
        for anchor in range(self._arity(key)):
            if not self._is_known(key, anchor, set()):
                reason = Unlocal("its objects may be unknown")
                continue
            try:
                rank = self._planner.cost(key, frozenset({anchor})), anchor
            except Unlocal as why:
                reason = why
                continue
            best = rank if best is None or rank < best else best
        if best is None:
            raise reason
        roles = self._planner.roles((key, frozenset({best[1]})))
        return View(roles, best[1], self._text(roles))

    def _rules(self, key: Key) -> list[Join]:
        return [join for join in self._joins[key] if isinstance(join, Join)]

    def _is_known(self, key: Key, place: int, seen: set[tuple[Key, int]]) -> bool:
        """Whether something is believed of whatever a key is concluded of at a place, at the end of each proof."""
        if (key, place) in seen:
            return True
        seen.add((key, place))
        return all(
            any(
                atom.kind != "call" or all(self._is_known(called, i, seen) for called in atom.keys)
                for atom in join.body
                for i, name in enumerate(atom.names)
                if name in atom.binds and name == join.head[place]
            )
            for join in self._rules(key)
        )

    def _arity(self, key: Key) -> int:
        if any((member, "*") in self._joins for member in MEMBERS):
            raise Unlocal("a head leaves open which rule it is of")
        if key not in self._joins:
            raise Unlocal(f"it has no {key[0]}")
        arity = self._planner.arity(key)
        if arity == 0:
            raise Unlocal("it is about the whole scene")
        return arity

    def local(self, name: str) -> Local:
        """How a rule is followed. Raises `Unlocal`."""
        rule = self._pack.rules[name]
        asked = [key for key in (("hazard", name), ("resolved", name)) if key in self._joins]
        arity = self._arity(("hazard", name))
        if any(self._planner.arity(key) != arity for key in asked):
            raise Unlocal("its bindings have several lengths")
        if rule.mode == "temporal":
            if name in self._reasons:
                raise self._reasons[name]
            if ("threatens", name) in self._joins:
                raise Unlocal("it is temporal, and threatened")
            entries = [self._entry(key, arity) for key in asked[1:]]
            roles = self._planner.roles(*entries) if entries else None
            if roles is not None and any(asked[0] in join.keys for join in roles.joins):  # it reads others of its own
                roles = self._planner.roles(self._entry(asked[0], arity), *entries)
            return self._made(name, roles, frozenset())
        if self._arity(("threatens", name)) != arity:
            raise Unlocal("its bindings have several lengths")
        if not all(None not in join.head for join in self._rules(("threatens", name))):
            raise Unlocal("its threat names an object")
        roles = self._threats.chained(("threatens", name), *(self._entry(key, arity) for key in asked))
        return self._made(name, roles, skills_of(name, [*self._program.rules]))

    def _entry(self, key: Key, arity: int) -> Asked:
        return key, self._planner.cheapest(key, range(arity))

    def _made(self, name: str, roles: Roles | None, skills: frozenset[str] | None) -> Local:
        if self._are_read(name) or any(self._reads_records(join) for join in (roles.joins if roles else ())):
            raise Unlocal("a target is asked for by another")
        rule = self._pack.rules[name]
        deadline = f"within({rule.deadline})" if isinstance(rule.deadline, int) else rule.deadline
        frame = [f"rule({name},{rule.mode}).", f"deadline({name},{deadline})."]
        frame += [f"targeted({name})."] if rule.targeted else []
        one = Local(name, rule.mode, rule.deadline, roles, skills, "")
        text = self._text(roles, one.scanned) if roles is not None else ""
        return replace(one, program="\n".join([text, *frame, KERNEL]))

    def _has_records(self, key: Key) -> bool:
        """Whether a target is asked of the records of its rule."""
        bodies = [rule.body for rule in self._program.rules if key in _keys(rule)]
        return any(p.name == "pending" for body in bodies for literal in body for p, _ in literal.inner)

    def _reads_records(self, join: Join) -> bool:
        return any(key[0] == "resolved" and self._has_records(key) for atom in join.body for key in atom.keys)

    def _are_read(self, name: str) -> bool:
        """Whether a target is asked for that is asked of the records of this rule."""
        mine = {("resolved", name), ("resolved", "*")}
        return not mine.isdisjoint(self._asked) and self._has_records(("resolved", name))

    def _text(self, roles: Roles, scanned: Collection[str] = ()) -> str:
        """The rules that take part, but for the hazards that are given instead."""
        given = {("hazard", rule) for rule in scanned}
        if any(given & set(join.keys) and not given.issuperset(join.keys) for join in roles.joins):
            raise Unlocal("a head names a rule of which all hazards are asked, and another")
        kept = (join.rule.text for join in roles.joins if not given & set(join.keys))
        return "\n".join([*self._consts, *dict.fromkeys(kept)])


def _rest(pack: Pack, names: Collection[str]) -> Pack:
    """A pack of these rules alone, with what they read."""
    graph: digraph.DiGraph[Key] = digraph.DiGraph()
    for rule in pack.program.rules:
        for head in _keys(rule):
            graph.add_node(head)
            graph.add_edges_from((head, key) for lit in rule.body for p, _ in lit.inner for key in dependency_key(p))
    open_keys = {(member, "*") for member in MEMBERS}
    for key in list(graph):
        if key[1] == "*" or (key[0], "*") in graph:  # a rule that is left open may be any
            graph.add_edges_from((key, other) for other in list(graph) if other[0] == key[0] and other != key)
    roots = {key for key in graph if key[1] in names and key[0] in MEMBERS} | {("rule", "2")} | (open_keys & set(graph))
    wanted = roots.union(*(digraph.descendants(graph, root) for root in roots if root in graph))
    rules = tuple(rule for rule in pack.program.rules if _keys(rule) & wanted)
    others = pack.program.others
    text = "\n".join([*(other.text for other in others), *(rule.text for rule in rules)])
    return replace(
        pack,
        program=Program(rules, others, text),
        rules={name: rule for name, rule in pack.rules.items() if name in names},
    )


def _keys(rule: Rule) -> set[Key]:
    return set(dependency_key(rule.head)) if rule.head is not None else set()


def _constants(pack: Pack) -> frozenset[str]:
    """The objects that the rules of a pack name."""
    texts = [rule.text for rule in pack.program.rules if rule.head is None or rule.head.name not in DESCRIPTIONS]
    texts += [other.text for other in pack.program.others]
    texts += pack.consts.values()
    found = {match[1] for text in texts for match in _STRING.finditer(text)}
    return frozenset(re.sub(r"\\.", lambda match: _ESCAPED.get(match[0], match[0]), text) for text in found)
