"""Little households: written down, or generated; and random actions to do in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import product
from random import Random

from reference import Reference, facts_of

from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, household
from obviate.kb.kinds import Kinds

__all__ = ["SCALE", "build", "kinds", "named", "random_action", "random_world", "telling"]

SCALE = 20 if os.environ.get("OBVIATE_SOAK") else 1  # of the long loops


@cache
def kinds() -> Kinds:
    """The shipped tables."""
    return Kinds.load(household.vocabulary())


def named(names: str) -> dict[str, str]:
    """The objects that `names` lists, each with its kind: ``apple apple_2 bowl.n.03 dish=plate.n.04``."""
    found = {}
    for name, _, kind in (part.partition("=") for part in names.split()):
        kind = kind or re.sub(r"_\d+$", "", name)
        if ".n." not in kind:
            (kind,) = (known for known in kinds().abilities if known.split(".")[0] == kind)
        found[name.split(".")[0]] = kind
    return found


def build(objects: Mapping[str, str], facts: Iterable[str], tables: Kinds | None = None) -> World:
    """A world with these objects where the facts hold: ``open cabinet``, ``ontop apple plate``."""
    tables = tables or kinds()
    states: dict[str, list[str]] = {name: [] for name in objects}
    edges = []
    for pred, src, *dst in (fact.split() for fact in facts):
        if dst:
            edges.append({"pred": pred, "src": src, "dst": dst[0]})
        else:
            states[src].append(pred)
    nodes = [
        {"node_id": name, "tags": sorted(tables.tagging(kind).tags), "states": states[name]}
        for name, kind in objects.items()
    ]
    graph = BeliefGraph.of(tables.vocabulary, {"nodes": nodes, "edges": edges})
    return World(objects, graph, tables)


# -- random actions -------------------------------------------------------------------------------


@cache
def _skills() -> dict[str, int]:
    return {name: arity for name, arity in kinds().vocabulary.skills.items() if arity}


def anything(reference: Reference, random: Random) -> Action:
    """Any skill with any objects."""
    skill, arity = random.choice(list(_skills().items()))
    return Action(skill, tuple(random.choices(list(reference.objects), k=arity)))


def something_that_works(reference: Reference, random: Random) -> Action:
    """An action that changes something, if there is one; each skill that can has the same chance."""
    for skill in random.sample(list(_skills()), k=len(_skills())):
        candidates = list(product(reference.objects, repeat=_skills()[skill]))
        random.shuffle(candidates)
        for args in candidates:
            trial = reference.copy()
            if not trial.step(Action(skill, args)) and trial.facts != reference.facts:
                return Action(skill, args)
    return anything(reference, random)


def something_that_fails(reference: Reference, random: Random) -> Action:
    """An action that fails; each way for the skill to fail has the same chance."""
    skill = random.choice(list(_skills()))
    failing: dict[str, list[Action]] = {}
    for args in product(reference.objects, repeat=_skills()[skill]):
        failing.setdefault(reference.copy().step(Action(skill, args)), []).append(Action(skill, args))
    return random.choice(failing[random.choice([kind for kind in failing if kind] or list(failing))])


def random_action(reference: Reference, random: Random) -> Action:
    """Half of them work, if anything does."""
    works = something_that_works
    return random.choice([works, works, something_that_fails, anything])(reference, random)


# -- generated households ------------------------------------------------------------------------

FURNITURE = list(named("countertop cabinet electric_refrigerator oven stove microwave sink washer floor"))
VESSELS = list(named("plate bowl.n.01 saucepot frying_pan mug mason_jar electric_kettle casserole"))
TOOLS = list(named("rag sponge vacuum rug broom emery_paper jersey aluminum_foil"))
FOOD = list(named("apple apple_2 muffin clam raw_egg butter boot"))
CUTTING = named("carving_knife half__apple=half__apple.n.01 half__apple_2=half__apple.n.01")
SUBSTANCES = named(
    "water.n.06 cooked__water chicken_soup cooked__chicken_soup tea vinegar liquid_soap salt"
    " dust stain mud dirt.n.02 sand mold rust bunchgrass"
)
KINDS = named(" ".join([*FURNITURE, *VESSELS, *TOOLS, *FOOD]).replace("bowl", "bowl.n.01")) | CUTTING | SUBSTANCES


def random_world(random: Random) -> World:
    """A small household in any state that makes sense."""

    def some(names: Iterable[str], least: int, most: int) -> list[str]:
        return random.sample(list(names), k=random.randint(least, most))

    def maybe(state: str, names: list[str], chance: float = 0.4) -> list[str]:
        return [f"{state} {name}" for name in names if random.random() < chance]

    def pairs(relation: str, sources: list[str], targets: list[str]) -> list[str]:
        if not sources or not targets:
            return []
        found = [(random.choice(sources), random.choice(targets)) for _ in range(random.randint(0, 5))]
        return [f"{relation} {src} {dst}" for src, dst in found if src != dst]

    def able(ability: str) -> list[str]:
        return [name for name in there if kinds().can(KINDS[name], ability)]

    things = some(FURNITURE, 2, 4) + some(VESSELS, 1, 3) + some(TOOLS, 0, 2) + some(FOOD, 0, 3)
    things += random.choice([[], list(CUTTING)])
    substances = list(dict.fromkeys(["water", *some(SUBSTANCES, 0, 5)]))
    future = {name for name in things + substances if "half" in name or "cooked" in name if random.random() < 0.7}
    future |= {"water"} if random.random() < 0.05 else set()
    there = [name for name in things if name not in future]
    present = [name for name in substances if name not in future]
    facts = [f"future {name}" for name in future] + pairs("nextto", there, there)
    facts += maybe("open", able("openable")) + maybe("toggled_on", able("toggleable"))
    facts += maybe("frozen", able("freezable")) + maybe("hot", able("heatable")) + maybe("cooked", able("cookable"))
    facts += pairs("contains", able("fillable"), present) + pairs("saturated", able("particleRemover"), present)
    movable = [name for name in there if name not in FURNITURE]
    laundry = movable[:2] if "washer" in there else []
    for fact in pairs("covered", there, present) + [f"covered {x} {y}" for x in laundry for y in present[1:2]]:
        _, name, system = fact.split()
        look = kinds().vocabulary.appearances.get(KINDS[system])
        facts += [fact, f"{look} {name}"] if look else [fact]
    for i, name in enumerate(there[1:], 1):
        if random.random() < 0.7:
            below = "washer" if name in laundry else random.choice(there[:i])
            deep = below in able("fillable") and below not in able("openable")
            how = random.choice([["ontop"], ["inside"], ["ontop", "inside"] if deep else ["inside"]])
            facts += [f"{relation} {name} {below}" for relation in how]
    order = random.sample(things + substances, k=len(things + substances))
    return build({name: KINDS[name] for name in order}, dict.fromkeys(facts))


@contextmanager
def telling(world: World, plan: list[Action]) -> Iterator[None]:
    """Tells of whatever fails inside in which world it did, and after which actions."""
    states, edges = facts_of(world.graph)
    facts = [" ".join(reversed(state)) for state in sorted(states)] + [" ".join(edge) for edge in sorted(edges)]
    try:
        yield
    except Exception as error:
        error.add_note(f"objects: {world.objects}\nfacts: {', '.join(facts)}\nplan: {', '.join(map(str, plan))}")
        raise
