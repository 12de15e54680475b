"""Splitting a pack: what stays resident, and what is concluded only where it is asked for.

Helpers and temporal hazards depend on beliefs alone and live in the resident program. Everything that depends on
an intent, and every situational hazard, is evaluated per demand. A situational hazard is then guarded by the
bindings that are asked for, so that it is never grounded as the product of, say, all foods and all dirty plates
(the magic-set idea, one adornment for each way a rule is asked).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from obviate.kb import Pack, digraph
from obviate.kb.dependency import MEMBERS, dependency_key
from obviate.kb.program import Literal, Pattern, Rule, Signature
from obviate.kb.terms import Atom

__all__ = ["Block", "Split", "Topic", "skills_of", "split", "topic"]

Key = tuple[str, str]
Topic = tuple[str, bool, str]  # predicate, sign, and the constant that it is about ("" for any)
_NAMED = {"tag": 1, "state": 1, "value": 1, "edge": 0}  # where a belief names its tag, state, quantity or relation
_ALWAYS: frozenset[Topic] = frozenset({("hazard", True, ""), ("rule", True, "")})
_EVENTS: set[Signature] = {("intent", 1, True), ("executed", 1, True), ("pending", 2, True)}


@dataclass(frozen=True, slots=True)
class Block:
    """Some rules, the skills whose intents can concern them (None: any), and what they read."""

    text: str
    skills: frozenset[str] | None
    reads: frozenset[Topic]


@dataclass(frozen=True, slots=True)
class Split:
    """A pack in two programs: the `resident` one, and for each demand the `common` rules and the `blocks` of the
    safety rules that it concerns.

    `shared` are the signatures that the demand rules read from beliefs and from the resident program;
    `unguarded` names the situational rules that are evaluated on all bindings, as something else reads them.
    """

    resident: Block
    common: Block
    blocks: Mapping[str, Block]
    shared: frozenset[Signature]
    unguarded: frozenset[str]

    def demand(self, skill: str | None, open_rules: Collection[str]) -> str:
        """The program for an intent's skill and the rules with an open record or a resident hazard."""
        return "\n".join(block.text for block in self._chosen(skill, open_rules))

    def reads(self, skill: str | None, open_rules: Collection[str]) -> frozenset[Topic]:
        """What that program reads of the beliefs and of the resident conclusions."""
        return frozenset().union(*(block.reads for block in self._chosen(skill, open_rules)))

    def _chosen(self, skill: str | None, open_rules: Collection[str]) -> list[Block]:
        return [self.common] + [
            block
            for name, block in self.blocks.items()
            if name in open_rules or (skill is not None and (block.skills is None or skill in block.skills))
        ]


def topic(atom: Atom) -> Topic:
    """What a ground atom is about: its predicate, and its state, tag, relation or quantity."""
    place = _NAMED.get(atom.name)
    return atom.name, atom.positive, str(atom.args[place]) if place is not None else ""


@lru_cache(maxsize=32)
def split(pack: Pack) -> Split:
    """Divide the program of a pack; both parts together conclude what the whole does for what is asked."""
    situational = {name for name, rule in pack.rules.items() if rule.mode == "situational"}
    rules = [rule for rule in pack.program.valued(pack.consts).rules if rule.head is not None]
    late = _late(rules, situational)
    resident = [rule for rule in rules if not _keys(rule) & late]
    asked = [rule for rule in rules if _keys(rule) & late]
    plans = {name: _Plan.of(name, asked) for name in situational}
    consts = [other.text for other in pack.program.others if other.kind == "definition"]
    texts: dict[str, list[str]] = {name: plan.demands() for name, plan in plans.items() if plan.guarded}
    owned: dict[str, list[Rule]] = {name: [] for name in texts}
    common: list[Rule] = []
    for rule in asked:
        keys = _keys(rule)
        predicate, owner = next(iter(keys))
        if len(keys) == 1 and predicate in MEMBERS and owner in texts:
            texts[owner] += plans[owner].guard(rule) if predicate == "hazard" else [rule.text]
            owned[owner].append(rule)
        else:
            common.append(rule)
    read = {p.signature for rule in asked for literal in rule.body for p, _ in literal.inner}
    computed = {r.head.signature for r in asked if r.head and r.head.name not in MEMBERS} | _EVENTS
    return Split(
        resident=Block("\n".join([*consts, *(rule.text for rule in resident)]), None, _topics(resident)),
        common=Block("\n".join([*consts, *(rule.text for rule in common)]), None, _topics(common) | _ALWAYS),
        blocks={n: Block("\n".join(t), skills_of(n, asked), _topics(owned[n])) for n, t in texts.items()},
        shared=frozenset((read - computed - {("threatens", 2, True)}) | {("hazard", 2, True), ("rule", 2, True)}),
        unguarded=frozenset(name for name, plan in plans.items() if not plan.guarded),
    )


def _topics(rules: Iterable[Rule]) -> frozenset[Topic]:
    """What the bodies of rules read; a name left open stands for all of them."""
    found: set[Topic] = set()
    for rule in rules:
        for literal in rule.body:
            for pattern, _ in literal.inner:
                place = _NAMED.get(pattern.name)
                named = pattern.args[place].alternatives() if place is not None else ()
                if named and all(part.kind == "constant" for part in named):
                    found |= {(pattern.name, pattern.positive, part.name) for part in named}
                else:
                    found.add((pattern.name, pattern.positive, ""))
    return frozenset(found)


def skills_of(name: str, asked: list[Rule]) -> frozenset[str] | None:
    """The skills of the intents that the rule `name` reads, directly or through helpers."""
    found: set[str] = set()
    todo, seen = [("threatens", name)], set()
    while todo:
        key = todo.pop()
        if key in seen:
            continue
        seen.add(key)
        for rule in asked:
            if key not in _keys(rule):
                continue
            for literal in rule.body:
                for pattern, monotone in literal.inner:
                    if pattern.name == "intent":
                        skills = pattern.args[0].alternatives()
                        if not monotone or any(part.kind not in ("constant", "function") for part in skills):
                            return None
                        found |= {part.name for part in skills}
                    else:
                        todo += dependency_key(pattern)
    return frozenset(found) or None


def _keys(rule: Rule) -> set[Key]:
    return set(dependency_key(rule.head)) if rule.head else set()


def _late(rules: Iterable[Rule], situational: set[str]) -> set[Key]:
    """What cannot be concluded from beliefs alone, or is not to be concluded unasked."""
    graph: digraph.DiGraph[Key] = digraph.DiGraph()
    roots = (
        {(name, str(arity)) for name, arity, _ in _EVENTS}
        | {("hazard", name) for name in situational}
        | {(member, "*") for member in MEMBERS}
    )
    for rule in rules:
        heads = sorted(_keys(rule))
        graph.add_edges_from((one, other) for one in heads for other in heads if one != other)  # they go together
        for head in heads:
            if head[0] in ("threatens", "resolved"):
                roots.add(head)
            for literal in rule.body:
                for pattern, _ in literal.inner:
                    graph.add_edges_from((body, head) for body in dependency_key(pattern))
    graph.add_nodes_from(roots)
    return roots.union(*(digraph.descendants(graph, root) for root in roots)) - {("hazard", "*")}


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one situational rule is asked: for each intent pattern, the positions of the binding that it gives."""

    name: str
    guarded: bool
    asks: tuple[tuple[tuple[int, ...], str], ...] = ()  # (positions, demand rule)

    @classmethod
    def of(cls, name: str, rules: list[Rule]) -> _Plan:
        mine: list[Rule] = []
        others: list[Rule] = []
        for rule in rules:
            (mine if ("threatens", name) in _keys(rule) else others).append(rule)
        hazards = [rule for rule in rules if ("hazard", name) in _keys(rule)]
        own = {("hazard", name), ("hazard", "*")}
        members = {(member, owner) for member in MEMBERS for owner in (name, "*")}
        strangers = [rule for rule in rules if not any(owner == name for _, owner in _keys(rule))]
        read_elsewhere = any(
            members & set(dependency_key(p)) for r in strangers for lit in r.body for p, _ in lit.inner
        ) or any(own & set(dependency_key(p)) for r in others for lit in r.body for p, _ in lit.inner)
        computes = any(rule.arithmetic for rule in rules if name in {owner for _, owner in _keys(rule)})
        if read_elsewhere or computes or any(len(_keys(rule)) > 1 for rule in [*mine, *hazards]):
            return cls(name, guarded=False)
        arities = {len(_binding(rule.head)) for rule in [*mine, *hazards] if rule.head}
        asks = [_ask(name, rule, own) for rule in mine]
        if len(arities) != 1 or None in asks:
            return cls(name, guarded=False)
        return cls(name, True, tuple(ask for ask in asks if ask is not None))

    def guard(self, rule: Rule) -> list[str]:
        """The hazard rule once for each way that it is asked, and once for the open records."""
        assert rule.head is not None
        parts = _binding(rule.head)
        body = "; ".join(literal.text for literal in rule.body)
        guards = {_demand(self.name, positions, [parts[i] for i in positions]) for positions, _ in self.asks}
        guards.add(f"was_pending({self.name},{rule.head.args[1].text})")
        return [f"{_head_text(rule)} :- {guard}{'; ' + body if body else ''}." for guard in sorted(guards)]

    def demands(self) -> list[str]:
        return [text for _, text in self.asks]


def _ask(name: str, rule: Rule, own: set[Key]) -> tuple[tuple[int, ...], str] | None:
    """The demand that an intent pattern makes, or None if it cannot be told."""
    assert rule.head is not None
    kept: list[Literal] = []
    binding = _binding(rule.head)
    for literal in rule.body:
        reads = {key for pattern, _ in literal.inner for key in dependency_key(pattern)}
        if not reads & own:
            kept.append(literal)
        elif literal.atom is None or literal.negations or list(_binding(literal.atom)) != list(binding):
            return None
    bound = frozenset().union(*(literal.binds for literal in kept))
    if len(kept) == len(rule.body):
        bound |= frozenset().union(*(literal.variables for literal in kept))  # clingo has found the rule safe
    kept = [literal for literal in kept if literal.variables <= bound]
    pattern = rule.head.args[1]
    variables = [p.variables for p in (pattern.parts if pattern.kind == "tuple" else (pattern,))]
    positions = tuple(i for i, names in enumerate(variables) if names <= bound)
    body = "; ".join(literal.text for literal in kept)
    if not kept:
        return None
    return positions, f"{_demand(name, positions, [binding[i] for i in positions])} :- {body}."


def _binding(pattern: Pattern) -> tuple[str, ...]:
    term = pattern.args[1]
    return tuple(part.text for part in term.parts) if term.kind == "tuple" else (term.text,)


def _demand(name: str, positions: tuple[int, ...], parts: list[str]) -> str:
    where = "".join(map(str, positions)) or "any"
    return f"_demand({name},p{where}{''.join(',' + part for part in parts)})"


def _head_text(rule: Rule) -> str:
    assert rule.head is not None
    name, binding = rule.head.args
    return f"hazard({name.text},{binding.text})"
