"""The real SmolLM2 on the real llama.cpp: run by `make llamacpp`, which builds it. See docs/decisions."""

from __future__ import annotations

from pathlib import Path

import pytest
import real_model

from obviate.compilers import models
from obviate.compilers.backends import open_decoder
from obviate.compilers.llamacpp import LlamaCpp
from obviate.kb.errors import DecodeError

# llguidance still asks llama.cpp by names that it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:llama_token_:DeprecationWarning")


@pytest.fixture(scope="module")
def model() -> LlamaCpp:
    models.fetch(models.KNOWN[0])
    made = open_decoder("llamacpp:smollm2-135m")
    assert isinstance(made, LlamaCpp)
    return made


def test_it_follows_its_specs(model: LlamaCpp) -> None:
    real_model.follows_its_specs(model)


def test_it_knows_its_control_tokens(model: LlamaCpp) -> None:
    assert {"<|im_start|>", "<|im_end|>"} <= model.reserved


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(DecodeError) as caught:
        LlamaCpp.load(file)
    assert caught.value.code == "model-unusable"
