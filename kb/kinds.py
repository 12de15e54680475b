"""Kinds of objects: what an object of a kind is (tags, for safety) and can do (abilities, for acting).

A kind is a WordNet synset such as ``plate.n.04``, or its first part where that is unambiguous (``plate``). Tags
are a table, `tables/tags.lp`; abilities come from the BDDL taxonomy, `tables/abilities.json` or a file of that
form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from obviate.kb import asp
from obviate.kb.errors import DataError, nearest
from obviate.kb.files import read_text
from obviate.kb.patch import path
from obviate.kb.terms import Atom, Fun
from obviate.kb.vocabulary import Vocabulary

__all__ = ["Kinds", "Tagging"]

_TAG_TABLE = [("kind_tag", 2, True), ("kind", 1, True), ("word_tag", 2, True), ("word", 1, True)]
_TABLES = Path(__file__).parent / "tables"
_SHALLOW = {"plate", "tray", "frying_pan", "griddle"}  # nothing put on them is also inside
_WASHERS = {"washer", "dishwasher"}
# What an ability says about a kind that no table names, unless one of the abilities after it speaks against it.
_IMPLIED: Mapping[str, tuple[str, frozenset[str]]] = {
    "cookable": ("safety_food", frozenset({"fillable"})),
    "heatSource": ("function_heat_source", frozenset()),
    "coldSource": ("appliance_refrigerator", frozenset()),
    "particleSource": ("function_water_source", frozenset()),
    "particleRemover": ("function_cleaning_tool", frozenset({"sceneObject", "heatSource"})),
    "fillable": ("function_container", frozenset({"toggleable"})),
    "toggleable": ("function_electrical_appliance", frozenset({"particleSource", "particleApplier"})),
    "breakable": ("safety_fragile", frozenset({"toggleable", "sceneObject"})),
    "cloth": ("safety_flammable", frozenset({"cookable"})),
    "liquid": ("substance", frozenset()),
    "substance": ("substance", frozenset()),
    "visualSubstance": ("soil", frozenset()),
}
_CONTENT_TAGS = frozenset({"safety_food", "safety_chemical", "safety_flammable", "perishable"})

Parameters = Mapping[str, Any]


class _Conditions(BaseModel):
    """The parameters that we read: what a source or remover of particles needs."""

    model_config = ConfigDict(extra="allow")
    conditions: dict[str, list[tuple[str, Any]] | None] = Field(default_factory=dict)


_ABILITIES: TypeAdapter[dict[str, dict[str, _Conditions]]] = TypeAdapter(dict[str, dict[str, _Conditions]])


@dataclass(frozen=True, slots=True)
class Tagging:
    """The tags of a kind. `source` is ``table``, ``inferred`` (from abilities or contents) or ``unknown``."""

    tags: frozenset[str]
    source: str


@dataclass(frozen=True)
class Kinds:
    """The tables. `tags` is by kind or by word, and may be empty for a known kind; `abilities` maps a kind to
    named parameters.
    """

    tags: Mapping[str, frozenset[str]]
    abilities: Mapping[str, Mapping[str, Parameters]]
    vocabulary: Vocabulary

    @classmethod
    def load(cls, vocabulary: Vocabulary, *, tags: Path | str = "", abilities: Path | str = "") -> Kinds:
        """Read a tag table and an ability file; without paths, those that ship with Obviate.

        A kind missing from a given ability file keeps the shipped entry. Raises `DataError` or `PackError`.
        """
        shipped = _read_abilities(_TABLES / "abilities.json")
        given = _read_abilities(Path(abilities)) if abilities else {}
        file = Path(tags) if tags else _TABLES / "tags.lp"
        text = read_text(file)
        for rule in asp.parse(text, str(file)).rules:
            if rule.head is None or rule.head.signature not in _TAG_TABLE:
                names = [name for name, _, _ in _TAG_TABLE]
                raise DataError(
                    "file-malformed",
                    f"{rule.text} tags nothing",
                    where=rule.span,
                    help=nearest(rule.head.name if rule.head else "", names),
                )
        found: dict[str, set[str]] = {}
        for atom in asp.evaluate([text], (), _TAG_TABLE):
            named = found.setdefault(str(atom.args[0]), set())
            if len(atom.args) > 1:
                tag = str(atom.args[1])
                vocabulary.require("tag", tag, str(file))
                named.add(tag)
        return cls({kind: frozenset(t) for kind, t in found.items()}, {**shipped, **given}, vocabulary)

    def resolve(self, name: str, where: str = "") -> str:
        """The kind that `name` means. Raises `DataError` (``unknown-kind``) with what is near."""
        known = sorted(self.tags.keys() | self.abilities.keys())
        if "." in name and name in known:
            return name
        found = [kind for kind in known if lemma(kind) == name and kind != name]
        if not found and name in known:  # a word of the tag table
            return name
        if len(found) != 1:
            several = f"it could be {' or '.join(found)}" if found else nearest(name, map(lemma, known))
            raise DataError("unknown-kind", f"no kind of object is called {name!r}", where=where, help=several)
        return found[0]

    def tagging(self, kind: str) -> Tagging:
        """The tags of a kind: from the tables, else what its abilities or contents imply, which is reported."""
        for name in (kind, lemma(kind)):
            if name in self.tags:
                return Tagging(self.tags[name], "table")
        able = self.abilities.get(kind, {}).keys()
        implied = {tag for ability, (tag, against) in _IMPLIED.items() if ability in able and not against & able}
        if implied & {"substance", "soil"}:
            implied = {"substance"} | (implied & {"soil"})
        elif "function_cleaning_tool" in implied and "toggleable" not in able:
            implied.add("safety_flammable")
        if {"openable", "sceneObject"} <= able and not implied:
            implied.add("function_storage")
        contents = self._contents(kind)
        if "safety_chemical" in contents:  # dispensers of chemicals are plastic, whatever the taxonomy says
            implied.discard("safety_fragile")
        implied |= contents
        return Tagging(frozenset(implied), "inferred" if implied else "unknown")

    def _contents(self, kind: str) -> frozenset[str]:
        """``bottle__of__bleach`` is as chemical as bleach; ``bleach__bottle`` is, and would burn besides."""
        parts = lemma(kind).split("__")
        if len(parts) == 3 and parts[1] == "of":
            return self._word(parts[2]) & _CONTENT_TAGS
        if len(parts) == 2 and "safety_chemical" in self._word(parts[0]):
            return frozenset({"safety_chemical", "safety_flammable", "function_container"})
        return frozenset()

    def _word(self, word: str) -> frozenset[str]:
        alike = (tags for kind, tags in self.tags.items() if lemma(kind) == word)
        return frozenset().union(*alike)

    def can(self, kind: str, ability: str) -> bool:
        """Whether objects of the kind have an ability such as ``openable``."""
        return ability in self.abilities.get(kind, {})

    def is_substance(self, kind: str) -> bool:
        """Whether the kind is a substance (liquid, grain or stain) rather than a thing."""
        return any(
            self.can(kind, a) for a in ("liquid", "substance", "visualSubstance")
        ) or "substance" in self.tags.get(kind, ())

    def systems(self, kind: str) -> list[str]:
        """The kinds of substance that a source of this kind produces."""
        source = self.abilities.get(kind, {}).get("particleSource", {})
        return sorted(source.get("conditions", {}))

    def facts(self, objects: Mapping[str, str]) -> Iterator[Atom]:
        """What the action theory needs to know about objects given as id to kind, in declared order."""
        substances = {name: kind for name, kind in objects.items() if self.is_substance(kind)}
        for order, (name, kind) in enumerate(objects.items()):
            yield Atom("order", (name, order))
            yield Atom("of_kind", (name, kind))
            for ability in self.abilities.get(kind, {}):
                yield Atom("ability", (name, Fun(ability)))
            if name in substances:
                yield Atom("substance", (name,))
                if kind in self.vocabulary.appearances:
                    yield Atom("shows_as", (name, Fun(self.vocabulary.appearances[kind])))
            if lemma(kind) in _WASHERS:
                yield Atom("washer", (name,))
            if self.can(kind, "fillable") and not self.can(kind, "openable") and lemma(kind) not in _SHALLOW:
                yield Atom("deep", (name,))
            yield from self._heating(name, kind)
            yield from self._products(name, kind, objects)
            yield from self._particles(name, kind, substances)

    def _heating(self, name: str, kind: str) -> Iterator[Atom]:
        for ability in ("heatSource", "coldSource"):
            parameters = self.abilities.get(kind, {}).get(ability)
            if parameters is not None:
                yield Atom("heats", (name, Fun("inside" if parameters.get("requires_inside") else "above")))

    def _products(self, name: str, kind: str, objects: Mapping[str, str]) -> Iterator[Atom]:
        for predicate, ability, key in (
            ("cooks_to", "cookable", "substance_cooking_derivative_synset"),
            ("cuts_to", "sliceable", "sliceable_derivative_synset"),
        ):
            product = self.abilities.get(kind, {}).get(ability, {}).get(key)
            yield from (Atom(predicate, (name, other)) for other, k in objects.items() if product and k == product)

    def _particles(self, name: str, kind: str, substances: Mapping[str, str]) -> Iterator[Atom]:
        for system in self.systems(kind):
            yield from (Atom("source", (name, other)) for other, k in substances.items() if k == system)
        remover = self.abilities.get(kind, {}).get("particleRemover")
        if remover is None:
            return
        for other, system in substances.items():
            conditions = remover.get("conditions", {}).get(system, remover.get(self._default(system)))
            if conditions is None:
                continue
            yield Atom("removes", (name, other, Fun("always")) if not conditions else (name, other, Fun("if")))
            for condition in conditions:
                if condition[0] == "saturated":
                    yield Atom("removes_if", (name, other, Fun("saturated"), str(condition[1])))
                elif condition[0] == "toggled_on":
                    yield Atom("removes_if", (name, other, Fun("toggled_on"), ""))

    def _default(self, system: str) -> str:
        if self.can(system, "visualSubstance"):
            return "default_visual_conditions"
        return "default_fluid_conditions" if self.can(system, "liquid") else "default_non_fluid_conditions"


def lemma(kind: str) -> str:
    """The word of a synset: ``plate`` of ``plate.n.04``."""
    return kind.split(".", 1)[0]


def _read_abilities(file: Path) -> dict[str, dict[str, Parameters]]:
    try:
        data = json.loads(read_text(file))
        _ABILITIES.validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{path(*first['loc']) or 'the file'}: {first['msg'].lower()}"
        raise DataError("file-malformed", message, where=str(file), help="see tables/abilities.json") from None
    except (ValueError, RecursionError) as error:
        raise DataError(
            "file-malformed", f"not JSON: {error}", where=str(file), help="see tables/abilities.json"
        ) from None
    return dict(data)
