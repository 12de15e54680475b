"""Language models in GGUF files, run by llama.cpp: faster to answer than transformers and smaller, slower to read.

Its Python package is built from source when it is installed, which takes minutes; hence an extra of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obviate.compilers.constraint import Constraints
from obviate.compilers.decoder import Message
from obviate.compilers.local import check_text, prepare
from obviate.compilers.spec import Spec, recheck
from obviate.kb.errors import DecodeError
from obviate.kb.extras import module

__all__ = ["LlamaCpp"]

EXTRA = "llamacpp"


@dataclass(frozen=True)
class LlamaCpp:
    """A `Decoder`: a model of llama.cpp, and the texts of its control tokens. Not for several threads."""

    name: str
    model: Any = field(repr=False, compare=False)
    constraints: Constraints = field(repr=False, compare=False)
    reserved: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @classmethod
    def load(cls, file: Path, *, name: str = "", threads: int = 1, context: int = 4096) -> LlamaCpp:
        """The model in a GGUF file, that reads up to `context` tokens.

        Raises `DecodeError` (``model-missing``, ``model-unusable``) or `ObviateError` (``extra-missing``).
        """
        help = "name a .gguf file, or run: obviate models fetch"
        if not file.is_file():
            raise DecodeError("model-missing", "there is no such file", where=str(file), help=help)
        prepare()
        llama, outlines = module("llama_cpp", extra=EXTRA), module("outlines", extra=EXTRA)
        try:
            model = llama.Llama(
                str(file), n_ctx=context, n_threads=threads, n_threads_batch=threads, seed=0, verbose=False
            )
        except Exception as error:  # malformed files make it raise anything
            message = f"no model for llama.cpp: {type(error).__name__}: {error}"
            raise DecodeError("model-unusable", f"{message:.500}", where=str(file), help=help) from error
        constraints = Constraints(outlines.from_llamacpp(model), extra=EXTRA)
        return cls(name or f"llamacpp:{file.name}", model, constraints, _control_tokens(llama, model))

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The answer within the spec. What the prompt has in common with the one before is not read again.

        Raises `DecodeError`: ``spec-unsupported``, ``images-unsupported``, ``prompt-reserved``, ``answer-truncated``,
        ``constraint-lost``, ``model-failed`` (also for prompts that are too long), or as `recheck`.
        """
        check_text(messages, spec, self.reserved)
        processor = self.constraints.processor(spec)
        try:
            reply = self.model.create_chat_completion(
                messages=[{"role": message.role, "content": message.text} for message in messages],
                # Not through outlines' own call, which makes the model forget the prompt before.
                logits_processor=[processor],
                max_tokens=max_tokens,
                temperature=temperature,
                seed=seed,
                top_k=0,
                top_p=1.0,
                min_p=0.0,
                repeat_penalty=1.0,
            )
            (choice,) = reply["choices"]
            text, ended = choice["message"]["content"] or "", choice["finish_reason"]
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise DecodeError("model-failed", f"{message:.500}", where=self.name) from error
        processor.check()
        if ended != "stop":
            message = f"the answer has not ended after {max_tokens} tokens: ...{text[-60:]!r}"
            help = "allow more tokens, or bound what may repeat"
            raise DecodeError("answer-truncated", message, where="max_tokens", help=help)
        return recheck(spec, text)


def _control_tokens(llama: Any, model: Any) -> frozenset[str]:
    """The texts that llama.cpp would read as control tokens wherever they stand in a prompt."""
    vocabulary = llama.llama_model_get_vocab(model.model)
    tokens = (i for i in range(model.n_vocab()) if llama.llama_vocab_is_control(vocabulary, i))
    return frozenset(llama.llama_vocab_get_text(vocabulary, token).decode("utf-8", "replace") for token in tokens)
