"""Retrieval by similarity in place of triggers: the ablation of the paper (Section 5.3, Appendix 0.B.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from obviate.compilers.embedding import Embedding
from obviate.engine.loop import Context
from obviate.engine.wording import belief_words
from obviate.kb import Pack

__all__ = ["Retrieval"]


@dataclass
class Retrieval:
    """Names the `top` rules whose description is most like what is believed of the whole scene, at every decision."""

    pack: Pack
    top: int = 2
    _found: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, context: Context) -> frozenset[str]:
        scene = _scene(context, self.pack)
        if scene not in self._found:
            names = list(self.pack.rules)
            likeness = self._rules @ _embedding().vectors([scene])[0]
            self._found[scene] = frozenset(names[place] for place in likeness.argsort()[::-1][: self.top])
        return self._found[scene]

    @cached_property
    def _rules(self) -> Any:
        return _embedding().vectors([_described(name, self.pack) for name in self.pack.rules])


@lru_cache(maxsize=1)
def _embedding() -> Embedding:
    return Embedding.load()


def _described(name: str, pack: Pack) -> str:
    """A rule by its principle and the class of its hazard."""
    rule = pack.rules[name]
    return f"{rule.principle} {name.replace('_', ' ')}, {rule.mode} hazard"


def _scene(context: Context, pack: Pack) -> str:
    """The task, and all that is believed, in words."""
    facts = [fact for fact in context.graph.facts() if fact.name in ("state", "edge") and fact.positive]
    return "; ".join([context.assignment.text, *(belief_words(fact, pack) for fact in facts)])
