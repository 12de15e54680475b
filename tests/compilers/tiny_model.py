"""A language model of random weights, as small as they go: it tests the shape of answers, never their sense.

Sampled, it is a better fuzzer of a constraint than any real model: ``tiny_model.samples(spec, 2_000, like=texts)``. The
tokens of `decoder` are bytes, so its `max_tokens` counts bytes; those of `samples` are pieces of the texts too. Every
function skips the test without the extra ``llm``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from obviate.compilers.local import Local, prepare
from obviate.compilers.spec import Spec

ROOT = Path(__file__).parents[2]
NEEDS = "needs the extra: pip install 'obviate[llm]'"
_SEEN = 8  # tokens that a sampled model looks back on
_PIECES = 1_500  # tokens of it
BEGIN, END = "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}" + BEGIN + "{{ m['role'] }}\n{{ m['content'] }}" + END + "\n{% endfor %}"
    "{% if add_generation_prompt %}" + BEGIN + "assistant\n{% endif %}"
)


def package(name: str) -> Any:
    """A package of the extra; without it, the test skips and says so."""
    prepare()
    return pytest.importorskip(name, reason=NEEDS, exc_type=ImportError)


def tokenizer() -> Any:
    """All bytes, a few merges, and the two control tokens of ChatML."""
    for name in ("outlines", "llguidance"):
        package(name)
    tokenizers = package("tokenizers")
    decoders, models = package("tokenizers.decoders"), package("tokenizers.models")
    pre_tokenizers = package("tokenizers.pre_tokenizers")
    merges = [("i", "n"), ("t", "o"), ('"', ":")]
    words = [BEGIN, END, *sorted(pre_tokenizers.ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    made = tokenizers.Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return _fast(made)


def _fast(made: Any) -> Any:
    fast = package("transformers").PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=BEGIN, eos_token=END, pad_token=END, model_max_length=8192
    )
    fast.chat_template = TEMPLATE
    return fast


def network(words: int, *, seed: int = 0) -> Any:
    """A Llama of two layers of 32 units."""
    torch, transformers = package("torch"), package("transformers")
    torch.set_num_threads(1)
    config = transformers.LlamaConfig(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.LlamaForCausalLM(config).eval()


@cache
def decoder(seed: int = 0) -> Local:
    """The model of random weights as a `Decoder` and `Scorer`; the same one for a seed."""
    words = tokenizer()
    return Local.of(network(len(words), seed=seed), words, name=f"local:tiny-{seed}")


def samples(spec: Spec, count: int, *, like: Sequence[str] = (), seed: int = 0, batch: int = 200) -> Iterator[str]:
    """`count` answers within the constraint as the model wrote them, not rechecked, in any order.

    The constraint is the one of `Local.decode`. The model, of random weights, looks back on a few tokens, which are
    bytes and what is frequent in the texts `like`. It writes `batch` answers at a time.
    """
    numpy, torch, llguidance = package("numpy"), package("torch"), package("llguidance")
    masks = package("llguidance.numpy")
    words = _pieces(like)
    model = Local.of(network(len(words), seed=seed), words, name="local:pieces")
    constraint = model.constraints.processor(spec).processor
    random, mask = numpy.random.default_rng(seed), masks.allocate_token_bitmask(1, len(words))
    writing: list[tuple[Any, list[int]]] = []
    begun = 0
    while begun < count or writing:
        while begun < count and len(writing) < batch:
            matcher = llguidance.LLMatcher(constraint.llg_tokenizer, constraint.grammar)
            writing.append((matcher, random.integers(len(words), size=_SEEN).tolist()))
            begun += 1
        with torch.inference_mode():
            window = torch.tensor([tokens[-_SEEN:] for _, tokens in writing])
            scores = model.network(window).logits[:, -1].numpy()
        scores += random.gumbel(size=scores.shape)
        still = []
        for (matcher, tokens), row in zip(writing, scores, strict=True):
            masks.fill_next_token_bitmask(matcher, mask)
            allowed = numpy.unpackbits(mask[0].view(numpy.uint8), bitorder="little")[: len(words)]
            tokens.append(int(numpy.where(allowed, row, -numpy.inf).argmax()))
            matcher.consume_token(tokens[-1])
            assert not matcher.get_error()
            if tokens[-1] == words.eos_token_id:
                text = tokens[_SEEN:-1]
                yield words.decode(text, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            else:
                still.append((matcher, tokens))
        writing = still


def _pieces(texts: Sequence[str]) -> Any:
    """A tokenizer whose tokens are bytes, and what is frequent in some texts."""
    decoders, models = package("tokenizers.decoders"), package("tokenizers.models")
    pre_tokenizers, trainers = package("tokenizers.pre_tokenizers"), package("tokenizers.trainers")
    made = package("tokenizers").Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=_PIECES, special_tokens=[BEGIN, END], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    return _fast(made)
