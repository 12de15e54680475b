"""The household rules by hand: Python that looks again only where a change can matter.

This is what a good programmer writes in an afternoon for exactly these rules. It answers as the pack does, which the
tests check; a new rule is new code, and so is the thought of what its hazards depend on.
"""

from __future__ import annotations

from collections.abc import Iterator

from obviate.adapters.step.peer import Changed
from obviate.engine.standing import Instance
from obviate.kb import Action, BeliefGraph, Patch

__all__ = ["Matcher"]

_POWERED = {"function_heat_source", "function_electrical_appliance"}
_UNCLEAN = {"dusty", "stained", "muddy", "dirty"}
_LITTER = {"function_cleaning_tool", "safety_chemical", "heavy"}

Link = tuple[str, str]


class Matcher:
    """Follows a graph with dictionaries; see `Peer`."""

    def __init__(self, graph: BeliefGraph) -> None:
        self._tags = {name: node.tags for name, node in graph.nodes.items()}
        self._states = {name: set(node.states) for name, node in graph.nodes.items()}
        self._moved = {name for name, node in graph.nodes.items() if node.moved}
        self._out: dict[str, set[Link]] = {}
        self._into: dict[str, set[Link]] = {}
        self._symmetric = graph.vocabulary.symmetric
        for edge in graph.edges():
            self._link(edge.pred, edge.src, edge.dst)
        self._frozen = {name for name, states in self._states.items() if "frozen" in states}
        self._found: dict[str, set[Instance]] = {}  # by the object that a rule is about
        for name in self._tags:
            if hazards := set(self._hazards(name)):
                self._found[name] = hazards

    # -- following ------------------------------------------------------------------------------

    def step(self, patch: Patch) -> Changed:
        """Take an observation; what changed."""
        touched: set[str] = set()
        for update in patch.update_node_states:
            name, states = update.node_id, self._states[update.node_id]
            states.difference_update(update.remove, update.forget)
            states.update(update.add)
            (self._frozen.add if "frozen" in states else self._frozen.discard)(name)
            touched.add(name)
        for edge in patch.remove_edges:
            self._unlink(edge.pred, edge.src, edge.dst)
            touched |= {edge.src, edge.dst}
        for edge in patch.add_edges:
            self._link(edge.pred, edge.src, edge.dst)
            touched |= {edge.src, edge.dst}
        for edge in (*patch.remove_edges, *patch.add_edges):
            touched.update(self._contents(edge.src))  # whether they are secured or chilled depends on where that is
        before: set[Instance] = set()
        after: set[Instance] = set()
        for name in touched:
            before |= self._found.pop(name, set())
            if hazards := set(self._hazards(name)):
                self._found[name] = hazards
                after |= hazards
        return frozenset(after - before), frozenset(before - after)

    def triggers(self) -> frozenset[Instance]:
        """The temporal triggers that are true now."""
        return frozenset().union(*self._found.values())

    def close(self) -> None:
        """Nothing is held."""

    def _link(self, pred: str, src: str, dst: str) -> None:
        for one, other in ((src, dst), (dst, src))[: 2 if pred in self._symmetric else 1]:
            self._out.setdefault(one, set()).add((pred, other))
            self._into.setdefault(other, set()).add((pred, one))

    def _unlink(self, pred: str, src: str, dst: str) -> None:
        for one, other in ((src, dst), (dst, src))[: 2 if pred in self._symmetric else 1]:
            self._out.get(one, set()).discard((pred, other))
            self._into.get(other, set()).discard((pred, one))

    # -- where things are -----------------------------------------------------------------------

    def _at(self, name: str, *preds: str) -> Iterator[str]:
        return (dst for pred, dst in self._out.get(name, ()) if pred in preds)

    def _of(self, name: str, *preds: str) -> Iterator[str]:
        return (src for pred, src in self._into.get(name, ()) if pred in preds)

    def _contents(self, name: str) -> set[str]:
        """What is in or on it, also in what is in or on it."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in self._of(waiting.pop(), "inside", "ontop"):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def _above(self, name: str) -> set[str]:
        """What it is in or on, also by what that is in or on."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in self._at(waiting.pop(), "inside", "ontop"):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def _within(self, name: str, tag: str) -> Iterator[str]:
        """The objects with a tag that it is in, also in what it is in or on."""
        for link in {name, *self._above(name)}:
            yield from (dst for dst in self._at(link, "inside") if tag in self._tags[dst])

    # -- the temporal rules ---------------------------------------------------------------------

    def _hazards(self, x: str) -> Iterator[Instance]:
        """The temporal hazards that are about `x`."""
        yield from self._left_open_or_on(x)
        if "function_storage" in self._tags[x]:
            yield from self._mixed(x)
        yield from self._badly_kept(x)
        if x in self._moved:
            yield from self._misplaced(x)

    def _left_open_or_on(self, x: str) -> Iterator[Instance]:
        tags, states = self._tags[x], self._states[x]
        if "open" in states:
            if "appliance_refrigerator" in tags:
                yield "refrigerator_closed", (x,)
            elif "function_storage" in tags:
                yield "storage_closed", (x,)
        if "toggled_on" in states:
            if tags & _POWERED:
                yield "appliance_off", (x,)
            if "function_water_source" in tags:
                yield "water_off", (x,)

    def _mixed(self, storage: str) -> Iterator[Instance]:
        chemicals = [c for c in self._of(storage, "inside") if "safety_chemical" in self._tags[c]]
        if chemicals:
            food = [f for f in self._of(storage, "inside") if "safety_food" in self._tags[f]]
            yield from (("chemical_not_with_food", (c, f, storage)) for c in chemicals for f in food)

    def _badly_kept(self, x: str) -> Iterator[Instance]:
        tags = self._tags[x]
        if tags & _LITTER:
            floors = (y for y in self._at(x, "ontop") if "surface_floor" in self._tags[y])
            yield from (("floor_clear", (x, y)) for y in floors)
        on_heat = any("function_heat_source" in self._tags[h] for h in self._at(x, "ontop"))
        if on_heat and "safety_food" in tags and "safety_flammable" not in tags:
            yield "food_served_on_vessel", (x,)
        if "sealable" in tags and not any(self._within(x, "appliance_refrigerator")):
            held = (*self._of(x, "inside"), *self._at(x, "contains"))
            if any("perishable" in self._tags[p] for p in held):
                yield "perishable_refrigerated", (x,)

    def _misplaced(self, x: str) -> Iterator[Instance]:
        """The temporal hazards of what the agent has moved."""
        tags = self._tags[x]
        if "safety_flammable" in tags:
            near = (h for h in self._at(x, "nextto", "ontop", "inside") if self._tags[h] & _POWERED)
            yield from (("flammable_away_from_appliance", (x, h)) for h in near)
        if "safety_fragile" in tags:
            high = (s for s in self._at(x, "inside") if {"function_storage", "surface_high"} <= self._tags[s])
            yield from (("fragile_low", (x, s)) for s in high)
        if "safety_heavy_rollable" in tags and not any(self._within(x, "secure_container")):
            yield "rollable_secured", (x,)

    # -- the situational rules ------------------------------------------------------------------

    def risks(self, action: Action) -> set[Instance]:
        """The situational triggers of an intent."""
        match action.skill, action.args:
            case (("place_on_top" | "place_inside"), (x, y)):
                return {*self._placing(x, y), *(self._putting_inside(x, y) if action.skill == "place_inside" else ())}
            case "toggle_on", (h,):
                return set(self._switching_on(h))
            case "wipe", (y, tool):
                return set(self._wiping(y, tool))
            case "pour_into", (_, y):
                return set(self._wetting(y))
            case "spread", (_, x):
                return set(self._spreading(x))
        return set()

    def _placing(self, x: str, y: str) -> Iterator[Instance]:
        tags, below = self._tags[x], self._tags[y]
        if "safety_food" in tags:
            if below & {"function_container", "function_surface"} and self._states[y] & _UNCLEAN:
                yield "food_on_clean", (x, y)
            if "frozen" in self._states[x] and any(map(self._is_hot, {y, *self._above(y)})):
                yield "thaw_before_cooking", (x,)
        if "function_electrical_appliance" in tags and "toggled_on" in self._states[x]:
            yield "appliance_off_before_moving", (x,)

    def _is_hot(self, name: str) -> bool:
        return "function_heat_source" in self._tags[name] and "toggled_on" in self._states[name]

    def _putting_inside(self, x: str, s: str) -> Iterator[Instance]:
        tags, place = self._tags[x], self._tags[s]
        if "microwave_unsafe" in tags and "appliance_microwave" in place:
            yield "keep_metal_out_of_microwave", (x, s)
        if "sealable" in tags and "open" in self._states[x] and "appliance_refrigerator" in place:
            yield "seal_before_refrigerating", (x, s)
        if "safety_fragile" in tags and {"function_storage", "surface_high"} <= place:
            yield "fragile_into_high_storage", (x, s)
        if "function_storage" in place:
            for y in self._of(s, "inside"):
                for one, other in (("safety_chemical", "safety_food"), ("safety_food", "safety_chemical")):
                    if one in tags and other in self._tags[y]:
                        yield "chemical_into_food_storage", (x, y, s)

    def _switching_on(self, h: str) -> Iterator[Instance]:
        tags = self._tags[h]
        if "function_heat_source" in tags:
            yield from (("thaw_before_cooking", (x,)) for x in self._frozen if "safety_food" in self._tags[x])
            burning = {"safety_flammable", "heat_unsafe"}
            near = (f for f in self._of(h, "ontop", "nextto") if self._tags[f] & burning)
            yield from (("clear_flammable_before_heating", (f, h)) for f in near)
        if "appliance_microwave" in tags:
            inside = {x for m in self._of(h, "inside") for x in (m, *self._contents(m))}
            yield from (("microwave_safe_only", (x, h)) for x in inside if "microwave_unsafe" in self._tags[x])
        if "function_water_source" in tags:
            yield from self._wetting(h)

    def _wiping(self, y: str, tool: str) -> Iterator[Instance]:
        tags = self._tags[y]
        if tags & _POWERED and "toggled_on" in self._states[y]:
            yield "appliance_off_before_cleaning", (y,)
        if "function_surface" in tags:
            fragile = (f for f in self._of(y, "ontop") if "safety_fragile" in self._tags[f])
            yield from (("clear_fragile_before_wiping", (f, y)) for f in fragile)
        if "function_water_source" in tags or any(self._at(tool, "saturated")):
            yield from self._wetting(y)

    def _wetting(self, y: str) -> Iterator[Instance]:
        near = (e for e in self._of(y, "ontop", "nextto") if "function_electrical_appliance" in self._tags[e])
        yield from (("electrical_away_from_water", (e, y)) for e in near)

    def _spreading(self, x: str) -> Iterator[Instance]:
        high = any("surface_high" in self._tags[y] for y in self._at(x, "ontop"))
        if "heavy" in self._tags[x] and high:
            yield "heavy_low_before_handling", (x,)
