"""Language models behind an OpenAI-compatible server: vLLM, SGLang, Ollama, or a hosted one.

A JSON schema is the one constraint that all of them take, so a pattern is asked for as the only text in an object. A
server may ignore it: what comes back is checked like everything from outside. One POST is all there is to the
protocol, and the standard library will do (docs/decisions).
"""

from __future__ import annotations

import base64
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from obviate.compilers.decoder import Message, image
from obviate.compilers.spec import Grammar, Json, Pattern, Spec, closed, preflight, read_json, recheck
from obviate.compilers.transport import MAX_BYTES, Reply, Unreachable, post
from obviate.kb.errors import DecodeError, visible

__all__ = ["Prices", "Server", "Usage"]

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})  # statuses after which trying again may help
PATIENCE = 60.0  # seconds; a server that wants a longer pause is asked no further
KEY = "OBVIATE_API_KEY"
OPENAI = "api.openai.com"  # alone gets OPENAI_API_KEY, and calls max_tokens by another name
_MAGIC = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"RIFF": "webp", b"GIF8": "gif"}


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in the currency you like."""

    prompt: float = 0.0
    completion: float = 0.0


@dataclass
class Usage:
    """What has been used so far: answered requests, attempts beyond the first, and tokens as the server counts them."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def cost(self, prices: Prices) -> float:
        """What the tokens cost, in the currency of the prices."""
        return (self.prompt_tokens * prices.prompt + self.completion_tokens * prices.completion) / 1e6


@dataclass(frozen=True)
class Server:
    """A `Decoder` that asks `model` at `url` (which ends in ``/v1``, as a rule).

    The key is read from ``OBVIATE_API_KEY`` (for OpenAI's own server, also ``OPENAI_API_KEY``) and shown nowhere. A
    server that is silent for `timeout` seconds, or whose reply is not whole by then, has failed; there are `retries`
    more attempts, after pauses that double from `pause` seconds or that the server asks for. `usage` counts. Raises
    `DecodeError` (``server-address``).
    """

    url: str
    model: str
    timeout: float = 120.0
    retries: int = 4
    pause: float = 1.0
    usage: Usage = field(default_factory=Usage, compare=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)
    transport: Callable[..., Reply] = field(default=post, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = f"{self.url!r} is no address of a server"
            raise DecodeError("server-address", message, where="url", help="write http://localhost:8000/v1")
        if parts.username or parts.password:
            raise DecodeError("server-address", "the address holds a password", help="set OBVIATE_API_KEY instead")

    @property
    def name(self) -> str:
        return f"{self.url}#{self.model}"

    @property
    def _is_openai(self) -> bool:
        return urlsplit(self.url).hostname == OPENAI

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The server's answer within the spec.

        Raises `DecodeError`: ``spec-unsupported`` (a grammar), ``server-unreachable``, ``server-busy``,
        ``server-refused``, ``server-garbled``, ``answer-refused``, ``answer-truncated``, or as `recheck`; `DataError`
        (``images-unusable``).
        """
        if isinstance(spec, Grammar):
            message = "servers differ in the grammars they take"
            raise DecodeError("spec-unsupported", message, where="grammar", help="use Json, or a local model")
        preflight(spec)
        schema = dict(spec.schema) if isinstance(spec, Json) else _wrapped(spec)
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [_turn(message) for message in messages],
            "max_completion_tokens" if self._is_openai else "max_tokens": max_tokens,
            "temperature": temperature,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": _all_required(schema)},
            },
        }
        if seed is not None:
            request["seed"] = seed
        reply = self._reply(request)
        text = self._text(reply, max_tokens)
        if isinstance(spec, Pattern):
            value = read_json(recheck(Json(schema), text))
            text = value["answer"]
        return recheck(spec, text)

    # -- asking ----------------------------------------------------------------------------------

    def _reply(self, request: Mapping[str, Any]) -> Any:
        """The reply to a request, as JSON data, tried again where that may help."""
        wait = self.pause
        for attempt in range(self.retries + 1):
            try:
                reply = self._post(request)
            except Unreachable as error:
                failure = self._unreachable(error)
            else:
                if reply.status == 200:
                    self.usage.requests += 1
                    return self._read(reply.body)
                failure = self._failed(reply)
                if reply.status not in AGAIN:
                    raise failure
                wait = _asked_for(reply.headers) or wait
            if attempt == self.retries or wait > PATIENCE:
                break
            self.usage.retries += 1
            self.sleep(wait + random.uniform(0, wait / 4))  # many clients shall not come back at once
            wait *= 2
        raise failure

    def _post(self, request: Mapping[str, Any]) -> Reply:
        given = os.environ.get(KEY, "") or (os.environ.get("OPENAI_API_KEY", "") if self._is_openai else "")
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        url = f"{self.url.rstrip('/')}/chat/completions"
        return self.transport(url, request, headers=headers, timeout=self.timeout)

    def _unreachable(self, error: Exception) -> DecodeError:
        message = visible(f"no reply from the server: {type(error).__name__}: {error}")
        help = "is it running, and is the address right? What was answered so far is kept."
        return DecodeError("server-unreachable", f"{message:.300}", where=self.url, help=help)

    def _failed(self, reply: Reply) -> DecodeError:
        status, said = reply.status, visible(" ".join(reply.body[:300].decode("utf-8", "replace").split()))
        message = f"the server answered {status}: {said}" if said else f"the server answered {status}"
        if status in AGAIN:
            return DecodeError("server-busy", message, where=self.url, help="try later; what was answered is kept")
        help = {401: f"set {KEY}", 403: f"set {KEY}", 404: "check the address and the name of the model"}
        return DecodeError("server-refused", message, where=self.url, help=help.get(status, "see what it says"))

    # -- understanding ---------------------------------------------------------------------------

    def _read(self, body: bytes) -> Any:
        if len(body) > MAX_BYTES:
            what = f"the reply has over {MAX_BYTES:,} bytes"
            raise DecodeError("server-garbled", what, where=self.url, help="is this a chat server?")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            shown = body[:100].decode("utf-8", "replace")
            message = f"the reply is not JSON: {shown!r}"
            raise DecodeError("server-garbled", message, where=self.url, help="is this a chat server?") from error

    def _text(self, reply: Any, max_tokens: int) -> str:
        """The answer in a reply, counted."""
        try:
            used = reply.get("usage") or {}
            self.usage.prompt_tokens += _count(used.get("prompt_tokens"))
            self.usage.completion_tokens += _count(used.get("completion_tokens"))
            (choice,) = reply["choices"]
            message, ended = choice["message"], choice.get("finish_reason")
            text, refusal = message.get("content"), message.get("refusal")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"the reply is no chat completion: {json.dumps(reply)[:100]}"
            raise DecodeError("server-garbled", what, where=self.url, help="is this a chat server?") from error
        if refusal or ended == "content_filter":
            what = f"the model refuses to answer: {visible(str(refusal or 'content filter')):.200}"
            raise DecodeError("answer-refused", what, where=self.name, help="ask in other words")
        if ended == "length":
            what = f"the answer has not ended after {max_tokens} tokens: ...{str(text)[-60:]!r}"
            help = "allow more tokens, or bound what may repeat"
            raise DecodeError("answer-truncated", what, where="max_tokens", help=help)
        if text is not None and not isinstance(text, str):
            what = f"the answer is no text: {text!r:.100}"
            raise DecodeError("server-garbled", what, where=self.url, help="is this a chat server?")
        return text or ""


def _wrapped(pattern: Pattern) -> dict[str, Any]:
    """The schema of an object whose only value matches the pattern."""
    text = {"type": "string", "pattern": f"^(?:{pattern.regex})$"}
    return closed(answer=text)


def _all_required(schema: Any) -> bool:
    """Whether every property everywhere is required: what the strict mode of some servers demands."""
    if isinstance(schema, list):
        return all(map(_all_required, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    complete = not isinstance(properties, dict) or set(properties) == set(schema.get("required", ()))
    return complete and all(map(_all_required, schema.values()))


def _turn(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for file in message.images:
        data = image(file)
        kind = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "png")
        parts.append(
            {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(data).decode()}"}}
        )
    return {"role": message.role, "content": parts}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _asked_for(headers: Mapping[str, str]) -> float:
    """The pause in seconds that the server asks for; 0 if it does not, or by a date."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return 0.0
