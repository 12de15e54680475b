"""The command line: what it prints, its exit codes, and wrong use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import obviate

from obviate.adapters import scenario


def test_demo_shows_hazard_reason_obligation_and_verdict(tmp_path: Path) -> None:
    done = obviate("demo", cwd=tmp_path)

    assert done.returncode == 0
    for word in ("hazard", "because", "owed", "passed", "failed", "Verification records"):
        assert word in done.stdout


def test_demo_as_json_tells_why(tmp_path: Path) -> None:
    data = json.loads(obviate("demo", "--json", cwd=tmp_path).stdout)
    hazards = [hazard for step in data["steps"] for hazard in step["hazards"]]

    assert {hazard["rule"] for hazard in hazards} >= {"thaw_before_cooking", "clear_flammable_before_heating"}
    assert all(hazard["principle"] and hazard["because"] for hazard in hazards)


@pytest.mark.parametrize("name", scenario.names())
def test_shipped_scenarios_reach_their_goal_on_both_backends(name: str, tmp_path: Path) -> None:
    done = obviate("run", name, "--backend", "crosscheck", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    failed = [r for r in data["records"] if r["verdict"] == "failed" and r.get("reason") != "abandoned"]

    assert data["goal"] is True
    assert data["notes"] == []
    assert all(not step["failure"] and not step["refused"] for step in data["steps"])
    assert done.returncode == int(any(r["rule"] != "floor_clear" for r in failed))


def test_shipped_scenarios_are_at_least_five() -> None:
    assert len(scenario.names()) >= 5


def test_a_log_replays_and_a_changed_one_does_not(tmp_path: Path) -> None:
    log = tmp_path / "peach.jsonl"
    assert obviate("run", "peach", "--log", str(log), cwd=tmp_path).returncode == 0
    assert obviate("replay", str(log), cwd=tmp_path).returncode == 0
    log.write_text(log.read_text().replace('"verdict":"passed"', '"verdict":"failed"', 1))
    changed = obviate("replay", str(log), cwd=tmp_path)

    assert changed.returncode == 1
    assert "differs: line" in changed.stdout


WRONG = [
    (("run", "peech"), "did you mean 'peach'?"),
    (("run", "missing.toml"), "there is no such file"),
    (("run", "peach", "--backend", "multishoot"), "did you mean 'multishot'?"),
    (("run", "cook_eggs", "--data", "nowhere"), "data-missing"),
    (("replay", "missing.jsonl"), "there is no such file"),
    (("bench", "isbench"), "--data"),
    (("runn",), "No such command"),
]


@pytest.mark.parametrize(
    ("arguments", "told"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_wrong_use_exits_with_two_and_says_what_was_meant(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    done = obviate(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_names_are_data_on_the_screen(tmp_path: Path) -> None:
    """Brackets in names are no markup, also across the lines of a cell."""
    (tmp_path / "odd.toml").write_text(
        """
title = "[bold]odd[/bold]"
instruction = "[/]"
plan = ["open(\\"a[/b\\")", "open(\\"c]d\\")", "done"]
[objects]
"a[/b" = { kind = "cabinet" }
"c]d" = { kind = "cabinet" }
"[red]x" = { kind = "apple", in = "a[/b" }
"""
    )
    done = obviate("run", "odd.toml", cwd=tmp_path)

    assert done.stderr == ""
    assert "[bold]odd[/bold]" in done.stdout
    assert "[red]x" in done.stdout


def test_rules_of_ones_own_may_be_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "rules.lp").write_text(
        'rule(shut, temporal).\nprinciple(shut, "Shut it.").\nhazard(shut, X) :- ajar(X).\n'
    )
    (folder / "helpers.lp").write_text("ajar(X) :- state(X, open).\n")
    done = obviate("run", "peach", "--pack", "mine", "--json", cwd=tmp_path)

    assert done.stderr == ""
    assert "records" in json.loads(done.stdout)


def test_what_takes_long_is_imported_only_when_it_is_needed() -> None:
    """The engine, its proofs and every command are at hand without the heavy packages."""
    heavy = ("networkx", "torch", "transformers", "sqlalchemy", "unified_planning", "gymnasium", "pyswip")
    script = (
        "import sys, obviate.engine.proofs, obviate.engine.runner, obviate.adapters.cli\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
