"""`obviate compile rules` and `obviate bench compile --rules` as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rule_forms import TAPE, Filled, by_principle
from typer.testing import CliRunner, Result

from obviate.adapters.cli import app, compilation
from obviate.kb import Pack, household
from obviate.kb.errors import DataError

RULES = household.pack().rules


def run(*args: Any, input: str = "") -> Result:
    return CliRunner().invoke(app, list(map(str, args)), input=input)


@pytest.fixture
def principles(tmp_path: Path) -> Path:
    file = tmp_path / "principles.txt"
    file.write_text("".join(f"{name}: {RULES[name].principle}\n" for name in ("storage_closed", "water_off")))
    return file


def test_principles_become_a_pack(principles: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.lp"
    first = run("compile", "rules", principles, "-o", out, "--model", TAPE)
    assert first.exit_code == 0, first.output
    assert "2 rules" in first.stdout
    text = out.read_text()
    assert "% compiled by tape:household.tape.jsonl, prompt " in text
    pack = Pack.load(out, vocabulary=household.vocabulary())
    assert [(name, rule.principle) for name, rule in pack.rules.items()] == [
        (name, RULES[name].principle) for name in ("storage_closed", "water_off")
    ]
    again = run("compile", "rules", principles, "-o", out, "--model", TAPE, "--json")
    assert again.exit_code == 0
    assert [(told["verdict"], told["doubts"]) for told in json.loads(again.stdout)] == [("passed", [])] * 2
    assert out.read_text() == text


def test_what_was_changed_by_hand_is_not_overwritten(principles: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.lp"
    run("compile", "rules", principles, "-o", out, "--model", TAPE)
    out.write_text(out.read_text() + "% by hand\n")
    refused = run("compile", "rules", principles, "-o", out, "--model", TAPE)
    assert isinstance(refused.exception, DataError)
    assert refused.exception.code == "output-exists"
    assert "by hand" in out.read_text()
    assert run("compile", "rules", principles, "-o", out, "--model", TAPE, "--force").exit_code == 0
    assert "by hand" not in out.read_text()


@pytest.mark.parametrize(
    ("answers", "exit_code", "verdict"), [("a\n", 0, "accepted"), ("r\n", 0, "rejected"), ("l\n", 1, "audit")]
)
def test_doubts_are_reviewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str, exit_code: int, verdict: str
) -> None:
    said = "Keep the [bold]cabinets[/bold] as they are."
    filled = Filled({said: by_principle()[RULES["water_off"].principle]})
    monkeypatch.setattr(compilation, "open_decoder", lambda name: filled)
    file, out = tmp_path / "p.txt", tmp_path / "rules.lp"
    file.write_text(f"odd: {said}\n")
    done = run("compile", "rules", file, "-o", out, "--review", input=answers)
    assert done.exit_code == exit_code, done.output
    assert verdict in done.stdout
    assert "[bold]" in done.output  # text, never markup
    assert out.exists() == (verdict == "accepted")
    decision = {"accepted": "accept", "rejected": "reject", "audit": "pending"}[verdict]
    assert json.loads((tmp_path / "rules.audit.json").read_text())["rules"][0]["decision"] == decision
    after = run("compile", "rules", file, "-o", out)  # what was decided stays decided
    assert after.exit_code == exit_code


def test_intents_for_another_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skills, out = tmp_path / "robot.lp", tmp_path / "other.lp"
    skills.write_text("skill(push, 1).")
    monkeypatch.setattr(compilation, "open_decoder", lambda name: Nothing())
    done = run("compile", "rules", "household", "-o", out, "--skills", skills, "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert set(told["rules"]) == {name for name, rule in RULES.items() if rule.mode == "temporal"}
    assert set(told["without_threat"]) == RULES.keys() - set(told["rules"])


class Nothing:
    """A model that says that the robot can do nothing of the kind."""

    name = "nothing"

    def decode(self, messages: Any, spec: Any, **options: Any) -> str:
        return '{"threats": []}'


def test_the_benchmark_says_which_model_it_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from obviate.adapters.cli import rulebench
    from obviate.compilers.rules import bench

    (task,) = (task for task in bench.tasks() if task.name == "dry_floor")
    thing: dict[str, Any] = {
        "object": "X",
        "tags": [["surface_floor"]],
        "states": [["wet"]],
        "not_tags": [],
        "not_states": [],
    }
    thing |= {"seen_not": [], "moved": False, "at": [], "lacks": []}
    form = {"mode": "temporal", "about": ["X"], "different": False, "hazard": [[thing]], "target": []}
    filled = Filled({task.principle: {**form, "deadline": "default", "advisory": False}})
    monkeypatch.setattr(rulebench, "open_decoder", lambda name: filled)
    done = run("bench", "compile", "--rules", "--only", "dry_floor", "--cases", 10)
    assert done.exit_code == 0, done.output
    assert "written-by-hand, ask, 1 sample, 1 principles" in done.stdout
    data = json.loads(run("bench", "compile", "--rules", "--only", "dry_floor", "--cases", 10, "--json").stdout)
    assert data["summary"]["equal"] == 1
    assert run("bench", "compile").exit_code == 2
