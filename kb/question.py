"""What a semantic evaluator is asked: one line for each category that the instruction reads (MIND paper, Section V)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from obviate.kb.regions import CATEGORIES, Regions

__all__ = ["Question"]

Field = tuple[tuple[str, int], ...] | tuple[str, ...] | str | bool


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a region satisfies an instruction, given `fields`: the category and its value as the region shows it.

    The region itself is not named: two regions that show the same are the same question. Contents are a multiset of
    types, the label is a name, position and history are yes or no. The topology is the region's passable neighbours;
    where the position is read too, whether the robot's own region is one of them.
    """

    instruction: str
    fields: tuple[tuple[str, Field], ...]

    @classmethod
    def of(cls, instruction: str, state: Regions, region: str, categories: Collection[str]) -> Question:
        """The question about `region` for an evaluator that is told `categories`."""
        known = [category for category in CATEGORIES if category in categories]
        return cls(instruction, tuple((category, _value(category, state, region, categories)) for category in known))

    def prompt(self) -> str:
        """The question as text: the instruction, and a line for each field."""
        lines = [f"{category}: {_words(value)}" for category, value in self.fields]
        return "\n".join([f"Does a region like this satisfy: {self.instruction}?", *lines])


def _value(category: str, state: Regions, region: str, categories: Collection[str]) -> Field:
    match category:
        case "inventory":
            return tuple(sorted(state.inventories[region].items()))
        case "label":
            return state.labels[region]
        case "position":
            return state.at == region
        case "history":
            return region in state.used
    neighbours = (other for other, door in state.doors[region].items() if door.passable)
    return state.at in neighbours if "position" in categories else tuple(sorted(neighbours))


def _words(value: Field) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    parts = (part if isinstance(part, str) else f"{part[1]} {part[0]}" for part in value)
    return ", ".join(parts) or "nothing"
