"""The packs of an engine and their backends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from obviate.engine.backend import Backend, Conclusions, Instance, Query, backend
from obviate.engine.record import Record, Trigger
from obviate.kb import BeliefGraph, Pack, SafetyRule
from obviate.kb.errors import LifecycleError

__all__ = ["Session"]


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
        self._rules = {prefix + rule.name: rule for prefix, pack, _ in self._parts for rule in pack.rules.values()}

    def rule(self, instance: Instance) -> SafetyRule:
        """What the pack says about the rule of an instance."""
        return self._rules[instance[0]]

    def pack(self, rule: str) -> Pack:
        """The pack that a rule, as the engine names it, comes from."""
        return next(pack for prefix, pack, _ in self._parts if _prefix(rule) == prefix)

    def conclude(self, graph: BeliefGraph, query: Query) -> Conclusions:
        answers = Conclusions()
        for prefix, _, part in self._parts:
            local = part.conclude(graph, _localise(query, prefix))
            answers = Conclusions(
                *(getattr(answers, f) | {(prefix + r, b) for r, b in getattr(local, f)} for f in Conclusions.__slots__)
            )
        return answers

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


def _localise(query: Query, prefix: str) -> Query:
    if not prefix:
        return query

    def own(instance: Instance) -> Instance:
        return instance[0].removeprefix(prefix), instance[1]

    return replace(
        query,
        pending=tuple((own(i), age) for i, age in query.pending if _prefix(i[0]) == prefix),
        spent=frozenset(own(i) for i in query.spent if _prefix(i[0]) == prefix),
    )


def _prefix(rule: str) -> str:
    """The part of an engine's rule name that names the pack: rule names have no dots, pack names may."""
    return rule[: rule.rfind(".") + 1]
