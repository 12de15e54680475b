"""`obviate compile instruction` and `obviate bench compile`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import obviate

from obviate.kb.instruction import Instruction

TAPE = Path(__file__).parents[1] / "compilers" / "instructions.jsonl"


def test_the_file_goes_to_standard_output_and_the_report_beside_it(tmp_path: Path) -> None:
    done = obviate("compile", "instruction", "Bring me the nearest mug", "--no-model", cwd=tmp_path)
    assert done.returncode == 0
    assert Instruction.of(done.stdout).signature.selection == {"position", "topology"}
    assert "sure: the program judges" in done.stderr


def test_an_unsure_one_exits_with_1(tmp_path: Path) -> None:
    text = "Find a cosy mug"
    done = obviate("compile", "instruction", text, "--no-model", "--mode", "safe", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert done.returncode == 1
    assert (data["sure"], data["abstained"], data["judged"], data["reasons"]) == (
        False,
        True,
        True,
        ["not understood: cosy"],
    )


def test_a_tape_stands_for_a_model(tmp_path: Path) -> None:
    text = "Water the closest plant in a room where you have watered none"
    done = obviate("compile", "instruction", text, "--model", str(TAPE), "--name", "next_plant", cwd=tmp_path)
    assert (done.returncode, done.stdout.startswith("instruction(next_plant).")) == (0, True), done.stderr


def test_words_of_a_building(tmp_path: Path) -> None:
    words = ("--type", "Centrifuge", "--label", "clean room")
    done = obviate(
        "compile", "instruction", "Go to the clean room with a centrifuge", "--no-model", *words, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "inventory(R, centrifuge, _), label(R, clean_room)" in done.stdout


def test_a_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    command = ("compile", "instruction", "Get a mug", "--no-model", "-o", "mug.lp")
    first = obviate(*command, cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, "")
    (tmp_path / "mug.lp").write_text("mine")
    second = obviate(*command, cwd=tmp_path)
    assert second.returncode == 2
    assert "[file-exists]" in second.stderr
    assert (tmp_path / "mug.lp").read_text() == "mine"
    assert obviate(*command, "--force", cwd=tmp_path).returncode == 0
    assert Instruction.load(tmp_path / "mug.lp").says == "Get a mug"


def test_wrong_use(tmp_path: Path) -> None:
    for arguments, word in (
        (("Get a mug", "--no-model", "--mode", "bold"), "--mode"),
        (("Get a mug", "--model", "nothing-like-this"), "[model-unknown]"),
        (("Get a mug", "--model", str(TAPE), "--method", "score"), "[method-unsupported]"),
        (("Get a mug", "--model", str(TAPE), "-k", "9"), "[orders-unknown]"),
        (("Get a mug", "--model", str(TAPE)), "[not-on-tape]"),
        (("...", "--no-model"), "[instruction-empty]"),
        (("Get a mug", "--no-model", "-o", "no/such/folder.lp"), "[file-missing]"),
    ):
        done = obviate("compile", "instruction", *arguments, cwd=tmp_path)
        assert done.returncode == 2, arguments
        assert word in done.stderr, arguments
        assert done.stdout == ""


def test_bench_without_a_model(tmp_path: Path) -> None:
    done = obviate("bench", "compile", "--requests", "--no-model", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert done.returncode == 0
    sets = data["runs"][0]["sets"]
    assert sets["held-out templates"]["rows"]["universal"]["containment"] == 1
    assert sets["held-out templates"]["rows"]["inventory only"]["inflation"] < 1
    assert set(data["runs"][0]["pairs"]["safe"]) == {"label", "position", "history", "nearest"}
    shown = obviate("bench", "compile", "--requests", "--no-model", "--development", cwd=tmp_path)
    assert "development templates" in shown.stdout


def test_bench_says_what_it_can_score(tmp_path: Path) -> None:
    assert obviate("bench", "compile", cwd=tmp_path).returncode == 2
