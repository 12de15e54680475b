"""Backends by name: what stands behind ``--model`` on the command line."""

from __future__ import annotations

from pathlib import Path

from obviate.compilers import models
from obviate.compilers.decoder import Decoder
from obviate.compilers.llamacpp import LlamaCpp
from obviate.compilers.local import Local
from obviate.compilers.recorded import Recorded
from obviate.compilers.server import Server
from obviate.kb.errors import DecodeError, nearest

__all__ = ["open_decoder"]

FORMS = "a known model, a folder, a .gguf file, a .jsonl tape, or http://host/v1#model"


def open_decoder(name: str) -> Decoder:
    """The decoder of that name.

    ``smollm2-135m`` is a known model, on transformers; ``llamacpp:smollm2-135m`` the same on llama.cpp; a folder is a
    model of transformers, a ``.gguf`` file one of llama.cpp, a ``.jsonl`` file a tape, and ``http://host/v1#model`` a
    server. Raises `DecodeError`: ``model-unknown``, ``model-missing``, or as the backend.
    """
    if name.startswith(("http://", "https://")):
        url, _, served = name.partition("#")
        if not served:
            raise DecodeError("model-unknown", "the server has many models", where=name, help=f"write {url}#MODEL")
        return Server(url, served)
    if name.endswith(".jsonl"):
        return Recorded.load(Path(name))
    if name.endswith(".gguf"):
        return LlamaCpp.load(Path(name))
    if "/" in name or Path(name).is_dir():
        return Local.load(Path(name))
    backend, _, short = name.rpartition(":")
    if short not in {model.name for model in models.KNOWN} or backend not in ("", "local", "llamacpp"):
        known = [model.name for model in models.KNOWN]
        raise DecodeError("model-unknown", f"there is no model {name!r}", help=f"{nearest(name, known)}; give {FORMS}")
    model = models.known(short)
    if not models.ready(model):
        where = str(models.folder(model))
        raise DecodeError("model-missing", f"{short} is not here", where=where, help=f"obviate models fetch {short}")
    if backend == "llamacpp":
        return LlamaCpp.load(models.gguf(model), name=name)
    return Local.load(models.folder(model), name=f"local:{short}")
