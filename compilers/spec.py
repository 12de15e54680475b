"""What an answer of a language model must look like, and the check that it does.

A backend constrains the model while it writes; `recheck` looks at what came back without trusting that it did.
Constraints have been seen to fall away silently: a server too old for them, a kernel that lacks a package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from lark import Lark
from lark.exceptions import LarkError, UnexpectedEOF

from obviate.kb.errors import DecodeError

__all__ = ["Grammar", "Json", "Pattern", "Spec", "canonical", "closed", "preflight", "read_json", "recheck"]

MAX_ANSWER = 100_000  # characters; an Earley parse may take cubic time, and no compiler asks for more
SHOWN = 200  # characters of an answer that an error shows

# The keywords that every backend follows. Others are dropped silently by some (``uniqueItems``), or make them answer
# nothing; ``oneOf`` is read as ``anyOf`` by most.
_KEYWORDS = """
    $defs $ref additionalProperties anyOf const description enum items maxItems maxLength maximum minItems minLength
    minimum pattern properties required title type
"""
KEYWORDS = frozenset(_KEYWORDS.split())
# Extensions of Python that the automata of the backends lack: look-around, back references, conditionals, and
# comments or flags inside.
BEYOND = re.compile(r"\(\?(?!:|P<)|\\[1-9AZbB]")


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object that has these properties and no others, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Json:
    """An answer that is a JSON value of this `schema` (draft 2020-12), whose objects take no further keys."""

    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Pattern:
    """An answer that the regular expression matches as a whole; without look-around and back references."""

    regex: str


@dataclass(frozen=True)
class Grammar:
    """An answer in the language of a context-free grammar, in Lark's notation, from ``start``. Local backends only."""

    lark: str


Spec: TypeAlias = Json | Pattern | Grammar


def canonical(spec: Spec) -> str:
    """A text that is the same for the same spec. The order of keys counts: models write properties in that order."""
    match spec:
        case Json(schema):
            return "json " + json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        case Pattern(regex):
            return "pattern " + regex
        case Grammar(lark):
            return "grammar " + lark


def preflight(spec: Spec) -> None:
    """Raise `DecodeError` (``spec-unsupported``) for what some backend would ignore or not understand."""
    match spec:
        case Json(schema):
            try:
                Draft202012Validator.check_schema(dict(schema))
            except SchemaError as error:
                raise _unsupported(f"this is no JSON schema: {error.message}", error.json_path) from None
            for place, part in _parts(schema, "$"):
                _check_part(part, place, schema.get("$defs", {}))
        case Pattern(regex):
            try:
                re.compile(regex)
            except re.error as error:
                raise _unsupported(f"this is no regular expression: {error}", regex) from None
            if beyond := BEYOND.search(regex):
                message = f"{beyond[0]!r} at {beyond.start()} is not known to the backends"
                raise _unsupported(message, regex)
        case Grammar():
            _parser(spec)


def recheck(spec: Spec, text: str) -> str:
    """`text`, if it satisfies the spec. Nothing but space is never an answer, whatever the spec says.

    Raises `DecodeError`: ``answer-empty``; ``answer-truncated`` if the text is the beginning of a JSON value or of a
    sentence of the grammar; ``answer-malformed`` otherwise; ``spec-unsupported`` for a spec that is none.
    """
    if not text.strip():
        raise DecodeError("answer-empty", "the model answered nothing", help="the constraint may not fit the model")
    if len(text) > MAX_ANSWER:
        raise DecodeError("answer-malformed", f"the answer has over {MAX_ANSWER:,} characters", help=_UNCONSTRAINED)
    match spec:
        case Json(schema):
            _conforms(read_json(text), schema)
        case Pattern(regex):
            if not re.fullmatch(regex, text):
                raise _malformed(f"does not match {regex:.{SHOWN}}", text)
        case Grammar():
            try:
                _parser(spec).parse(text)
            except UnexpectedEOF as error:
                raise _cut(text) from error
            except LarkError as error:
                raise _malformed(f"is not in the grammar: {str(error).splitlines()[0]}", text) from error
    return text


def read_json(text: str) -> Any:
    """The value of a JSON text from outside. Raises `DecodeError` (``answer-malformed``, ``answer-truncated``).

    Beyond what `json.loads` refuses: a key given twice, ``NaN`` and infinities, and nesting or numbers beyond reason.
    """
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
            raise _cut(text) from error
        raise _malformed(f"is not JSON: {error.msg} at character {error.pos}", text) from error
    except (ValueError, RecursionError) as error:
        raise _malformed(f"is not JSON: {error}", text) from error


_UNCONSTRAINED = "the backend may have ignored the constraint; a server may be too old for it"


def _malformed(what: str, text: str, where: str = "") -> DecodeError:
    shown = json.dumps(text[:SHOWN], ensure_ascii=False) + ("..." if len(text) > SHOWN else "")
    return DecodeError("answer-malformed", f"the answer {what}; it reads {shown}", where=where, help=_UNCONSTRAINED)


def _cut(text: str) -> DecodeError:
    message = f"the answer stops in the middle, after {json.dumps(text[-60:], ensure_ascii=False)}"
    return DecodeError("answer-truncated", message, help="allow more tokens, or bound what may repeat")


def _unsupported(message: str, where: str) -> DecodeError:
    return DecodeError(
        "spec-unsupported", message, where=where, help="use what every backend follows: docs/compiling.md"
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key is given twice")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _conforms(value: Any, schema: Mapping[str, Any]) -> None:
    try:
        error = best_match(Draft202012Validator(dict(schema)).iter_errors(value))
    except RecursionError:
        raise DecodeError("answer-malformed", "the answer is nested beyond reason", help=_UNCONSTRAINED) from None
    if error is not None:
        raise DecodeError(
            "answer-malformed",
            f"the answer does not fit the schema: {error.message:.{SHOWN}}",
            where=error.json_path,
            help=_UNCONSTRAINED,
        )


def _parts(schema: Any, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schema and all schemas inside it, with the path to each."""
    if not isinstance(schema, Mapping):
        return
    yield place, schema
    for keyword in ("properties", "$defs"):
        for name, part in schema.get(keyword, {}).items():
            yield from _parts(part, f"{place}.{keyword}.{name}")
    for index, part in enumerate(schema.get("anyOf", ())):
        yield from _parts(part, f"{place}.anyOf[{index}]")
    yield from _parts(schema.get("items"), f"{place}.items")


def _check_part(part: Mapping[str, Any], place: str, definitions: Mapping[str, Any]) -> None:
    if unknown := sorted(part.keys() - KEYWORDS):
        raise _unsupported(f"not every backend follows {unknown[0]!r}", place)
    if (part.get("type") == "object" or "properties" in part) and part.get("additionalProperties") is not False:
        raise _unsupported("the object is open: a model would invent keys", f"{place}.additionalProperties")
    reference = part.get("$ref", "#")
    if reference != "#" and reference.removeprefix("#/$defs/") not in definitions:
        raise _unsupported(f"{reference!r} is not defined in this schema", f"{place}.$ref")
    if "pattern" in part:
        preflight(Pattern(part["pattern"]))


def _parser(grammar: Grammar) -> Lark:
    try:
        return Lark(grammar.lark, parser="earley", import_paths=[])
    except (LarkError, re.error) as error:
        raise _unsupported(f"this is no grammar: {str(error).splitlines()[0]}", "lark") from error
