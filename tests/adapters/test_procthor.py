"""ProcTHOR houses: what becomes a region, an inventory and a doorway, and what is noted or refused."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from obviate.adapters.procthor import House, asset_types, houses, read, ship, shipped
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.regions import CATEGORIES, Regions

TYPES = {"Mug_1": "Mug", "Top_1": "CounterTop"}
FILES = {
    "houses_1_to_10_rooms_objaverse.jsonl.gz": 60,
    "houses_2_to_3_rooms.jsonl.gz": 60,
    "houses_4_to_10_rooms.jsonl.gz": 100,
    "houses_generated_clean.jsonl.gz": 60,
}


def square(x: float) -> list[dict[str, float]]:
    return [
        {"x": x, "y": 0, "z": 0},
        {"x": x, "y": 0, "z": 4},
        {"x": x + 4, "y": 0, "z": 4},
        {"x": x + 4, "y": 0, "z": 0},
    ]


def wall(room: int, x: float, *, empty: bool = True) -> dict[str, Any]:
    corners = [{"x": x, "y": y, "z": z} for y in (0, 3) for z in (0, 4)]
    return {
        "id": f"wall|{room}|{x:.2f}|0.00|{x:.2f}|4.00",
        "roomId": f"room|{room}",
        "polygon": corners,
        "empty": empty,
    }


def thing(id: str, asset: str, x: float, *children: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "assetId": asset, "position": {"x": x, "y": 1, "z": 2}, "children": list(children)}


# Four rooms in a row: bedroom 2, bedroom 3, kitchen 4, bathroom 5.
HOUSE: dict[str, Any] = {
    "rooms": [
        {"id": f"room|{n}", "roomType": type, "floorPolygon": square(4 * (n - 2))}
        for n, type in [(2, "Bedroom"), (3, "Bedroom"), (4, "Kitchen"), (5, "Bathroom")]
    ],
    "doors": [
        {"id": "door|2|3", "room0": "room|2", "room1": "room|3", "openable": True, "openness": 1},
        {"id": "door|4|5", "room0": "room|4", "room1": "room|5", "openable": True, "openness": 0},
        {"id": "door|1|4", "room0": "room|4", "room1": "room|4", "openable": False, "openness": 0},
    ],
    "walls": [wall(3, 8), wall(4, 8), wall(2, 0, empty=False)],
    "objects": [thing("4|0", "Top_1", 9, thing("small|4|1", "Mug_1", 9), thing("small|4|2", "Mug_1", 10))],
    "metadata": {"agent": {"position": {"x": 13, "y": 0.9, "z": 1}}},
}


def house(**changes: Any) -> House:
    return read({**copy.deepcopy(HOUSE), **changes}, name="test", types=TYPES)


# -- one house -------------------------------------------------------------------------------------


def test_a_house_becomes_a_region_map() -> None:
    assert house().to_json() == {
        "name": "test",
        "regions": {
            "bathroom_1": {"label": "bathroom", "inventory": {}},
            "bedroom_1": {"label": "bedroom", "inventory": {}},
            "bedroom_2": {"label": "bedroom", "inventory": {}},
            "kitchen_1": {"label": "kitchen", "inventory": {"counter_top": 1, "mug": 2}},
        },
        "doors": [{"between": ["bathroom_1", "kitchen_1"], "passable": False}, ["bedroom_1", "bedroom_2"]],
        "passages": [["bedroom_2", "kitchen_1"]],
        "at": "bathroom_1",
        "used": [],
    }
    assert read(json.dumps(HOUSE), name="test", types=TYPES) == house()
    assert House.of(house().to_json()) == house()


def test_a_frame_without_a_door_is_a_passage() -> None:
    frame = {"room0": "room|4", "room1": "room|5"}
    state = house(doors=[frame]).regions
    assert state.doors["kitchen_1"]["bathroom_1"].passage


def test_several_doorways_between_two_rooms_are_one() -> None:
    shut = {"room0": "room|4", "room1": "room|5", "openable": True, "openness": 0}
    assert not house(doors=[shut, shut]).regions.doors["kitchen_1"]["bathroom_1"].passable
    ajar = {**shut, "openness": 0.5}
    for doors in ([shut, ajar], [ajar, shut]):
        assert house(doors=doors).regions.doors["kitchen_1"]["bathroom_1"].passable
    beside = {"room0": "room|3", "room1": "room|4", "openable": True, "openness": 0}
    assert house(doors=[beside]).regions.doors["kitchen_1"]["bedroom_2"].passage


def test_an_object_beside_every_floor_is_in_the_room_that_its_id_names() -> None:
    state = house(objects=[thing("Obja|4|wall|2", "Mug_1", 99)]).regions
    assert dict(state.inventories["kitchen_1"].items()) == {"mug": 1}


def test_an_own_type_goes_before_the_table() -> None:
    state = house(objects=[{**thing("4|0", "Mug_1", 9), "objectType": "ObjaBeerMug"}]).regions
    assert dict(state.inventories["kitchen_1"].items()) == {"obja_beer_mug": 1}


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (
            {"objects": [thing("4|0", "Gun_1", 9)] * 2},
            "nobody knows the type of 'Gun_1', in kitchen_1: not counted (2 times)",
        ),
        ({"objects": [thing("small|9|0", "Mug_1", 99)]}, "'small|9|0' is in no room: not counted"),
        (
            {"objects": [{**thing("4|0", "", 9), "objectType": "3D"}]},
            "'3D' cannot name a type or label, in kitchen_1: not counted",
        ),
        ({"walls": [wall(3, 8)]}, "a wall left out has a side in bedroom_2 only: no passage"),
        ({"metadata": {}}, "the house has no agent: the robot is in bedroom_1"),
        (
            {"metadata": {"agent": {"position": {"x": 99, "z": 0}}}},
            "the agent is in no room: the robot is in bedroom_1",
        ),
    ],
)
def test_what_is_odd_is_noted(changes: dict[str, Any], note: str) -> None:
    found = house(**changes)
    assert found.notes == (note,)
    assert found.to_json()["notes"] == [note]
    assert House.of(found.to_json()) == found


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"rooms": []}, "test#"),
        ({"rooms": HOUSE["rooms"] + HOUSE["rooms"][:1]}, "test#rooms[4].id"),
        ({"rooms": 7}, "test#rooms"),
        ({"doors": [{"room0": "room|4", "room1": "room|9"}]}, "test#doors[0].room1"),
        ({"doors": [{"room0": "room|4", "room1": "room|5", "openness": 7}]}, "test#doors[0].openness"),
        ({"walls": [{**wall(4, 8), "roomId": "room|9"}]}, "test#walls[0].roomId"),
        ({"objects": [thing("4|0", "Mug_1", float("nan"))]}, "test#objects[0].position.x"),
        ({"objects": [{"id": "4|0"}]}, "test#objects[0].position"),
    ],
)
def test_a_bad_house_is_refused_with_the_place(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(DataError) as caught:
        house(**changes)
    assert caught.value.code == "house-malformed"
    assert str(caught.value.where).startswith(where)


def test_a_room_type_that_is_no_label_is_refused() -> None:
    with pytest.raises(ObviateError, match=r"test#rooms\[0\].roomType: .*bad-constant"):
        house(rooms=[{**HOUSE["rooms"][0], "roomType": "?"}, *HOUSE["rooms"][1:]])


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz", "some.json", "some.json.gz"])
def test_a_file_of_houses(name: str, tmp_path: Path) -> None:
    text = json.dumps(HOUSE)
    text = f"{text}\n\n{text}\n" if "jsonl" in name else f"[{text},{text}]"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (tmp_path / "asset_types.json").write_text(json.dumps(TYPES), encoding="utf-8")
    found = list(houses(tmp_path / name))
    assert [one.name for one in found] == ["some_0", "some_1"]
    assert [one.regions for one in found] == [house().regions] * 2
    assert not any(one.notes for one in found)


def test_a_file_of_one_house(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(HOUSE), encoding="utf-8")
    (found,) = houses(str(tmp_path / "one.json"))
    assert dict(found.regions.inventories["kitchen_1"].items()) == {"mug": 2}  # Mug_1 is in the shipped table
    assert found.notes == ("nobody knows the type of 'Top_1', in kitchen_1: not counted",)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("some.txt", b"", "file-missing"),
        ("some.jsonl", None, "file-missing"),
        ("some.jsonl", b"\xff\n", "file-encoding"),
        ("some.jsonl", b"{\n", "house-malformed"),
        ("some.jsonl", b"[]\n", "house-malformed"),
        ("some.json", b"{", "house-malformed"),
        ("some.json", b"7", "house-malformed"),
        ("some.json", b"[" * 100_000, "house-malformed"),
        ("some.jsonl", b'{"rooms": ' + b"[" * 100_000, "house-malformed"),
        ("some.jsonl.gz", b"no gzip", "file-missing"),
        ("some.jsonl.gz", gzip.compress(json.dumps(HOUSE).encode())[:-20], "file-missing"),
        ("some.jsonl.gz", gzip.compress(b" " * 20_000_001), "file-too-large"),
    ],
)
def test_a_bad_file_is_refused(name: str, content: bytes | None, code: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(houses(tmp_path / name))
    assert caught.value.code == code
    assert "some" in str(caught.value.where)


def test_a_bad_table_of_types_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text("[]", encoding="utf-8")
    (tmp_path / "asset_types.json").write_text('{"Mug_1": 7}', encoding="utf-8")
    with pytest.raises(DataError, match="no table of asset types"):
        list(houses(tmp_path / "some.json"))


def test_the_houses_that_ship() -> None:
    assert len(shipped()) == 60
    for one in shipped():
        assert one.regions.reachable() == one.regions.names()
        assert not one.notes
        assert sum(len(inventory) for inventory in one.regions.inventories.values())
    assert asset_types()["Mug_1"] == "Mug"


# -- the data ---------------------------------------------------------------------------------------


def _things(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [found for one in objects for found in (one, *_things(one.get("children", [])))]


@pytest.mark.parametrize("name", FILES)
def test_every_house_of_the_data(name: str, procthor: Path) -> None:
    with gzip.open(procthor / name, "rt") as stream:
        raw = [json.loads(line) for line in stream]
    found = list(houses(procthor / name))
    assert len(found) == len(raw) == FILES[name]
    for one, data in zip(found, raw, strict=True):
        state = one.regions
        assert one.notes == ()
        assert len(state) == len(data["rooms"])
        counted = sum(count for inventory in state.inventories.values() for count in inventory.values())
        assert counted == len(_things(data["objects"]))
        joined: nx.Graph[str] = nx.Graph([(a, b) for a, doors in state.doors.items() for b in doors])
        joined.add_nodes_from(state.names())
        assert nx.is_connected(joined)
        assert state.reachable() == state.names()
        assert Regions.of(state.to_json()) == state
        assert not state.difference(House.of(one.to_json()).regions)


@pytest.mark.parametrize("name", FILES)
def test_the_floors_and_the_ids_agree_on_the_room_of_every_object(name: str, procthor: Path) -> None:
    """Moving every object off the floors leaves its id alone to say where it is."""
    with gzip.open(procthor / name, "rt") as stream:
        raw = [json.loads(line) for line in stream]
    for one, data in zip(houses(procthor / name), raw, strict=True):
        for object in _things(data["objects"]):
            object["position"] = {"x": -1_000, "z": -1_000}
        assert read(data, name=one.name, types=asset_types()).regions == one.regions


def test_the_shipped_files_are_made_as_the_notice_says(procthor: Path, tmp_path: Path) -> None:
    ship(procthor / "houses_generated_clean.jsonl.gz", tmp_path)
    made = json.loads(gzip.decompress((tmp_path / "houses.json.gz").read_bytes()))
    assert tuple(map(House.of, made)) == shipped()
    assert json.loads(gzip.decompress((tmp_path / "asset_types.json.gz").read_bytes())) == asset_types()


def test_categories_are_the_five_of_the_paper() -> None:
    assert CATEGORIES == ("inventory", "label", "position", "history", "topology")
