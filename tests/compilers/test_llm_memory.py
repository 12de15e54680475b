"""Tapes and the cache: answers are known by the content of their questions, and checked like the model's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import Scripted

from obviate.compilers.cache import Cached
from obviate.compilers.decoder import Decoder, Message, Scorer, content, key
from obviate.compilers.recorded import Recorded, Recording
from obviate.compilers.spec import Pattern
from obviate.kb.errors import DataError, DecodeError

QUESTION = (Message("system", "Be brief."), Message("user", "a or b?"))
SPEC = Pattern("[ab]")


def test_they_are_decoders(tmp_path: Path) -> None:
    scripted = Scripted([])
    decoders = [scripted, Recorded({}), Recording(scripted, tmp_path), Cached(scripted, tmp_path)]
    assert all(isinstance(decoder, Decoder) and not isinstance(decoder, Scorer) for decoder in decoders)


def test_a_role_is_one_of_three() -> None:
    with pytest.raises(DecodeError) as caught:
        Message("tool", "x")
    assert caught.value.code == "message-role"


def test_a_tape_replays_what_was_recorded(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    recording = Recording(Scripted(["a", "b", "b"]), tape)
    assert recording.decode(QUESTION, SPEC) == "a"
    assert recording.decode(QUESTION[1:], SPEC) == "b"
    assert recording.decode(QUESTION, SPEC, seed=1, temperature=0.5) == "b"
    replay = Recorded.load(tape)
    assert replay.decode(QUESTION, SPEC) == "a"
    assert replay.decode(QUESTION, SPEC, seed=7, max_tokens=3) == "a"  # neither decides a greedy answer
    assert replay.decode(QUESTION[1:], SPEC) == "b"
    assert replay.decode(QUESTION, SPEC, seed=1, temperature=0.5) == "b"
    for other in ({"seed": 2, "temperature": 0.5}, {"seed": 1, "temperature": 0.6}):
        with pytest.raises(DecodeError) as caught:
            replay.decode(QUESTION, SPEC, **other)  # type: ignore[arg-type]
        assert caught.value.code == "not-on-tape"


def test_what_was_recorded_before_a_failure_is_on_the_tape(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    recording = Recording(Scripted(["a", DecodeError("server-busy", "no")]), tape)
    recording.decode(QUESTION, SPEC)
    with pytest.raises(DecodeError, match="no"):
        recording.decode(QUESTION[1:], SPEC)
    assert len(tape.read_text(encoding="utf-8").splitlines()) == 1
    assert Recorded.load(tape).decode(QUESTION, SPEC) == "a"


def test_a_tape_that_was_tampered_with_cannot_leave_the_spec() -> None:
    name = key(content(QUESTION, SPEC))
    with pytest.raises(DecodeError) as caught:
        Recorded({name: "c. :- #script"}).decode(QUESTION, SPEC)
    assert caught.value.code == "answer-malformed"


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"key": "a"}', '{"key": 1, "answer": "a"}', "[" * 100_000])
def test_a_malformed_tape_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"key": "a", "answer": "b"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Recorded.load(tape)
    assert (caught.value.code, caught.value.where) == ("tape-malformed", f"{tape}:2")


def test_a_tape_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        Recording(Scripted(["a"]), tmp_path / "nowhere" / "tape.jsonl").decode(QUESTION, SPEC)
    assert caught.value.code == "tape-unwritable"


def test_images_count_by_their_bytes(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"one")
    asked = [Message("user", "?", (picture,))]
    before = key(content(asked, SPEC))
    moved = picture.rename(tmp_path / "b.png")
    assert key(content([Message("user", "?", (moved,))], SPEC)) == before
    moved.write_bytes(b"two")
    assert key(content([Message("user", "?", (moved,))], SPEC)) != before
    with pytest.raises(DataError) as caught:
        content(asked, SPEC)
    assert caught.value.code == "images-unusable"


def test_the_cache_asks_once(tmp_path: Path) -> None:
    scripted = Scripted(["a", "b", "b", "a", "a"])
    cached = Cached(scripted, tmp_path)
    assert [cached.decode(QUESTION, SPEC) for _ in range(3)] == ["a"] * 3
    assert cached.decode(QUESTION, SPEC, seed=1, temperature=1.0) == "b"
    assert cached.decode(QUESTION, SPEC, seed=1, temperature=1.0) == "b"
    assert [cached.decode(QUESTION, SPEC, temperature=1.0) for _ in range(2)] == ["b", "a"]  # chance stays chance
    assert (cached.hits.kept, cached.hits.asked) == (3, 4)
    other = Cached(replace(scripted, name="another", asked=[]), tmp_path)
    assert other.decode(QUESTION, SPEC) == "a"
    assert other.hits.asked == 1


def spoil(entry: Path, text: str) -> None:
    entry.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: spoil(entry, ""),
        lambda entry: spoil(entry, "[]"),
        lambda entry: spoil(entry, "[" * 100_000),
        lambda entry: spoil(entry, entry.read_text(encoding="utf-8").replace('"a"', '"evil"')),
        lambda entry: spoil(entry, json.dumps({"key": "another", "answer": "a"})),
        lambda entry: entry.write_bytes(b"\xff\xfe"),
    ],
)
def test_a_damaged_entry_is_asked_for_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    Cached(Scripted(["a"]), tmp_path).decode(QUESTION, SPEC)
    (entry,) = tmp_path.rglob("*.json")
    damage(entry)
    again = Cached(Scripted(["b"]), tmp_path)
    assert [again.decode(QUESTION, SPEC) for _ in range(2)] == ["b", "b"]
    assert (again.hits.damaged, again.hits.asked, again.hits.kept) == (1, 1, 1)


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError) as caught:
        Cached(Scripted(["a"]), tmp_path / "file").decode(QUESTION, SPEC)
    assert caught.value.code == "cache-unwritable"
