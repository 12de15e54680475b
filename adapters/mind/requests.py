"""The request benchmark: requests whose dependencies a compiler is to tell (MIND paper, Sections V and VI-B).

216 requests of 36 templates of our own wording, six of each family, and 144 minimal pairs. Whole templates are held
out, since a split of sentences would measure rewording: the templates below were drawn (`Random(2026)`, two of each
six) from one batch before anything was chosen on the others, which are in `obviate.compilers.instructions.development`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from obviate.adapters.mind.families import ADJACENT, FAMILIES, REQUESTS, Family, Request
from obviate.compilers.instructions.development import DEVELOPMENT, FILLS, Template
from obviate.compilers.instructions.placements import PLACEMENTS
from obviate.kb.errors import DataError
from obviate.kb.instruction import Signature
from obviate.kb.regions import CATEGORIES, Regions

__all__ = ["HELD_OUT", "Manifest", "Pair", "Phrase", "manifest", "read_sets"]

HELD_OUT: Mapping[str, tuple[Template, ...]] = MappingProxyType(
    {
        placement: tuple(Template(placement, text) for text in texts)
        for placement, texts in {
            "inventory-only": ("Bring me a {thing}", "Go to a room that has at least two {things}"),
            "named-region": (
                "Look through each {room} for a {thing}",
                "My {thing} was left behind in the {room}, please get it",
            ),
            "current-region": (
                "Hand me a {thing} from this room",
                "Bring a {thing} from anywhere but your present room",
            ),
            "history-dependent": (
                "Find a {thing} somewhere you have never been sent before",
                "Look for a {thing} in any room still to be dealt with",
            ),
            "nearest-candidate": (
                "Take the shortest way to a {thing}",
                "Which {thing} can you reach soonest? Go there",
            ),
            "nearest+history": (
                "Fetch a different {thing} from last time, and do not walk further than needed",
                "Get the next {thing} by the shortest route, skipping the rooms you finished",
            ),
        }.items()
    }
)

# What a minimal pair adds, and to which slots: six wordings each, for six plain requests.
_BASES = tuple(
    f"{verb} a {thing}"
    for verb, (thing, _, _) in zip(("Find", "Fetch", "Get", "Bring me", "Look for", "Take"), FILLS, strict=True)
)
_EDGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        "label": (
            "label",
            "",
            (
                "in the kitchen",
                "from a bedroom",
                "that is in the bathroom",
                "out of the living room",
                "from the hall",
                "in some office",
            ),
        ),
        "position": (
            "position",
            "",
            (
                "in this room",
                "from the room you are in",
                "right where you are",
                "in your current room",
                "without going anywhere else",
                "in here",
            ),
        ),
        "history": (
            "history",
            "",
            (
                "from a room you have not been to",
                "in a room that you did not use before",
                "other than in rooms already done",
                "from a room not yet visited",
                "in a room that is new to you",
                "from a room you never took anything from",
            ),
        ),
        "nearest": (
            "",
            "position topology",
            (
                "as close by as you can",
                "that is nearest to you",
                "on the shortest path",
                "that takes the least walking",
                "in the closest room",
                "with the fewest doors in between",
            ),
        ),
    }
)

_SIGNATURES = {name: placement.signature for name, placement in PLACEMENTS.items()}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence with its true dependencies. `template` is the text it was made of."""

    text: str
    placement: str
    signature: Signature
    template: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A plain request, the same with a modifier, and the dependencies that the modifier adds."""

    base: str
    variant: str
    edge: str
    adds: Signature


@dataclass(frozen=True, slots=True)
class Manifest:
    """The benchmark: all requests of `development` and `held_out` templates, minimal pairs, and `others`, requests of
    the dependency benchmark, which another author wrote.
    """

    development: tuple[Phrase, ...]
    held_out: tuple[Phrase, ...]
    pairs: tuple[Pair, ...]
    others: tuple[Phrase, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of all of it."""
        sentences = [(one.text, one.placement) for one in (*self.development, *self.held_out, *self.others)]
        pairs = [(pair.base, pair.variant, pair.edge) for pair in self.pairs]
        return hashlib.sha256(json.dumps([sentences, pairs]).encode()).hexdigest()


def manifest(
    *,
    development: Mapping[str, Sequence[Template]] = DEVELOPMENT,
    held_out: Mapping[str, Sequence[Template]] = HELD_OUT,
    signatures: Mapping[str, Signature] = _SIGNATURES,
    edges: Mapping[str, tuple[str, str, tuple[str, ...]]] = _EDGES,
) -> Manifest:
    """The benchmark, checked. Raises `DataError` (``requests-refused``) for what the paper refuses, Section V.

    That is: families that are unbalanced or share a signature, a held-out template in development, a minimal pair
    that adds another edge than it claims, a signature that disagrees with what the reference is seen to read.
    """
    _balanced(development, held_out)
    for family in (*FAMILIES, ADJACENT):
        same = [other.name for other in FAMILIES if signatures[other.name] == signatures[family.name]]
        if same not in ([family.name], []):
            raise _refused(f"{' and '.join(same)} share a signature")
        if (seen := read_sets(family)) != signatures[family.name]:
            raise _refused(f"{family.name} reads {_words(seen)}, not {_words(signatures[family.name])}")
    others = (Phrase(one.says, one.family.name, one.family.signature, one.name) for one in REQUESTS.values())
    return Manifest(
        tuple(_phrases(development, signatures)),
        tuple(_phrases(held_out, signatures)),
        tuple(_pairs(edges, signatures)),
        tuple(others),
    )


def read_sets(family: Family, *, states: int = 60, seed: int = 0) -> Signature:
    """(D_sem*, D_sel*) as the paper defines them (Section IV-A), seen by changing one category at a time.

    A category is semantic if changing only it can change which regions qualify by the family's reference, and of
    selection if it can change which one is chosen of the same feasible regions.
    """
    request = Request(family, "one", "seat", "")
    chance = Random(seed)
    semantic, selection = set(), set()
    for _ in range(states):
        state = _building(chance)
        for category in CATEGORIES:
            other = _but(state, category, _building(chance))
            if request.qualifying(state) != request.qualifying(other):
                semantic.add(category)
            feasible = sorted(state.reachable() & other.reachable())
            some = [region for region in feasible if chance.random() < 0.7]
            if request.choose(state, some) != request.choose(other, some):
                selection.add(category)
    return Signature(frozenset(semantic), frozenset(selection))


_ROOMS = "abcde"


def _building(chance: Random) -> Regions:
    """A building of five rooms in a ring, some of whose doors are shut."""
    rooms = {
        room: {
            "label": chance.choice(("bedroom", "kitchen")),
            "inventory": {type: 1 for type in ("chair", "mug") if chance.random() < 0.6},
        }
        for room in _ROOMS
    }
    ring = list(zip(_ROOMS, _ROOMS[1:] + _ROOMS[:1], strict=True))
    doors = [{"between": pair, "passable": chance.random() < 0.7} for pair in ring]
    used = [room for room in _ROOMS if chance.random() < 0.5]
    return Regions.of({"regions": rooms, "doors": doors, "at": chance.choice(_ROOMS), "used": used})


def _but(state: Regions, category: str, other: Regions) -> Regions:
    """`state` with one category as in `other`."""
    one, two = state.to_json(), other.to_json()
    if category in ("inventory", "label"):
        for room in _ROOMS:
            one["regions"][room][category] = two["regions"][room][category]
    else:
        key = {"position": "at", "history": "used", "topology": "doors"}[category]
        one[key] = two[key]
    return Regions.of(one)


def _balanced(development: Mapping[str, Sequence[Template]], held_out: Mapping[str, Sequence[Template]]) -> None:
    for name, templates in (("development", development), ("held-out", held_out)):
        counts = Counter({family.name: len(templates.get(family.name, ())) for family in FAMILIES})
        if len(set(counts.values())) > 1:
            raise _refused(f"the {name} families are unbalanced: {dict(counts)}")
    told = {_plain(template.text) for templates in development.values() for template in templates}
    for template in (template for templates in held_out.values() for template in templates):
        if _plain(template.text) in told:
            raise _refused(f"a held-out template is in development: {template.text!r}")


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter in "{}")


def _phrases(templates: Mapping[str, Sequence[Template]], signatures: Mapping[str, Signature]) -> Iterator[Phrase]:
    for name, several in templates.items():
        for template in several:
            for fill in FILLS:
                yield Phrase(template.filled(fill), name, signatures[name], template.text)


def _pairs(
    edges: Mapping[str, tuple[str, str, tuple[str, ...]]], signatures: Mapping[str, Signature]
) -> Iterator[Pair]:
    families = {
        "label": "named-region",
        "position": "current-region",
        "history": "history-dependent",
        "nearest": "nearest-candidate",
    }
    plain = signatures["inventory-only"]
    for edge, (semantic, selection, modifiers) in edges.items():
        adds = Signature(frozenset(semantic.split()), frozenset(selection.split()))
        true = signatures[families[edge]]
        if true != plain.union(adds):
            raise _refused(f"the modifier {edge} claims {_words(adds)}, and makes it {_words(true)}")
        for base in _BASES:
            for modifier in modifiers:
                yield Pair(base, f"{base} {modifier}", edge, adds)


def _words(signature: Signature) -> str:
    return f"({', '.join(sorted(signature.semantic))}; {', '.join(sorted(signature.selection))})"


def _refused(message: str) -> DataError:
    help = "see the MIND paper, Section V, for what a request benchmark must keep to"
    return DataError("requests-refused", message, where="requests", help=help)
