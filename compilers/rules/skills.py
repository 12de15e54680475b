"""The same rules for another robot: only the intents are compiled again (paper, Appendix 0.A.2).

Hazards and targets stay as they are, to the letter, since they speak of the world and not of the robot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from obviate.compilers.decoder import Decoder
from obviate.compilers.rules import asking, schema
from obviate.compilers.rules.emission import Written, threat_clauses
from obviate.compilers.rules.settling import settle
from obviate.compilers.rules.shape import BOUND, Words, read_shape
from obviate.compilers.spec import Json, read_json
from obviate.engine.description import describe
from obviate.engine.slice import keys_of
from obviate.kb import Pack, Vocabulary
from obviate.kb.errors import DataError, DecodeError, Span
from obviate.kb.format import formatted
from obviate.kb.predicates import DESCRIPTIONS, MEMBERS
from obviate.kb.program import Rule

__all__ = ["Retargeted", "retarget", "robot"]

_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Retargeted:
    """The text of the pack for the other robot, the rules in it, and why others were left out."""

    text: str
    kept: tuple[str, ...]
    lost: Mapping[str, str]


def robot(words: Vocabulary, file: Path) -> Vocabulary:
    """The vocabulary with the skills of the file instead of its own. Raises as `Vocabulary.load`, and `DataError`
    (``no-skills``).
    """
    other = Vocabulary.load(file)
    if len(other.skills) < 2:  # done is always there
        raise DataError("no-skills", "it declares no skill", where=str(file), help="write skill(grasp, 1).")
    digest = sha256(f"{words.digest}{other.digest}".encode()).hexdigest()[:16]
    return replace(words, skills=other.skills, moves=other.moves, digest=digest)


def retarget(pack: Pack, vocabulary: Vocabulary, decoder: Decoder) -> Retargeted:
    """The pack with its intents compiled again for the skills of a vocabulary.

    A rule of which the robot can do nothing that triggers it is left out. Raises `DataError` (``several-files``),
    `DecodeError` when the model cannot be asked, `PackError` when the result does not load.
    """
    files = {rule.span.file for rule in pack.program.rules}
    if len(files) != 1:
        help = "put its rules into one file"
        raise DataError("several-files", "only a pack of one file can be recompiled", where=pack.name, help=help)
    new: dict[str, Written] = {}
    lost: dict[str, str] = {}
    for name, rule in pack.rules.items():
        if rule.mode == "situational":
            try:
                new[name] = _intents(pack, name, vocabulary, decoder)
            except _LeftOutError as error:
                lost[name] = str(error)
    text = _replaced(pack, new, set(lost))
    kept = tuple(name for name in pack.rules if name not in lost)
    Pack.of({f"{pack.name}.lp": text}, vocabulary=vocabulary, name=pack.name)
    return Retargeted(text, kept, lost)


class _LeftOutError(Exception):
    """Why a rule has no intents for this robot."""


def _intents(pack: Pack, name: str, vocabulary: Vocabulary, decoder: Decoder) -> Written:
    names = _binding(next(rule for rule in pack.program.rules if ("hazard", name) in keys_of(rule)))
    if not 1 <= len(names) <= len(BOUND):
        raise _LeftOutError(f"it binds {len(names)} objects")
    letters, words = BOUND[: len(names)], Words.of(vocabulary)
    told = {
        key: value for key, value in describe(pack, name).to_json().items() if key in ("hazard", "target", "helpers")
    }
    told["objects"] = dict(zip(letters, names, strict=True))
    messages = asking.about_intents(pack.rules[name].principle, words, told)
    try:
        answer = decoder.decode(messages, Json(schema.intents(words, letters)), max_tokens=_TOKENS)
    except DecodeError as error:
        if error.code not in ("answer-truncated", "answer-malformed", "answer-empty"):
            raise
        raise _LeftOutError(f"the model did not answer: {error.message}") from error
    threats = read_json(answer)["threats"]
    if not threats:
        raise _LeftOutError("the robot can do nothing that triggers it")
    form = {"mode": "situational", "about": letters, "hazard": [[{"object": x} for x in letters]], "threats": threats}
    settled = settle(read_shape(json.dumps(form), vocabulary), vocabulary)
    if settled.dropped:
        raise _LeftOutError(f"contradicted itself: {settled.dropped[0]}")
    written = threat_clauses(name, letters, settled.shape.threats, vocabulary)
    return _fitted(written, dict(zip(letters, names, strict=True)), pack)


def _fitted(written: Written, names: Mapping[str, str], pack: Pack) -> Written:
    """With the variables of the rule, and helpers that mean nothing else in the pack."""
    variables = {**names, "U": "Other", "V": "Another"}
    heads = {rule.head.name for rule in pack.program.rules if rule.head is not None}
    own = {line.partition("(")[0] for line in written.helpers} & heads
    rename = re.compile(rf"\b({'|'.join(sorted(own))})(?=\()") if own else None

    def fit(text: str) -> str:
        return rename.sub(r"\1_by_intent", text) if rename else text

    text = re.sub(r"\b([XYZUV])\b", lambda match: variables.get(match[1], match[1]), written.text)
    return Written(fit(text), tuple(map(fit, written.helpers)))


def _binding(rule: Rule) -> list[str]:
    assert rule.head is not None
    term = rule.head.args[1]
    return [part.text for part in (term.parts if term.kind == "tuple" else (term,))]


# -- the text --------------------------------------------------------------------------------------


def _replaced(pack: Pack, new: Mapping[str, Written], lost: set[str]) -> str:
    """The text of the pack with other intents, without the rules that were lost and the helpers that nothing reads."""
    text = pack.program.text
    gone: dict[Span, str] = {}
    todo = dict(new)
    for rule in pack.program.rules:
        names = [name for key, name in keys_of(rule) if key == "threatens"]
        if set(names) & (new.keys() | lost) or _owners(rule) & lost:
            gone[rule.span] = "".join(todo.pop(name).text for name in names if name in todo)
    kept = [rule for rule in pack.program.rules if rule.span not in gone]
    while idle := _unread(kept):
        gone |= {rule.span: "" for rule in idle}
        kept = [rule for rule in kept if rule not in idle]
    for span, instead in sorted(gone.items(), key=lambda item: (-item[0].line, -item[0].column)):
        begin, end = _offset(text, span.line, span.column), _offset(text, span.end_line, span.end_column)
        text = text[:begin] + instead.strip() + text[end:]
    helpers = dict.fromkeys(line for written in new.values() for line in written.helpers)
    return formatted("\n\n".join([text, "\n".join(helpers)]) if helpers else text)


def _owners(rule: Rule) -> set[str]:
    """The safety rules that a statement is about."""
    if rule.head is None or rule.head.name not in {*MEMBERS, *DESCRIPTIONS}:
        return set()
    return {part.name for part in rule.head.args[0].alternatives()}


def _unread(rules: Sequence[Rule]) -> list[Rule]:
    """The clauses of helpers that no other statement reads."""
    return [rule for rule in rules if rule.head is not None and not _owners(rule) and not _is_read(rule, rules)]


def _is_read(rule: Rule, rules: Sequence[Rule]) -> bool:
    assert rule.head is not None
    return any(
        rule.head.signature in set(_read(other))
        for other in rules
        if other.head is not None and other.head.signature != rule.head.signature
    )


def _read(rule: Rule) -> Iterator[tuple[str, int, bool]]:
    for literal in rule.body:
        yield from (pattern.signature for pattern, _ in literal.inner)


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1
