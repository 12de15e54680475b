"""Random sentences of a JSON schema, and of the form of a rule."""

from __future__ import annotations

from random import Random
from typing import Any

Schema = dict[str, Any]


def sentence(schema: Schema, rng: Random, root: Schema | None = None) -> Any:
    """A value that satisfies the schema; every choice is as likely."""
    root = root or schema
    if "$ref" in schema:
        return sentence(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], rng, root)
    if "anyOf" in schema:
        return sentence(rng.choice(schema["anyOf"]), rng, root)
    match schema["type"]:
        case "object":
            return {name: sentence(part, rng, root) for name, part in schema["properties"].items()}
        case "array":
            count = rng.randint(schema["minItems"], schema["maxItems"])
            return [sentence(schema["items"], rng, root) for _ in range(count)]
        case "string":
            return rng.choice(schema["enum"])
        case "integer":
            return rng.randint(schema["minimum"], schema["maximum"])
        case _:
            return rng.random() < 0.5
