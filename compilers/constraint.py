"""Constraints of local models: a spec as the mask that llguidance puts on every next token, through outlines.

outlines would choose another backend for most specs. That one needs a package more on llama.cpp, and without it the
model writes freely; so llguidance is named for all, and asked before whether it understands the spec.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from obviate.compilers.spec import Grammar, Json, Pattern, Spec, canonical, preflight
from obviate.kb.errors import DecodeError
from obviate.kb.extras import module

__all__ = ["Constraints", "Watched"]

KEPT = 64  # constraints at most; a compiler has a handful
# Free space and line breaks are where a small model loses itself.
LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass
class Watched:
    """A logits processor that is known to have been asked, and not to have failed.

    llama.cpp calls it from C, where an exception is printed and then forgotten, and the model writes on freely.
    """

    processor: Any = field(repr=False)
    calls: int = 0
    failure: Exception | None = None

    def __call__(self, tokens: Any, scores: Any) -> Any:
        self.calls += 1
        try:
            return self.processor(tokens, scores)
        except Exception as error:
            self.failure = self.failure or error
            raise

    def check(self) -> None:
        """Raise `DecodeError` (``constraint-lost``) if the model may have written freely."""
        wrong = [matcher.get_error() for matcher in getattr(self.processor, "ll_matchers", ())]
        if self.failure is None and self.calls and not any(wrong):
            return
        why = self.failure or next(filter(None, wrong), "") or "it was never asked"
        message = f"the constraint was not in force: {why}"
        help = "the versions of outlines, llguidance and the backend may not fit together"
        raise DecodeError("constraint-lost", f"{message:.500}", help=help) from self.failure


@dataclass(frozen=True)
class Constraints:
    """The constraints of one model, each built once. `model` is outlines' view of it."""

    model: Any
    extra: str
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _backend: list[Any] = field(default_factory=list, repr=False, compare=False)

    def processor(self, spec: Spec) -> Watched:
        """The logits processor of the spec, at its beginning. Raises `DecodeError` (``spec-unsupported``)."""
        name = canonical(spec)
        if name not in self._made:
            preflight(spec)
            self._validate(spec)
            if len(self._made) >= KEPT:
                self._made.pop(next(iter(self._made)))
            self._made[name] = self._build(spec)
        processor = self._made[name]
        processor.reset()
        return Watched(processor)

    def _validate(self, spec: Spec) -> None:
        # Given what it does not know, llguidance would end every answer before its first token, without a word.
        llguidance = module("llguidance", extra=self.extra)
        kind, text = _source(spec)
        try:
            wrong = llguidance.LLMatcher.validate_grammar(llguidance.grammar_from(kind, text))
        except Exception as error:  # it answers some malformed grammars by a panic
            wrong = str(error) or type(error).__name__
        if wrong:
            message = f"llguidance cannot follow this {kind}: {wrong.strip().splitlines()[0]}"
            raise DecodeError("spec-unsupported", f"{message:.500}", where=kind, help="write it in simpler terms")

    def _build(self, spec: Spec) -> Any:
        if not self._backend:  # once for a model: it reads the whole list of tokens
            self._backend.append(module("outlines.backends.llguidance", extra=self.extra).LLGuidanceBackend(self.model))
        (backend,) = self._backend
        kind, text = _source(spec)
        make = {
            "json_schema": backend.get_json_schema_logits_processor,
            "regex": backend.get_regex_logits_processor,
            "lark": backend.get_cfg_logits_processor,
        }
        return make[kind](text)


def _source(spec: Spec) -> tuple[str, str]:
    match spec:
        case Json(schema):
            return "json_schema", json.dumps({**schema, "x-guidance": LAYOUT}, ensure_ascii=False)
        case Pattern(regex):
            return "regex", regex
        case Grammar(lark):
            return "lark", lark
