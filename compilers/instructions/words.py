"""The words of an instruction: things and rooms by the names that the building has for them, and counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from obviate.compilers.instructions.meaning import Want

__all__ = ["LABELS", "SEVERAL", "SYNONYMS", "TYPES", "Lexicon", "Words"]

# Object types of ProcTHOR and AI2-THOR houses that people ask for.
_TYPES = """
    alarm_clock apple arm_chair baseball_bat basket_ball bathtub bed book boots bottle bowl box bread bucket candle cart
    cell_phone chair clothes_dryer coffee_machine coffee_table counter_top cup desk desk_lamp dining_table dog_bed
    dresser egg faucet floor_lamp fork fridge garbage_bag garbage_can house_plant kettle knife laptop laundry_hamper
    lettuce microwave mirror mug newspaper ottoman painting pan pen pencil pillow plate plunger pot potato
    remote_control room_decor safe shelving_unit side_table sink soap_bar sofa spatula spoon stool television toaster
    toilet tomato towel tv_stand vacuum_cleaner vase washing_machine watch watering_can window wine_bottle
"""
_LABELS = "attic bathroom bedroom cellar dining_room garage hall kitchen laundry living_room office"
TYPES = frozenset(_TYPES.split())
LABELS = frozenset(_LABELS.split())
# What else types are called. A word may stand for several.
SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bin": ("garbage_can",),
        "chair": ("arm_chair", "chair"),
        "couch": ("sofa",),
        "lamp": ("desk_lamp", "floor_lamp"),
        "phone": ("cell_phone",),
        "picture": ("painting",),
        "plant": ("house_plant",),
        "refrigerator": ("fridge",),
        "screen": ("laptop", "television"),
        "seat": ("arm_chair", "chair", "sofa", "stool"),
        "shelf": ("shelving_unit",),
        "table": ("coffee_table", "desk", "dining_table", "side_table"),
        "tv": ("television",),
    }
)
_ONE_TO_TEN = "one two three four five six seven eight nine ten"
NUMBERS = {word: n for n, word in enumerate(_ONE_TO_TEN.split(), start=1)}
SEVERAL = "<?>"
_IRREGULAR = {"shelves": "shelf", "knives": "knife"}


@dataclass(frozen=True, slots=True)
class Words:
    """An instruction in lower case without punctuation. In `text`, ``<t>`` stands for a thing, ``<l>`` for a label, and
    ``<?>`` for one of which it cannot be told how it belongs to the others.
    """

    text: str
    wants: tuple[Want, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """The object `types` and room `labels` of a building as words."""

    types: frozenset[str] = TYPES
    labels: frozenset[str] = LABELS
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: SYNONYMS)

    @cached_property
    def things(self) -> Mapping[str, tuple[str, ...]]:
        """The types that a word stands for, of those that the building may have."""
        words = {type.replace("_", " "): (type,) for type in self.types}
        meant = {word: tuple(type for type in types if type in self.types) for word, types in self.synonyms.items()}
        return words | {word: types for word, types in meant.items() if types}

    def words(self, text: str) -> Words:
        """An instruction with its things and rooms told apart."""
        told = re.sub(r"n[’']t\b", " not", text.lower()).replace("cannot", "can not")
        told = re.sub(r"[’']ve\b", " have", told)
        tokens = re.findall(r"[^\W_]+", told)
        found = _Found([], [], [])
        while tokens:
            for size in (3, 2, 1):
                phrase = _singular(" ".join(tokens[:size]))
                if len(tokens) >= size and (phrase in self.rooms or phrase in self.things):
                    break
            else:
                found.shown.append(tokens.pop(0))
                continue
            del tokens[:size]
            if phrase in self.rooms:
                found.room(self.rooms[phrase])
            else:
                found.thing(self.things[phrase])
        return Words(" ".join(found.shown), tuple(found.wants), tuple(dict.fromkeys(found.labels)))

    @cached_property
    def rooms(self) -> Mapping[str, str]:
        """The label that a word stands for."""
        return {label.replace("_", " "): label for label in self.labels}


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read so far."""

    shown: list[str]
    wants: list[Want]
    labels: list[str]

    def room(self, label: str) -> None:
        """A room by its label; a further one only as an alternative, and none as the end of a way."""
        joined = self._joined("<l>")
        self.labels.append(label)
        moved = len(self.shown) > 2 and "to" in self.shown[-2:] and "<t>" in self.shown
        self.shown.append("<l>" if joined == "or" or (len(self.labels) == 1 and not moved) else SEVERAL)

    def thing(self, types: tuple[str, ...]) -> None:
        """A thing, its number, and whether it must not be there; a further one only after "and", "or" or "without"."""
        least, negated = 1, False
        if self.shown and (self.shown[-1] in NUMBERS or self.shown[-1].isdecimal()):
            word = self.shown.pop()
            least = NUMBERS.get(word) or max(1, min(1_000_000, int(word)))
        for phrase in (["no"], ["without"], ["without", "a"], ["without", "an"], ["without", "any"]):
            if self.shown[-len(phrase) :] == phrase:
                del self.shown[-len(phrase) :]
                negated = True
        joined = self._joined("<t>") or ("and" if negated else "")
        want = Want(tuple(sorted(types)), least, negated)
        last = self.wants[-1] if self.wants else None
        if joined == "or" and last and (last.least, last.negated, least, negated) == (1, False, 1, False):
            self.wants[-1] = Want(tuple(sorted({*last.types, *types})))
        elif last is None or joined == "and":
            self.wants.append(want)
        else:
            self.shown.append(SEVERAL)
            return
        self.shown.append("<t>")

    def _joined(self, what: str) -> str:
        """Takes out the "and" or "or" between the last thing or room and the one that comes, and returns it."""
        article = self.shown[-1:] if self.shown[-1:] and self.shown[-1] in ("a", "an", "the", "some") else []
        rest = self.shown[: len(self.shown) - len(article)]
        if len(rest) > 1 and rest[-2] == what and rest[-1] in ("and", "or"):
            del self.shown[len(rest) - 1 :]
            return rest[-1]
        return ""


def _singular(phrase: str) -> str:
    head, _, last = phrase.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith(("xes", "ches", "shes", "sses", "toes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith("ss") and phrase != "boots":
        last = last[:-1]
    return f"{head} {last}".strip()
