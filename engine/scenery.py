"""Programs about the household world: scenes of things that there are, and what actions make of them.

``kb/proofs/scenery.lp`` guesses what the objects are and a state that such things can be in, ``kb/proofs/motion.lp``
goes from one moment to the next by the action theory ``kb/actions/household.lp``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import count
from pathlib import Path

from obviate.engine.layer import renamed, side
from obviate.engine.search import INPUTS, graph_of
from obviate.engine.slice import Slice
from obviate.engine.world import World
from obviate.kb import Action, BeliefGraph, asp, household
from obviate.kb.files import read_text
from obviate.kb.kinds import Kinds, lemma
from obviate.kb.program import Rule
from obviate.kb.terms import Atom, Fun, quote

__all__ = ["CHANGING", "HOUSEHOLD", "OUTPUTS", "Scenery", "Staged", "names_of", "statics"]

_FILES = files("obviate.kb")
_SCENERY = _FILES.joinpath("proofs/scenery.lp").read_text(encoding="utf-8")
_STAGING = _FILES.joinpath("proofs/staging.lp").read_text(encoding="utf-8")
_MOTION = _FILES.joinpath("proofs/motion.lp").read_text(encoding="utf-8")
HOUSEHOLD = household.folder / "actions" / "household.lp"

_KINDS = ("substance", "ability", "of_kind", "deep", "washer", "heats", "shows_as", "source", "cooks_to", "cuts_to")
_STATIC = frozenset({"object", "order", "removes", "removes_if", *_KINDS})
_NEEDS = {"open": "openable", "toggled_on": "toggleable"}
_NEEDS |= {"frozen": "freezable", "hot": "heatable", "cooked": "cookable"}
_ABILITIES = frozenset(
    {*_NEEDS.values(), "particleRemover", "slicer", "sliceable", "diceable", "fillable"}
    | {"cloth", "coldSource", "heatSource", "sceneObject"}
)
_THINGS = ("inside", "ontop", "nextto")
_SURFACE = "breakfast_table.n.01"
_CLEANING = ("rag.n.01", "sink.n.01", "water.n.06", "bucket.n.01", "liquid_soap.n.01")
_GRIME = ("dust.n.01", "stain.n.01", "mud.n.03", "dirt.n.02", "water.n.06")
_SAME = frozenset({"object", "tag"})
_CHANGING = re.compile(r"(?<!\w)(state|edge|moved|_on|_over)(?=\()")
_MOMENTS = re.compile(r"\b(now|next|act|gone)_")
_START = """
{p}state(X,S) :- state(X,S).
-{p}state(X,S) :- -state(X,S).
{p}edge(P,X,Y) :- edge(P,X,Y).
{p}moved(X) :- moved(X).
"""
CHANGING = [("state", 2, True), ("state", 2, False), ("edge", 3, True), ("moved", 1, True)]
OUTPUTS = [*INPUTS, ("_is", 2, True), ("_chosen", 1, True)]


@dataclass(frozen=True, slots=True)
class Staged:
    """A scene of the household world: the kinds of its objects, and what is true of them."""

    kinds: Mapping[str, str]
    graph: BeliefGraph

    def world(self, actions: str = "") -> World:
        """The world in this state, with another action theory if one is named."""
        return World(self.kinds, self.graph, _kinds(), actions=actions)


@cache
def _kinds() -> Kinds:
    return Kinds.load(household.vocabulary())


@cache
def _theory(actions: str) -> tuple[Rule, ...]:
    return asp.parse(read_text(Path(actions)), actions).rules


@dataclass(frozen=True)
class Scenery:
    """The household world as the rules of `part` see it, with `size` objects of any kind beside a few to work with.

    The first of them are `binding`, what the first rule is about.
    """

    part: Slice
    size: int
    actions: str = ""

    @property
    def binding(self) -> tuple[str, ...]:
        return self.free[: self.part.arity]

    @cached_property
    def free(self) -> tuple[str, ...]:
        """The objects of any kind; an object that the pack names is one of them."""
        return (*(f"thing_{i + 1}" for i in range(self.size)), *self.part.objects)

    @cached_property
    def kit(self) -> Mapping[str, str]:
        """What is there to work with: a table; to clean, a rag, a sink, soap, and the dirt that the rules speak of."""
        kinds, words = {"table": _SURFACE}, _kinds().vocabulary.appearances
        read = {*self.part.reads("state"), *self.part.reads("state", positive=False)}
        grime = [kind for kind in _GRIME if words.get(kind) in read]
        if grime or {"covered", "saturated"} & set(self.part.reads("edge")):
            kinds |= {lemma(kind): kind for kind in (*_CLEANING, *grime)}
        return kinds

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """One kind for all that the rules and the action theory do not tell apart."""
        kinds, read = _kinds(), frozenset(self.part.reads("tag"))
        found: dict[object, str] = {}
        for kind in sorted(name for name in kinds.tags if "." in name):
            tags = kinds.tagging(kind).tags & read
            able = _ABILITIES.intersection(kinds.abilities.get(kind, {}))
            if tags or not kinds.is_substance(kind):
                found.setdefault((tags, able, kinds.is_substance(kind)), kind)
        return tuple(found.values())

    # -- programs ----------------------------------------------------------------------------------

    def scene(self) -> Iterator[str]:
        """Every scene: kinds, states, and perhaps an intent."""
        yield _SCENERY
        yield from (f"_free({quote(name)})." for name in self.free)
        yield from (f"_kind({quote(kind)})." for kind in self.classes)
        yield from self._given()
        yield _STAGING
        for skill in self.part.skills:
            yield from self._terms("_action", skill)
        yield "{ intent(A) : _action(A) } 1."

    def staged(self, scene: Staged) -> Iterator[str]:
        """One scene, and no intent."""
        yield _SCENERY
        yield from (f"_is({quote(name)},{quote(kind)})." for name, kind in scene.kinds.items())
        yield from self._given(scene.kinds.values())
        yield from (f"{atom}." for atom in scene.graph.facts() if atom.name not in ("tag", "object"))

    def other(self, prefix: str) -> Iterator[str]:
        """Another state of the same things."""
        yield _CHANGING.sub(rf"{prefix}\1", _STAGING)
        yield side(self.part, prefix, _SAME)

    def acted(self, prefix: str, actions: int | Sequence[Action], *, judged: bool = False) -> Iterator[str]:
        """What becomes of the scene by so many actions, or by these; with `judged`, what the rules say before each."""
        steps = actions if isinstance(actions, int) else len(actions)
        yield _START.format(p=f"{prefix}0_")
        for i in range(steps):
            now, then = f"{prefix}{i}_", f"{prefix}{i + 1}_"
            names = {"now": now, "next": then, "act": f"{now}act_", "gone": f"{now}gone_"}
            yield _MOMENTS.sub(lambda found, names=names: names[found[1]], _MOTION)  # type: ignore[misc]
            yield from (renamed(rule, f"{now}act_", _STATIC) for rule in _theory(self.actions or str(HOUSEHOLD)))
            yield (
                f"{now}do({actions[i].term})." if not isinstance(actions, int) else f"1 {{ {now}do(A) : _deed(A) }} 1."
            )
        for i in range(0 if judged else steps, steps + 1):
            yield side(self.part, f"{prefix}{i}_", _SAME)
            yield f"{prefix}{i}_was_pending(R,B) :- _open(R,B)."

    def _given(self, kinds: Iterable[str] = ()) -> Iterator[str]:
        """What the kinds are, the things to work with, and the words of the vocabulary."""
        words = self.part.vocabulary
        yield from (f"_k({fact})." for fact in _facts((*self.classes, *self.kit.values(), *kinds)))
        yield from (f"_kit({quote(name)},{quote(kind)})." for name, kind in self.kit.items())
        yield f"_filled({quote('bucket.n.01')},{quote('liquid_soap.n.01')})."
        yield from (f"order({quote(name)},{i})." for i, name in enumerate((*self.free, *self.kit)))
        named = {
            "_state": self.part.reads("state"),
            "_absent": self.part.reads("state", positive=False),
            "_relation": self.part.reads("edge"),
            "_symmetric": sorted(words.symmetric),
            "_support": sorted(words.supports),
            "_between": _THINGS,
            "_shows": sorted(set(words.appearances.values())),
        }
        yield from (f"{sort}({name})." for sort, names in named.items() for name in names)
        yield from (f"_needs({state},{ability})." for state, ability in _NEEDS.items())
        yield from ["_moving."] if self.part.moving else []
        for skill in words.skills:
            if skill != "done":
                yield from self._terms("_deed", skill)
        for skill, place in words.moves.items():
            variables = self._variables(skill)
            term = f"{skill}({','.join(variables)})"
            yield f"_carries({term},{variables[place - 1]}) :- _deed({term})."

    def _variables(self, skill: str) -> list[str]:
        return [f"X{i}" for i in range(self.part.vocabulary.skills[skill])]

    def _terms(self, sort: str, skill: str) -> Iterator[str]:
        """Every action of a skill, and of a deed what it is done to."""
        variables = self._variables(skill)
        term = f"{skill}({','.join(variables)})" if variables else skill
        domain = ", ".join(f"object({x})" for x in variables) or "#true"
        yield f"{sort}({term}) :- {domain}."
        if sort == "_deed":
            yield from (f"_argument({term},{x}) :- _deed({term})." for x in variables)

    # -- answers -----------------------------------------------------------------------------------

    def told(self, atoms: Iterable[Atom], prefix: str = "") -> Staged:
        """The scene in an answer, or another state of it, with all tags of its kinds."""
        atoms = list(atoms)
        kinds = {str(atom.args[0]): str(atom.args[1]) for atom in atoms if atom.name == "_is"}
        facts = [Atom("object", (name,)) for name in kinds]
        for name, kind in kinds.items():
            facts += [Atom("tag", (name, Fun(tag))) for tag in _kinds().tagging(kind).tags]
        changing = {f"{prefix}{name}": name for name in ("state", "edge", "moved")}
        facts += [a._replace(name=changing[a.name]) for a in atoms if a.name in changing]
        ordered = {name: kinds[name] for name in (*self.free, *self.kit) if name in kinds}
        return Staged(ordered, graph_of(facts, self.part.vocabulary))


@cache
def _facts(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """What is true of things of these kinds, each thing called like its kind."""
    table = _kinds()
    facts = [fact for fact in table.facts({kind: kind for kind in kinds}) if fact.name != "order"]
    facts += [Atom("tag", (kind, Fun(tag))) for kind in dict.fromkeys(kinds) for tag in table.tagging(kind).tags]
    return tuple(map(str, facts))


def names_of(kinds: Mapping[str, str], kept: Sequence[str]) -> dict[str, str]:
    """An id for each object that says what it is; `kept` are the ids that the pack names."""
    names: dict[str, str] = {}
    for name, kind in kinds.items():
        word = lemma(kind)
        taken = {*names.values(), *kept}
        names[name] = name if name in kept else next(n for i in count(1) if (n := f"{word}_{i}") not in taken)
    return names


def statics(kinds: Mapping[str, str]) -> tuple[Atom, ...]:
    """What the action theory needs to know about objects of these kinds."""
    return tuple(_kinds().facts(kinds))
