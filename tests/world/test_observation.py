"""What an agent sees of a world: everything, or only what no closed container hides."""

from __future__ import annotations

from random import Random

import pytest
from households import SCALE, build, kinds, named, random_action, random_world, telling
from reference import Reference, facts_of

from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph
from obviate.kb.patch import Patch

OBJECTS = named("apple bowl.n.01 tray mug cabinet oven table_lamp rag dust water.n.06 half__apple=half__apple.n.01")


def make(facts: str) -> World:
    return build(OBJECTS, (fact for fact in facts.split(",") if fact.strip()))


def nothing() -> BeliefGraph:
    return BeliefGraph(kinds().vocabulary)


def look(world: World, belief: BeliefGraph, *, partial: bool = True) -> BeliefGraph:
    return belief.merge(world.observe(belief, partial=partial))


def facts(belief: BeliefGraph, *names: str) -> set[str]:
    """What is believed of the objects, their relations to others included."""
    states, edges = facts_of(belief)
    return {f"{state} {name}" for name, state in states if name in names} | {
        " ".join(edge) for edge in edges if edge[1] in names
    }


# -- what is hidden -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "hidden"),
    [
        ("", ""),
        ("inside apple cabinet", "apple"),
        ("inside apple cabinet, open cabinet", ""),
        ("inside apple bowl", ""),
        ("ontop apple cabinet", ""),
        ("ontop apple tray, ontop tray cabinet", ""),
        ("ontop apple tray, inside tray cabinet", "apple tray"),
        ("inside apple bowl, ontop bowl tray, inside tray cabinet", "apple bowl tray"),
        ("inside apple bowl, ontop bowl tray, inside tray cabinet, open cabinet", ""),
        ("inside apple cabinet, open cabinet, inside cabinet oven", "apple cabinet"),
        ("inside apple cabinet, inside cabinet oven, open oven", "apple"),
        ("inside apple cabinet, ontop mug oven, ontop oven cabinet", "apple"),
        ("inside apple cabinet, inside mug oven", "apple mug"),
        ("inside oven cabinet, inside cabinet tray", "oven"),
        ("nextto apple cabinet, covered cabinet dust", ""),
        ("inside mug cabinet, contains mug water, covered mug dust", "mug"),
        ("future half__apple, future water", ""),
        ("future half__apple, inside mug cabinet", "mug"),
    ],
)
def test_hidden(state: str, hidden: str) -> None:
    world = make(state)
    unreal = {fact.split()[1] for fact in state.split(",") if "future" in fact}
    assert set(look(world, nothing()).nodes) == set(OBJECTS) - unreal - set(hidden.split())
    assert set(look(world, nothing(), partial=False).nodes) == set(OBJECTS) - unreal


def test_first_sight_of_everything() -> None:
    state = "inside apple cabinet, frozen apple, contains mug water, covered tray dust, dusty tray, nextto mug tray"
    belief = look(make(state), nothing(), partial=False)
    assert belief == make(state).graph
    assert belief.nodes["apple"].tags == kinds().tagging("apple.n.01").tags
    assert "safety_food" in belief.nodes["apple"].tags


def test_first_sight_of_a_part() -> None:
    state = "inside apple cabinet, inside mug cabinet, contains mug water, nextto mug tray, ontop tray oven, hot apple"
    belief = look(make(state), nothing())
    states, edges = facts_of(belief)
    assert not states
    assert edges == {("ontop", "tray", "oven")}


@pytest.mark.parametrize("partial", [False, True])
def test_a_second_look_finds_nothing_new(partial: bool) -> None:
    world = make("inside apple cabinet, inside mug cabinet, contains mug water, ontop tray oven, future half__apple")
    belief = look(world, nothing(), partial=partial)
    assert world.observe(belief, partial=partial) == Patch()


def test_looking_changes_neither_world_nor_belief() -> None:
    world, belief = make("inside apple cabinet"), nothing()
    before = world.graph
    world.observe(belief, partial=True)
    assert world.graph is before
    assert belief == nothing()


# -- what changed -----------------------------------------------------------------------------------


def test_states_are_brought_up_to_date() -> None:
    world = make("frozen apple")
    belief = look(world, nothing())
    world.step("wait(apple)")
    world.step("toggle_on(table_lamp)")
    patch = world.observe(belief, partial=True)
    assert patch.to_json() == {
        "update_node_states": [
            {"node_id": "apple", "remove": ["frozen"]},
            {"node_id": "table_lamp", "add": ["toggled_on"]},
        ]
    }
    assert belief.merge(patch).nodes["apple"].absent == {"frozen"}  # seen to be false, not unknown


def test_a_moved_object_is_where_it_is_seen() -> None:
    world = make("ontop apple tray, ontop mug tray, nextto apple mug")
    belief = look(world, nothing())
    world.step("place_on_top(apple, table_lamp)")
    belief = look(world, belief)
    assert facts(belief, "apple", "mug") == {"ontop apple table_lamp", "ontop mug tray"}


def test_opening_shows_what_is_inside() -> None:
    world = make("inside mug cabinet, contains mug water, covered mug dust, dusty mug, inside apple mug")
    belief = look(world, nothing())
    assert "mug" not in belief
    world.step("open(cabinet)")
    belief = look(world, belief)
    inside = {"inside mug cabinet", "contains mug water", "covered mug dust", "dusty mug", "inside apple mug"}
    assert facts(belief, "mug", "apple") == inside


@pytest.mark.parametrize(
    "known",
    [
        "inside apple cabinet",
        "inside apple bowl, inside bowl cabinet",
        "inside apple cabinet, frozen apple, cooked apple",
        "inside mug cabinet, inside apple cabinet, nextto apple mug",
        "inside mug cabinet, contains mug water",
        "inside mug cabinet, covered mug dust, dusty mug",
        "inside rag cabinet, saturated rag water",
    ],
)
def test_what_was_seen_stays_believed_out_of_sight(known: str) -> None:
    world = make(f"{known}, open cabinet")
    belief = look(world, nothing())
    held = ("apple", "bowl", "mug", "rag")
    before = facts(belief, *held)
    assert before == {fact.strip() for fact in known.split(",")}
    world.step("close(cabinet)")
    belief = look(world, belief)
    assert not belief.has_state("cabinet", "open")
    assert facts(belief, *held) == before


def test_changes_out_of_sight_are_not_seen() -> None:
    world = make("inside apple cabinet, open cabinet, frozen apple")
    belief = look(world, nothing())
    world.step("close(cabinet)")
    world.step("wait(apple)")
    belief = look(world, belief)
    assert belief.has_state("apple", "frozen")
    world.step("open(cabinet)")
    assert not look(world, belief).has_state("apple", "frozen")


# -- what was taken away unseen -----------------------------------------------------------------------

# Where the apple is now (out of sight), where it was believed to be, and whether that belief can stand.
GONE = [
    ("inside apple cabinet", "ontop apple tray", False),
    ("inside apple cabinet", "inside apple bowl", False),
    ("inside apple cabinet", "inside apple bowl, ontop apple bowl", False),
    ("inside apple cabinet, open oven", "inside apple oven", False),
    ("inside apple cabinet", "inside apple oven", True),
    ("inside apple cabinet", "inside apple cabinet", True),
    ("inside apple cabinet", "ontop apple oven", False),
    ("inside apple cabinet", "ontop apple cabinet", False),
    ("inside apple cabinet, inside bowl cabinet", "inside apple bowl", True),
    ("inside apple cabinet, inside tray oven", "ontop apple tray", True),
    ("inside apple cabinet, inside tray oven, open oven", "ontop apple tray", False),
]


@pytest.mark.parametrize(("true", "believed", "stands"), GONE)
def test_an_object_taken_away_is_not_believed_where_it_is_seen_not_to_be(
    true: str, believed: str, stands: bool
) -> None:
    world = make(true)
    belief = look(world, make(believed).graph)
    assert "apple" in belief
    assert facts(belief, "apple") == ({fact.strip() for fact in believed.split(",")} if stands else set())


def test_an_object_taken_away_can_be_found_again() -> None:
    belief = look(make("inside apple cabinet"), make("ontop apple tray").graph)
    belief = look(make("inside apple cabinet, open cabinet"), belief)
    assert facts(belief, "apple") == {"inside apple cabinet"}


@pytest.mark.parametrize("partial", [False, True])
def test_seen_elsewhere(partial: bool) -> None:
    """An object in plain sight is where it is, whatever hides where it was."""
    belief = look(make("ontop apple tray"), make("inside apple cabinet").graph, partial=partial)
    assert facts(belief, "apple") == {"ontop apple tray"}
    belief = look(make(""), make("inside apple cabinet").graph, partial=partial)
    assert facts(belief, "apple") == set()


@pytest.mark.parametrize("other", ["oven", "tray"])
def test_a_symmetric_relation_has_no_direction(other: str) -> None:
    """Whether the hidden one comes first in the alphabet makes no difference."""
    beliefs = []
    for hidden in ("apple", "water_glass"):
        objects = {hidden: "water_glass.n.02", other: OBJECTS[other], "cabinet": "cabinet.n.01"}
        believed = build(objects, [f"nextto {hidden} {other}"])
        belief = look(build(objects, [f"inside {hidden} cabinet"]), believed.graph)
        beliefs.append(belief.has_edge("nextto", hidden, other))
    assert beliefs[0] == beliefs[1]


# -- what does not exist ------------------------------------------------------------------------------


@pytest.mark.parametrize("partial", [False, True])
def test_a_substance_is_seen_once_it_exists(partial: bool) -> None:
    objects = named("saucepot stove water.n.06 cooked__water")
    state = "contains saucepot water, ontop saucepot stove, toggled_on stove, future cooked__water"
    world = build(objects, state.split(","))
    belief = look(world, nothing(), partial=partial)
    assert set(belief.nodes) == set(objects) - {"cooked__water"}
    world.step("wait_for_cooked(water)")
    belief = look(world, belief, partial=partial)
    assert set(belief.nodes) == set(objects)
    assert facts(belief, "saucepot") == {"contains saucepot cooked__water", "ontop saucepot stove"}


@pytest.mark.parametrize("partial", [False, True])
def test_what_was_cut_is_gone_and_its_halves_are_there(partial: bool) -> None:
    state = ["future half__apple", "ontop apple tray"]
    world = build(named("apple carving_knife tray half__apple=half__apple.n.01"), state)
    belief = look(world, nothing(), partial=partial)
    assert "half__apple" not in belief
    world.step("cut(apple, carving_knife)")
    belief = look(world, belief, partial=partial)
    assert set(belief.nodes) == {"carving_knife", "tray", "half__apple"}
    assert facts(belief, "half__apple") == {"ontop half__apple tray"}


@pytest.mark.parametrize("partial", [False, True])
def test_an_object_that_is_not_in_the_world_is_forgotten(partial: bool) -> None:
    ghost = {"add_nodes": [{"node_id": "ghost"}], "add_edges": [{"pred": "ontop", "src": "ghost", "dst": "tray"}]}
    belief = look(make(""), make("").graph.merge(ghost), partial=partial)
    assert belief == make("").graph


# -- along random plans -------------------------------------------------------------------------------

CHUNKS = 4


def real(world: World) -> set[str]:
    return {name for name, node in world.graph.nodes.items() if "future" not in node.states}


def in_sight(world: World) -> set[str]:
    """What no closed container holds, found from the containers down."""
    hidden: set[str] = set()
    for container in world.objects:
        shut = world.kinds.can(world.objects[container], "openable")
        if shut and not world.graph.has_state(container, "open"):
            fresh = {edge.src for edge in world.graph.edges() if (edge.pred, edge.dst) == ("inside", container)}
            while fresh:
                hidden |= fresh
                on = {e.src for e in world.graph.edges() if e.pred in ("inside", "ontop") and e.dst in fresh}
                fresh = on - hidden
    return real(world) - hidden


def among(graph: BeliefGraph, names: set[str]) -> tuple[object, object, object]:
    """Tags, states and relations of the objects among each other."""
    states, edges = facts_of(graph)
    return (
        {name: graph.nodes[name].tags for name in names},
        {fact for fact in states if fact[0] in names},
        {edge for edge in edges if {edge[1], edge[2]} <= names},
    )


def act(world: World, steps: int, random: Random, plan: list[Action]) -> None:
    for _ in range(steps):
        plan.append(random_action(Reference.of(world), random))
        world.step(plan[-1])


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_full_observation_is_exact(chunk: int) -> None:
    """Whatever was believed before: here an earlier state of the world, or nothing."""
    random = Random(f"full {chunk}")
    for _ in range(10 * SCALE):
        world, plan = random_world(random), list[Action]()
        beliefs = [world.graph, nothing()]
        with telling(world, plan):
            for _ in range(5):
                act(world, random.randint(0, 3), random, plan)
                beliefs = [look(world, belief, partial=False) for belief in beliefs]
                for belief in beliefs:
                    assert set(belief.nodes) == real(world)
                    assert among(belief, real(world)) == among(world.graph, real(world))
                    assert world.observe(belief) == Patch()


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_partial_observation_is_right_about_what_is_seen(chunk: int) -> None:
    random = Random(f"partial {chunk}")
    for _ in range(10 * SCALE):
        world, plan = random_world(random), list[Action]()
        belief = random.choice([nothing(), look(world, nothing(), partial=False)])
        with telling(world, plan):
            for _ in range(5):
                act(world, random.randint(0, 3), random, plan)
                before, belief = belief, look(world, belief)
                visible, known = in_sight(world), set(before.nodes) & real(world)
                assert set(belief.nodes) == visible | known
                assert among(belief, visible) == among(world.graph, visible)
                assert world.observe(belief, partial=True) == Patch()
                for name in known - visible:
                    stays_as_it_was(name, world, before, belief)


def stays_as_it_was(name: str, world: World, before: BeliefGraph, after: BeliefGraph) -> None:
    """A thing out of sight is believed to be as before, but for where one would see it now."""
    assert after.nodes[name] == before.nodes[name]
    for edge in before.edges():
        if edge.src != name or edge.pred == "nextto" or edge.dst not in after:
            continue
        exposed = edge.pred in ("inside", "ontop") and edge.dst in in_sight(world)
        if exposed and edge.pred == "inside" and world.kinds.can(world.objects[edge.dst], "openable"):
            exposed = world.graph.has_state(edge.dst, "open")
        assert after.has_edge(edge.pred, edge.src, edge.dst) != exposed
    assert {edge for edge in after.edges() if edge.src == name} <= set(before.edges())
