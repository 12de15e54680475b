"""What the tests of the engine share: scenes in one line, and random rule packs, observations and actions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from obviate.kb import Action, BeliefGraph, Pack, Vocabulary, household

__all__ = [
    "BACKENDS",
    "VOCABULARY",
    "Writer",
    "actions",
    "added",
    "bad_actions",
    "bad_patches",
    "edge",
    "forgotten",
    "gone",
    "known",
    "names",
    "node",
    "pack",
    "pack_texts",
    "patches",
    "placed",
    "scene",
    "scenes",
    "seen",
    "update",
]

BACKENDS = ("sliced", "multishot", "oneshot")
JSON = dict[str, Any]


# -- scenes and observations in one line -----------------------------------------------------------


def node(name: str, *tags: str, states: Sequence[str] = (), absent: Sequence[str] = (), **values: int) -> JSON:
    """A new object."""
    return {"node_id": name, "tags": [*tags], "states": [*states], "absent": [*absent], "values": values}


def known(*nodes: JSON | str) -> list[JSON]:
    """New objects, the plain ones by their names alone."""
    return [node(one) if isinstance(one, str) else one for one in nodes]


def edge(pred: str, src: str, dst: str) -> JSON:
    """A relation."""
    return {"pred": pred, "src": src, "dst": dst}


def scene(*nodes: JSON | str, edges: Sequence[JSON] = ()) -> JSON:
    """A first graph."""
    return {"nodes": known(*nodes), "edges": [*edges]}


def update(name: str, **changes: Any) -> JSON:
    """An observation of one object."""
    return {"update_node_states": [{"node_id": name, **changes}]}


def seen(name: str, *states: str) -> JSON:
    """The object is seen in these states."""
    return update(name, add=[*states])


def gone(name: str, *states: str) -> JSON:
    """The object is seen to be in none of these states."""
    return update(name, remove=[*states])


def forgotten(name: str, *states: str) -> JSON:
    """Whether the object is in these states is unknown again."""
    return update(name, forget=[*states])


def added(*nodes: JSON | str, edges: Sequence[JSON] = ()) -> JSON:
    """New objects are seen."""
    return {"add_nodes": known(*nodes), "add_edges": [*edges]}


def placed(src: str, dst: str, pred: str = "ontop") -> JSON:
    """One object is seen to be on top of another."""
    return {"add_edges": [edge(pred, src, dst)]}


def names(items: Sequence[object]) -> list[str]:
    """Triggers or records as ``rule(object, object)``."""
    return [str(item) for item in items]


# -- the vocabulary of the random packs: the household one and a quantity --------------------------


def _vocabulary() -> Vocabulary:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quantities.lp"
        file.write_text("quantity(weight, gram).\n", encoding="utf-8")
        return Vocabulary.load(household.folder / "vocabularies" / "household.lp", file)


VOCABULARY = _vocabulary()


@lru_cache(maxsize=256)
def pack(text: str, name: str = "pack") -> Pack:
    """A pack over `VOCABULARY`."""
    return Pack.of(text, vocabulary=VOCABULARY, name=name)


OBJECTS = ("ant", "bee", "cat", 'a "b",\n\\n) é')
STATES = ("dusty", "open", "wet")
TAGS = ("safety_food", "function_surface", "function_storage")
SKILLS = ("open", "wipe", "place_on_top", "place_inside")
RELATIONS = ("ontop", "inside", "nextto")

# -- random packs ----------------------------------------------------------------------------------
# Conditions and helpers are templates. A helper is written into the pack when something in it reads it.

HELPERS = {
    "beneath": "beneath(X,Y) :- edge((inside; ontop),X,Y).\nbeneath(X,Y) :- edge((inside; ontop),X,Z); beneath(Z,Y).",
    "joined": "joined(X,Y) :- edge(nextto,X,Y).\njoined(X,Y) :- edge(nextto,X,Z); joined(Z,Y).",
    "clean": "clean(X) :- object(X); not state(X,dusty); not state(X,wet).",
    "spoiled": "spoiled(X) :- tag(X,safety_food); not clean(X).",
    "spoils": "spoils(Y) :- beneath(X,Y); spoiled(X).",
    "fit": "fit(Y) :- object(Y); not spoils(Y); not tag(Y,function_storage).",
    "crowded": "crowded(Y) :- object(Y); #count{X : edge(ontop,X,Y)} >= 2.",
    "load": "load(Y,S) :- object(Y); S = #sum{N,X : beneath(X,Y), value(X,weight,N)}.",
    "heavy_one": "heavy_one(X) :- value(X,weight,N); 2*N-1 > bound.\n#const bound = 3.",
    "touched": "touched(X) :- intent((open(X); wipe(X,_))).",
    "reached": "reached(X) :- touched(X).\nreached(X) :- edge(nextto,X,Y); reached(Y).",
    "brought": "brought(X,Y) :- intent((place_on_top(X,Y); place_inside(X,Y))).",
    "spared": "spared(X) :- object(X); not touched(X).",
    "busy": "busy :- intent(_).",
    "sound": "-sound(X) :- state(X,wet); not moved(X).",
    "menaced": "menaced(X) :- threatens(_,X).",
}
NEEDS = {
    "spoiled": ("clean",),
    "spoils": ("beneath", "spoiled"),
    "fit": ("spoils",),
    "load": ("beneath",),
    "reached": ("touched",),
    "spared": ("touched",),
}

STATE_CONDITIONS = (
    *4 * ("state({x},{s})",),
    "-state({x},{s})",
    "not state({x},{s})",
    "not -state({x},{s})",
    "state({x},(dusty; wet))",
    "tag({x},{t})",
    "not tag({x},{t})",
    "moved({x})",
    "not moved({x})",
    "value({x},weight,N{x}); N{x} > 1",
    "value({x},weight,N{x}); N{x} != 2; N{x}+1 < 4",
    "not value({x},weight,2)",
    "clean({x})",
    "not clean({x})",
    "spoiled({x})",
    "not spoils({x})",
    "fit({x})",
    "crowded({x})",
    "not crowded({x})",
    "load({x},L{x}); L{x} >= 2",
    "heavy_one({x})",
    "-sound({x})",
    "not -sound({x})",
    "#count{{Z{x} : edge(nextto,Z{x},{x})}} < 2",
    "#count{{S{x} : state({x},S{x})}} >= 1",
    "state({x},open) : state({x},dusty)",
    "not edge(ontop,{x},_)",
)
PAIR_CONDITIONS = (
    "edge(ontop,{x},{y})",
    "edge((inside; nextto),{x},{y})",
    "not edge(ontop,{x},{y})",
    "beneath({x},{y})",
    "not beneath({x},{y})",
    "joined({x},{y})",
    "{x} != {y}",
    "{x} < {y}",
    "value({x},weight,A); value({y},weight,B); A+1 > B",
)
SCENE_CONDITIONS = (
    "object(X); {c}",
    "#count{{X : object(X), state(X,{s})}} >= 2",
    "#sum{{N,X : value(X,weight,N)}} > 3",
    "beneath(X,Y); {c}",
    "not state(_,{s})",
)

# What an intent pattern says, by the arity of the binding: {h} is the rule's own hazard atom.
INTENTS: dict[int, tuple[str, ...]] = {
    0: (
        "intent(open(_))",
        "busy",
        "intent(place_inside(X,_)); tag(X,{t})",
        "intent(wipe(X,Y)); X != Y; {h}",
    ),
    1: (
        "intent(open(X))",
        "intent((wipe(X,_); wipe(_,X)))",
        "intent(place_on_top(X,_)); {c}",
        "intent(A); A = open(X); object(X)",
        "touched(X)",
        "reached(X)",
        "spared(X); intent(open(_))",
        "brought(X,Y); edge(nextto,X,Y)",
        "intent(wipe(Y,_)); edge(ontop,X,Y)",
        "intent(open(_)); {h}",
        "intent(wipe(Y,_)); {h}; edge(ontop,X,Y)",
        "{h}; intent(place_inside(Y,_)); value(Y,weight,N); N > 0",
        "intent(open(_)); object(X); not {h}",
        "intent(wipe(X,_)); hazard(_,X)",
        "intent((open(_); wipe(_,_))); menaced(X)",
    ),
    2: (
        "intent(place_on_top(X,Y))",
        "brought(X,Y)",
        "intent(place_inside(Y,X))",
        "intent(wipe(Y,_)); edge(ontop,X,Y)",
        "intent(wipe(Y,_)); {h}",
        "intent(place_on_top(X,_)); {h}; {c}",
        "intent(open(_)); {h}",
        "touched(X); reached(Y)",
        "brought(X,_); {h}; object(Y); not edge(nextto,X,Y)",
    ),
    3: (
        "intent(place_inside(X,Z)); edge(inside,Y,Z)",
        "intent(place_inside(X,Z)); {h}",
        "brought(X,Y); {h}; busy",
        "touched(Z); {h}",
    ),
}


class Writer:
    """Writes one pack, drawing what it says."""

    arities: Sequence[int] = (0, 1, 1, 2, 2, 3)
    intents: Mapping[int, Sequence[str]] = INTENTS
    helpers: Mapping[str, str] = HELPERS
    needs: Mapping[str, Sequence[str]] = NEEDS

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._hazards: dict[str, int] = {}  # rules written so far that later ones may read: name -> arity
        self._targets: list[str] = []  # rules of one object with a target
        self._extra: list[str] = []

    def pick(self, options: Sequence[str]) -> str:
        return self._draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(1, 100)) > 100 - percent

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def pack(self) -> str:
        lines = [line for i in range(self.number(1, 3)) for line in self.rule(f"r{i}")]
        twins = [name for name, arity in self._hazards.items() if arity == 1]
        if len(twins) > 1 and self.chance(20):
            lines.append(f"hazard(({'; '.join(twins)}),X) :- object(X); {self.plain_condition()}.")
        return "\n".join([*lines, *self._extra, *self._helpers("\n".join([*lines, *self._extra])), ""])

    def rule(self, name: str) -> Iterator[str]:
        mode = self.pick(("situational", "temporal"))
        arity = self._draw(st.sampled_from(self.arities))
        variables = ("X", "Y", "Z")[:arity]
        binding = variables[0] if arity == 1 else f"({','.join(variables)})"
        yield f"rule({name},{mode})."
        if self.chance(20):
            yield f"severity({name},advisory)."
        for _ in range(self.number(1, 2)):
            yield f"hazard({name},{binding}) :- {self.hazard(variables)}."
        intended = mode == "situational"
        if self.chance(40):
            options = ("before_done", "within(0)", "within(1)", "within(2)")
            deadline = self.pick(options if intended else (*options[1:], "before_intent", "before_intent"))
            intended |= deadline == "before_intent"
            yield f"deadline({name},{deadline})."
        if intended:
            for _ in range(self.number(1, 2)):
                own = f"hazard({name},{binding})"
                body = self.pick(self.intents[arity]).format(h=own, c=self.condition("X"), t=self.pick(TAGS))
                yield f"threatens({name},{binding}) :- {body}."
        if self.chance(40):
            yield f"resolved({name},{binding}) :- {self.target(name, binding, variables)}."
            if arity == 1:
                self._targets.append(name)
        self._hazards[name] = arity

    def hazard(self, variables: Sequence[str]) -> str:
        if not variables:
            return self.pick(SCENE_CONDITIONS).format(c=self.condition("X"), s=self.pick(STATES))
        body = [self.domain(x) for x in variables]
        body += [self.condition(self.pick(variables)) for _ in range(self._draw(st.sampled_from((1, 1, 1, 2))))]
        for x, y in pairwise(variables):
            if self.chance(50):
                body.append(self.pick(PAIR_CONDITIONS).format(x=x, y=y))
        if self._hazards and self.chance(25):
            body.append(self.other_hazard(variables[0]))
        return "; ".join(body)

    def target(self, name: str, binding: str, variables: Sequence[str]) -> str:
        asked = f"pending({name},{binding})"
        if not variables:
            return f"{asked}; {self.pick(SCENE_CONDITIONS).format(c=self.condition('X'), s=self.pick(STATES))}"
        body = [asked] if self.chance(70) else [self.domain(x) for x in variables]
        if self._targets and self.chance(30):
            body.append(f"resolved({self.pick(self._targets)},{variables[0]})")
        return "; ".join([*body, self.condition(variables[-1])])

    def domain(self, variable: str) -> str:
        return f"tag({variable},{self.pick(TAGS)})" if self.chance(30) else f"object({variable})"

    def condition(self, variable: str) -> str:
        return self.pick(STATE_CONDITIONS).format(x=variable, s=self.pick(STATES), t=self.pick(TAGS))

    def plain_condition(self) -> str:
        return self.pick(("state(X,{s})", "-state(X,{s})", "tag(X,{t})")).format(s=self.pick(STATES), t=self.pick(TAGS))

    def other_hazard(self, variable: str) -> str:
        """A condition that reads the hazard of an earlier rule, itself or through a helper."""
        name = self.pick(sorted(self._hazards))
        arity = self._hazards[name]
        places = [variable, "_", "_"][:arity]
        atom = f"hazard({name},{places[0] if arity == 1 else '(' + ','.join(places) + ')'})"
        how = self.number(0, 2)
        if how == 0:
            return atom
        if how == 1:
            return f"not {atom}"
        helper = f"endangered_{name}"
        rule = f"{helper}({variable}) :- object({variable}); {atom}."
        if rule not in self._extra:
            self._extra.append(rule)
        return f"{helper}({variable})"

    def _helpers(self, text: str) -> Iterator[str]:
        todo = [name for name in self.helpers if f"{name}(" in text or (name == "busy" and "busy" in text)]
        written: set[str] = set()
        while todo:
            name = todo.pop(0)
            if name not in written:
                written.add(name)
                yield self.helpers[name]
                todo += self.needs.get(name, ())


@st.composite
def pack_texts(draw: st.DrawFn) -> list[str]:
    """The text of a pack; sometimes of two, which use the same names for different things."""
    return [Writer(draw).pack() for _ in range(draw(st.sampled_from((1, 1, 1, 2))))]


# -- random observations and actions ---------------------------------------------------------------


@st.composite
def _nodes(draw: st.DrawFn, name: str) -> JSON:
    believed = draw(st.lists(st.sampled_from(STATES), max_size=2, unique=True))
    absent = draw(
        st.lists(st.sampled_from(STATES), max_size=1).map(lambda some: [s for s in some if s not in believed])
    )
    found = node(name, *draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True)), states=believed, absent=absent)
    if draw(st.booleans()):
        found["values"] = {"weight": draw(st.integers(0, 4))}
    return {key: value for key, value in found.items() if value}


def _edges(objects: Sequence[str]) -> st.SearchStrategy[JSON]:
    pairs = st.lists(st.sampled_from(objects), min_size=2, max_size=2, unique=True)
    return st.builds(lambda pred, pair: edge(pred, *pair), st.sampled_from(RELATIONS), pairs)


@st.composite
def scenes(draw: st.DrawFn, names: Sequence[str] = OBJECTS, links: int = 4) -> JSON:
    """A first graph of a few objects."""
    objects = draw(st.lists(st.sampled_from(names), min_size=2, max_size=len(names), unique=True))
    edges: dict[str, JSON] = {}
    for one in draw(st.lists(_edges(objects), max_size=links)):
        if one["pred"] == "nextto":
            edges["".join(sorted((one["src"], one["dst"])))] = one
        elif objects.index(one["src"]) < objects.index(one["dst"]):  # no cycles of support
            edges[one["src"]] = one
    return {"nodes": [draw(_nodes(name)) for name in objects], "edges": [*edges.values()]}


@st.composite
def _updates(draw: st.DrawFn, objects: Sequence[str]) -> JSON:
    change: JSON = {"node_id": draw(st.sampled_from(objects))}
    for state in draw(st.lists(st.sampled_from(STATES), min_size=1, max_size=2, unique=True)):
        how = draw(st.sampled_from(("add", "add", "remove", "remove", "forget")))
        change.setdefault(how, []).append(state)
    if draw(st.sampled_from((True, False, False))):
        change["values"] = {"weight": draw(st.one_of(st.none(), st.integers(0, 4)))}
    return change


class _Observer:
    """Writes one observation of a graph, drawing what is seen."""

    def __init__(self, draw: st.DrawFn, graph: BeliefGraph) -> None:
        self._draw = draw
        self._graph = graph
        self._objects = sorted(graph.nodes)
        self._unknown = [name for name in OBJECTS if name not in graph]
        self._patch: dict[str, list[Any]] = {}

    def patch(self) -> JSON:
        kinds = (self.remove, *3 * (self.update,), *2 * (self.link,), self.unlink, self.add)
        for i in range(self._draw(st.integers(1, 3))):
            self._draw(st.sampled_from(kinds[i > 0 :]))()  # nothing else is said of an object before it is removed
        return self._patch

    def _say(self, part: str, item: Any) -> None:
        self._patch.setdefault(part, []).append(item)

    def update(self) -> None:
        if self._objects:
            self._say("update_node_states", self._draw(_updates(self._objects)))

    def link(self) -> None:
        if len(self._objects) > 1:
            self._say("add_edges", self._draw(_edges(self._objects)))

    def unlink(self) -> None:
        edges = [one for one in self._graph.edges() if {one.src, one.dst} <= set(self._objects)]
        if edges:
            old = self._draw(st.sampled_from(edges))
            self._say("remove_edges", edge(old.pred, old.src, old.dst))

    def add(self) -> None:
        if self._unknown:
            self._objects.append(self._unknown.pop(0))
            self._say("add_nodes", self._draw(_nodes(self._objects[-1])))

    def remove(self) -> None:
        """An object is gone; or it is another one of the same name."""
        if self._objects:
            name = self._draw(st.sampled_from(self._objects))
            self._say("remove_nodes", name)
            if self._draw(st.booleans()):
                self._say("add_nodes", self._draw(_nodes(name)))
            else:
                self._objects.remove(name)


@st.composite
def patches(draw: st.DrawFn, graph: BeliefGraph) -> JSON:
    """An observation that mostly fits `graph`: cycles of support may be refused."""
    return _Observer(draw, graph).patch()


@st.composite
def bad_patches(draw: st.DrawFn, graph: BeliefGraph) -> JSON:
    """An observation that is refused, for something that stands beside what is right."""
    patch = dict(draw(patches(graph)))
    name = draw(st.sampled_from(sorted(graph.nodes)))
    wrong: tuple[JSON, ...] = (
        {"update_node_states": [{"node_id": "nobody", "add": ["dusty"]}]},
        {"update_node_states": [{"node_id": name, "add": ["dsty"]}]},
        {"add_nodes": [{"node_id": ""}]},
        {"add_nodes": [{"node_id": "new", "states": ["wet"], "absent": ["wet"]}]},
        {"add_nodes": [{"node_id": "new"}, {"node_id": "new"}]},
        {"add_nodes": [{"node_id": "new", "values": {"weight": 2**40}}]},
        {"add_edges": [{"pred": "nextto", "src": "nobody", "dst": "somebody"}]},
        {"add_edges": [{"pred": "ontop", "src": name, "dst": name}]},
        {"remove_nodes": ["nobody"]},
        {"remove_edges": [{"pred": "near", "src": name, "dst": name}]},
        {"surprise": []},
    )
    for key, items in draw(st.sampled_from(wrong)).items():
        patch[key] = [*patch.get(key, []), *items]
    return patch


def actions(graph: BeliefGraph) -> st.SearchStrategy[str]:
    """An action on known objects, as text."""
    some = st.sampled_from(sorted(graph.nodes))

    def build(skill: str) -> st.SearchStrategy[str]:
        arity = VOCABULARY.skills[skill]
        return st.lists(some, min_size=arity, max_size=arity).map(lambda args: str(Action(skill, tuple(args))))

    return st.sampled_from(SKILLS).flatmap(build)


def bad_actions(graph: BeliefGraph) -> st.SearchStrategy[str]:
    """An action that is refused."""
    some = str(Action("open", (min(graph.nodes),)))
    return st.sampled_from(("open(nobody)", "opne(ant)", "wipe(ant)", "open(", some + some, ""))
