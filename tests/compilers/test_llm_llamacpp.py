"""The backend of llama.cpp, with a stand-in for the compiled part; `make llamacpp` tries the real one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obviate.compilers.constraint import Constraints, Watched
from obviate.compilers.decoder import Decoder, Message, Scorer
from obviate.compilers.llamacpp import LlamaCpp, _control_tokens
from obviate.compilers.spec import Pattern, Spec
from obviate.kb.errors import DecodeError, ObviateError

PROMPT = [Message("user", "a or b?")]
SPEC = Pattern("[ab]")


@dataclass(frozen=True)
class Constrained(Constraints):
    """Constraints whose processor is given."""

    made: Any = None

    def processor(self, spec: Spec) -> Watched:
        return Watched(self.made)


@dataclass
class Model:
    """Answers `text`, after it has asked the constraint `asks` times; an exception in it is forgotten, as in C."""

    text: str | None = "a"
    ended: str = "stop"
    asks: int = 1
    fails: Exception | None = None
    said: list[dict[str, Any]] = field(default_factory=list)

    def create_chat_completion(self, **options: Any) -> Any:
        self.said.append(options)
        if self.fails:
            raise self.fails
        for _ in range(self.asks):
            try:
                options["logits_processor"][0]([1], [0.0])
            except Exception as error:
                print(f"Exception ignored: {error}", file=sys.stderr)
        return {"choices": [{"message": {"content": self.text}, "finish_reason": self.ended}]}


def decoder(model: Model, *, processor: Callable[..., Any] = lambda tokens, scores: scores) -> LlamaCpp:
    return LlamaCpp("llamacpp:tiny", model, Constrained(None, "llamacpp", made=processor), frozenset({"<|im_end|>"}))


def refused(work: LlamaCpp, asked: list[Message] = PROMPT) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        work.decode(asked, SPEC, max_tokens=9)
    return caught.value


def test_it_decodes_within_the_spec() -> None:
    model = Model()
    made = decoder(model)
    assert isinstance(made, Decoder)
    assert not isinstance(made, Scorer)
    assert made.decode(PROMPT, SPEC, max_tokens=9, seed=3, temperature=0.5) == "a"
    (said,) = model.said
    assert said["messages"] == [{"role": "user", "content": "a or b?"}]
    assert (said["max_tokens"], said["seed"], said["temperature"]) == (9, 3, 0.5)
    assert (said["top_k"], said["top_p"], said["min_p"], said["repeat_penalty"]) == (0, 1.0, 0.0, 1.0)


def test_trap_an_exception_that_c_forgets_is_told() -> None:
    def fail(tokens: object, scores: object) -> object:
        raise ImportError("numba is missing")

    error = refused(decoder(Model(), processor=fail))
    assert error.code == "constraint-lost"
    assert "numba" in error.message


def test_trap_a_constraint_that_is_never_asked_is_told() -> None:
    assert refused(decoder(Model(asks=0))).code == "constraint-lost"


def test_trap_the_prompt_before_is_not_forgotten() -> None:
    """outlines' own call resets the model; a stand-in without `reset` shows that ours does not."""
    assert not hasattr(Model(), "reset")
    assert decoder(Model()).decode(PROMPT, SPEC) == "a"


@pytest.mark.parametrize(
    ("model", "code"),
    [
        (Model(text="free prose"), "answer-malformed"),
        (Model(text=None), "answer-empty"),
        (Model(ended="length"), "answer-truncated"),
        (Model(fails=ValueError("Requested tokens exceed context window")), "model-failed"),
    ],
)
def test_an_answer_that_is_none_is_told(model: Model, code: str) -> None:
    assert refused(decoder(model)).code == code


def test_control_tokens_and_images_are_refused_unasked() -> None:
    model = Model()
    assert refused(decoder(model), [Message("user", "x<|im_end|>")]).code == "prompt-reserved"
    assert refused(decoder(model), [Message("user", "x", (Path("a.png"),))]).code == "images-unsupported"
    assert model.said == []


def test_control_tokens_are_read_from_the_vocabulary() -> None:
    words = [b"<s>", b"hello", b"<|im_end|>"]
    llama = SimpleNamespace(
        llama_model_get_vocab=lambda model: words,
        llama_vocab_is_control=lambda vocabulary, token: vocabulary[token].startswith(b"<"),
        llama_vocab_get_text=lambda vocabulary, token: vocabulary[token],
    )
    model = SimpleNamespace(model=None, n_vocab=lambda: 3)
    assert _control_tokens(llama, model) == {"<s>", "<|im_end|>"}


def test_a_file_is_asked_for_and_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DecodeError) as caught:
        LlamaCpp.load(tmp_path / "none.gguf")
    assert caught.value.code == "model-missing"
    file = tmp_path / "a.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ObviateError) as missing:
        LlamaCpp.load(file)
    assert (missing.value.code, missing.value.help) == ("extra-missing", "pip install 'obviate[llamacpp]'")

    def fail(*arguments: object, **options: object) -> None:
        raise ValueError("Failed to load model")

    monkeypatch.setitem(sys.modules, "llama_cpp", SimpleNamespace(Llama=fail))
    monkeypatch.setitem(sys.modules, "outlines", SimpleNamespace())
    with pytest.raises(DecodeError) as caught:
        LlamaCpp.load(file)
    assert caught.value.code == "model-unusable"
