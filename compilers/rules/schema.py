"""JSON schemas for the form of a rule, from the names that may stand in it.

They use only what every backend follows: closed objects whose properties are all required, bounded arrays, names as
enums, `anyOf`. One schema for the whole form, and one for each stage of the compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obviate.compilers.rules.shape import BOUND, EXTRA, Words
from obviate.compilers.spec import closed

__all__ = ["concepts", "grounding", "intents", "rule", "verification"]

Schema = dict[str, Any]

_CLAUSES = 2
_THREATS = 4
_GROUPS = 2
_WORDS = 4
_PLACES = 2
_LONGEST = 20  # actions, of a deadline


def rule(words: Words) -> Schema:
    """The whole form."""
    shared = {"about": _about(), "different": _flag(), "hazard": _clauses("hazard_clause", least=1)}
    rest = {"target": _clauses("other_clause"), "deadline": _deadline(), "advisory": _flag()}
    temporal = closed(**{"mode": _enum(["temporal"]), **shared, **rest})
    kinds = [temporal]
    if words.skills:
        threats = {"threats": _array({"$ref": "#/$defs/threat"}, 1, _THREATS)}
        kinds.insert(0, closed(**{"mode": _enum(["situational"]), **shared, **threats, **rest}))
    return {"anyOf": kinds, "$defs": _definitions(words)}


def concepts(words: Words) -> Schema:
    """Concept alignment: which declared names the principle speaks of, and its mode."""
    modes = ["situational", "temporal"] if words.skills else ["temporal"]
    return closed(
        **{
            "mode": _enum(modes),
            "tags": _names(words.tags, 0, 12),
            "states": _names(words.states, 0, 8),
            "relations": _names(words.relations, 0, 6),
        }
    )


def grounding(words: Words, mode: str) -> Schema:
    """Action grounding: the hazard, and of situational rules the intents that make it one."""
    parts = {"about": _about(), "different": _flag(), "hazard": _clauses("hazard_clause", least=1)}
    if mode == "situational":
        parts["threats"] = _array({"$ref": "#/$defs/threat"}, 1, _THREATS)
    return {**closed(**parts), "$defs": _definitions(words, target=False, threats=mode == "situational")}


def verification(words: Words) -> Schema:
    """Verification synthesis: the target, empty where it is that the hazard is over."""
    parts = {"target": _clauses("other_clause"), "deadline": _deadline(), "advisory": _flag()}
    return {**closed(**parts), "$defs": _definitions(words, hazard=False, threats=False)}


def intents(words: Words, letters: Sequence[str]) -> Schema:
    """Only the intents, for a rule about `letters` that is there already; none where the robot has no such skill."""
    return {
        **closed(**{"threats": _array({"$ref": "#/$defs/threat"}, 0, _THREATS)}),
        "$defs": _definitions(words, hazard=False, bound=letters),
    }


# -- parts -----------------------------------------------------------------------------------------


def _array(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _enum(names: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(names)}


def _flag() -> Schema:
    return {"type": "boolean"}


def _names(names: Sequence[str], least: int, most: int) -> Schema:
    """A list of declared names; always empty where there are none."""
    return _array(_enum(names), least, most) if names else _array(_enum(["none"]), 0, 0)


def _groups(names: Sequence[str]) -> Schema:
    return _array(_names(names, 1, _WORDS), 0, _GROUPS) if names else _names(names, 0, 0)


def _about() -> Schema:
    return _array(_enum(BOUND), 1, len(BOUND))


def _deadline() -> Schema:
    within = {"type": "integer", "minimum": 0, "maximum": _LONGEST}
    return {"anyOf": [_enum(["default", "before_done"]), within]}


def _clauses(name: str, *, least: int = 0) -> Schema:
    return _array({"$ref": f"#/$defs/{name}"}, least, _CLAUSES)


def _definitions(
    words: Words,
    *,
    hazard: bool = True,
    threats: bool = True,
    target: bool = True,
    bound: Sequence[str] = BOUND,
) -> Schema:
    every = [*bound, *EXTRA]
    found: Schema = {}
    if hazard:
        found |= _things("hazard", words, list(bound))
    if target or threats:
        found |= _things("other", words, every)
    arities = sorted(set(words.skills.values()))
    kinds = [_threat([s for s, n in words.skills.items() if n == arity], arity, every) for arity in arities]
    if threats and kinds:
        found["threat"] = {"anyOf": kinds} if len(kinds) > 1 else kinds[0]
    return found


def _threat(skills: Sequence[str], arity: int, letters: Sequence[str]) -> Schema:
    args = _array(_enum([*letters, "_"]), arity, arity)
    return closed(**{"skills": _array(_enum(skills), 1, 4), "args": args, "given": {"$ref": "#/$defs/other_clause"}})


def _things(name: str, words: Words, letters: Sequence[str]) -> Schema:
    """A clause and what it says of each object. Named apart by letters, so that the names stand in a schema once."""
    lack = closed(**{"relation": _enum(words.reversible), "tags": _names(words.tags, 0, _WORDS)})
    place = closed(**{"relations": _names(words.relations, 1, 3), "of": _enum(letters)})
    thing = {
        "object": _enum(letters),
        "tags": _groups(words.tags),
        "states": _groups(words.states),
        "not_tags": _names(words.tags, 0, _WORDS),
        "not_states": _names(words.states, 0, _WORDS),
        "seen_not": _names(words.states, 0, _WORDS),
        "moved": _flag(),
        "at": _array(place, 0, _PLACES) if words.relations else _names((), 0, 0),
        "lacks": _array(lack, 0, _PLACES) if words.relations else _names((), 0, 0),
    }
    if words.quantities:
        number = {"type": "integer", "minimum": -1_000, "maximum": 1_000}
        side = _enum(["above", "below"])
        measure = closed(**{"quantity": _enum(words.quantities), "side": side, "number": number})
        thing["measures"] = _array(measure, 0, 2)
    least = 1 if name == "hazard" else 0
    return {
        f"{name}_clause": _array({"$ref": f"#/$defs/{name}_thing"}, least, len(letters)),
        f"{name}_thing": closed(**thing),
    }
