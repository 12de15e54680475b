"""The 18 household skills once more, in plain Python: what the action theory is compared with.

Written from the description of the skills alone. Where that leaves something open, the choice made here is marked
CHOICE. A skill raises `Refused` with the kind of failure, or changes the state in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph
from obviate.kb.kinds import Kinds

__all__ = ["Facts", "Reference", "Refused", "facts_of"]

Facts = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str, str]]]  # (object, state), (relation, from, to)

_SUPPORTS = ("inside", "ontop")
_FLAT = {"plate", "tray", "frying_pan", "griddle"}  # what stands on these is not also inside them


class Refused(Exception):  # noqa: N818
    """Why a skill fails; the argument is the kind of failure."""


def facts_of(graph: BeliefGraph) -> Facts:
    """The states and relations of a graph."""
    return (
        frozenset((name, state) for name, node in graph.nodes.items() for state in node.states),
        frozenset((edge.pred, edge.src, edge.dst) for edge in graph.edges()),
    )


class Reference:
    """A household that skills are done in."""

    def __init__(self, objects: Mapping[str, str], kinds: Kinds, facts: Facts) -> None:
        self.objects = dict(objects)
        self.kinds = kinds
        self.states = set(facts[0])
        self.edges = set(facts[1])

    @classmethod
    def of(cls, world: World) -> Reference:
        return cls(world.objects, world.kinds, facts_of(world.graph))

    @property
    def facts(self) -> Facts:
        return frozenset(self.states), frozenset(self.edges)

    def copy(self) -> Reference:
        return Reference(self.objects, self.kinds, self.facts)

    def step(self, action: Action) -> str:
        """Do an action; the kind of failure, or nothing. A failure changes nothing."""
        before = self.facts
        skill: Callable[..., None] = getattr(self, "_" + action.skill)
        try:
            # CHOICE: a thing that does not exist counts as unknown, even for `wait`, which else never fails.
            for name in action.args:
                self._need(self.substance(name) or not self.is_(name, "future"), "does not exist")
            skill(*action.args)
        except Refused as failure:
            self.states, self.edges = set(before[0]), set(before[1])
            return str(failure)
        return ""

    # -- reading --------------------------------------------------------------------------------

    def is_(self, name: str, state: str) -> bool:
        return (name, state) in self.states

    def can(self, name: str, ability: str) -> bool:
        return ability in self._abilities(name)

    def _abilities(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        return self.kinds.abilities.get(self.objects[name], {})

    def related(self, relation: str, name: str) -> list[str]:
        """What the object stands in the relation to, in declared order."""
        return [other for other in self.objects if (relation, name, other) in self.edges]

    def holding(self, relation: str, name: str) -> list[str]:
        """What stands in the relation to the object, in declared order."""
        return [other for other in self.objects if (relation, other, name) in self.edges]

    def substance(self, name: str) -> bool:
        return self.kinds.is_substance(self.objects[name])

    def below(self, name: str) -> list[str]:
        """Everything that holds the object up, from the nearest."""
        found: list[str] = []
        while True:
            nearest = {dst for pred, src, dst in self.edges if src == name and pred in _SUPPORTS}
            if not nearest:
                return found
            (name,) = nearest
            found.append(name)

    def within(self, name: str, container: str) -> bool:
        """Whether the object, or something that holds it up, is inside the container."""
        chain = [name, *self.below(name)]
        return any(("inside", x, container) in self.edges for x in chain)

    # -- what many skills need ------------------------------------------------------------------

    def _need(self, condition: bool, failure: str) -> None:
        if not condition:
            raise Refused(failure)

    def _reachable(self, name: str) -> None:
        for container in self.objects:
            shut = self.can(container, "openable") and not self.is_(container, "open")
            self._need(not (shut and self.within(name, container)), "closed in")

    def _cover(self, name: str, system: str) -> None:
        self.edges.add(("covered", name, system))
        look = self._look(system)
        if look:
            self.states.add((name, look))

    def _uncover(self, name: str, system: str) -> None:
        self.edges.discard(("covered", name, system))
        look = self._look(system)
        if look and look not in map(self._look, self.related("covered", name)):
            self.states.discard((name, look))

    def _look(self, system: str) -> str:
        return self.kinds.vocabulary.appearances.get(self.objects[system], "")

    def _exists(self, name: str) -> None:
        self.states.discard((name, "future"))

    def _of_kind(self, kind: str | None) -> list[str]:
        return [name for name, k in self.objects.items() if k == kind]

    # -- doors and switches ---------------------------------------------------------------------

    def _open(self, x: str) -> None:
        self._need(self.can(x, "openable"), "not openable")
        if not self.is_(x, "open"):
            self._need(not self.is_(x, "toggled_on"), "switch off first")
            self.states.add((x, "open"))

    def _close(self, x: str) -> None:
        self._need(self.can(x, "openable"), "not openable")
        self.states.discard((x, "open"))

    def _toggle_on(self, x: str) -> None:
        self._need(self.can(x, "toggleable"), "not toggleable")
        if not self.is_(x, "toggled_on"):
            self._need(not (self.can(x, "openable") and self.is_(x, "open")), "close first")
            self.states.add((x, "toggled_on"))

    def _toggle_off(self, x: str) -> None:
        self._need(self.can(x, "toggleable"), "not toggleable")
        self.states.discard((x, "toggled_on"))

    # -- moving ---------------------------------------------------------------------------------

    def _place_on_top(self, x: str, y: str) -> None:
        self._need(not self.substance(x), "is a substance")
        self._reachable(x)
        self._move(x, y, "ontop")
        lemma = self.objects[y].split(".")[0]
        if self.can(y, "fillable") and not self.can(y, "openable") and lemma not in _FLAT:
            self.edges.add(("inside", x, y))

    def _place_inside(self, x: str, y: str) -> None:
        self._need(not self.substance(x), "is a substance")
        self._reachable(x)
        self._need(not self.can(y, "openable") or self.is_(y, "open"), "open first")
        self._move(x, y, "inside")

    def _move(self, x: str, y: str, relation: str) -> None:
        # CHOICE: placing fails on itself, on what it holds up, and on a substance.
        self._need(not self.substance(y), "is a substance")
        self._need(x != y and x not in self.below(y), "holds it up")
        if self.can(x, "cloth"):
            self._leave_behind(x)
        # CHOICE: nor is it next to anything any more.
        gone = ("nextto", *_SUPPORTS)
        self.edges = {(p, a, b) for p, a, b in self.edges if not ((a == x and p in gone) or (b == x and p == "nextto"))}
        self.edges.add((relation, x, y))

    def _place(self, x: str) -> set[tuple[str, str]]:
        return {(pred, dst) for pred, src, dst in self.edges if src == x and pred in _SUPPORTS}

    def _leave_behind(self, x: str) -> None:
        """CHOICE: what a cloth does not take with it comes to lie where the cloth lay."""
        for pred, item, dst in list(self.edges):
            if dst == x and pred in _SUPPORTS:
                self.edges.discard((pred, item, x))
                self.edges |= {(p, item, d) for p, d in self._place(x)}

    # -- cleaning -------------------------------------------------------------------------------

    def _wipe(self, x: str, tool: str) -> None:
        self._need(self.can(tool, "particleRemover"), "not a remover")
        self._need(not self.substance(x), "cannot be covered")
        self._reachable(x)
        self._reachable(tool)
        covering = self.related("covered", x)
        self._need(bool(covering), "nothing covers")
        supported = [system for system in covering if self._conditions(tool, system) is not None]
        self._need(bool(supported), "cannot remove")
        removable = [
            system
            for system in supported
            if self._ready(tool, system) and ("saturated", tool, system) not in self.edges
        ]
        self._need(bool(removable), "tool not ready")
        for system in removable:
            self._uncover(x, system)

    def _conditions(self, tool: str, system: str) -> list[list[Any]] | None:
        """What the tool needs to take the substance up: any one of these, nothing if empty; None if it cannot."""
        remover = self._abilities(tool)["particleRemover"]
        kind = self.objects[system]
        if kind in remover["conditions"]:
            found: list[list[Any]] | None = remover["conditions"][kind]
            return found
        sort = "visual" if self.can(system, "visualSubstance") else "fluid"
        if sort == "fluid" and not self.can(system, "liquid"):
            sort = "non_fluid"
        default: list[list[Any]] | None = remover[f"default_{sort}_conditions"]
        return default

    def _ready(self, tool: str, system: str) -> bool:
        conditions = self._conditions(tool, system)
        if not conditions:
            return conditions is not None
        soaked = {self.objects[s] for s in self.related("saturated", tool)}
        for what, value in conditions:
            if what == "saturated" and value in soaked:
                return True
            if what == "toggled_on" and self.is_(tool, "toggled_on"):
                return True
        return False

    def _wait_for_washed(self, m: str) -> None:
        self._need(self.objects[m].split(".")[0] in ("washer", "dishwasher"), "not a washer")
        self._need(not self.is_(m, "open"), "close first")
        self._need(self.is_(m, "toggled_on"), "switch on first")
        # CHOICE: directly inside; what is in or on something inside is not looked at.
        items = self.holding("inside", m)
        self._need(bool(items), "empty")
        self._need(all(self.related("covered", x) for x in items), "nothing covers")
        for x in items:
            for system in self.related("covered", x):
                self._uncover(x, system)

    def _cut(self, x: str, knife: str) -> None:
        self._need(self.can(knife, "slicer"), "cannot slice")
        self._need(self.can(x, "sliceable") or self.can(x, "diceable"), "not sliceable")
        self._reachable(x)
        self._reachable(knife)
        halves = self._of_kind(self._abilities(x).get("sliceable", {}).get("sliceable_derivative_synset"))
        # CHOICE: the halves lie where the whole lay, without its states, and so does what lay on it. The whole
        # keeps no state or relation. A half that exists already has nothing to do with it.
        for half in halves:
            if self.is_(half, "future"):
                self._exists(half)
                self.edges |= {(pred, half, dst) for pred, dst in self._place(x)}
        self._leave_behind(x)
        self.edges = {(pred, src, dst) for pred, src, dst in self.edges if x not in (src, dst)}
        self.states = {(name, state) for name, state in self.states if name != x} | {(x, "future")}

    # -- liquids --------------------------------------------------------------------------------

    def _produced(self, source: str) -> list[str]:
        kinds = self._abilities(source)["particleSource"]["conditions"]
        return [name for name, kind in self.objects.items() if kind in kinds and self.is_(source, "toggled_on")]

    def _soak_under(self, x: str, source: str) -> None:
        self._need(self.can(x, "particleRemover"), "cannot soak")
        self._reachable(x)
        self._need(self.can(source, "particleSource"), "not a source")
        systems = self._produced(source)
        self._need(bool(systems), "switch on first")
        self._soak(x, systems)

    def _soak_inside(self, x: str, container: str) -> None:
        self._need(self.can(x, "particleRemover"), "cannot soak")
        self._reachable(x)
        self._reachable(container)
        self._need(self.can(container, "fillable"), "not a vessel")
        systems = self.related("contains", container)
        self._need(bool(systems), "empty")
        self._soak(x, systems)

    def _soak(self, x: str, systems: list[str]) -> None:
        # CHOICE: everything that can be taken up is. What can never be taken up has no failure of its own.
        supported = [system for system in systems if self._conditions(x, system) is not None]
        new = [system for system in supported if ("saturated", x, system) not in self.edges]
        self._need(bool(new), "saturated already")
        for system in new:
            self._exists(system)
            self.edges.add(("saturated", x, system))

    def _fill_with(self, x: str, source: str) -> None:
        self._need(self.can(x, "fillable"), "not a vessel")
        self._reachable(x)
        self._need(self.can(source, "particleSource"), "not a source")
        systems = self._produced(source)
        self._need(bool(systems), "switch on first")
        for system in systems:
            self._exists(system)
            self.edges.add(("contains", x, system))

    def _pour_into(self, container: str, y: str) -> None:
        self._need(self.can(y, "fillable"), "not a vessel")
        self._reachable(y)
        self._reachable(container)
        for system in self._content(container):
            self.edges.add(("contains", y, system))

    def _spread(self, container: str, y: str) -> None:
        systems = self._content(container)
        self._reachable(container)
        self._reachable(y)
        # CHOICE: a substance cannot be covered.
        self._need(not self.substance(y), "cannot be covered")
        for system in systems:
            if self.can(y, "cloth"):
                self.edges.add(("saturated", y, system))
            else:
                self._cover(y, system)

    def _content(self, container: str) -> list[str]:
        self._need(self.can(container, "fillable"), "not a vessel")
        systems = self.related("contains", container)
        self._need(bool(systems), "empty")
        return systems

    # -- heat and cold --------------------------------------------------------------------------

    def _wait(self, x: str) -> None:
        self.states -= {(x, "frozen"), (x, "hot")}

    def _wait_for_frozen(self, x: str, fridge: str) -> None:
        self._need(self.can(fridge, "coldSource"), "not a fridge")
        self._need(self.can(x, "freezable"), "not freezable")
        self._need(self.within(x, fridge), "put inside first")
        self.states.add((x, "frozen"))

    def _wait_for_cooked(self, x: str) -> None:
        if self.substance(x):
            containers = self.holding("contains", x)
            self._need(bool(containers), "not at heat")
            self._heated(containers[0])
            self._need(bool(self._cooked_variants(x)), "cannot cook")
            self._cook_substance(x, containers[0])
        elif self.can(x, "cookable"):
            self._heated(x)
            self._cook_object(x)
        else:
            # CHOICE: directly in or on it; any substance it contains that has a cooked variant. Nothing to cook is
            # no failure.
            self._heated(x)
            for system in self.related("contains", x):
                self._cook_substance(system, x)
            for pred in _SUPPORTS:
                for item in self.holding(pred, x):
                    if self.can(item, "cookable"):
                        self._cook_object(item)

    def _heated(self, x: str) -> None:
        sources = list(self._heat_sources(x))
        self._need(bool(sources), "not at heat")
        on = (not self.can(h, "toggleable") or self.is_(h, "toggled_on") for h in sources)
        self._need(all(on), "heat is off")

    def _heat_sources(self, x: str) -> Iterator[str]:
        for h in self.objects:
            for ability in ("heatSource", "coldSource"):  # a fridge counts as well
                if self.can(h, ability):
                    enclosed = self._abilities(h)[ability].get("requires_inside")
                    if self.within(x, h) if enclosed else h in self.below(x):
                        yield h

    def _cook_object(self, x: str) -> None:
        self.states.discard((x, "frozen"))
        self.states.add((x, "cooked"))
        if self.can(x, "heatable"):
            self.states.add((x, "hot"))

    def _cooked_variants(self, system: str) -> list[str]:
        return self._of_kind(self._abilities(system).get("cookable", {}).get("substance_cooking_derivative_synset"))

    def _cook_substance(self, system: str, container: str) -> None:
        for cooked in self._cooked_variants(system):
            self._exists(cooked)
            self.edges.discard(("contains", container, system))
            self.edges.add(("contains", container, cooked))

    def _done(self) -> None:
        pass
