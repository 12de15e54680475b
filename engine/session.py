"""The packs of an engine and their backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from obviate.engine.backend import Backend, Capability, Conclusions, Query, backend
from obviate.engine.record import Record, Trigger
from obviate.engine.standing import Instance, Standing
from obviate.kb import BeliefGraph, Pack, SafetyRule
from obviate.kb.errors import LifecycleError
from obviate.kb.terms import Atom

__all__ = ["Session", "Standings"]

Standings = tuple[Standing, ...]  # of each pack


class Session:
    """The packs of an engine, each with a backend of its own, so that their helpers cannot meet."""

    def __init__(self, packs: Sequence[Pack], name: str) -> None:
        for pack in packs:
            if not isinstance(pack, Pack):
                raise LifecycleError(
                    "no-pack", f"{pack!r:.60} is no pack", help="Pack.load(file, vocabulary=...) makes one"
                )
        if not packs:
            raise LifecycleError("no-pack", "an engine needs at least one rule pack", help="household.pack() is one")
        if len({p.vocabulary.digest for p in packs}) > 1:
            raise LifecycleError(
                "two-vocabularies",
                "the packs have different vocabularies",
                help="load them over one, as household.pack(vocabulary=...)",
            )
        if len({pack.name for pack in packs}) < len(packs):
            raise LifecycleError("same-pack-name", "two packs have the same name", help="load one with name=...")
        self.packs = tuple(packs)
        self.vocabulary = packs[0].vocabulary
        self._parts: list[tuple[str, Pack, Backend]] = [
            (f"{pack.name}." if len(packs) > 1 else "", pack, backend(name, pack)) for pack in packs
        ]
        self.digests = tuple(f"{pack.name}:{pack.digest}:{pack.vocabulary.digest}" for pack in packs)
        self._temporal = [{rule.name for rule in pack.rules.values() if rule.mode == "temporal"} for pack in packs]
        self._rules = {prefix + rule.name: rule for prefix, pack, _ in self._parts for rule in pack.rules.values()}

    def rule(self, instance: Instance) -> SafetyRule:
        """What the pack says about the rule of an instance."""
        return self._rules[instance[0]]

    def pack(self, rule: str) -> Pack:
        """The pack that a rule, as the engine names it, comes from."""
        return next(pack for prefix, pack, _ in self._parts if _prefix(rule) == prefix)

    def conclude(
        self, graph: BeliefGraph, query: Query, standings: Standings, forgotten: Mapping[Instance, frozenset[Atom]]
    ) -> list[Conclusions]:
        """What each pack concludes from where it stands. `forgotten` are the facts that open records had stood on: such
        a record passes only if its target holds with and without them, and fails if it fails either way.
        """
        found = []
        for (prefix, _, part), standing in zip(self._parts, standings, strict=True):
            own = {_local(i, prefix): atoms for i, atoms in forgotten.items() if _prefix(i[0]) == prefix}
            doubted = (_local(i, prefix) for i in query.doubted if _prefix(i[0]) == prefix)
            asked = replace(query, standing=standing, doubted=frozenset(own).union(doubted))
            answers = part.conclude(graph, asked)
            for atoms, instances in _groups(own):
                ghost = part.conclude(graph.with_atoms(atoms), asked)
                answers = replace(
                    answers,
                    passed=answers.passed - (instances - ghost.passed),
                    risk=answers.risk | (ghost.risk & instances),
                    failed=answers.failed | (ghost.failed & instances),
                    abandoned=answers.abandoned | (ghost.abandoned & instances),
                )
            both = answers.abandoned & answers.failed
            found.append(replace(answers, abandoned=answers.abandoned - both) if both else answers)
        return found

    def joined(self, found: Sequence[Conclusions]) -> Conclusions:
        """The conclusions of all packs, with rules as the engine names them."""
        if len(found) == 1:  # rules are not renamed
            return found[0]
        answers = Conclusions()
        for (prefix, _, _), local in zip(self._parts, found, strict=True):
            answers |= local.renamed(prefix.__add__)
        return answers

    def after(
        self, standings: Standings, found: Iterable[Conclusions], *, executed: bool, graph: BeliefGraph
    ) -> Standings:
        """What stands after these conclusions."""
        return tuple(
            standing.after(local, temporal, executed=executed, version=graph.version)
            for standing, local, temporal in zip(standings, found, self._temporal, strict=True)
        )

    def instances(self, of: Callable[[Standing], Iterable[Instance]], standings: Standings) -> Iterator[Instance]:
        """Instances that stand, with rules as the engine names them."""
        for (prefix, _, _), standing in zip(self._parts, standings, strict=True):
            yield from ((prefix + rule, binding) for rule, binding in of(standing))

    def capabilities(self) -> tuple[Capability, ...]:
        """How each rule is followed."""
        return tuple(
            replace(one, rule=prefix + one.rule) for prefix, _, part in self._parts for one in part.capabilities()
        )

    @property
    def symbols(self) -> int:
        """The names of objects that clingo was given."""
        return sum(part.symbols for _, _, part in self._parts)

    def triggers(self, instances: Iterable[Instance]) -> tuple[Trigger, ...]:
        return tuple(self._trigger(instance) for instance in sorted(instances))

    def _trigger(self, instance: Instance) -> Trigger:
        name, binding = instance
        rule = self._rules[name]
        source = f"{Path(rule.span.file).name}:{rule.span.line}"
        return Trigger(name, binding, rule.mode, rule.principle, rule.advisory, source)

    def record(self, instance: Instance, step: int) -> Record:
        name, binding = instance
        rule = self._rules[name]
        return Record(name, binding, step, mode=rule.mode, principle=rule.principle, advisory=rule.advisory)

    def close(self) -> None:
        for _, _, part in self._parts:
            part.close()


def _groups(forgotten: Mapping[Instance, frozenset[Atom]]) -> list[tuple[frozenset[Atom], set[Instance]]]:
    """The instances for which the same facts were forgotten, in a fixed order."""
    groups: dict[frozenset[Atom], set[Instance]] = {}
    for instance, atoms in forgotten.items():
        groups.setdefault(atoms, set()).add(instance)
    return sorted(groups.items(), key=lambda group: sorted(group[1]))


def _local(instance: Instance, prefix: str) -> Instance:
    return instance[0].removeprefix(prefix), instance[1]


def _prefix(rule: str) -> str:
    """The part of an engine's rule name that names the pack: rule names have no dots, pack names may."""
    return rule[: rule.rfind(".") + 1]
