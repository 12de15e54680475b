"""Servers, on real sockets of this machine: what is asked, and that whatever they answer ends in a clear word."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import BODY, answer, broken, dripping, raw, reply, serving

from obviate.compilers.cache import Cached
from obviate.compilers.decoder import Decoder, Message, Scorer
from obviate.compilers.server import Prices, Server, Usage
from obviate.compilers.spec import Grammar, Json, Pattern
from obviate.kb.errors import DataError, DecodeError

ASKED = [Message("system", "Be brief."), Message("user", "red or blue?")]
JSON = Json(
    {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
)
RED = '{"colour": "red"}'


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OBVIATE_API_KEY", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def server(url: str, *, timeout: float = 5.0, retries: int = 0, naps: list[float] | None = None) -> Server:
    sleep = ([] if naps is None else naps).append
    return Server(url, "tiny", timeout=timeout, retries=retries, sleep=sleep)


def refused(decoder: Server, spec: Json | Pattern | Grammar = JSON, asked: list[Message] = ASKED) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        decoder.decode(asked, spec, max_tokens=30)
    assert caught.value.help
    return caught.value


# -- what is asked ---------------------------------------------------------------------------------


def test_a_schema_is_asked_for_as_such() -> None:
    with serving(answer(RED)) as said:
        decoder = server(said.url)
        assert isinstance(decoder, Decoder)
        assert not isinstance(decoder, Scorer)
        assert decoder.decode(ASKED, JSON, max_tokens=30, seed=7, temperature=0.5) == RED
    assert said.headers[0].startswith("POST /v1/chat/completions ")
    assert "authorization" not in said.headers[0].lower()
    assert said.requests == [
        {
            "model": "tiny",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "red or blue?"}],
            "max_tokens": 30,
            "temperature": 0.5,
            "seed": 7,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": JSON.schema, "strict": True},
            },
        }
    ]


def test_strict_mode_is_left_off_for_optional_properties() -> None:
    optional = Json({**JSON.schema, "required": []})
    with serving(answer("{}")) as said:
        assert server(said.url).decode(ASKED, optional) == "{}"
    assert said.requests[0]["response_format"]["json_schema"]["strict"] is False


def test_a_pattern_goes_in_an_object_and_comes_out_of_it() -> None:
    with serving(answer('{"answer": "ab"}'), answer('{"answer": "ac"}'), answer("ab")) as said:
        decoder = server(said.url)
        assert decoder.decode(ASKED, Pattern("a|ab")) == "ab"
        assert refused(decoder, Pattern("a|ab")).code == "answer-malformed"
        assert refused(decoder, Pattern("a|ab")).code == "answer-malformed"
    schema = said.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"] == {"type": "string", "pattern": "^(?:a|ab)$"}


def test_a_grammar_and_an_open_schema_are_refused_unasked() -> None:
    with serving() as said:
        assert refused(server(said.url), Grammar('start: "a"')).code == "spec-unsupported"
        assert refused(server(said.url), Json({"type": "object"})).code == "spec-unsupported"
    assert said.requests == []


def test_images_are_sent_along(tmp_path: Path) -> None:
    picture = tmp_path / "a.jpg"
    picture.write_bytes(b"\xff\xd8\xff\xe0 bytes")
    with serving(answer(RED)) as said:
        server(said.url).decode([Message("user", "?", (picture,))], JSON)
    text, image = said.requests[0]["messages"][0]["content"]
    assert text == {"type": "text", "text": "?"}
    encoded = base64.b64encode(picture.read_bytes()).decode()
    assert image == {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}}
    with pytest.raises(DataError) as caught:
        server("http://127.0.0.1:9/v1").decode([Message("user", "?", (tmp_path / "none.png",))], JSON)
    assert caught.value.code == "images-unusable"


def test_only_its_own_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(answer(RED), answer(RED)) as said:
        server(said.url).decode(ASKED, JSON)
        monkeypatch.setenv("OBVIATE_API_KEY", "ours")
        server(said.url).decode(ASKED, JSON)
    assert "sk-secret" not in said.headers[0]
    assert "Authorization: Bearer ours" in said.headers[1]


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://a/v1", "file:///etc/passwd", "http://me:pw@host/v1"])
def test_an_address_is_checked(url: str) -> None:
    with pytest.raises(DecodeError) as caught:
        Server(url, "m")
    assert caught.value.code == "server-address"
    assert "pw" not in str(caught.value)


# -- what is counted -------------------------------------------------------------------------------


def test_tokens_and_costs_are_counted() -> None:
    with serving(answer(RED), reply("{}", status=500), answer(RED), answer("{", ended="length")) as said:
        decoder = server(said.url, retries=1)
        decoder.decode(ASKED, JSON)
        decoder.decode(ASKED, JSON)
        assert refused(decoder).code == "answer-truncated"  # paid for all the same
    assert decoder.usage == Usage(requests=3, retries=1, prompt_tokens=30, completion_tokens=15)
    assert decoder.usage.cost(Prices(prompt=1.0, completion=4.0)) == pytest.approx(90e-6)


# -- what may go wrong -----------------------------------------------------------------------------


def test_a_busy_server_is_asked_again_after_longer_and_longer_pauses() -> None:
    naps: list[float] = []
    busy = reply("slow down", status=429)
    with serving(busy, reply("", status=503), broken(), answer(RED)) as said:
        assert server(said.url, retries=3, naps=naps).decode(ASKED, JSON) == RED
    assert len(said.requests) == 4
    assert [1 <= naps[0] <= 1.25, 2 <= naps[1] <= 2.5, 4 <= naps[2] <= 5] == [True] * 3


def test_the_pause_that_the_server_asks_for_is_kept() -> None:
    naps: list[float] = []
    acts = [reply("", status=429, headers=f"Retry-After: {pause}\r\n") for pause in ("7", "never", "3600")]
    with serving(*acts, answer(RED)) as said:
        error = refused(server(said.url, retries=9, naps=naps))
    assert (error.code, len(naps)) == ("server-busy", 2)  # an hour is too long to wait
    assert 7 <= naps[0] <= 8.75


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_stays_busy_is_given_up(status: int) -> None:
    with serving(*[reply("later", status=status)] * 3) as said:
        error = refused(server(said.url, retries=2))
    assert error.code == "server-busy"
    assert f"{status}: later" in error.message
    assert len(said.requests) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_a_refusal_is_not_argued_with(status: int) -> None:
    elsewhere = "Location: http://127.0.0.1:9/\r\n"
    with serving(reply('{"error": "\x1b[31mno"}', status=status, headers=elsewhere)) as said:
        error = refused(server(said.url, retries=5))
    assert error.code == "server-refused"
    assert str(status) in error.message
    assert "\x1b" not in str(error)
    assert len(said.requests) == 1
    assert ("OBVIATE_API_KEY" in error.help) == (status in (401, 403))


GARBAGE = {
    "html": reply("<html>Welcome</html>"),
    "nothing": reply(""),
    "half": reply('{"choices": [{"mess'),
    "bytes": reply(b"\xff\x00\xfe"),
    "list": reply("[]"),
    "null": reply("null"),
    "no choices": reply('{"choices": []}'),
    "two choices": reply('{"choices": [{}, {}]}'),
    "text for a choice": reply('{"choices": ["a"]}'),
    "no message": reply('{"choices": [{"message": null}]}'),
    "number for a text": reply('{"choices": [{"message": {"content": 3}}]}'),
    "compressed": reply("\x1f\x8b", headers="Content-Encoding: gzip\r\n"),
    "bad length": raw(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
    "deep": reply("[" * 100_000),
    "huge": reply(b" " * 4_100_000),
}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_told(garbage: str) -> None:
    with serving(GARBAGE[garbage]) as said:
        error = refused(server(said.url, retries=2))
    assert error.code == "server-garbled"
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (answer("I think it is red."), "answer-malformed"),  # as from a server that ignores the schema
        (answer("```json\n" + RED + "\n```"), "answer-malformed"),
        (answer('{"colour": "green"}'), "answer-malformed"),
        (answer(""), "answer-empty"),
        (answer(None), "answer-empty"),
        (answer('{"colour": "r', ended="length"), "answer-truncated"),
        (answer(RED, ended="length"), "answer-truncated"),
        (answer('{"colour": "r'), "answer-truncated"),
        (answer(None, refusal="I cannot help."), "answer-refused"),
        (answer("", ended="content_filter"), "answer-refused"),
    ],
)
def test_an_answer_that_is_none_is_told(act: Callable[..., None], code: str) -> None:
    with serving(act) as said:
        assert refused(server(said.url)).code == code


UNREACHABLE = {
    "hangs up": raw(b""),
    "stops in the middle": broken(),
    "speaks no HTTP": raw(b"SSH-2.0-OpenSSH\r\n"),
    "endless header": raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000),
}


@pytest.mark.parametrize("act", UNREACHABLE)
def test_a_server_that_breaks_off_is_told(act: str) -> None:
    with serving(*[UNREACHABLE[act]] * 2) as said:
        assert refused(server(said.url, retries=1)).code == "server-unreachable"
    assert len(said.requests) == 2


def test_no_server_is_told() -> None:
    with serving() as said:
        pass
    error = refused(server(said.url, retries=1))
    assert (error.code, error.where) == ("server-unreachable", said.url)


def test_neither_a_silent_nor_a_dripping_server_holds_us_up() -> None:
    stopped = threading.Event()
    with serving(lambda connection: (stopped.wait(5), None)[1]) as said:
        error = refused(server(said.url, timeout=0.1))
        stopped.set()
    assert error.code == "server-unreachable"
    for after in (BODY, b"HTTP/1.1 200 OK\r\nX-Long:", b""):  # within the body, a header, the status line
        stopped.clear()
        with serving(dripping(stopped, after=after)) as said:
            began = time.monotonic()
            error = refused(server(said.url, timeout=0.3))
            took = time.monotonic() - began
            stopped.set()
        assert error.code == "server-unreachable"
        assert took < 4  # of the hours that it would have gone on


def test_what_was_answered_before_a_failure_is_kept(tmp_path: Path) -> None:
    other = [Message("user", "and now?")]
    with serving(answer(RED), reply("", status=401)) as said:
        cached = Cached(server(said.url), tmp_path)
        cached.decode(ASKED, JSON)
        with pytest.raises(DecodeError, match="401"):
            cached.decode(other, JSON)
    again = Cached(server(said.url), tmp_path)  # the server is gone
    assert again.decode(ASKED, JSON) == RED
    assert json.loads(next(tmp_path.rglob("*.json")).read_text(encoding="utf-8"))["answer"] == RED
