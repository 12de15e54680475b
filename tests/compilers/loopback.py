"""A scripted server on a real socket of this machine: it says what a test wrote, also what no server should say."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Act = Callable[[socket.socket], None]


@dataclass
class Loopback:
    """What the server was asked; `url` is its address."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


@contextmanager
def serving(*acts: Act) -> Iterator[Loopback]:
    """A server that plays one act for each connection, in order, then refuses further ones."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        said = Loopback(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        stopped = threading.Event()
        thread = threading.Thread(target=_play, args=(listener, acts, said, stopped))
        thread.start()
        try:
            yield said
        finally:
            stopped.set()
            thread.join()


def _play(listener: socket.socket, acts: Sequence[Act], said: Loopback, stopped: threading.Event) -> None:
    listener.settimeout(0.05)
    left = list(acts)
    while left and not stopped.is_set():
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(5)
            try:
                head, body = _request(connection)
                said.headers.append(head)
                said.requests.append(json.loads(body) if body else {})
                left.pop(0)(connection)
            except OSError:  # the client has gone
                continue
    listener.close()


def _request(connection: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head.decode(), body


def raw(data: bytes) -> Act:
    """Send these bytes and hang up."""
    return lambda connection: connection.sendall(data)


def reply(body: str | bytes, *, status: int = 200, headers: str = "") -> Act:
    """An HTTP reply."""
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
    return raw(head.encode() + data)


def answer(text: str | None, *, ended: str = "stop", **message: Any) -> Act:
    """A chat completion that says `text`, and counts 10 and 5 tokens."""
    turn = {"role": "assistant", "content": text, **message}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return reply(json.dumps({"choices": [{"index": 0, "message": turn, "finish_reason": ended}], "usage": usage}))


def broken() -> Act:
    """A reply that stops in the middle."""
    return raw(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices": [{"mess')


BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"


def dripping(stopped: threading.Event, *, after: bytes = BODY) -> Act:
    """A reply that never ends, byte by byte `after` its beginning, until `stopped`."""

    def act(connection: socket.socket) -> None:
        connection.sendall(after)
        while not stopped.is_set():
            connection.sendall(b" ")
            time.sleep(0.01)

    return act
