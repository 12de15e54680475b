"""Merging patches, one sentence of the design at a time."""

from __future__ import annotations

import json

import pytest
from kb_strategies import Json, believed, facts, toy, toy_graph

from obviate.kb import BeliefGraph, Patch, household
from obviate.kb.errors import ObviateError, PatchError, VocabularyError
from obviate.kb.patch import MAX_INT


def edge(text: str) -> Json:
    src, pred, dst = text.split()
    return {"pred": pred, "src": src, "dst": dst}


def refusal(graph: BeliefGraph, patch: Json) -> ObviateError:
    """The refusal of a patch, which must leave the graph alone."""
    before, edges = believed(graph), graph.edges()
    with pytest.raises(ObviateError) as refused:
        graph.merge(patch)
    assert (believed(graph), graph.edges()) == (before, edges)
    return refused.value


# -- the paper's JSON --------------------------------------------------------------------------------


def test_the_example_of_the_paper_is_accepted_as_printed() -> None:
    scene = {
        "nodes": [
            {"node_id": "plate.n.01_1", "tags": ["FUNCTION_CONTAINER", "MATERIAL_CERAMIC"], "states": []},
            {"node_id": "top_cabinet.n.01_1", "tags": ["FUNCTION_STORAGE"], "states": ["open"]},
            {"node_id": "countertop.n.01_1", "tags": ["FUNCTION_SURFACE"], "states": []},
        ],
        "edges": [{"pred": "INSIDE", "src": "plate.n.01_1", "dst": "top_cabinet.n.01_1"}],
    }
    patch = """{
      "add_nodes": [],
      "update_node_states": [{"node_id": "plate.n.01_1", "add": ["dusty"], "remove": []}],
      "add_edges": [{"pred": "ONTOP", "src": "plate.n.01_1", "dst": "countertop.n.01_1"}],
      "remove_edges": [{"pred": "INSIDE", "src": "plate.n.01_1", "dst": "top_cabinet.n.01_1"}]
    }"""
    before = BeliefGraph.of(household.vocabulary(), scene)
    after = before.merge(json.loads(patch))
    assert believed(after) - believed(before) == {
        'state("plate.n.01_1",dusty)',
        'edge(ontop,"plate.n.01_1","countertop.n.01_1")',
    }
    assert believed(before) - believed(after) == {'edge(inside,"plate.n.01_1","top_cabinet.n.01_1")'}
    assert 'tag("plate.n.01_1",material_ceramic)' in believed(after)


def test_ids_keep_their_case() -> None:
    assert "Cup" in toy_graph(nodes=["Cup"])
    assert "cup" not in toy_graph(nodes=["Cup"])


def test_a_patch_survives_json() -> None:
    patch = Patch.read({"add_nodes": [{"node_id": "a", "values": {"mass": 3}}], "remove_nodes": ["b"]})
    assert Patch.read(json.loads(json.dumps(patch.to_json()))) == patch


# -- states and values -----------------------------------------------------------------------------


def node(*, add: str = "", remove: str = "", forget: str = "", values: Json | None = None) -> Json:
    lists = {"add": add.split(), "remove": remove.split(), "forget": forget.split()}
    return {"update_node_states": [{"node_id": "a", **lists, "values": values or {}}]}


@pytest.mark.parametrize("before", [{}, {"states": ["wet"]}, {"absent": ["wet"]}])
@pytest.mark.parametrize(
    ("change", "after"),
    [
        (node(add="wet"), {'state("a",wet)'}),
        (node(remove="wet"), {'-state("a",wet)'}),
        (node(forget="wet"), set()),
    ],
)
def test_a_state_is_true_or_seen_to_be_false_or_unknown(before: Json, change: Json, after: set[str]) -> None:
    graph = toy_graph(nodes=[{"node_id": "a", **before}]).merge(change)
    assert believed(graph) == {'object("a")'} | after


@pytest.mark.parametrize(
    "change",
    [node(add="wet", remove="wet"), node(add="wet", forget="wet"), node(remove="wet", forget="wet")],
)
def test_a_patch_that_contradicts_itself_is_refused(change: Json) -> None:
    error = refusal(toy_graph(nodes=["a"]), change)
    assert (error.code, error.where) == ("contradictory-patch", "update_node_states[0]")
    assert "'wet'" in error.message


def test_two_updates_of_one_object_may_not_contradict_each_other() -> None:
    updates = [{"node_id": "a", "add": ["wet"]}, {"node_id": "a", "remove": ["wet"]}]
    error = refusal(toy_graph(nodes=["a"]), {"update_node_states": updates})
    assert error.code == "contradictory-patch"


def test_two_updates_of_one_object_add_up() -> None:
    updates = [{"node_id": "a", "add": ["wet"]}, {"node_id": "a", "remove": ["hot"]}]
    graph = toy_graph(nodes=["a"]).merge({"update_node_states": updates})
    assert believed(graph) == {'object("a")', 'state("a",wet)', '-state("a",hot)'}


def test_a_new_object_may_be_updated_in_the_same_patch() -> None:
    graph = toy_graph().merge({"add_nodes": [{"node_id": "a", "states": ["wet"]}], **node(remove="wet")})
    assert believed(graph) == {'object("a")', '-state("a",wet)'} == set(map(str, graph.delta.added))
    assert graph.delta.removed == set()


def test_a_new_object_may_not_contradict_itself() -> None:
    error = refusal(toy_graph(), {"add_nodes": [{"node_id": "a", "states": ["wet"], "absent": ["wet"]}]})
    assert (error.code, error.where) == ("contradictory-patch", "add_nodes[0]")


def test_a_value_is_set_replaced_and_made_unknown() -> None:
    graph = toy_graph(nodes=[{"node_id": "a", "values": {"mass": 1}}])
    graph = graph.merge(node(values={"mass": 5, "level": -2}))
    assert believed(graph) == {'object("a")', 'value("a",mass,5)', 'value("a",level,-2)'}
    assert believed(graph.merge(node(values={"mass": None}))) == {'object("a")', 'value("a",level,-2)'}


def test_values_are_equal_whatever_their_order() -> None:
    one = toy_graph(nodes=[{"node_id": "a", "values": {"mass": 1, "level": 2}}])
    two = toy_graph(nodes=[{"node_id": "a", "values": {"level": 2, "mass": 1}}])
    assert facts(one) == facts(two)
    assert one == two


@pytest.mark.parametrize("number", [MAX_INT + 1, -MAX_INT - 1, 1.5, True, "3"])
def test_a_value_that_clingo_cannot_hold_is_refused(number: object) -> None:
    error = refusal(toy_graph(nodes=["a"]), node(values={"mass": number}))
    assert (error.code, error.where) == ("patch-malformed", "update_node_states[0].values.mass")


# -- relations -------------------------------------------------------------------------------------


def test_removals_come_before_additions() -> None:
    graph = toy_graph("cup ontop table")
    patch = {"add_edges": [edge("cup ontop table")], "remove_edges": [edge("cup ontop table")]}
    assert graph.merge(patch) == graph


def test_an_object_removed_and_added_starts_afresh() -> None:
    graph = toy_graph("cup ontop table", nodes=[{"node_id": "cup", "states": ["wet"]}])
    graph = graph.merge({"remove_nodes": ["cup"], "add_nodes": [{"node_id": "cup", "tags": ["food"]}]})
    assert believed(graph) == {'object("cup")', 'object("table")', 'tag("cup",food)'}


def test_a_removed_object_takes_its_relations_along() -> None:
    graph = toy_graph("cup ontop tray", "tray ontop table", "tray nextto pot")
    assert believed(graph.merge({"remove_nodes": ["tray"]})) == {'object("cup")', 'object("table")', 'object("pot")'}


@pytest.mark.parametrize("new", ["cup ontop shelf", "cup inside shelf"])
def test_a_new_supporter_prunes_the_old(new: str) -> None:
    graph = toy_graph("cup ontop table", "cup inside table", "cup nextto table", nodes=["shelf"])
    graph = graph.merge({"add_edges": [edge(new)]})
    assert graph.supporters("cup") == ["shelf"]
    assert graph.has_edge("nextto", "cup", "table")
    assert len(graph.edges()) == 2


def test_ontop_and_inside_of_the_same_supporter_coexist() -> None:
    graph = toy_graph("cup ontop tray").merge({"add_edges": [edge("cup inside tray")]})
    assert graph.supporters("cup") == ["tray"]
    assert len(graph.edges()) == 2


def test_an_object_supports_many() -> None:
    graph = toy_graph("a ontop table", "b ontop table")
    assert (graph.supporters("a"), graph.supporters("b")) == (["table"], ["table"])


def test_two_new_supporters_are_refused() -> None:
    graph = toy_graph(nodes=["cup", "table", "shelf"])
    error = refusal(graph, {"add_edges": [edge("cup ontop table"), edge("cup inside shelf")]})
    assert (error.code, error.where) == ("two-supports", "add_edges[1]")
    assert "add_edges[0]" in error.message


def test_objects_may_not_hold_each_other_up() -> None:
    graph = toy_graph("a ontop b", "b inside c")
    error = refusal(graph, {"add_edges": [edge("c ontop a")]})
    assert (error.code, error.where) == ("support-cycle", "add_edges[0]")
    assert "'c' on 'a' on 'b' on 'c'" in error.message


def test_a_cycle_closed_within_one_patch_is_refused() -> None:
    graph = toy_graph(nodes=["a", "b"])
    assert refusal(graph, {"add_edges": [edge("a ontop b"), edge("b ontop a")]}).code == "support-cycle"


def test_objects_may_trade_places_in_one_patch() -> None:
    graph = toy_graph("a ontop b", "b ontop table")
    graph = graph.merge({"add_edges": [edge("b ontop a"), edge("a ontop table")]})
    assert (graph.supporters("b"), graph.supporters("a")) == (["a"], ["table"])


@pytest.mark.parametrize("pred", ["ontop", "nextto", "covered"])
def test_nothing_is_related_to_itself(pred: str) -> None:
    error = refusal(toy_graph(nodes=["a"]), {"add_edges": [edge(f"a {pred} a")]})
    assert (error.code, error.where) == ("self-edge", "add_edges[0]")


@pytest.mark.parametrize(("added", "removed"), [("a nextto b", "b nextto a"), ("b nextto a", "a nextto b")])
def test_a_symmetric_relation_holds_both_ways_and_is_stored_once(added: str, removed: str) -> None:
    graph = toy_graph(added)
    assert {'edge(nextto,"a","b")', 'edge(nextto,"b","a")'} <= believed(graph)
    assert len(graph.edges()) == 1
    assert graph.has_edge("nextto", "a", "b")
    assert graph.has_edge("nextto", "b", "a")
    again = graph.merge({"add_edges": [edge(removed)]})
    assert again == graph
    assert not again.delta
    assert graph.merge({"remove_edges": [edge(removed)]}).edges() == []


def test_a_directed_relation_holds_one_way() -> None:
    graph = toy_graph("a covered b")
    assert graph.has_edge("covered", "a", "b")
    assert not graph.has_edge("covered", "b", "a")


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "where"),
    [
        ({"remove_nodes": ["a", "cupp"]}, "remove_nodes[1]"),
        ({"update_node_states": [{"node_id": "cupp"}]}, "update_node_states[0].node_id"),
        ({"add_edges": [edge("cupp ontop a")]}, "add_edges[0].src"),
        ({"add_edges": [edge("cup ontop a"), edge("cup nextto cupp")]}, "add_edges[1].dst"),
        ({"remove_edges": [edge("a ontop cupp")]}, "remove_edges[0].dst"),
    ],
)
def test_an_unknown_object_is_refused_with_its_path(patch: Json, where: str) -> None:
    error = refusal(toy_graph(nodes=["a", "cup"]), patch)
    assert (type(error), error.code, error.where) == (PatchError, "unknown-object", where)
    assert (error.message, error.help) == ("there is no object 'cupp'", "did you mean 'cup'?")


def test_a_removed_object_is_unknown_to_the_rest_of_the_patch() -> None:
    error = refusal(toy_graph("a ontop b"), {"remove_nodes": ["a"], "add_edges": [edge("a ontop b")]})
    assert (error.code, error.where) == ("unknown-object", "add_edges[0].src")


@pytest.mark.parametrize(
    ("patch", "where", "help"),
    [
        ({"add_nodes": [{"node_id": "b", "tags": ["food", "fod"]}]}, "add_nodes[0].tags[1]", "food"),
        ({"add_nodes": [{"node_id": "b", "states": ["wett"]}]}, "add_nodes[0].states[0]", "wet"),
        ({"add_nodes": [{"node_id": "b", "absent": ["wett"]}]}, "add_nodes[0].absent[0]", "wet"),
        ({"add_nodes": [{"node_id": "b", "values": {"mas": 1}}]}, "add_nodes[0].values", "mass"),
        (node(add="hot wett"), "update_node_states[0].add[1]", "wet"),
        (node(remove="wett"), "update_node_states[0].remove[0]", "wet"),
        (node(forget="wett"), "update_node_states[0].forget[0]", "wet"),
        (node(values={"mas": None}), "update_node_states[0].values", "mass"),
        ({"add_edges": [edge("a ontopp a")]}, "add_edges[0].pred", "ontop"),
        ({"remove_edges": [edge("a ontopp a")]}, "remove_edges[0].pred", "ontop"),
    ],
)
def test_an_undeclared_name_is_refused_with_its_path(patch: Json, where: str, help: str) -> None:
    error = refusal(toy_graph(nodes=["a"]), patch)
    assert (type(error), error.code, error.where) == (VocabularyError, "undeclared-name", where)
    assert error.help == f"did you mean {help!r}?"


@pytest.mark.parametrize(
    ("patch", "where"),
    [
        ({"add_node": []}, "add_node"),
        ({"add_nodes": 5}, "add_nodes"),
        ({"add_nodes": [{"tags": []}]}, "add_nodes[0].node_id"),
        ({"add_edges": [edge("a ontop a"), {"pred": "ontop", "src": "a"}]}, "add_edges[1].dst"),
        ({"update_node_states": [{"node_id": "a", "add": ["hot", 3]}]}, "update_node_states[0].add[1]"),
        ({"update_node_states": [{"node_id": "a", "set": []}]}, "update_node_states[0].set"),
    ],
)
def test_a_malformed_patch_is_refused_with_its_path(patch: Json, where: str) -> None:
    error = refusal(toy_graph(nodes=["a"]), patch)
    assert (type(error), error.code, error.where) == (PatchError, "patch-malformed", where)


@pytest.mark.parametrize("nodes", [["a"], ["b", "b"]])
def test_a_duplicate_object_is_refused(nodes: list[str]) -> None:
    error = refusal(toy_graph(nodes=["a"]), {"add_nodes": [{"node_id": name} for name in nodes]})
    assert (error.code, error.where) == ("duplicate-node", f"add_nodes[{len(nodes) - 1}].node_id")


def test_an_impossible_id_is_refused_with_its_path() -> None:
    error = refusal(toy_graph(), {"add_nodes": [{"node_id": "a\0"}]})
    assert (error.code, error.where) == ("bad-id", "add_nodes[0].node_id")


def test_a_refusal_in_the_last_part_undoes_the_first() -> None:
    graph = toy_graph("cup ontop table")
    patch = {
        "remove_edges": [edge("cup ontop table")],
        "add_nodes": [{"node_id": "pot"}],
        "update_node_states": [{"node_id": "cup", "add": ["wet"]}],
        "add_edges": [edge("cup ontop ghost")],
    }
    refusal(graph, patch)
    assert "pot" not in graph


@pytest.mark.parametrize(
    ("scene", "where"),
    [
        ({"nodes": [{"node_id": "a", "tags": ["odd"]}]}, "nodes[0].tags[0]"),
        ({"nodes": [{"node_id": "a"}], "edges": [edge("a ontop ghost")]}, "edges[0].dst"),
        ({"nodes": [{"name": "a"}]}, "nodes[0].node_id"),
    ],
)
def test_a_scene_is_refused_with_the_path_that_was_written(scene: Json, where: str) -> None:
    with pytest.raises(ObviateError) as refused:
        BeliefGraph.of(toy(), scene)
    assert refused.value.where == where
