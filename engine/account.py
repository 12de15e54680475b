"""Accounting for a conclusion: why it is or is not so, in terms of the literals of its rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from obviate.engine.backend import Query
from obviate.engine.standing import Binding, Instance
from obviate.engine.support import gap, grounds
from obviate.kb import BeliefGraph, Pack
from obviate.kb.terms import Atom

__all__ = ["Account", "Situation"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the kernel sees at one step: the pack, the belief graph, and what is asked of them."""

    pack: Pack
    graph: BeliefGraph
    query: Query

    def facts(self) -> list[Atom]:
        """Its input atoms."""
        return [*self.graph.facts(), *self.query.facts(), *self.pack.frame]


@dataclass(frozen=True, slots=True)
class Account:
    """Explains the conclusions about one instance of a rule in a situation; `was_open` tells of its record."""

    situation: Situation
    rule: str
    binding: Binding
    was_open: bool

    def present(self, conclusion: str) -> Iterator[str]:
        """Why the instance is there."""
        if conclusion == "passed":
            yield from self._target_holds()
        elif conclusion == "pending" and self.was_open:
            yield from self._target_lacks()
        elif conclusion == "failed":
            yield from self._target_lacks()
            yield from self._holds("threatens")
        else:
            yield from self._holds("hazard")
            yield from self._holds("threatens")

    def absent(self, conclusion: str, settled: Mapping[str, Collection[Instance]]) -> Iterator[str]:
        """Why it is not; `settled` are the instances that passed and failed at this step."""
        if conclusion == "passed":
            yield from self._target_lacks() if self.was_open else ["no record of it was open"]
            return
        for verdict, instances in settled.items():
            if conclusion in ("pending", "failed") and (self.rule, self.binding) in instances and verdict != conclusion:
                yield f"it {verdict} at this step"
                return
        untriggered = [] if self.was_open and conclusion != "trigger" else self._untriggered()
        yield from untriggered
        if untriggered or conclusion == "trigger":
            if not untriggered:
                yield "the action was executed, which ends the intent"
            return
        held = list(self._target_holds())
        yield from held
        if not held:
            yield from [*self._lacks("threatens")] or ["it is not due yet"]

    def _untriggered(self) -> list[str]:
        return [*self._lacks("hazard"), *self._lacks("threatens")]

    def _target_holds(self) -> Iterator[str]:
        """That the verification target holds, and why; nothing if it does not."""
        if self.situation.pack.rules[self.rule].targeted:
            yield from self._holds("resolved")
        else:
            yield from (f"its hazard does not hold: {text}" for text in self._lacks("hazard"))

    def _target_lacks(self) -> Iterator[str]:
        if self.situation.pack.rules[self.rule].targeted:
            yield from self._lacks("resolved")
        else:
            yield from self._holds("hazard")

    def _holds(self, member: str) -> Iterator[str]:
        literals = grounds(self.situation.pack, self.situation.facts(), member, self.rule, self.binding)
        if literals:
            yield f"{member} holds: {', '.join(literals)}"
            return
        whole = gap(self.situation.pack, self.situation.facts(), member, self.rule, self.binding)
        if whole is not None and not whole.literals:
            yield f"{member} holds: {', '.join(literal.text for literal in whole.clause.body) or 'always'}"

    def _lacks(self, member: str) -> Iterator[str]:
        lacking = gap(self.situation.pack, self.situation.facts(), member, self.rule, self.binding)
        for place, text in lacking.literals if lacking else ():
            yield f"{member} literal {place}, {_spaced(text)}, is false"


def _spaced(text: str) -> str:
    return re.sub(r",(?=\S)", ", ", text)
