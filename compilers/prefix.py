"""Beginnings of prompts that a local model has read already: their attention keys and values are kept."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from obviate.kb.extras import module

__all__ = ["Prefixes"]


@dataclass(frozen=True)
class Prefixes:
    """The last `kept` beginnings that the network has read. A beginning is always read by itself, whether it was kept
    or not, so that an answer never depends on what was asked before.
    """

    network: Any
    kept: int
    _read: dict[tuple[int, ...], tuple[Any, Any]] = field(default_factory=dict, repr=False, compare=False)

    def read(self, tokens: Sequence[int]) -> tuple[Any, Any]:
        """The keys and values after the tokens, the caller's to extend, and the log-probabilities of the next token."""
        name = tuple(tokens)
        if name in self._read:
            self._read[name] = self._read.pop(name)  # the one used last goes last
        else:
            self._read[name] = self._forward(name)
            while len(self._read) > self.kept:
                self._read.pop(next(iter(self._read)))
        cache, following = self._read[name]
        return copy.deepcopy(cache), following

    def _forward(self, tokens: tuple[int, ...]) -> tuple[Any, Any]:
        torch, transformers = module("torch", extra="llm"), module("transformers", extra="llm")
        cache = transformers.DynamicCache(config=self.network.config)
        with torch.inference_mode():
            output = self.network(torch.tensor([tokens]), cache=cache, use_cache=True, logits_to_keep=1)
        return cache, output.logits[0, -1].float().log_softmax(-1)
