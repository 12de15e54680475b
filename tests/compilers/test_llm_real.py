"""The real SmolLM2 on transformers, where it was fetched."""

from __future__ import annotations

import pytest
import real_model
import tiny_model

from obviate.compilers import models
from obviate.compilers.backends import open_decoder
from obviate.compilers.local import Local


@pytest.fixture(scope="module")
def model() -> Local:
    for name in ("torch", "transformers", "outlines", "llguidance"):
        tiny_model.package(name)
    if not models.ready(models.KNOWN[0]):
        pytest.skip("the model is not here: obviate models fetch")
    made = open_decoder("smollm2-135m")
    assert isinstance(made, Local)
    return made


def test_it_follows_its_specs(model: Local) -> None:
    assert model.name == "local:smollm2-135m"
    real_model.follows_its_specs(model)


def test_it_knows_some_english(model: Local) -> None:
    likely, odd, wrong = model.logprobs("The capital of France is", [" Paris", " seven", " Par1s of cheese"])
    assert 0 > likely > odd > wrong
