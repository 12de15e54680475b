"""Which way a language model is asked for dependencies: scored, or asked outright."""

from __future__ import annotations

from collections.abc import Callable

from obviate.compilers.decoder import Decoder, Scorer
from obviate.compilers.instructions.calibration import known
from obviate.compilers.instructions.channel import ALL, ORDERS, Channel
from obviate.compilers.instructions.samples import FAMILIES, Samples
from obviate.kb.errors import DecodeError

__all__ = ["METHODS", "default_k", "method_of", "most", "voter"]

METHODS = ("score", "ask")


def method_of(decoder: Decoder, chosen: str = "") -> str:
    """The method `chosen`, or the one that suits the model: a small model that is known is scored, others are asked.

    Raises `DecodeError` (``method-unsupported``) where the model's probabilities cannot be read.
    """
    method = chosen or ("score" if known(decoder.name) else "ask")
    if method not in METHODS:
        raise DecodeError("method-unsupported", f"there is no method {method!r}", help=f"use {' or '.join(METHODS)}")
    if method == "score" and not isinstance(decoder, Scorer):
        message = f"{decoder.name} does not tell probabilities"
        raise DecodeError("method-unsupported", message, where="method", help="use the method ask, or a local model")
    return method


def default_k(method: str) -> int:
    """How many cyclic orders are united unless said otherwise: two answers as in the paper, or one set of scores."""
    return 1 if method == "score" else 2


def most(method: str) -> int:
    """The most orders that there are."""
    return ORDERS if method == "score" else len(FAMILIES)


def voter(
    decoder: Decoder, method: str, *, k: int, progress: Callable[[int, int], None] = lambda done, total: None
) -> Channel | Samples:
    """The voter for `k` orders. A model that is scored and not known is calibrated first, which `progress` follows.

    Raises `DecodeError` (``orders-unknown``) for a `k` that there is not, ``method-unsupported``, or the model's.
    """
    if not 1 <= k <= most(method):
        message = f"there are {most(method)} orders of the examples, not {k}"
        raise DecodeError("orders-unknown", message, where="k", help=f"give 1 to {most(method)}")
    if method == "ask":
        return Samples(decoder)
    method_of(decoder, method)
    assert isinstance(decoder, Scorer)
    offsets = known(decoder.name)
    if offsets is not None:
        return Channel(decoder, offsets, ALL)
    return Channel.calibrated(decoder, k=k, kinds=ALL, progress=progress)
