"""One POST of JSON, by the standard library: neither slow, nor endless, nor redirected replies hold us up."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.client import HTTPException, IncompleteRead
from typing import Any

__all__ = ["MAX_BYTES", "Reply", "Unreachable", "post"]

MAX_BYTES = 4_000_000  # of a reply; what is longer is cut there
CHUNK = 1 << 16

Unreachable = (OSError, HTTPException, ValueError)  # what `post` raises; ValueError for malformed lengths


@dataclass(frozen=True)
class Reply:
    """Status, body and headers of a reply; header names are looked up as written in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def post(url: str, data: Mapping[str, Any], *, headers: Mapping[str, str], timeout: float) -> Reply:
    """The reply to a POST of `data` as JSON. Raises `Unreachable` if it is not whole after `timeout` seconds.

    Proxies of the environment are used. A redirect is a reply like others: following it would carry prompt and key to
    an address that nobody named.
    """
    sent = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(data).encode(), sent, method="POST")
    reply: Future[Reply] = Future()

    def work() -> None:
        try:
            reply.set_result(_exchange(request, timeout))
        except BaseException as error:
            reply.set_exception(error)

    # A socket's timeout begins anew with every byte; who is left waiting for a header a byte at a time is not us.
    threading.Thread(target=work, daemon=True).start()
    try:
        return reply.result(timeout)
    except TimeoutError:
        raise TimeoutError(f"the reply was not whole after {timeout:g} s") from None


def _exchange(request: urllib.request.Request, timeout: float) -> Reply:
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler()):
        opener.add_handler(handler)
    end = time.monotonic() + timeout
    body = b""
    with opener.open(request, timeout=timeout) as response:
        while len(body) <= MAX_BYTES and (chunk := response.read1(CHUNK)):
            body += chunk
            if time.monotonic() > end:
                raise TimeoutError
        if response.length and len(body) <= MAX_BYTES:  # what it promised and did not send
            raise IncompleteRead(body, response.length)
        return Reply(response.status, body, {name.lower(): value for name, value in response.headers.items()})
