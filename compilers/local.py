"""Language models on this machine, run by transformers and constrained through outlines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obviate.compilers.constraint import Constraints
from obviate.compilers.decoder import Message
from obviate.compilers.prefix import Prefixes
from obviate.compilers.spec import Spec, canonical, recheck
from obviate.kb.errors import DecodeError, ObviateError
from obviate.kb.extras import module

__all__ = ["Local"]

PREFIXES = 8  # beginnings of prompts kept: some 16 MB each for SmolLM2 and four examples
BATCH = 16  # continuations scored together; the logits of a batch take some 100 MB
# Compiling the mask's kernel delays the first token by many seconds and needs a C++ compiler; a spinning OpenMP
# slows a model down tenfold as soon as another process runs. Both are read when torch is first imported.
ENVIRONMENT = {"TORCHDYNAMO_DISABLE": "1", "OMP_WAIT_POLICY": "PASSIVE"}
_HELP = "give a folder that transformers' save_pretrained wrote, or run: obviate models fetch"


@dataclass(frozen=True)
class Local:
    """A `Decoder` and `Scorer`: a causal language model of transformers and its tokenizer. Not for several threads."""

    name: str
    network: Any = field(repr=False, compare=False)
    tokenizer: Any = field(repr=False, compare=False)
    constraints: Constraints = field(repr=False, compare=False)
    prefixes: Prefixes = field(repr=False, compare=False)

    @classmethod
    def of(cls, network: Any, tokenizer: Any, *, name: str, prefixes: int = PREFIXES) -> Local:
        """A model that is in memory. `prefixes` is how many beginnings of prompts it keeps in mind."""
        prepare()
        outlines = module("outlines", extra="llm")
        constraints = Constraints(outlines.from_transformers(network, tokenizer), extra="llm")
        return cls(name, network.eval(), tokenizer, constraints, Prefixes(network, prefixes))

    @classmethod
    def load(cls, folder: Path, *, name: str = "", threads: int = 1, dtype: str = "bfloat16") -> Local:
        """The model in a folder, on `threads` threads (a setting of torch for the whole process).

        Raises `DecodeError` (``model-missing``, ``model-unusable``) or `ObviateError` (``extra-missing``). Only
        safetensors are read, and no code that lies beside them: the folder may be a stranger's.
        """
        if not (folder / "config.json").is_file():
            raise DecodeError("model-missing", "there is no model: no config.json", where=str(folder), help=_HELP)
        prepare()
        torch, transformers = module("torch", extra="llm"), module("transformers", extra="llm")
        torch.set_num_threads(threads)
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            with quiet(transformers):
                tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
                network, report = transformers.AutoModelForCausalLM.from_pretrained(
                    folder, **options, use_safetensors=True, output_loading_info=True, dtype=getattr(torch, dtype)
                )
        except Exception as error:  # a malformed folder makes the libraries raise anything
            message = f"no language model: {type(error).__name__}: {error}"
            raise DecodeError("model-unusable", f"{message:.500}", where=str(folder), help=_HELP) from error
        if absent := sorted(report["missing_keys"]):
            # transformers makes them up at random, and only warns.
            message = f"the weights lack {len(absent)} parameters, such as {absent[0]}"
            raise DecodeError("model-unusable", message, where=str(folder), help=_HELP)
        return cls.of(network, tokenizer, name=name or f"local:{folder.name}")

    def decode(
        self,
        messages: Sequence[Message],
        spec: Spec,
        *,
        max_tokens: int = 256,
        seed: int | None = None,
        temperature: float = 0.0,
    ) -> str:
        """The answer within the spec; the same for the same arguments, whatever was asked before.

        Raises `DecodeError`: ``spec-unsupported``, ``images-unsupported``, ``prompt-reserved``, ``prompt-too-long``,
        ``answer-truncated`` when `max_tokens` (the end included) did not suffice, ``constraint-lost``,
        ``model-failed``, or as `recheck`.
        """
        check_text(messages, spec, {*self.tokenizer.get_added_vocab(), *self.tokenizer.all_special_tokens})
        processor = self.constraints.processor(spec)
        begin, rest = self.prompt(messages)
        self._fits(len(begin) + len(rest) + max_tokens)
        try:
            tokens = self._generate(begin, rest, processor, max_tokens, seed, temperature)
            text = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        except ObviateError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise DecodeError("model-failed", f"{message:.500}", where=self.name) from error
        processor.check()
        if not tokens or tokens[-1] != self.tokenizer.eos_token_id:
            message = f"the answer has not ended after {max_tokens} tokens: ...{text[-60:]!r}"
            help = "allow more tokens, or bound what may repeat"
            raise DecodeError("answer-truncated", message, where="max_tokens", help=help)
        return recheck(spec, text)

    def logprobs(self, prefix: str, continuations: Sequence[str]) -> list[float]:
        """As `Scorer` says; the prefix is read once. Raises `DecodeError` (``prompt-too-long``)."""
        begin = self._tokens(prefix) or [self._first]
        parts = [self._tokens(text) for text in continuations]
        self._fits(len(begin) + max(map(len, parts), default=0))
        # Neighbours in length go together, to waste little on padding.
        order = sorted(range(len(parts)), key=lambda index: len(parts[index]))
        scores = [0.0] * len(parts)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            for index, score in zip(chosen, self._score(begin, [parts[i] for i in chosen]), strict=True):
                scores[index] = score
        return scores

    # -- tokens ----------------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        """What stands before a text that nothing precedes."""
        begin = self.tokenizer.bos_token_id
        return int(self.tokenizer.eos_token_id if begin is None else begin)

    def _tokens(self, text: str) -> list[int]:
        """A text as tokens, none of which is a control token, whatever the text says."""
        return list(self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def prompt(self, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
        """The tokens of all messages but the last, and those that follow them. Raises as `decode`."""
        whole = self._templated(messages, answer=True)
        if len(messages) > 1:
            try:
                begin = self._templated(messages[:-1], answer=False)
            except DecodeError:  # some templates know no conversation that ends there
                return [], whole
            if whole[: len(begin)] == begin:
                return begin, whole[len(begin) :]
        return [], whole

    def _templated(self, messages: Sequence[Message], *, answer: bool) -> list[int]:
        turns = [{"role": message.role, "content": message.text} for message in messages]
        try:
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=answer)
        except Exception as error:  # templates are programs, and raise what they like
            message = f"its chat template cannot tell these messages: {error}"
            raise DecodeError("model-unusable", f"{message:.500}", where=self.name, help="use a chat model") from error
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _fits(self, tokens: int) -> None:
        limit = getattr(self.network.config, "max_position_embeddings", tokens)
        if tokens > limit:
            message = f"prompt and answer may take {tokens:,} tokens, the model reads {limit:,}"
            raise DecodeError("prompt-too-long", message, where=self.name, help="shorten the prompt")

    # -- the network -----------------------------------------------------------------------------

    def _generate(
        self, begin: list[int], rest: list[int], processor: Any, max_tokens: int, seed: int | None, temperature: float
    ) -> list[int]:
        torch, transformers = module("torch", extra="llm"), module("transformers", extra="llm")
        settings = transformers.GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=temperature > 0,
            # Said, since what is left out is taken from the model's own settings.
            **({"temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature > 0 else {}),
            repetition_penalty=1.0,
            num_beams=1,
            bos_token_id=self._first,
            eos_token_id=self.tokenizer.eos_token_id,
            pad_token_id=self.tokenizer.eos_token_id,
        )
        prompt = torch.tensor([begin + rest])
        known = {"cache": self.prefixes.read(begin)[0]} if begin else {}
        with torch.inference_mode(), torch.random.fork_rng(devices=[]):
            if seed is not None:
                torch.manual_seed(seed)
            output = self.network.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                generation_config=settings,
                logits_processor=transformers.LogitsProcessorList([processor]),
                **known,
            )
        return [int(token) for token in output[0, prompt.shape[1] :]]

    def _score(self, begin: list[int], parts: list[list[int]]) -> list[float]:
        torch = module("torch", extra="llm")
        cache, first = self.prefixes.read(begin)
        width = max(map(len, parts))
        if not width:
            return [0.0] * len(parts)
        padded = torch.tensor([part + [0] * (width - len(part)) for part in parts])
        real = torch.tensor([[1] * len(part) + [0] * (width - len(part)) for part in parts])
        cache.batch_repeat_interleave(len(parts))
        with torch.inference_mode():
            mask = torch.cat([torch.ones(len(parts), len(begin), dtype=real.dtype), real], dim=1)
            logits = self.network(padded, attention_mask=mask, cache=cache, use_cache=True).logits
            following = torch.cat([first.expand(len(parts), 1, -1), logits[:, :-1].float().log_softmax(-1)], dim=1)
            scores = following.gather(2, padded.unsqueeze(2)).squeeze(2) * real
        return [float(score) for score in scores.double().sum(dim=1)]


def check_text(messages: Sequence[Message], spec: Spec, reserved: Iterable[str]) -> None:
    """Raise `DecodeError` for images, and where texts or spec hold one of the `reserved` control tokens.

    The chat template writes those around the messages; in a text they would end the message that they stand in. In a
    spec they would be forced on the model as what they control, which its matcher then takes for a mistake.
    """
    tokens = sorted(token for token in reserved if token.strip())
    for index, message in enumerate(messages):
        if message.images:
            told = "this backend reads texts only"
            raise DecodeError("images-unsupported", told, where=f"messages[{index}]", help="ask a server")
        if found := [token for token in tokens if token in message.text]:
            told = f"the text holds {found[0]!r}, which controls the model"
            raise DecodeError("prompt-reserved", told, where=f"messages[{index}]", help="use prompt.quoted for data")
    if found := [token for token in tokens if token in canonical(spec)]:
        told = f"the spec holds {found[0]!r}, which controls the model"
        raise DecodeError("spec-unsupported", told, help="give another name for it to the model")


def prepare() -> None:
    """Set what torch reads when it is imported, unless the user has set it."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Without the progress bars of transformers."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
