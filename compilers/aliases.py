"""Other names for objects whose ids a model should not be made to write: control tokens, line breaks, half of a prompt.

As a value in a schema, an id is forced on the model letter by letter. One that reads like a control token would be
forced as that token, and end the answer or the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from obviate.compilers.prompt import plain
from obviate.kb.belief import BeliefGraph

__all__ = ["Aliases"]

IDS = ("node_id", "src", "dst")  # where a patch names objects


@dataclass(frozen=True)
class Aliases:
    """What each object is called before the model: mostly its id."""

    shown: Mapping[str, str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Aliases:
        """Ids that are plain text stand for themselves, others become ``object_1`` and so on; all differ."""
        every = sorted(set(names))
        shown = {name: name for name in every if plain(name)}
        number = 0
        for name in every:
            if name not in shown:
                number += 1
                while f"object_{number}" in shown:
                    number += 1
                shown[name] = f"object_{number}"
        return cls(shown)

    def all(self, names: Iterable[str]) -> list[str]:
        """The names as shown, sorted."""
        return sorted({self.shown[name] for name in names})

    def beliefs(self, graph: BeliefGraph) -> dict[str, Any]:
        """A graph as the paper shows it to the model."""
        return {
            "nodes": [
                {"node_id": self.shown[name], "tags": sorted(node.tags), "states": sorted(node.states)}
                for name, node in sorted(graph.nodes.items())
            ],
            "edges": [
                {"pred": edge.pred, "src": self.shown[edge.src], "dst": self.shown[edge.dst]} for edge in graph.edges()
            ],
        }

    def real(self, answer: Any) -> Any:
        """A model's report with the ids put back."""
        names = {shown: name for name, shown in self.shown.items()}
        return _renamed(answer, names)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {key: names.get(item, item) if key in IDS else _renamed(item, names) for key, item in value.items()}
    return value
