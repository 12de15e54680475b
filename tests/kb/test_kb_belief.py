"""The belief graph: invariants that hold after any patch."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb_strategies import Json, believed, facts, json_values, patches, scenes, toy, toy_graph

from obviate.kb import BeliefGraph, Patch
from obviate.kb.belief import state_atom
from obviate.kb.errors import ObviateError, PatchError
from obviate.kb.terms import Atom


def graph_after(scene: Json, updates: list[Json]) -> BeliefGraph:
    graph = BeliefGraph.of(toy(), scene)
    for update in updates:
        try:
            graph = graph.merge(update)
        except ObviateError:
            continue
    return graph


graphs = st.builds(graph_after, scenes(), st.lists(patches(), max_size=2))


# -- merging ---------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(scenes(), st.lists(patches(), min_size=1, max_size=3))
def test_a_patch_is_refused_and_changes_nothing_or_keeps_every_invariant(scene: Json, updates: list[Json]) -> None:
    graph = BeliefGraph.of(toy(), scene)
    for update in updates:
        before, edges = facts(graph), graph.edges()
        try:
            after = graph.merge(update)
        except ObviateError:
            assert (facts(graph), graph.edges()) == (before, edges)
            continue
        assert after.delta.added == facts(after) - before
        assert after.delta.removed == before - facts(after)
        assert after.parent == graph.version
        for name, node in after.nodes.items():
            assert len(after.supporters(name)) <= 1
            assert not node.states & node.absent
        supports: nx.DiGraph[str] = nx.DiGraph(
            (name, below) for name in after.nodes for below in after.supporters(name)
        )
        assert nx.is_directed_acyclic_graph(supports)
        assert all(edge.src in after and edge.dst in after for edge in after.edges())
        graph = after


@settings(max_examples=40)
@given(scenes())
def test_what_a_valid_scene_says_is_believed(scene: Json) -> None:
    graph = BeliefGraph.of(toy(), scene)
    assert {(e.pred, *sorted((e.src, e.dst))) for e in graph.edges()} == {
        (e["pred"], *sorted((e["src"], e["dst"]))) for e in scene["edges"]
    }
    for node in scene["nodes"]:
        held = graph.nodes[node["node_id"]]
        assert (held.tags, held.states, held.absent) == tuple(
            map(frozenset, (node["tags"], node["states"], node["absent"]))
        )
        assert dict(held.values) == node["values"]


@settings(max_examples=80)
@given(graphs, graphs)
def test_merging_the_difference_gives_the_target(one: BeliefGraph, two: BeliefGraph) -> None:
    merged = one.merge(one.difference(two))
    assert facts(merged) == facts(two)
    assert merged == two


@settings(max_examples=40)
@given(graphs)
def test_a_graph_differs_from_itself_by_nothing(graph: BeliefGraph) -> None:
    assert graph.difference(graph) == Patch()


@given(graphs, patches())
def test_the_inverse_of_a_patch_restores_the_facts(graph: BeliefGraph, update: Json) -> None:
    try:
        after = graph.merge(update)
    except ObviateError:
        return
    assert facts(after.merge(after.difference(graph))) == facts(graph)


@settings(max_examples=40)
@given(graphs, patches())
def test_merging_is_deterministic(graph: BeliefGraph, update: Json) -> None:
    def outcome() -> object:
        try:
            return graph.merge(update)
        except ObviateError as error:
            return str(error)

    assert outcome() == outcome()


@settings(max_examples=200)
@given(json_values | st.dictionaries(st.sampled_from([*Patch.model_fields, "nodes", "edges"]), json_values))
def test_any_json_is_a_patch_or_refused(data: Json) -> None:
    for read in (Patch.read, Patch.scene):
        try:
            patch = read(data)
        except PatchError:
            continue
        assert isinstance(patch, Patch)


@settings(max_examples=40)
@given(graphs)
def test_equal_graphs_have_equal_hashes_whatever_their_history(graph: BeliefGraph) -> None:
    empty = BeliefGraph(toy())
    twin = empty.merge(empty.difference(graph))
    assert (twin == graph, hash(twin) == hash(graph)) == (True, True)
    assert (graph == empty) == (len(graph) == 0)


@settings(max_examples=40)
@given(graphs)
def test_exactly_the_facts_hold(graph: BeliefGraph) -> None:
    held = facts(graph)
    assert all(map(graph.holds, held))
    for name in [*graph.nodes, "ghost"]:
        for positive in (True, False):
            atom = state_atom(name, "wet", positive=positive)
            assert graph.holds(atom) == (atom in held)


# -- snapshots -------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(scenes(), st.lists(patches(), max_size=5))
def test_old_snapshots_stay_as_they_were(scene: Json, updates: list[Json]) -> None:
    graph = BeliefGraph.of(toy(), scene)
    episode = [(graph, believed(graph))]
    for update in updates:
        try:
            graph = graph.merge(update)
        except ObviateError:
            continue
        episode.append((graph, believed(graph)))
    assert [believed(old) for old, _ in episode] == [then for _, then in episode]
    versions = [old.version for old, _ in episode]
    assert versions == sorted(set(versions))


def test_a_snapshot_shares_what_did_not_change() -> None:
    old = toy_graph("cup ontop table", nodes=["pot"])
    new = old.merge({"update_node_states": [{"node_id": "cup", "add": ["wet"]}]})
    assert new.nodes["pot"] is old.nodes["pot"]
    assert new.out is old.out
    assert new.nodes["cup"] is not old.nodes["cup"]


def test_what_the_agent_moved_is_remembered_and_said_in_the_delta() -> None:
    old = toy_graph(nodes=["cup", "pot"])
    new = old.with_moved("cup")
    assert believed(new) - believed(old) == {'moved("cup")'}
    assert new.delta.added - old.delta.added == {Atom("moved", ("cup",))}
    assert 'moved("cup")' not in believed(old)
    assert new.with_moved("cup") is new
    assert new.with_moved("ghost") is new


def test_an_update_keeps_that_an_object_was_moved() -> None:
    graph = toy_graph(nodes=["cup"]).with_moved("cup")
    graph = graph.merge({"update_node_states": [{"node_id": "cup", "add": ["wet"]}]})
    assert 'moved("cup")' in believed(graph)


def test_facts_can_be_supposed() -> None:
    graph = toy_graph(nodes=["cup"])
    supposed = graph.with_atoms([state_atom("cup", "wet"), state_atom("ghost", "wet")])
    assert believed(supposed) - believed(graph) == {'state("cup",wet)'}
    assert supposed.delta.added == {state_atom("cup", "wet")}


def test_supposing_what_is_believed_already_is_no_change() -> None:
    graph = toy_graph(nodes=[{"node_id": "cup", "states": ["wet"]}])
    supposed = graph.with_atoms([state_atom("cup", "wet")])
    assert supposed == graph
    assert not supposed.delta


# -- neighbourhoods --------------------------------------------------------------------------------

_NAMES = "abcdefgh"
_LINKS = st.tuples(st.sampled_from(["covered", "nextto"]), st.sampled_from(_NAMES), st.sampled_from(_NAMES))


@settings(max_examples=200)
@given(
    st.lists(_LINKS.filter(lambda link: link[1] != link[2]), max_size=14),
    st.sets(st.sampled_from([*_NAMES, "ghost"]), max_size=2),
    st.integers(0, 4),
)
def test_a_neighbourhood_is_exactly_k_hops(links: list[tuple[str, str, str]], seeds: set[str], hops: int) -> None:
    graph = toy_graph(*(f"{src} {pred} {dst}" for pred, src, dst in links), nodes=list(_NAMES))
    near = graph.neighbourhood(seeds, hops)
    plain: nx.Graph[str] = nx.Graph((src, dst) for _, src, dst in links)
    plain.add_nodes_from(_NAMES)
    expected = set().union(
        *(nx.single_source_shortest_path_length(plain, seed, cutoff=hops) for seed in seeds if seed in plain)
    )
    assert set(near.nodes) == expected
    assert near.edges() == [edge for edge in graph.edges() if {edge.src, edge.dst} <= expected]
    assert facts(near) <= facts(graph)


@settings(max_examples=40)
@given(graphs, st.integers(0, 3))
def test_the_neighbourhood_of_everything_is_the_graph(graph: BeliefGraph, hops: int) -> None:
    assert graph.neighbourhood(graph.nodes, hops) == graph


def test_a_neighbourhood_can_be_changed_like_any_graph() -> None:
    near = toy_graph("a ontop b", "b ontop c", "c ontop d").neighbourhood(["a"], 2)
    assert near.merge({"remove_nodes": ["b"]}).edges() == []


@pytest.mark.parametrize("seed", ["a", "c"])
def test_a_neighbourhood_follows_relations_both_ways(seed: str) -> None:
    assert set(toy_graph("a ontop b", "b ontop c").neighbourhood([seed], 1).nodes) == {seed, "b"}
