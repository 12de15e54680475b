"""Each skill in little worlds: what it does, what it needs, what it says when that is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from households import build, kinds, named
from reference import facts_of

from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph


def make(objects: str, facts: str = "") -> World:
    """A world with the objects; the facts are separated by commas."""
    return build(named(objects), [fact for fact in facts.split(",") if fact.strip()])


def told(graph: BeliefGraph) -> set[str]:
    """The facts of a graph, written as `make` reads them."""
    states, edges = facts_of(graph)
    return {f"{state} {name}" for name, state in states} | {" ".join(edge) for edge in edges}


def written(facts: str) -> set[str]:
    return {" ".join(fact.split()) for fact in facts.split(",") if fact.strip()}


def check(world: World, action: str, gone: str = "", new: str = "") -> None:
    """Do an action that must work, and change just this."""
    before = told(world.graph)
    outcome = world.step(action)
    assert outcome.failure == ""
    after = told(world.graph)
    assert (before - after, after - before) == (written(gone), written(new))


WATER = "water.n.06"
SOAK = f"rag {WATER} liquid_soap stain"

# objects | facts | action | facts gone | new facts
EFFECTS = f"""
cabinet apple | inside apple cabinet | open(cabinet) || open cabinet
cabinet apple | inside apple cabinet, open cabinet | open(cabinet) ||
microwave | open microwave, toggled_on microwave | open(microwave) ||
cabinet cabinet_2 | inside cabinet cabinet_2 | open(cabinet) || open cabinet
cabinet apple | inside apple cabinet, open cabinet | close(cabinet) | open cabinet |
cabinet | | close(cabinet) ||
microwave | open microwave, toggled_on microwave | close(microwave) | open microwave |
stove | | toggle_on(stove) || toggled_on stove
stove | toggled_on stove | toggle_on(stove) ||
microwave | | toggle_on(microwave) || toggled_on microwave
microwave | toggled_on microwave, open microwave | toggle_on(microwave) ||
stove | toggled_on stove | toggle_off(stove) | toggled_on stove |
stove | | toggle_off(stove) ||
microwave | toggled_on microwave, open microwave | toggle_off(microwave) | toggled_on microwave |

apple plate | | place_on_top(apple, plate) || ontop apple plate
apple plate | ontop apple plate | place_on_top(apple, plate) ||
apple plate shelf | inside apple shelf | place_on_top(apple, plate) | inside apple shelf | ontop apple plate
apple bowl.n.01 | | place_on_top(apple, bowl) || ontop apple bowl, inside apple bowl
apple bowl.n.01 | inside apple bowl | place_on_top(apple, bowl) || ontop apple bowl
apple bowl.n.01 plate | ontop apple bowl, inside apple bowl | place_on_top(apple, plate) \
    | ontop apple bowl, inside apple bowl | ontop apple plate
apple tray | | place_on_top(apple, tray) || ontop apple tray
apple frying_pan | | place_on_top(apple, frying_pan) || ontop apple frying_pan
apple griddle | | place_on_top(apple, griddle) || ontop apple griddle
apple saucepot | | place_on_top(apple, saucepot) || ontop apple saucepot, inside apple saucepot
apple washer | | place_on_top(apple, washer) || ontop apple washer
apple mason_jar | open mason_jar | place_on_top(apple, mason_jar) || ontop apple mason_jar
apple cabinet | | place_on_top(apple, cabinet) || ontop apple cabinet
apple plate cabinet | inside plate cabinet | place_on_top(apple, plate) || ontop apple plate
apple cabinet plate | ontop apple cabinet | place_on_top(apple, plate) | ontop apple cabinet | ontop apple plate
apple plate cabinet | inside apple cabinet, open cabinet | place_on_top(apple, plate) \
    | inside apple cabinet | ontop apple plate
apple plate tray | nextto apple tray, nextto plate tray | place_on_top(apple, plate) \
    | nextto apple tray | ontop apple plate
tray apple plate | nextto apple tray | place_on_top(tray, plate) | nextto apple tray | ontop tray plate

apple cabinet | open cabinet | place_inside(apple, cabinet) || inside apple cabinet
apple cabinet | open cabinet, ontop apple cabinet | place_inside(apple, cabinet) \
    | ontop apple cabinet | inside apple cabinet
apple shelf | | place_inside(apple, shelf) || inside apple shelf
apple bowl.n.01 | ontop apple bowl, inside apple bowl | place_inside(apple, bowl) | ontop apple bowl |
apple bowl.n.01 cabinet | inside bowl cabinet | place_inside(apple, bowl) || inside apple bowl

bowl.n.01 apple {WATER} table_lamp countertop | contains bowl water, inside apple bowl, ontop bowl countertop \
    | place_on_top(bowl, table_lamp) | ontop bowl countertop | ontop bowl table_lamp
tray plate apple cabinet | ontop apple plate, ontop plate tray, open cabinet | place_inside(tray, cabinet) \
    || inside tray cabinet
rug apple bowl.n.01 muffin floor sofa | ontop apple rug, inside bowl rug, ontop muffin bowl, ontop rug floor \
    | place_on_top(rug, sofa) | ontop apple rug, inside bowl rug, ontop rug floor \
    | ontop apple floor, ontop bowl floor, ontop rug sofa
rug apple sofa | ontop apple rug | place_on_top(rug, sofa) | ontop apple rug | ontop rug sofa
rug dust sofa | covered rug dust, dusty rug | place_on_top(rug, sofa) || ontop rug sofa

plate dust rag | covered plate dust, dusty plate | wipe(plate, rag) | covered plate dust, dusty plate |
plate dust rag | covered plate dust | wipe(plate, rag) | covered plate dust |
plate dust dirt.n.02 stain rag | covered plate dust, covered plate dirt, covered plate stain, dusty plate, \
    dirty plate, stained plate | wipe(plate, rag) \
    | covered plate dust, dusty plate, covered plate dirt, dirty plate |
plate dirt.n.02 rust rag | covered plate dirt, covered plate rust, dirty plate | wipe(plate, rag) \
    | covered plate dirt |
plate stain rag {WATER} vinegar | covered plate stain, stained plate, saturated rag water, saturated rag vinegar \
    | wipe(plate, rag) | covered plate stain, stained plate |
plate mud rag {WATER} | covered plate mud, muddy plate, saturated rag water | wipe(plate, rag) \
    | covered plate mud, muddy plate |
plate {WATER} rag | covered plate water, wet plate | wipe(plate, rag) | covered plate water, wet plate |
plate {WATER} dust rag | covered plate water, wet plate, covered plate dust, dusty plate, saturated rag water \
    | wipe(plate, rag) | covered plate dust, dusty plate |
rug bunchgrass vacuum | covered rug bunchgrass, dirty rug, toggled_on vacuum | wipe(rug, vacuum) \
    | covered rug bunchgrass, dirty rug |
plate rust emery_paper | covered plate rust, dirty plate | wipe(plate, emery_paper) \
    | covered plate rust, dirty plate |
boot plate dust rag | covered plate dust, covered boot dust, dusty plate, dusty boot | wipe(boot, rag) \
    | covered boot dust, dusty boot |
plate polish scrub_brush | covered plate polish | wipe(plate, scrub_brush) | covered plate polish |

apple half__apple.n.01 carving_knife plate | ontop apple plate, future half__apple | cut(apple, carving_knife) \
    | ontop apple plate, future half__apple | future apple, ontop half__apple plate
apple carving_knife | | cut(apple, carving_knife) || future apple
apple half__apple.n.01 half__apple_2=half__apple.n.01 carving_knife | future half__apple, future half__apple_2 \
    | cut(apple, carving_knife) | future half__apple, future half__apple_2 | future apple
apple dust half__apple.n.01 carving_knife | future half__apple, covered apple dust, dusty apple, nextto apple \
    carving_knife | cut(apple, carving_knife) \
    | future half__apple, covered apple dust, dusty apple, nextto apple carving_knife | future apple

rag sink {WATER} | toggled_on sink | soak_under(rag, sink) || saturated rag water
rag sink {WATER} vinegar | toggled_on sink, saturated rag vinegar | soak_under(rag, sink) || saturated rag water
rag watering_can {WATER} | toggled_on watering_can | soak_under(rag, watering_can) || saturated rag water
rag bowl.n.01 vinegar | contains bowl vinegar | soak_inside(rag, bowl) || saturated rag vinegar
rag bowl.n.01 vinegar {WATER} | contains bowl vinegar, contains bowl water, saturated rag water \
    | soak_inside(rag, bowl) || saturated rag vinegar
rag bowl.n.01 vinegar {WATER} | contains bowl vinegar, contains bowl water | soak_inside(rag, bowl) \
    || saturated rag vinegar, saturated rag water
mug sink {WATER} | toggled_on sink | fill_with(mug, sink) || contains mug water
mug sink {WATER} tea | toggled_on sink, contains mug tea | fill_with(mug, sink) || contains mug water
mug sink {WATER} | toggled_on sink, contains mug water | fill_with(mug, sink) ||
mug bowl.n.01 {WATER} tea | contains mug water, contains mug tea | pour_into(mug, bowl) \
    || contains bowl water, contains bowl tea
mug bowl.n.01 {WATER} tea | contains mug water, contains bowl tea | pour_into(mug, bowl) || contains bowl water
mug floor {WATER} | contains mug water | spread(mug, floor) || covered floor water, wet floor
mug floor tea | contains mug tea | spread(mug, floor) || covered floor tea
mug floor {WATER} dust | contains mug water, covered floor dust, dusty floor | spread(mug, floor) \
    || covered floor water, wet floor
mug rag {WATER} | contains mug water | spread(mug, rag) || saturated rag water
mug aluminum_foil {WATER} | contains mug water | spread(mug, aluminum_foil) || saturated aluminum_foil water
mug sponge {WATER} | contains mug water | spread(mug, sponge) || covered sponge water, wet sponge

apple electric_refrigerator | inside apple electric_refrigerator, frozen apple | wait(apple) | frozen apple |
apple | hot apple, cooked apple | wait(apple) | hot apple |
{WATER} || wait(water) ||
cabinet || wait(cabinet) ||

apple stove frying_pan | ontop apple frying_pan, ontop frying_pan stove, toggled_on stove, frozen apple \
    | wait_for_cooked(apple) | frozen apple | cooked apple, hot apple
apple oven | inside apple oven, toggled_on oven | wait_for_cooked(apple) || cooked apple, hot apple
apple oven | inside apple oven, toggled_on oven, open oven | wait_for_cooked(apple) || cooked apple, hot apple
apple plate microwave | ontop apple plate, inside plate microwave, toggled_on microwave \
    | wait_for_cooked(apple) || cooked apple, hot apple
apple electric_refrigerator | inside apple electric_refrigerator, frozen apple | wait_for_cooked(apple) \
    | frozen apple | cooked apple, hot apple
apple clam frying_pan stove muffin plate | ontop apple frying_pan, inside clam frying_pan, ontop plate frying_pan, \
    ontop muffin plate, ontop frying_pan stove, toggled_on stove | wait_for_cooked(frying_pan) \
    || cooked apple, hot apple, cooked clam, hot clam
plate oven butter | inside plate oven, ontop butter plate, toggled_on oven | wait_for_cooked(plate) ||
casserole apple oven {WATER} cooked__water | inside casserole oven, inside apple casserole, toggled_on oven, \
    contains casserole water | wait_for_cooked(casserole) || cooked casserole, hot casserole
{WATER} cooked__water saucepot stove | contains saucepot water, ontop saucepot stove, toggled_on stove, \
    future cooked__water | wait_for_cooked(water) | contains saucepot water, future cooked__water \
    | contains saucepot cooked__water
{WATER} cooked__water saucepot stove | contains saucepot water, ontop saucepot stove, toggled_on stove, \
    future cooked__water | wait_for_cooked(saucepot) | contains saucepot water, future cooked__water \
    | contains saucepot cooked__water
{WATER} cooked__water tea chicken_soup saucepot stove | contains saucepot water, ontop saucepot stove, \
    toggled_on stove, contains saucepot tea, contains saucepot chicken_soup | wait_for_cooked(saucepot) \
    | contains saucepot water | contains saucepot cooked__water
{WATER} cooked__water saucepot stove oven apple | contains saucepot water, ontop saucepot stove, toggled_on stove, \
    inside apple oven | wait_for_cooked(water) | contains saucepot water | contains saucepot cooked__water
mug saucepot {WATER} cooked__water stove | contains saucepot water, contains mug water, ontop mug stove, \
    toggled_on stove | wait_for_cooked(water) | contains mug water | contains mug cooked__water

jersey boot washer dust mud | inside jersey washer, inside boot washer, covered jersey dust, dusty jersey, \
    covered boot mud, muddy boot, covered boot dust, dusty boot, toggled_on washer | wait_for_washed(washer) \
    | covered jersey dust, dusty jersey, covered boot mud, muddy boot, covered boot dust, dusty boot |
jersey boot washer rust vinegar | inside jersey washer, ontop boot washer, covered jersey rust, covered boot rust, \
    dirty jersey, dirty boot, saturated jersey vinegar, toggled_on washer | wait_for_washed(washer) \
    | covered jersey rust, dirty jersey |

apple electric_refrigerator | inside apple electric_refrigerator, open electric_refrigerator \
    | wait_for_frozen(apple, electric_refrigerator) || frozen apple
apple plate electric_refrigerator | ontop apple plate, inside plate electric_refrigerator \
    | wait_for_frozen(apple, electric_refrigerator) || frozen apple
apple electric_refrigerator | inside apple electric_refrigerator, frozen apple \
    | wait_for_frozen(apple, electric_refrigerator) ||
apple | | done ||
"""


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.splitlines() if line.strip()]


def named_after_action(row: list[str]) -> str:
    return row[2]


@pytest.mark.parametrize("row", rows(EFFECTS), ids=named_after_action)
def test_effect(row: list[str]) -> None:
    objects, facts, action, gone, new = row
    check(make(objects, facts), action, gone, new)


# objects | facts | action | message. Where two preconditions fail, the earlier one is told.
FAILURES = f"""
plate | | open(plate) | plate not openable
stove | toggled_on stove | open(stove) | stove not openable
microwave | toggled_on microwave | open(microwave) | microwave is on, switch it off first
plate | | close(plate) | plate not openable
cabinet || toggle_on(cabinet) | cabinet not toggleable
cabinet | open cabinet | toggle_on(cabinet) | cabinet not toggleable
microwave | open microwave | toggle_on(microwave) | microwave is open, close it first
cabinet || toggle_off(cabinet) | cabinet not toggleable

{WATER} plate || place_on_top(water, plate) | water is a substance
{WATER} cabinet || place_inside(water, cabinet) | water is a substance
apple {WATER} || place_on_top(apple, water) | water is a substance
apple {WATER} cabinet | inside apple cabinet | place_inside(apple, water) \
    | cabinet is closed, open it first: apple is inside
apple cabinet plate | inside apple cabinet | place_on_top(apple, plate) \
    | cabinet is closed, open it first: apple is inside
apple cabinet oven | inside apple cabinet | place_inside(apple, oven) \
    | cabinet is closed, open it first: apple is inside
apple cabinet | inside apple cabinet | place_inside(apple, cabinet) \
    | cabinet is closed, open it first: apple is inside
apple cabinet | | place_inside(apple, cabinet) | cabinet is closed, open it first
bowl.n.01 cabinet | ontop cabinet bowl | place_inside(bowl, cabinet) | cabinet is closed, open it first
apple || place_on_top(apple, apple) | apple cannot be put on apple, which it holds up
bowl.n.01 || place_inside(bowl, bowl) | bowl cannot be put on bowl, which it holds up
plate apple | ontop apple plate | place_on_top(plate, apple) | plate cannot be put on apple, which it holds up
plate tray apple | ontop apple plate, ontop plate tray | place_inside(tray, apple) \
    | tray cannot be put on apple, which it holds up
rug apple | ontop apple rug | place_on_top(rug, apple) | rug cannot be put on apple, which it holds up
half__apple.n.01 plate | future half__apple | place_on_top(half__apple, plate) | half__apple does not exist
half__apple.n.01 plate | future half__apple | place_on_top(plate, half__apple) | half__apple does not exist
half__apple.n.01 | future half__apple | open(half__apple) | half__apple does not exist

plate dust apple | covered plate dust | wipe(plate, apple) | apple not a cleaning tool
plate {WATER} | | wipe(water, plate) | plate not a cleaning tool
{WATER} rag cabinet | inside rag cabinet | wipe(water, rag) | water cannot be covered
plate rag cabinet | inside plate cabinet | wipe(plate, rag) | cabinet is closed, open it first: plate is inside
plate rag cabinet | inside rag cabinet | wipe(plate, rag) | cabinet is closed, open it first: rag is inside
plate rag | | wipe(plate, rag) | nothing covers plate
plate broom | | wipe(plate, broom) | nothing covers plate
plate rag dust floor | covered floor dust | wipe(plate, rag) | nothing covers plate
plate rag rust | covered plate rust | wipe(plate, rag) | rag cannot remove what covers plate
plate vacuum stain | covered plate stain, toggled_on vacuum | wipe(plate, vacuum) \
    | vacuum cannot remove what covers plate
plate broom polish | covered plate polish | wipe(plate, broom) | broom cannot remove what covers plate
plate rag stain | covered plate stain | wipe(plate, rag) | rag is not wet or soaped as needed to clean plate
plate rag mud vinegar | covered plate mud, saturated rag vinegar | wipe(plate, rag) \
    | rag is not wet or soaped as needed to clean plate
plate rag sponge mud {WATER} | covered plate mud, saturated sponge water | wipe(plate, rag) \
    | rag is not wet or soaped as needed to clean plate
plate vacuum dust | covered plate dust | wipe(plate, vacuum) \
    | vacuum is not wet or soaped as needed to clean plate
plate rag {WATER} | covered plate water, saturated rag water | wipe(plate, rag) \
    | rag is not wet or soaped as needed to clean plate
plate rag rust mud | covered plate rust, covered plate mud | wipe(plate, rag) \
    | rag is not wet or soaped as needed to clean plate

apple plate | | cut(apple, plate) | plate cannot slice
mug plate | | cut(mug, plate) | plate cannot slice
mug carving_knife cabinet | inside mug cabinet | cut(mug, carving_knife) | mug not sliceable
apple carving_knife cabinet | inside apple cabinet | cut(apple, carving_knife) \
    | cabinet is closed, open it first: apple is inside
apple carving_knife cabinet | inside carving_knife cabinet | cut(apple, carving_knife) \
    | cabinet is closed, open it first: carving_knife is inside
apple carving_knife | future apple | cut(apple, carving_knife) | apple does not exist

plate sink {WATER} cabinet | inside plate cabinet | soak_under(plate, sink) | plate cannot soak
rag sink {WATER} cabinet | inside rag cabinet | soak_under(rag, sink) \
    | cabinet is closed, open it first: rag is inside
rag stove {WATER} | toggled_on stove | soak_under(rag, stove) | stove not a source
rag sink {WATER} | saturated rag water | soak_under(rag, sink) | sink is off, switch it on first
rag sink {WATER} | saturated rag water, toggled_on sink | soak_under(rag, sink) | rag saturated already
broom sink {WATER} | toggled_on sink | soak_under(broom, sink) | broom saturated already
plate mug {WATER} cabinet | inside plate cabinet | soak_inside(plate, mug) | plate cannot soak
rag mug cabinet | inside rag cabinet | soak_inside(rag, mug) | cabinet is closed, open it first: rag is inside
rag mug cabinet | inside mug cabinet | soak_inside(rag, mug) | cabinet is closed, open it first: mug is inside
rag apple | | soak_inside(rag, apple) | apple not a vessel
rag mug {WATER} | saturated rag water | soak_inside(rag, mug) | mug empty
rag mug {WATER} apple | inside apple mug | soak_inside(rag, mug) | mug empty
rag mug {WATER} | saturated rag water, contains mug water | soak_inside(rag, mug) | rag saturated already

apple sink {WATER} cabinet | inside apple cabinet | fill_with(apple, sink) | apple not a vessel
mug sink {WATER} cabinet | inside mug cabinet | fill_with(mug, sink) \
    | cabinet is closed, open it first: mug is inside
mug stove {WATER} | toggled_on stove | fill_with(mug, stove) | stove not a source
mug sink {WATER} | | fill_with(mug, sink) | sink is off, switch it on first

mug apple cabinet | inside mug cabinet | pour_into(mug, apple) | apple not a vessel
mug bowl.n.01 cabinet | inside bowl cabinet | pour_into(mug, bowl) \
    | cabinet is closed, open it first: bowl is inside
mug bowl.n.01 cabinet | inside mug cabinet | pour_into(mug, bowl) | cabinet is closed, open it first: mug is inside
apple mug | | pour_into(apple, mug) | apple not a vessel
mug bowl.n.01 {WATER} | contains bowl water | pour_into(mug, bowl) | mug empty

apple floor | | spread(apple, floor) | apple not a vessel
mug floor {WATER} | covered mug water | spread(mug, floor) | mug empty
mug plate {WATER} cabinet | inside plate cabinet, contains mug water | spread(mug, plate) \
    | cabinet is closed, open it first: plate is inside
mug plate {WATER} cabinet | inside mug cabinet, contains mug water | spread(mug, plate) \
    | cabinet is closed, open it first: mug is inside
apple plate cabinet | inside apple cabinet | spread(apple, plate) | apple not a vessel
mug plate cabinet | inside plate cabinet | spread(mug, plate) | mug empty

{WATER} stove cooked__water | toggled_on stove | wait_for_cooked(water) | water nowhere
{WATER} mug cooked__water | contains mug water | wait_for_cooked(water) | water is not at a heat source
{WATER} mug stove | contains mug water, ontop mug stove | wait_for_cooked(water) \
    | the heat source of water is off
{WATER} mug stove | contains mug water, ontop mug stove, toggled_on stove | wait_for_cooked(water) \
    | water cannot cook
tea mug stove | contains mug tea, ontop mug stove, toggled_on stove | wait_for_cooked(tea) | tea cannot cook
mug saucepot {WATER} cooked__water stove | contains saucepot water, contains mug water, ontop saucepot stove, \
    toggled_on stove | wait_for_cooked(water) | water is not at a heat source
{WATER} electric_kettle cooked__water | contains electric_kettle water, toggled_on electric_kettle \
    | wait_for_cooked(water) | water is not at a heat source
apple || wait_for_cooked(apple) | apple is not at a heat source
apple oven | ontop apple oven, toggled_on oven | wait_for_cooked(apple) | apple is not at a heat source
apple stove | ontop apple stove | wait_for_cooked(apple) | the heat source of apple is off
apple stove oven | ontop stove oven, ontop apple stove, toggled_on oven | wait_for_cooked(apple) \
    | the heat source of apple is off
apple frying_pan stove oven | inside stove oven, ontop frying_pan stove, ontop apple frying_pan, toggled_on stove \
    | wait_for_cooked(apple) | the heat source of apple is off
frying_pan apple | ontop apple frying_pan | wait_for_cooked(frying_pan) | frying_pan is not at a heat source
frying_pan apple stove | ontop apple frying_pan, ontop frying_pan stove | wait_for_cooked(frying_pan) \
    | the heat source of frying_pan is off
stove apple | ontop apple stove, toggled_on stove | wait_for_cooked(stove) | stove is not at a heat source

oven dust apple | inside apple oven, open oven | wait_for_washed(oven) | oven not a washer
washer | open washer | wait_for_washed(washer) | washer is open, close it first
washer | | wait_for_washed(washer) | washer is off, switch it on first
washer boot dust | ontop boot washer, covered boot dust, toggled_on washer | wait_for_washed(washer) | washer empty
washer jersey dust boot | inside jersey washer, inside boot washer, covered jersey dust, toggled_on washer \
    | wait_for_washed(washer) | nothing covers boot

apple cabinet | | wait_for_frozen(apple, cabinet) | cabinet not a refrigerator
cabinet plate electric_refrigerator | | wait_for_frozen(cabinet, electric_refrigerator) | cabinet not freezable
apple electric_refrigerator | | wait_for_frozen(apple, electric_refrigerator) \
    | apple is not inside electric_refrigerator
apple electric_refrigerator | ontop apple electric_refrigerator | wait_for_frozen(apple, electric_refrigerator) \
    | apple is not inside electric_refrigerator
apple || fly(apple) | there is no skill 'fly'
apple || open(pear) | there is no object 'pear'
apple || open(apple, apple) | open takes 1 argument, not 2
"""


@pytest.mark.parametrize("row", rows(FAILURES), ids=named_after_action)
def test_failure(row: list[str]) -> None:
    objects, facts, action, message = row
    world = make(objects, facts)
    before = world.graph
    outcome = world.step(action)
    assert outcome.failure == message
    assert outcome.action == Action.parse(action)
    assert not any(outcome.patch.to_json().values())
    assert world.graph == before
    assert told(world.graph) == written(facts)


# Every skill that handles an object, with the object in the place of X. It would work if X were in the open.
GUARDED = f"""
apple plate | | place_on_top(X, plate)
apple shelf | | place_inside(X, shelf)
plate rag dust | covered X dust, dusty X | wipe(X, rag)
sponge floor dust | covered floor dust, dusty floor | wipe(floor, X)
apple carving_knife | | cut(X, carving_knife)
carving_knife apple | | cut(apple, X)
rag sink {WATER} | toggled_on sink | soak_under(X, sink)
rag mug {WATER} | contains mug water | soak_inside(X, mug)
mug rag {WATER} | contains X water | soak_inside(rag, X)
mug sink {WATER} | toggled_on sink | fill_with(X, sink)
mug bowl.n.01 {WATER} | contains X water | pour_into(X, bowl)
mug bowl.n.01 {WATER} | contains bowl water | pour_into(bowl, X)
mug floor {WATER} | contains X water | spread(X, floor)
plate mug {WATER} | contains mug water | spread(mug, X)
"""
# Places: X is the object; whether it can be reached there.
PLACES = [
    ("inside X cabinet", "cabinet"),
    ("inside X cabinet, open oven, inside cabinet oven", "cabinet"),
    ("inside X cabinet, open cabinet, inside cabinet oven", "oven"),
    ("ontop X tray, inside tray cabinet", "cabinet"),
    ("inside X hamper, ontop hamper tray, inside tray cabinet", "cabinet"),
    ("inside X cabinet, open cabinet", ""),
    ("ontop X cabinet", ""),
    ("ontop X tray, ontop tray cabinet", ""),
    ("inside X hamper", ""),
]


@pytest.mark.parametrize(("place", "shut"), PLACES)
@pytest.mark.parametrize("row", rows(GUARDED), ids=named_after_action)
def test_nothing_can_be_done_with_what_is_closed_in(row: list[str], place: str, shut: str) -> None:
    objects, facts, action = row
    name = objects.split()[0]
    place, facts, action = (text.replace("X", name) for text in (place, facts, action))
    world = make(f"{objects} cabinet oven tray hamper", f"{facts}, {place}")
    outcome = world.step(action)
    assert outcome.failure == (f"{shut} is closed, open it first: {name} is inside" if shut else "")


@pytest.mark.parametrize(
    ("facts", "action"),
    [
        ("", "open(microwave)"),
        ("open microwave", "close(microwave)"),
        ("", "toggle_on(microwave)"),
        ("toggled_on microwave", "toggle_off(microwave)"),
        ("", "place_on_top(apple, microwave)"),
        ("open microwave", "place_inside(apple, microwave)"),
        ("", "wait(microwave)"),
    ],
)
def test_other_arguments_may_be_closed_in(facts: str, action: str) -> None:
    world = make("microwave cabinet apple", f"inside microwave cabinet, {facts}")
    assert world.step(action).failure == ""


def test_of_several_closed_containers_one_is_named() -> None:
    facts = "inside apple mason_jar, inside mason_jar cabinet"
    told_of = {make("apple plate cabinet mason_jar", facts).step("place_on_top(apple, plate)").failure for _ in "12"}
    assert told_of == {"cabinet is closed, open it first: apple is inside"}


def test_a_thing_does_not_thaw_by_being_taken_out_but_by_waiting() -> None:
    world = make("bacon electric_refrigerator frying_pan", "inside bacon electric_refrigerator, frozen bacon")
    check(world, "open(electric_refrigerator)", "", "open electric_refrigerator")
    moved = "ontop bacon frying_pan"
    check(world, "place_on_top(bacon, frying_pan)", "inside bacon electric_refrigerator", moved)
    assert world.graph.has_state("bacon", "frozen")
    check(world, "wait(bacon)", "frozen bacon")


def test_an_object_put_into_the_fridge_does_not_freeze_by_itself() -> None:
    world = make("apple electric_refrigerator", "open electric_refrigerator")
    inside = "inside apple electric_refrigerator"
    check(world, "place_inside(apple, electric_refrigerator)", "", inside)
    check(world, "close(electric_refrigerator)", "open electric_refrigerator")
    check(world, "wait_for_frozen(apple, electric_refrigerator)", "", "frozen apple")


def test_only_what_is_heatable_gets_hot() -> None:
    tables = replace(kinds(), abilities={**kinds().abilities, "apple.n.01": {"cookable": {}}})
    world = build(named("apple oven"), ["inside apple oven", "toggled_on oven"], tables)
    check(world, "wait_for_cooked(apple)", "", "cooked apple")


def test_dirt_of_one_look_goes_only_with_the_last_of_it() -> None:
    world = make(f"plate dirt.n.02 mold rag {WATER}", "covered plate dirt, covered plate mold, dirty plate")
    check(world, "wipe(plate, rag)", "covered plate dirt")
    world = World(world.objects, world.graph.merge({"add_edges": [water("saturated", "rag")]}), world.kinds)
    check(world, "wipe(plate, rag)", "covered plate mold, dirty plate")


def water(pred: str, name: str) -> dict[str, str]:
    return {"pred": pred, "src": name, "dst": "water"}


def test_what_was_spread_can_be_wiped_up() -> None:
    world = make(f"mug floor {WATER} rag", "contains mug water")
    check(world, "spread(mug, floor)", "", "covered floor water, wet floor")
    check(world, "wipe(floor, rag)", "covered floor water, wet floor")
    check(world, "spread(mug, floor)", "", "covered floor water, wet floor")


def test_water_from_the_tap_is_real() -> None:
    """Whatever a source produces exists from then on."""
    world = make(f"mug sink {WATER}", "toggled_on sink, future water")
    check(world, "fill_with(mug, sink)", "future water", "contains mug water")
    world = make(f"rag sink {WATER}", "toggled_on sink, future water")
    check(world, "soak_under(rag, sink)", "future water", "saturated rag water")


@pytest.mark.parametrize("skill", ["place_on_top", "place_inside"])
@pytest.mark.parametrize("facts", ["", "future water"])
def test_nothing_rests_on_a_substance(skill: str, facts: str) -> None:
    world = make(f"apple {WATER}", facts)
    assert world.step(f"{skill}(apple, water)").failure
    assert told(world.graph) == written(facts)


def test_a_substance_cannot_be_covered() -> None:
    world = make(f"mug dust {WATER}", "contains mug water")
    assert world.step("spread(mug, dust)").failure
    assert told(world.graph) == {"contains mug water"}


# -- cutting --------------------------------------------------------------------------------------


def test_what_was_cut_has_no_state_left() -> None:
    world = make("apple half__apple.n.01 carving_knife", "future half__apple, frozen apple, cooked apple")
    check(world, "cut(apple, carving_knife)", "future half__apple, frozen apple, cooked apple", "future apple")


def test_nothing_rests_on_what_was_cut() -> None:
    world = make("plate apple tray muffin carving_knife", "ontop apple tray, ontop plate apple, ontop muffin plate")
    assert world.step("cut(apple, carving_knife)").failure == ""
    assert not [edge for edge in world.graph.edges() if "apple" in (edge.src, edge.dst)]
    assert world.graph.has_edge("ontop", "muffin", "plate")


def test_a_half_that_exists_stays_where_it_is() -> None:
    objects = "apple apple_2 half__apple.n.01 carving_knife plate tray"
    world = make(objects, "ontop half__apple plate, ontop apple_2 tray")
    check(world, "cut(apple_2, carving_knife)", "ontop apple_2 tray", "future apple_2")


@pytest.mark.parametrize("facts", ["ontop apple half__apple", "ontop apple plate, ontop plate half__apple"])
def test_an_apple_can_be_cut_on_the_half_of_another(facts: str) -> None:
    world = make("apple plate half__apple.n.01 carving_knife", facts)
    check(world, "cut(apple, carving_knife)", facts.split(",")[0], "future apple")


def test_halves_are_real_and_can_be_used() -> None:
    world = make("apple half__apple.n.01 carving_knife plate tray", "future half__apple, ontop apple plate")
    assert world.step("place_on_top(half__apple, tray)").failure == "half__apple does not exist"
    world.step("cut(apple, carving_knife)")
    check(world, "place_on_top(half__apple, tray)", "ontop half__apple plate", "ontop half__apple tray")
    assert world.step("cut(apple, carving_knife)").failure == "apple does not exist"


def test_what_is_diceable_can_be_cut() -> None:
    dice = {"diceable": {"diceable_derivative_synset": "diced__apple.n.01"}}
    tables = replace(kinds(), abilities={**kinds().abilities, "half__apple.n.01": dice})
    objects = {"half": "half__apple.n.01", "knife": "carving_knife.n.01"}
    world = build(objects, [], tables)
    assert world.step("cut(half, knife)").failure == ""
    assert told(world.graph) == {"future half"}


# -- the world as such ------------------------------------------------------------------------------


def test_an_action_is_given_as_text_or_as_action() -> None:
    text, action = make("cabinet"), make("cabinet")
    first, second = text.step(" OPEN( cabinet )"), action.step(Action("open", ("cabinet",)))
    assert first == second
    assert text.graph == action.graph
    assert first.patch.to_json() == {"update_node_states": [{"node_id": "cabinet", "add": ["open"]}]}


def test_the_same_state_again_has_the_same_outcome() -> None:
    world = make("cabinet apple", "inside apple cabinet")
    first = [world.step(a) for a in ("open(cabinet)", "close(cabinet)")]
    for _ in range(3):
        assert [world.step(a) for a in ("open(cabinet)", "close(cabinet)")] == first


def test_worlds_with_the_same_ids_but_other_kinds_differ() -> None:
    drawer, dish = build({"x": "cabinet.n.01"}, []), build({"x": "plate.n.04"}, [])
    assert drawer.step("open(x)").failure == ""
    assert dish.step("open(x)").failure == "x not openable"


def test_ids_may_hold_anything() -> None:
    name = 'a "b", (c)\n'
    graph = BeliefGraph.of(kinds().vocabulary, {"nodes": [{"node_id": name}]})
    world = World({name: "cabinet.n.01"}, graph, kinds())
    assert world.step(Action("open", (name,))).failure == ""
    assert world.graph.has_state(name, "open")
    assert world.step(Action("toggle_on", (name,))).failure == f"{name} not toggleable"
