"""What a planner knows before it plans, as facts of ``plan.lp``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from obviate.engine.planning.domain import Domain
from obviate.engine.record import Record
from obviate.kb import Action, BeliefGraph, Patch
from obviate.kb.terms import Atom, Fun, term_of_binding

__all__ = ["Situation"]

_TIMED = frozenset(("state", "edge", "moved"))


@dataclass(frozen=True)
class Situation:
    """Beliefs, open obligations, what was looked into, and what a guard refuses.

    `objects` maps the ids of all objects that there are to kinds; those not in `graph` have not been seen. `wanted` are
    the objects that the goal names. `explored` are containers that were seen open.
    """

    domain: Domain
    graph: BeliefGraph
    objects: Mapping[str, str]
    wanted: frozenset[str]
    obligations: tuple[Record, ...] = ()
    explored: frozenset[str] = frozenset()
    refused: frozenset[Action] = frozenset()
    refused_now: frozenset[Action] = frozenset()

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Things that are somewhere, and have not been seen."""
        unborn = {str(fact.args[1]) for fact in self.statics if fact.name in ("cuts_to", "cooks_to")}
        kinds = self.domain.kinds
        return frozenset(
            name
            for name, kind in self.objects.items()
            if name not in self.graph and name not in unborn and not kinds.is_substance(kind)
        )

    def pruned(self, *, wide: bool = False) -> Situation:
        """The same situation with what may matter alone: of things that serve the same turn a few, or all (`wide`)."""
        bound = {name for record in self.obligations for name in record.binding}
        facts = [*self.facts(), *(Atom("bound", (name,)) for name in bound)]
        kept = self.domain.relevant(facts, wide=wide)
        return replace(
            self,
            graph=self.graph.merge(Patch(remove_nodes=tuple(sorted(set(self.graph.nodes) - kept)))),
            objects={name: kind for name, kind in self.objects.items() if name in kept or self._unborn(name)},
        )

    def _unborn(self, name: str) -> bool:
        return name not in self.graph and name not in self.hidden

    @property
    def names(self) -> list[str]:
        """All objects, seen or not."""
        return list(dict.fromkeys([*self.graph.nodes, *self.objects]))

    @cached_property
    def statics(self) -> list[Atom]:
        """What objects can do."""
        return self.domain.statics(self.objects)

    @cached_property
    def unexplored(self) -> frozenset[str]:
        """Closed containers that were never looked into; if there are none, and something is missing, all of them."""
        kinds = self.domain.kinds
        shut = {
            name
            for name in self.graph.nodes
            if kinds.can(self.objects.get(name, ""), "openable") and not self.graph.has_state(name, "open")
        }
        return frozenset(shut - self.explored or (shut if self.hidden else ()))

    def beliefs(self) -> Iterator[Atom]:
        """What is believed now, with the step 0 in front of what may change."""
        for fact in self.graph.facts():
            yield Atom(fact.name, (0, *fact.args), fact.positive) if fact.name in _TIMED else fact

    def facts(self) -> Iterator[Atom]:
        """All but the candidates."""
        kinds = self.domain.kinds
        yield from self.statics
        yield from self.beliefs()
        for name, kind in self.objects.items():
            if name not in self.graph:
                yield Atom("object", (name,))
                yield from (Atom("tag", (name, Fun(tag))) for tag in kinds.tagging(kind).tags)
                if name not in self.hidden:
                    yield Atom("state", (0, name, Fun("future")))
        yield from (Atom("symmetric", (Fun(p),)) for p in self.domain.vocabulary.symmetric)
        yield from (Atom("wanted", (name,)) for name in self.wanted)
        yield from (Atom("hidden", (name,)) for name in self.hidden)
        yield from (Atom("unexplored", (name,)) for name in self.unexplored)
        yield from (Atom("loose", (name,)) for name in self._loose())
        yield from (Atom("refused", (action.term,)) for action in self.refused)
        yield from (Atom("refused_now", (action.term,)) for action in self.refused_now)
        yield from self._rules()

    def _loose(self) -> Iterator[str]:
        """Substances that exist and are nowhere in sight."""
        held = {edge.dst for edge in self.graph.edges()}
        made = {str(fact.args[1]) for fact in self.statics if fact.name == "source"}
        for name in self.graph.nodes:
            if self.domain.kinds.is_substance(self.objects.get(name, "")) and name not in held | made:
                yield name

    def _rules(self) -> Iterator[Atom]:
        pack = self.domain.pack
        if pack is None:
            return
        yield from pack.frame
        yield from (Atom("advisory", (Fun(rule.name),)) for rule in pack.rules.values() if rule.advisory)
        for record in self.obligations:
            if record.rule in pack.rules:
                instance = (Fun(record.rule), term_of_binding(record.binding))
                yield Atom("safety_was_pending", (0, *instance))
