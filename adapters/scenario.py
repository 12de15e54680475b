"""Scenarios: a household, an instruction and a plan in one TOML file.

    title = "Peach on a stained plate"
    instruction = "Put the peach on the plate."
    plan = ["open(fridge)", "place_on_top(peach, plate)", "close(fridge)", "done"]
    goal = ["ontop(peach, plate)"]

    [objects]
    counter = { kind = "countertop" }
    fridge = { kind = "electric_refrigerator" }
    peach = { kind = "peach", in = "fridge" }
    plate = { kind = "plate", on = "counter", covered = ["stain"] }

The step ``intend ACTION`` announces an action without doing it. An object may also have `states`, `next_to`,
`contains` and `soaked` (substances), and, where its kind is not in the tables, `tags` and `abilities` of its own.
"""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, Vocabulary, household
from obviate.kb.errors import DataError, ObviateError, nearest
from obviate.kb.files import read_text
from obviate.kb.kinds import Kinds
from obviate.kb.patch import EdgePatch, NodePatch, Patch, path

__all__ = ["Scenario", "names", "read"]

Names = tuple[str, ...]
List = Annotated[list[str], Field(default_factory=list)]


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: str
    on: str = ""
    inside: Annotated[str, Field(alias="in")] = ""
    next_to: List
    states: List
    covered: List
    contains: List
    soaked: List
    tags: list[str] | None = None
    abilities: list[str] | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    instruction: str
    plan: list[str]
    goal: List
    partial: bool = True
    objects: dict[str, _Object]


@dataclass(frozen=True, slots=True)
class Goal:
    """A literal of the task's goal: a state of one object, or a relation between two, true or false."""

    predicate: str
    args: tuple[str, ...]
    positive: bool

    def holds(self, graph: BeliefGraph) -> bool:
        """Whether it is so in `graph`."""
        if len(self.args) == 1:
            return graph.has_state(self.args[0], self.predicate) == self.positive
        return graph.has_edge(self.predicate, *self.args) == self.positive


@dataclass(frozen=True, slots=True)
class Scenario:
    """A task to follow. `plan` items are actions, or ``intend ACTION``."""

    name: str
    title: str
    instruction: str
    world: World
    plan: Names
    goal: tuple[Goal, ...]
    partial: bool

    def reached(self) -> bool:
        """Whether the world is as the goal asks."""
        return all(goal.holds(self.world.graph) for goal in self.goal)


def names() -> list[str]:
    """The scenarios that ship with Obviate."""
    return sorted(item.name.removesuffix(".toml") for item in _shipped().iterdir() if item.name.endswith(".toml"))


def read(scenario: str | Path, vocabulary: Vocabulary | None = None) -> Scenario:
    """A scenario by the name of a shipped one or by path. Raises `DataError` naming the place in the file."""
    file = Path(scenario)
    if not file.suffix:
        if str(scenario) not in names():
            raise DataError(
                "unknown-scenario",
                f"there is no scenario {str(scenario)!r}",
                help=f"{nearest(str(scenario), names())} (a file of your own ends in .toml)",
            )
        file = Path(str(_shipped().joinpath(f"{scenario}.toml")))
    try:
        parsed = _File.model_validate(tomllib.loads(read_text(file)))
    except tomllib.TOMLDecodeError as error:
        raise DataError("scenario-malformed", f"not TOML: {error}", where=str(file)) from None
    except ValidationError as error:
        raise _malformed(file, error.errors()[0]) from None
    return _Builder(file, parsed, vocabulary or household.vocabulary()).build()


def _malformed(file: Path, first: Any) -> DataError:
    where, what, help = f"{file}: {path(*first['loc'])}", str(first["msg"]).lower(), "see docs/cli.md"
    if first["type"] == "extra_forbidden":
        model = _Object if first["loc"][0] == "objects" else _File
        known = [field.alias or name for name, field in model.model_fields.items()]
        what, help = f"unknown key {first['loc'][-1]!r}", nearest(str(first["loc"][-1]), known)
    return DataError("scenario-malformed", what, where=where, help=help)


def _shipped() -> Path:
    return Path(str(files("obviate.examples")))


class _Builder:
    """Turns the parsed file into a world, refusing what does not fit with its place."""

    def __init__(self, file: Path, parsed: _File, vocabulary: Vocabulary) -> None:
        self._file = file
        self._parsed = parsed
        self._kinds = Kinds.load(vocabulary)
        self._objects: dict[str, str] = {}
        self._states: dict[str, list[str]] = {
            name: [state.lower() for state in o.states] for name, o in parsed.objects.items()
        }
        self._edges: list[tuple[EdgePatch, str]] = []

    def build(self) -> Scenario:
        for name, item in self._parsed.objects.items():
            self._objects[name] = self._kind(name, item)
        for name, item in self._parsed.objects.items():
            self._relate(name, item)
        for kind in list(self._objects.values()):
            for system in self._kinds.systems(kind):
                self._substance(system)
        nodes = tuple(
            NodePatch(node_id=n, tags=tuple(sorted(self._kinds.tagging(k).tags)), states=tuple(self._states.get(n, ())))
            for n, k in self._objects.items()
        )
        for name in self._parsed.objects:
            for state in self._states[name]:
                self._kinds.vocabulary.require("state", state, self._place(name, "states"))
        graph = BeliefGraph.of(self._kinds.vocabulary, Patch(add_nodes=nodes))
        for edge, place in self._edges:
            try:
                graph = graph.merge(Patch(add_edges=(edge,)))
            except ObviateError as error:
                raise DataError(error.code, error.message, where=place, help=error.help) from None
        return Scenario(
            name=self._file.stem,
            title=self._parsed.title,
            instruction=self._parsed.instruction,
            world=World(self._objects, graph, self._kinds),
            plan=tuple(self._step(i, text) for i, text in enumerate(self._parsed.plan)),
            goal=tuple(self._goal(i, text) for i, text in enumerate(self._parsed.goal)),
            partial=self._parsed.partial,
        )

    def _kind(self, name: str, item: _Object) -> str:
        if item.tags is None and item.abilities is None:
            return self._kinds.resolve(item.kind, self._place(name, "kind"))
        kinds = self._kinds
        tags = [tag.lower() for tag in item.tags or ()]
        for tag in tags:
            kinds.vocabulary.require("tag", tag, self._place(name, "tags"))
        known = {ability for kind in kinds.abilities.values() for ability in kind}
        for ability in item.abilities or ():
            if ability not in known:
                where = self._place(name, "abilities")
                raise DataError(
                    "scenario-malformed", f"no ability {ability!r}", where=where, help=nearest(ability, known)
                )
        abilities: dict[str, dict[str, object]] = {ability: {} for ability in item.abilities or ()}
        self._kinds = replace(
            kinds,
            tags={**kinds.tags, item.kind: frozenset(tags)},
            abilities={**kinds.abilities, item.kind: abilities},
        )
        return item.kind

    def _relate(self, name: str, item: _Object) -> None:
        if item.on and item.inside and item.on != item.inside:
            where = self._place(name, "in")
            raise DataError("two-supports", f"{name} is also on {item.on}", where=where, help="keep one of the two")
        related = [("ontop", "on", item.on), ("inside", "in", item.inside)]
        related += [("nextto", "next_to", other) for other in item.next_to]
        for pred, key, other in related:
            if other:
                self._edges.append((EdgePatch(pred=pred, src=name, dst=other), self._place(name, key)))
        for pred, key in (("covered", "covered"), ("contains", "contains"), ("saturated", "soaked")):
            for substance in getattr(item, key):
                kind = self._kinds.resolve(substance, self._place(name, key))
                edge = EdgePatch(pred=pred, src=name, dst=self._substance(kind))
                self._edges.append((edge, self._place(name, key)))
                appearance = self._kinds.vocabulary.appearances.get(kind)
                if pred == "covered" and appearance:
                    self._states[name].append(appearance)

    def _substance(self, kind: str) -> str:
        for name, other in self._objects.items():
            if other == kind:
                return name
        word = kind.split(".", 1)[0]
        numbered = (f"{word}_{i}" for i in itertools.count(2))
        name = word if word not in self._parsed.objects else next(n for n in numbered if n not in self._parsed.objects)
        self._objects[name] = kind
        return name

    def _step(self, index: int, text: str) -> str:
        where = f"{self._file}: plan[{index}]"
        if "done" in self._parsed.plan[:index]:
            raise DataError("scenario-malformed", "nothing follows done", where=where, help="end the plan with done")
        try:
            self._kinds.vocabulary.check_action(text.removeprefix("intend "), self._objects)
        except ObviateError as error:
            raise DataError(error.code, error.message, where=where, help=error.help) from None
        return text

    def _goal(self, index: int, text: str) -> Goal:
        where = f"{self._file}: goal[{index}]"
        positive = text.removeprefix("not ")
        try:
            parsed = Action.parse(positive)
        except ObviateError:
            parsed = Action("")
        if len(parsed.args) not in (1, 2):
            raise DataError("scenario-malformed", f"{text!r} is no goal", where=where, help="ontop(peach, plate)")
        for name in parsed.args:
            if name not in self._objects:
                raise DataError(
                    "unknown-object", f"there is no object {name!r}", where=where, help=nearest(name, self._objects)
                )
        self._kinds.vocabulary.require("state" if len(parsed.args) == 1 else "relation", parsed.skill, where)
        return Goal(parsed.skill, parsed.args, positive == text)

    def _place(self, name: str, key: str) -> str:
        return f"{self._file}: objects.{name}.{key}"
