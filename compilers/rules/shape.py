"""The form of a rule that a model fills in: the paper's ⟨mode, φ, ψ, V⟩ as data, with letters for objects.

A sentence of this form can say nothing but conditions on declared names, so that every one becomes a rule that loads
(`settling` tells what becomes of the ones that contradict themselves). The words of a condition:

- a clause is a list of things, one for each object that it speaks of; all conditions of all of them hold
- `tags` and `states` are lists of alternatives: one of each list holds; `not_states` are not believed, `seen_not` were
  seen to be false
- `at` relates an object to another one; `lacks` says that there is no such other one, with one of these tags
- X, Y and Z are the objects of the hazard, U and V others that only a threat or a target speaks of
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.compilers.spec import read_json
from obviate.kb import Vocabulary
from obviate.kb.errors import DecodeError
from obviate.kb.patch import path

__all__ = [
    "BOUND",
    "EXTRA",
    "Clause",
    "Lack",
    "Measure",
    "Place",
    "Shape",
    "Thing",
    "Threat",
    "Words",
    "derived",
    "read_shape",
    "said",
]

BOUND = ("X", "Y", "Z")  # the objects of a hazard
EXTRA = ("U", "V")  # others, of a threat or a target
Mode = Literal["situational", "temporal"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Part):
    """Being in one of the `relations` to the object `of`."""

    relations: tuple[str, ...] = Field(min_length=1)
    of: str


class Lack(_Part):
    """Being in the `relation` to no object with one of the `tags`; to none at all if there are no tags."""

    relation: str
    tags: tuple[str, ...] = ()


class Measure(_Part):
    """A quantity above or below a number."""

    quantity: str
    side: Literal["above", "below"]
    number: int


class Thing(_Part):
    """What a clause says of one object."""

    object: str
    tags: tuple[tuple[str, ...], ...] = ()
    states: tuple[tuple[str, ...], ...] = ()
    not_tags: tuple[str, ...] = ()
    not_states: tuple[str, ...] = ()
    seen_not: tuple[str, ...] = ()
    moved: bool = False
    at: tuple[Place, ...] = ()
    lacks: tuple[Lack, ...] = ()
    measures: tuple[Measure, ...] = ()


Clause = tuple[Thing, ...]


class Threat(_Part):
    """The intent to do one of the `skills` with these objects, ``_`` where it does not matter with which.

    `given` says what else must be so.
    """

    skills: tuple[str, ...] = Field(min_length=1)
    args: tuple[str, ...] = ()
    given: Clause = ()


class Shape(_Part):
    """A rule: it is about the objects `about`, and dangerous where one of the hazard's clauses holds.

    Without a target, the hazard has to be over. `deadline` is ``default``, ``before_done`` or a number of actions.
    """

    mode: Mode
    about: tuple[str, ...] = Field(min_length=1)
    different: bool = False
    hazard: tuple[Clause, ...] = Field(min_length=1)
    threats: tuple[Threat, ...] = ()
    target: tuple[Clause, ...] = ()
    deadline: Literal["default", "before_done"] | int = "default"
    advisory: bool = False

    def clauses(self) -> Iterator[Clause]:
        """Every list of conditions in it."""
        yield from self.hazard
        yield from (threat.given for threat in self.threats)
        yield from self.target


@dataclass(frozen=True)
class Words:
    """The names that a form may use: all of a vocabulary, or those that a principle was found to speak of.

    `relations` are declared ones and, where the vocabulary has supports, ``within`` and ``above``: inside or on
    something, at whatever depth. In `lacks`, a relation with ``_it`` is read the other way round.
    """

    tags: tuple[str, ...]
    states: tuple[str, ...]
    relations: tuple[str, ...]
    skills: Mapping[str, int]
    quantities: tuple[str, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Words:
        """Every name that a vocabulary declares, but `done`, which ends an episode."""
        skills = {name: vocabulary.skills[name] for name in sorted(vocabulary.skills) if name != "done"}
        return cls(
            tags=tuple(sorted(vocabulary.tags)),
            states=tuple(sorted(vocabulary.states)),
            relations=(*sorted(vocabulary.relations), *derived(vocabulary)),
            skills=skills,
            quantities=tuple(sorted(vocabulary.quantities)),
        )

    @property
    def reversible(self) -> tuple[str, ...]:
        """The relations of a `Lack`."""
        return (*self.relations, *(f"{name}_it" for name in self.relations))


def derived(vocabulary: Vocabulary) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """The relations that follow from others: what they begin with, and go on with, at whatever depth."""
    supports = tuple(sorted(vocabulary.supports))
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    if supports and "within" not in vocabulary.relations and "inside" in vocabulary.relations:
        found["within"] = ("inside", supports)
    if supports and "above" not in vocabulary.relations:
        found["above"] = ("", supports)
    return found


def said(thing: Thing) -> list[object]:
    """The conditions of a thing."""
    lists = (thing.tags, thing.states, thing.not_tags, thing.not_states, thing.seen_not, thing.at, thing.lacks)
    return [*(item for each in lists for item in each), *thing.measures, *([True] if thing.moved else [])]


def read_shape(text: str, vocabulary: Vocabulary) -> Shape:
    """The form in a JSON text from outside; every name in it is declared.

    Raises `DecodeError` (``answer-malformed``, ``answer-truncated``, ``form-malformed``).
    """
    data = read_json(text)
    try:
        shape = Shape.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise _malformed(first["msg"], path(*first["loc"])) from None
    for problem in _undeclared(shape, vocabulary):
        raise problem
    return shape


def _malformed(message: str, where: str) -> DecodeError:
    help = "the form of a rule is described in docs/compiling.md"
    return DecodeError("form-malformed", f"this is no rule: {message}", where=where, help=help)


def _undeclared(shape: Shape, vocabulary: Vocabulary) -> Iterator[DecodeError]:
    """Names that no vocabulary declares, letters that stand for nothing, and what no schema would allow."""
    words = Words.of(vocabulary)
    for where, names, known in _named(shape, words):
        for name in names:
            if name not in known:
                yield _malformed(f"{name!r} is not declared here", where)
    for threat in shape.threats:
        for skill in threat.skills:
            if words.skills[skill] != len(threat.args):
                yield _malformed(f"{skill} takes {words.skills[skill]} arguments, not {len(threat.args)}", "args")
    things = [thing for clause in shape.clauses() for thing in clause]
    wrong = {
        "a list of alternatives is empty": not all(all((*thing.tags, *thing.states)) for thing in things),
        "a number is over a million": any(abs(m.number) > 10**6 for thing in things for m in thing.measures),
        "a situational rule needs a threat": shape.mode == "situational" and not shape.threats,
        "a temporal rule has no threat": shape.mode == "temporal" and bool(shape.threats),
        "a deadline is 0 to 1,000 actions": isinstance(shape.deadline, int) and not 0 <= shape.deadline <= 1_000,
    }
    yield from (_malformed(message, "") for message, is_so in wrong.items() if is_so)


def _named(shape: Shape, words: Words) -> Iterator[tuple[str, Sequence[str], Collection[str]]]:
    """The names in a form: where they stand, and which would do there."""
    letters = (*BOUND, *EXTRA)
    yield "about", shape.about, BOUND
    for thing in (thing for clause in shape.clauses() for thing in clause):
        yield "object", [thing.object], letters
        yield "tags", [*(name for group in thing.tags for name in group), *thing.not_tags], words.tags
        yield "states", [*(name for group in thing.states for name in group)], words.states
        yield "states", [*thing.not_states, *thing.seen_not], words.states
        yield "of", [place.of for place in thing.at], letters
        yield "relations", [name for place in thing.at for name in place.relations], words.relations
        yield "relation", [lack.relation for lack in thing.lacks], words.reversible
        yield "tags", [name for lack in thing.lacks for name in lack.tags], words.tags
        yield "quantity", [measure.quantity for measure in thing.measures], words.quantities
    hazardous = [thing.object for clause in shape.hazard for thing in clause]
    yield "object", [*hazardous, *(p.of for c in shape.hazard for thing in c for p in thing.at)], BOUND
    for threat in shape.threats:
        yield "skills", threat.skills, words.skills
        yield "args", threat.args, (*letters, "_")
