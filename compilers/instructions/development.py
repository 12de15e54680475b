"""The templates on which everything about the compiler of instructions was chosen.

The request benchmark has 36 templates, written in one batch before any rule, description or offset; two of each six
were drawn with a seed and held out (`obviate.adapters.mind.requests`). This package holds the others and cannot
import those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["DEVELOPMENT", "FILLS", "Template", "sentences"]

# What a template is filled with: a thing, two of it, and a room.
FILLS = (
    ("chair", "chairs", "kitchen"),
    ("plant", "plants", "bedroom"),
    ("box", "boxes", "living room"),
    ("pillow", "pillows", "bathroom"),
    ("mug", "mugs", "office"),
    ("lamp", "lamps", "hall"),
)


@dataclass(frozen=True, slots=True)
class Template:
    """A phrasing of a placement, with ``{thing}``, ``{things}`` and ``{room}`` left open."""

    placement: str
    text: str

    def filled(self, fill: tuple[str, str, str]) -> str:
        """The sentence for one of `FILLS`."""
        thing, things, room = fill
        return self.text.format(thing=thing, things=things, room=room)


DEVELOPMENT: Mapping[str, tuple[Template, ...]] = MappingProxyType(
    {
        placement: tuple(Template(placement, text) for text in texts)
        for placement, texts in {
            "inventory-only": (
                "I could use a {thing}, any of them will do",
                "Make your way to wherever a {thing} can be found",
                "Find us a place with a {thing} in it",
                "The dust on a {thing} has to be wiped off",
            ),
            "named-region": (
                "Fetch the {thing} from the {room}",
                "There ought to be a {thing} in some {room}; pick it up",
                "Only a {thing} that stands in a {room} will do",
                "Get me a {thing}, but leave those in the {room} alone",
            ),
            "current-region": (
                "Is there a {thing} right here? Then take it",
                "Use a {thing} in the room where you are standing",
                "Without leaving the room, find a {thing}",
                "Wherever you happen to be, check that room for a {thing}",
            ),
            "history-dependent": (
                "Bring me another {thing}, from a room you have not used yet",
                "Get one more {thing}, though not out of a room that has already served",
                "This time take a {thing} from a fresh room",
                "Go back to a room that you took something from earlier and get a {thing}",
            ),
            "nearest-candidate": (
                "Bring me the nearest {thing}",
                "Go to whichever {thing} is the fewest doors away",
                "I need a {thing}, and the closer it is the better",
                "Get a {thing} with as little walking as possible",
            ),
            "nearest+history": (
                "Bring me the nearest {thing} from a room you have not used yet",
                "Find the closest {thing} in a room that has not been visited so far",
                "Of the rooms still left to do, go to the one with a {thing} that is the least far off",
                "Take a new room with a {thing}, as near as you can",
            ),
            # Not one of the six: no template of it is held out.
            "adjacent": (
                "Get a {thing} from a room next door",
                "Bring the {thing} that is in an adjoining room",
                "One doorway from where you are there should be a {thing}",
                "Try the rooms that share a door with yours for a {thing}",
            ),
        }.items()
    }
)


def sentences(fill: tuple[str, str, str] = FILLS[0]) -> Iterator[tuple[Template, str]]:
    """Every development template, filled."""
    for templates in DEVELOPMENT.values():
        for template in templates:
            yield template, template.filled(fill)
