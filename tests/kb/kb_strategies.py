"""Builders and Hypothesis strategies that the tests of `obviate.kb` share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from obviate.kb import BeliefGraph, Vocabulary
from obviate.kb.terms import Atom

Json = dict[str, Any]

TOY = """
unary((clean; hot; wet)).
relation((ontop; inside; nextto; covered)).
support((ontop; inside)).
symmetric(nextto).
tag_name((food; fragile)).
quantity(mass, gram).
quantity(level, percent).
skill(open, 1).
skill(place, 2).
moves(place, 1).
"""


def vocabulary_of(*texts: str) -> Vocabulary:
    """A vocabulary from the texts of its files."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"v{i}.lp" for i in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, encoding="utf-8")
        return Vocabulary.load(*files)


@cache
def toy() -> Vocabulary:
    """A vocabulary small enough to see all of it."""
    return vocabulary_of(TOY)


def toy_graph(*edges: str, nodes: Iterable[Json | str] = ()) -> BeliefGraph:
    """A graph from edges such as ``cup ontop table`` and further nodes."""
    triples = [edge.split() for edge in edges]
    given = [{"node_id": node} if isinstance(node, str) else node for node in nodes]
    missing = {name for src, _, dst in triples for name in (src, dst)} - {str(n["node_id"]) for n in given}
    return BeliefGraph.of(
        toy(),
        {
            "nodes": [*given, *({"node_id": name} for name in sorted(missing))],
            "edges": [{"pred": pred, "src": src, "dst": dst} for src, pred, dst in triples],
        },
    )


def believed(graph: BeliefGraph) -> set[str]:
    """The facts of a graph as text, for reading and for comparing."""
    return set(map(str, graph.facts()))


def facts(graph: BeliefGraph) -> set[Atom]:
    return set(graph.facts())


# -- ids -------------------------------------------------------------------------------------------

_NASTY = ['"', "\\", "\n", "\\n", "\r", "\t", " ", ",", "(", ")", "%", "%*", "#include", "é", "皿", "\U0001f37d"]
_NASTY += ['"]) :- true.', "plate.n.04_1", "X", "_", "not", "'", "\u2028", "\x85", "\x01"]
_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")

ids: st.SearchStrategy[str] = st.one_of(
    st.text(_CHARACTERS, min_size=1, max_size=12),
    st.lists(st.sampled_from(_NASTY), min_size=1, max_size=5).map("".join),
)

# -- beliefs ---------------------------------------------------------------------------------------

_OBJECTS = ["a", "b", "c", "d", "e"]
_STATES = ["clean", "hot", "wet"]
_TRUTHS = st.tuples(*[st.sampled_from(["states", "absent", ""])] * 3)
_QUANTITIES = st.dictionaries(st.sampled_from(["mass", "level"]), st.integers(-9, 9), max_size=2)


@st.composite
def scenes(draw: st.DrawFn) -> Json:
    """A scene that a graph accepts: supports point to earlier objects, so there is no cycle."""
    names = draw(st.permutations(_OBJECTS))[: draw(st.sampled_from([5, 5, 5, 5, 3, 0]))]
    nodes, edges = [], []
    for i, name in enumerate(names):
        truth = dict(zip(_STATES, draw(_TRUTHS), strict=True))
        nodes.append(
            {
                "node_id": name,
                "tags": draw(st.lists(st.sampled_from(["food", "fragile"]), unique=True)),
                "states": [state for state in _STATES if truth[state] == "states"],
                "absent": [state for state in _STATES if truth[state] == "absent"],
                "values": draw(_QUANTITIES),
            }
        )
        if i and draw(st.booleans()):
            below = draw(st.sampled_from(names[:i]))
            for pred in draw(st.sampled_from([["ontop"], ["inside"], ["inside", "ontop"]])):
                edges.append({"pred": pred, "src": name, "dst": below})
    some = st.sampled_from(names or ["a"])
    for pred, src, dst in draw(st.lists(st.tuples(st.sampled_from(["nextto", "covered"]), some, some), max_size=4)):
        if names and src != dst:
            edges.append({"pred": pred, "src": src, "dst": dst})
    return {"nodes": nodes, "edges": edges}


@st.composite
def patches(draw: st.DrawFn) -> Json:
    """Patches over a few objects. Most fit a scene; one in six may hold a name that nothing declares."""
    spoilt = draw(st.integers(0, 5)) == 0
    name = st.sampled_from([*_OBJECTS, "ghost"] if spoilt else _OBJECTS[:4])
    state = st.sampled_from([*_STATES, "shiny"] if spoilt else _STATES)
    pred = st.sampled_from(["ontop", "inside", "nextto", "covered", "NEXTTO", *(["beneath"] if spoilt else [])])
    edges = st.lists(st.fixed_dictionaries({"pred": pred, "src": name, "dst": name}), max_size=2)
    changes = draw(st.dictionaries(state, st.sampled_from(["add", "remove", "forget"]), max_size=3))
    update: Json = {part: [s for s, p in changes.items() if p == part] for part in ("add", "remove", "forget")}
    update["node_id"] = draw(st.sampled_from([*_OBJECTS, *_OBJECTS, "f", "ghost" if spoilt else "a"]))
    update["values"] = draw(st.dictionaries(st.sampled_from(["mass", "level"]), st.none() | st.integers(-9, 9)))
    node: Json = {
        "node_id": draw(st.sampled_from(["f", "f", "f", "e"])),
        "tags": draw(st.lists(st.sampled_from(["food", "FRAGILE"]))),
    }
    node |= {"states": draw(st.lists(state, max_size=2)), "values": draw(_QUANTITIES)}
    patch: Json = {
        "add_nodes": [node],
        "update_node_states": [update],
        "add_edges": draw(edges),
        "remove_edges": draw(edges),
        "remove_nodes": [draw(st.sampled_from(_OBJECTS))],
    }
    return {part: patch[part] for part in patch if draw(st.booleans())}


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
