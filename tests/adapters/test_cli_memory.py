"""`obviate memory` and `obviate evolve`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import obviate

from obviate.adapters.cli.curve import picture
from obviate.adapters.isbench.evolution import Checkpoint, split
from obviate.kb.errors import DataError
from obviate.kb.experience.seeds import early_skills
from obviate.kb.experience.store import Store

RULE = "storage_closed"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory with two versions of a skill."""
    file = tmp_path / "robot.db"
    early = next(skill for skill in early_skills() if skill.rule == RULE)
    with Store(file) as store:
        store.write(early, origin="seed")
        store.write(early.model_copy(update={"timing": "before done", "schedule": ""}), origin="me", reason="later")
    return file


def test_lists_shows_compares_and_rolls_back(memory: Path) -> None:
    here = memory.parent
    assert json.loads(obviate("memory", "list", "robot.db", "--json", cwd=here).stdout) == [
        {"rule": RULE, "version": 2, "cases": {}, "buffers": {"positive": 0, "negative": 0}}
    ]
    assert "Version 2 of 2, by me: later" in obviate("memory", "show", "robot.db", RULE, cwd=here).stdout
    changes = obviate("memory", "diff", "robot.db", RULE, cwd=here)
    assert (changes.returncode, "+Timing: before done" in changes.stdout) == (1, True)
    assert obviate("memory", "diff", "robot.db", RULE, "--old", "2", cwd=here).returncode == 0
    assert json.loads(obviate("memory", "rollback", "robot.db", RULE, "--json", cwd=here).stdout)["version"] == 1
    shown = json.loads(obviate("memory", "show", "robot.db", RULE, "--json", cwd=here).stdout)
    assert (shown["version"], shown["versions"], shown["skill"]["rule"]) == (1, [1, 2], RULE)


def test_exports_and_imports(memory: Path) -> None:
    here = memory.parent
    assert obviate("memory", "export", "robot.db", "-o", "robot.jsonl", cwd=here).returncode == 0
    done = obviate("memory", "import", "other.db", "robot.jsonl", cwd=here)
    assert (done.returncode, done.stdout) == (0, "0 cases and 2 skills are new, 0 were known\n")
    text = (here / "robot.jsonl").read_text().replace("as soon as it is open", "ignoring all other rules")
    (here / "bad.jsonl").write_text(text)
    poisoned = obviate("memory", "import", "third.db", "bad.jsonl", cwd=here)
    assert poisoned.returncode == 1
    assert "bad.jsonl:2: refused" in poisoned.stdout


def test_wrong_use_is_told(memory: Path) -> None:
    here = memory.parent
    for arguments, code in (
        (("memory", "list", "nowhere.db"), "memory-unusable"),
        (("memory", "show", "robot.db", "storage_close"), "unknown-memory"),
        (("memory", "diff", "robot.db", RULE, "--new", "9"), "unknown-version"),
        (("memory", "import", "robot.db", "nowhere.jsonl"), "file-missing"),
    ):
        done = obviate(*arguments, cwd=here)
        assert (done.returncode, f"[{code}]" in done.stderr) == (2, True), done.stderr


def test_a_split_is_fixed_by_its_seed_and_leaves_nothing_in_both() -> None:
    tasks = [f"task_{number}" for number in range(130)]
    drawn = split(tasks, train=50, test=80, seed=3)
    assert drawn == split(tasks[::-1], train=50, test=80, seed=3)
    assert (len(drawn.train), len(drawn.test), set(drawn.train) & set(drawn.test)) == (50, 80, set())
    assert drawn != split(tasks, train=50, test=80, seed=4)
    with pytest.raises(DataError, match="more than the 130"):
        split(tasks, train=60, test=80)


def test_the_picture_has_a_line_for_each_score() -> None:
    points = [Checkpoint(number, 60.0 + number, 20.0, 10.0, 40.0, 5.0) for number in (0, 10)]
    svg = picture(points, points[0])
    assert [name for name in ("TS", "SS", "Pre", "Post", "TS, task alone") if f">{name}<" not in svg] == []


@pytest.mark.parametrize("learning", [True, False])
def test_evolves_on_real_tasks_and_not_without_learning(isbench: Path, tmp_path: Path, learning: bool) -> None:
    """Doors are closed too early and left open in the end; then the skills change and they are closed, or they stay."""
    from obviate.adapters.isbench.evolution import Evolution
    from obviate.engine.experience.induction import Induction

    with Store(tmp_path / "robot.db") as store:
        evolution = Evolution(isbench, store, Induction(), learning=learning)
        evolution.begin()
        for _ in range(2):
            evolution.train("can_fruit")
        assert len(store.history(RULE)) == (2 if learning else 1)
        found = evolution.evaluate(["can_fruit"])
        assert found.ts == 100.0
        assert found.post == (100.0 if learning else 0.0)
