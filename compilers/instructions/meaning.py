"""What an instruction asks for, as far as it can be computed; and that as an instruction program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from obviate.compilers.spec import closed
from obviate.kb.instruction import Signature
from obviate.kb.regions import CATEGORIES

__all__ = ["Meaning", "Want", "depends", "header", "name_of", "schema"]

MOST = 9  # things of a type that the schema of a model's answer counts to
_THREE = {"any": None, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Want:
    """At least `least` objects of these types together in the room; fewer, if `negated`."""

    types: tuple[str, ...]
    least: int = 1
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Meaning:
    """A conjunction of what a region must be, and whether the nearest one is meant.

    `labels` are alternatives, which `unlabelled` excludes. `here` (the robot is there), `used` (it served before) and
    `adjacent` (one passable doorway from the robot) are true, false, or None where nothing is said.
    """

    wants: tuple[Want, ...] = ()
    labels: tuple[str, ...] = ()
    unlabelled: bool = False
    here: bool | None = None
    used: bool | None = None
    adjacent: bool | None = None
    nearest: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Meaning | None:
        """From an answer within `schema`; None if that says it is unclear, or asks for nothing."""
        label = data["label"]
        wants = tuple(Want(tuple(dict.fromkeys(w["types"])), w["least"], w["negated"]) for w in data["wants"])
        found = cls(
            wants,
            tuple(dict.fromkeys(data["labels"])) if label != "any" else (),
            label == "is_not",
            _THREE[data["here"]],
            _THREE[data["used"]],
            _THREE[data["adjacent"]],
            data["nearest"],
        )
        said = wants or found.labels or any(one is not None for one in (found.here, found.used, found.adjacent))
        return None if data["unclear"] or not said else found

    def rules(self, name: str) -> str:
        """The rules of the instruction `name`: ``qualifies``, ``prefer``, and helpers that begin with its name."""
        body: list[str] = []
        helpers: list[str] = []
        for number, want in enumerate(self.wants, start=1):
            body.append(self._want(name, number, want, helpers))
        if self.labels and not self.unlabelled:
            pool = self.labels[0] if len(self.labels) == 1 else f"({'; '.join(self.labels)})"
            body.append(f"label(R, {pool})")
        elif self.labels:
            body.append(", ".join(["label(R, L)", *(f"L != {label}" for label in self.labels)]))
        for atom, wanted in (("at(R)", self.here), ("used(R)", self.used)):
            if wanted is not None:
                body.append(atom if wanted else f"not {atom}")
        if self.adjacent is not None:
            joined = "at(C), door(C, R)"
            if self.adjacent:
                body.append(joined)
            else:
                helpers.append(f"{name}_beside(R) :- {joined}.")
                body.append(f"not {name}_beside(R)")
        if all(part.startswith("not ") for part in body):
            body.insert(0, "label(R, _)")  # every region has one
        body.sort(key=lambda part: part.startswith("not "))
        rules = [*helpers, f"qualifies({name}, R) :- {', '.join(body)}."]
        if self.nearest:
            rules.append(f"prefer({name}, R, D) :- hops(R, D).")
        return "\n".join(rules) + "\n"

    def _want(self, name: str, number: int, want: Want, helpers: list[str]) -> str:
        """The literal of one want; what it needs beside it is added to the helpers."""
        if len(want.types) == 1:
            count = "_" if want.least == 1 else f"N{number}"
            has = f"inventory(R, {want.types[0]}, {count})"
            has += "" if want.least == 1 else f", N{number} >= {want.least}"
        else:
            type = f"{name}_type{number}"
            helpers.append(f"{type}({'; '.join(want.types)}).")
            has = f"inventory(R, T{number}, _), {type}(T{number})"
            if want.least > 1:
                sum = f"#sum {{ N,T : inventory(R, T, N), {type}(T) }}"
                has += f", {want.least} <= {sum}"
        if not want.negated:
            return has
        helpers.append(f"{name}_has{number}(R) :- {has}.")
        return f"not {name}_has{number}(R)"


def header(name: str, says: str) -> str:
    """The facts that every instruction begins with."""
    shown = "".join(letter if letter.isprintable() else " " for letter in says)
    told = re.sub(r"\s+", " ", shown).strip().replace("\\", "\\\\").replace('"', '\\"')
    return f'instruction({name}).\nsays({name}, "{told}").\n'


def depends(name: str, signature: Signature) -> str:
    """The facts that declare a signature."""
    return "".join(
        f"depends({name}, {stage}, {_pool(categories)}).\n"
        for stage, categories in (("semantic", signature.semantic), ("selection", signature.selection))
        if categories
    )


def name_of(text: str) -> str:
    """A name for an instruction: its first words as a constant."""
    words = re.findall(r"[a-z0-9]+", text.lower().replace("'", ""))
    name = "_".join(words[:6])[:48].strip("_")
    return name if re.match(r"[a-z]", name) and name != "not" else f"i_{name}".strip("_")


def schema(types: Iterable[str], labels: Iterable[str]) -> dict[str, Any]:
    """The JSON schema of a meaning, closed over the types and labels of a building."""
    three = {"enum": list(_THREE)}
    want = closed(
        types={"type": "array", "items": {"enum": sorted(types)}, "minItems": 1, "maxItems": 6},
        least={"type": "integer", "minimum": 1, "maximum": MOST},
        negated={"type": "boolean"},
    )
    return closed(
        wants={"type": "array", "items": want, "maxItems": 3},
        label={"enum": ["any", "is", "is_not"]},
        labels={"type": "array", "items": {"enum": sorted(labels)}, "maxItems": 3},
        here=three,
        used=three,
        adjacent=three,
        nearest={"type": "boolean"},
        unclear={"type": "boolean"},
    )


def _pool(categories: Iterable[str]) -> str:
    chosen: Iterator[str] = (category for category in CATEGORIES if category in set(categories))
    parts = list(chosen)
    return parts[0] if len(parts) == 1 else f"({'; '.join(parts)})"
