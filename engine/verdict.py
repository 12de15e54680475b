"""What a proof about a pack ends in: yes within bounds, no with a counterexample, or not decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from obviate.engine.search import beliefs_of
from obviate.engine.standing import Binding, Instance
from obviate.kb import Action, BeliefGraph
from obviate.kb.terms import Atom, quote

__all__ = ["NO", "UNDECIDED", "YES", "Limits", "Scene", "Verdict", "binding_text", "instance_text"]

YES, NO, UNDECIDED = "yes", "no", "not decided"


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to look: so many objects (0: as many as the rule has variables for, four at least and six at most), so
    many actions in a plan, and so many seconds for each question. `theory` is the file of another action theory.
    """

    objects: int = 0
    actions: int = 5
    seconds: float = 10.0
    theory: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is believed at one moment, called `name`, and what is intended then. `records` are open."""

    name: str
    graph: BeliefGraph = field(repr=False)
    intent: Action | None = None
    records: tuple[Instance, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The scene with its beliefs as atoms; `facts` are all of them, `beliefs` those worth telling."""
        return {
            "name": self.name,
            "beliefs": [str(atom) for atom in beliefs_of(self.graph)],
            "facts": sorted(map(str, self.graph.facts())),
            "intent": str(self.intent.term) if self.intent is not None else None,
            "records": [instance_text(each) for each in self.records],
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question about some rules of a pack, in words (`says`), and what it rests on.

    `bounds` tell how far a yes was proven, or where an undecided search stopped. Of a no, `scenes` are the smallest
    that show it, `instances` the rules and objects that it is about, `plans` actions from the first scene, and `world`
    the kinds of the objects where the household world is meant.
    """

    question: str
    rules: tuple[str, ...]
    answer: str
    says: str
    bounds: Mapping[str, int | float]
    scenes: tuple[Scene, ...] = ()
    instances: tuple[Instance, ...] = ()
    plans: Mapping[str, tuple[Action, ...]] = field(default_factory=dict)
    world: Mapping[str, str] = field(default_factory=dict)
    statics: tuple[Atom, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON data, from which its counterexample can be checked."""
        return {
            "question": self.question,
            "rules": list(self.rules),
            "answer": self.answer,
            "says": self.says,
            "bounds": dict(self.bounds),
            "scenes": [scene.to_json() for scene in self.scenes],
            "instances": [instance_text(each) for each in self.instances],
            "plans": {name: [str(action.term) for action in plan] for name, plan in self.plans.items()},
            "world": dict(self.world),
            "statics": [str(atom) for atom in self.statics],
        }


def instance_text(instance: Instance) -> list[Any]:
    """A rule and its objects as JSON data."""
    return [instance[0], list(instance[1])]


def binding_text(binding: Binding) -> str:
    """Objects as a term of a program."""
    names = ",".join(map(quote, binding))
    return names if len(binding) == 1 else f"({names})"
