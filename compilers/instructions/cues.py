"""What the words of an instruction say about its dependencies, without a language model.

Cues are phrases, each of which occurs in a development template; the words that carry no dependency are those that
the development templates leave over once their cues are taken out. A word that is neither is not understood, and is
told: it may say anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from obviate.compilers.instructions.development import Template, sentences
from obviate.compilers.instructions.meaning import Meaning
from obviate.compilers.instructions.placements import INVENTORY
from obviate.compilers.instructions.words import Lexicon, Words
from obviate.kb.instruction import Signature

__all__ = ["CUES", "Cue", "Cues", "Reading"]


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase (a regular expression over `Words.text`) and what it says: `field` of a `Meaning` is `value`."""

    field: str
    value: bool
    phrase: str


def _cues(field: str, value: bool, phrases: str) -> Iterator[Cue]:
    return (Cue(field, value, rf"\b{phrase.strip()}(?!\w)") for phrase in phrases.strip().splitlines())


# The longer ones of a field first, and Adjacent before what it is made of: a phrase is taken out where it was found.
CUES: tuple[Cue, ...] = (
    *_cues("labelled", False, r"(?:but )?(?:leave|leaving) (?:\w+ ){1,3}<l> alone"),
    *_cues(
        "adjacent",
        True,
        r"""next door
        (?:adjoining) rooms?
        (?:one|a) doorway (?:away )?from (?:where you are|here)
        (?:shares?|sharing) a door with yours""",
    ),
    *_cues(
        "here",
        True,
        r"""(?:right )?here
        in the room where you are(?: standing)?
        without leaving(?: the room)?
        wherever you (?:happen to be|are)(?: \w+ that room)?""",
    ),
    *_cues("used", True, r"(?:go )?back to a room that you \w+(?: something)?(?: from)? earlier"),
    *_cues(
        "used",
        False,
        r"""another
        (?:one|some) more
        not (?:out of|from) a room that has already \w+
        (?:that )?(?:you )?(?:have|has) not (?:been )?\w+ed(?: yet| so far)?
        this time
        fresh room
        new room
        still left to do""",
    ),
    *_cues(
        "nearest",
        True,
        r"""(?:the )?nearest
        (?:the )?closest
        (?:the )?closer(?: it is)? the better
        (?:the )?fewest doors away
        (?:with )?as little walking as (?:possible|you can)
        (?:that is )?(?:the )?least far(?: off)?
        as near as (?:possible|you can)""",
    ),
)
# The categories that a cue's field makes qualification or choice read.
READS: Mapping[str, Signature] = MappingProxyType(
    {
        "labelled": Signature(frozenset({"label"}), frozenset()),
        "here": Signature(frozenset({"position"}), frozenset()),
        "adjacent": Signature(frozenset({"position", "topology"}), frozenset()),
        "used": Signature(frozenset({"history"}), frozenset()),
        "nearest": Signature(frozenset(), frozenset({"position", "topology"})),
    }
)
# Words that say nothing of where: articles, pronouns, forms of to be, what asks politely.
_WORDS = "a an the i me my us it is are be of to in on at with for and please can could would you <t> <l>"
_PLAIN = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Reading:
    """What the cues say of an instruction.

    `signature` is what the phrases that were found read, `hints` what single words of other cues may mean besides;
    `unknown` are the words that were not understood. `meaning` is None unless all were.
    """

    signature: Signature
    hints: Signature
    unknown: tuple[str, ...]
    meaning: Meaning | None
    found: tuple[str, ...] = ()

    @property
    def cautious(self) -> Signature:
        """The signature with the hints."""
        return self.signature.union(self.hints)


@dataclass(frozen=True)
class Cues:
    """A reader of instructions by cues, for the words of a `lexicon`.

    It knows the development templates but `without` one, as if that had never been written: a phrase that occurs
    nowhere else is unknown then. So what the rest is worth on a template not seen before can be told.
    """

    lexicon: Lexicon = field(default_factory=Lexicon)
    without: Template | None = None

    def read(self, text: str) -> Reading:
        """What the words of an instruction say."""
        words = self.lexicon.words(text)
        rest, found = self._found(words.text)
        signature = INVENTORY.union(*(READS[cue.field] for cue, _ in found))
        if words.labels:
            signature = signature.union(READS["labelled"])
        hints, unknown = INVENTORY, []
        for word in rest.split():
            if word not in self._neutral:
                unknown.append(word)
                hints = hints.union(*(READS[name] for name in self._hints.get(_stem(word), ())))
        meaning = None if unknown else _meaning(words, [cue for cue, _ in found])
        return Reading(signature, hints, tuple(unknown), meaning, tuple(phrase for _, phrase in found))

    @cached_property
    def cues(self) -> tuple[Cue, ...]:
        """The cues that occur in a development template other than the one left out."""
        return tuple(cue for cue in CUES if any(re.search(cue.phrase, text) for text in self._texts))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(self.lexicon.words(text).text for template, text in sentences() if template != self.without)

    @cached_property
    def _neutral(self) -> frozenset[str]:
        left = (word for text in self._texts for word in self._found(text)[0].split())
        return _PLAIN.union(left)

    @cached_property
    def _hints(self) -> Mapping[str, frozenset[str]]:
        """By the stem of a word that occurs in development templates within cues only: the fields of these cues."""
        hints: dict[str, set[str]] = {}
        for text in self._texts:
            for cue, phrase in self._found(text)[1]:
                for word in phrase.split():
                    if word not in self._neutral:
                        hints.setdefault(_stem(word), set()).add(cue.field)
        return {stem: frozenset(fields) for stem, fields in hints.items()}

    def _found(self, text: str) -> tuple[str, list[tuple[Cue, str]]]:
        """What is left of a text, and the cues that were taken out of it."""
        found = []
        for cue in self.cues:
            while match := re.search(cue.phrase, text):
                found.append((cue, match[0]))
                text = f"{text[: match.start()]} {text[match.end() :]}"
        return text, found


def _stem(word: str) -> str:
    """What is common to the forms of a word: near, nearer, nearest."""
    if len(word) > 4:
        word = re.sub(r"(?:est|er|ing|ed|s)$", "", word)
    return word.removesuffix("e")


def _meaning(words: Words, cues: Iterable[Cue]) -> Meaning | None:
    """The cues and things put together; None where two contradict each other, or nothing is asked for."""
    said: dict[str, bool] = {}
    for cue in cues:
        if said.setdefault(cue.field, cue.value) != cue.value:
            return None
    labelled = said.get("labelled", True)
    if not words.wants and not words.labels:
        return None
    return Meaning(
        words.wants,
        words.labels,
        unlabelled=not labelled,
        here=said.get("here"),
        used=said.get("used"),
        adjacent=said.get("adjacent"),
        nearest=said.get("nearest", False),
    )
