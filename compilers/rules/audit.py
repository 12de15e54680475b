"""The audit: rules that a gate doubts, with all that a person needs to decide on them, as a file.

The paper's compilation took two passes of a model and an hour of a person. This file is that hour: it is read back by
the next run, which puts what was accepted into the pack, as it was edited, and leaves out what was rejected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obviate.engine.description import describe
from obviate.engine.search import smallest
from obviate.engine.wording import belief_words
from obviate.kb import Pack, Vocabulary
from obviate.kb.errors import DataError, PackError
from obviate.kb.files import read_text
from obviate.kb.patch import path

__all__ = ["Entry", "dumped", "entry_pack", "read_audit", "told"]

_FORM = "an audit is written by obviate compile rules; change decision and rule only"


class Doubt(BaseModel):
    """What a gate doubts."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    gate: str
    reason: str
    stopped: bool = False


class Entry(BaseModel):
    """A rule to be decided on: its ASP, what it says in words, and the smallest scene in which it opens a record.

    `original` is the rule as it was compiled; one that was edited differs from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    principle: str
    decision: Literal["pending", "accept", "reject"] = "pending"
    doubts: tuple[Doubt, ...] = ()
    rule: str = ""
    original: str = ""
    helpers: tuple[str, ...] = ()
    words: dict[str, Any] = Field(default_factory=dict)
    scene: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


class _Audit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    about: str
    rules: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A rule in words, and its smallest scene."""

    words: dict[str, Any]
    scene: tuple[str, ...]


def told(pack: Pack, name: str, *, seconds: float = 5.0) -> Told:
    """What a person reads about a rule."""
    words = describe(pack, name).to_json()
    try:
        example = smallest(pack, name, seconds=seconds)
    except PackError:  # out of time
        return Told(words, ())
    if example is None:
        return Told(words, ())
    scene = [belief_words(atom, pack) for atom in example.beliefs]
    scene += [f"and the robot intends {example.intent}"] if example.intent is not None else []
    return Told(words, tuple(scene))


def entry_pack(entry: Entry, vocabulary: Vocabulary) -> Pack:
    """The rule of an entry as a pack, as it was edited. Raises `PackError` for what is wrong with it."""
    text = "\n".join([*entry.helpers, entry.rule])
    pack = Pack.of({f"{entry.name}.lp": text}, vocabulary=vocabulary, name=entry.name)
    if list(pack.rules) != [entry.name]:
        message = f"the entry {entry.name} holds {', '.join(pack.rules) or 'no rule'}"
        raise PackError(
            "audit-rule", message, where=entry.name, help="an entry holds the rule of its name, and no other"
        )
    return pack


def read_audit(file: Path) -> tuple[Entry, ...]:
    """The entries of an audit file; none if there is no file. Raises `DataError` (``file-malformed``)."""
    if not file.exists():
        return ()
    try:
        return _Audit.model_validate(json.loads(read_text(file))).rules
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{path(*first['loc']) or 'the file'}: {first['msg'].lower()}"
        raise DataError("file-malformed", message, where=str(file), help=_FORM) from None
    except (ValueError, RecursionError) as error:
        raise DataError("file-malformed", f"not JSON: {error}", where=str(file), help=_FORM) from None


def dumped(entries: Iterable[Entry]) -> str:
    """The text of an audit file."""
    about = "Set decision to accept or reject, and run the same command again. A rule may be edited before."
    return (
        json.dumps(
            {"about": about, "rules": [entry.model_dump(mode="json") for entry in entries]},
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
    )
