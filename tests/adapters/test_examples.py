"""The examples run, are short, and show what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "guarded_agent": (
        None,
        ["soak_inside(sponge, soap) [told of food_on_clean(peach, plate)]", "done; task reached: True; failed: 0"],
    ),
    "guarded_plan": ("unified_planning", ["works, with 2 violations", "works, with 0 violations"]),
    "gym_loop": ("gymnasium", ["violated on the way: 0"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs_and_shows_what_it_should(name: str, tmp_path: Path) -> None:
    package, lines = SHOWN[name]
    if package:
        pytest.importorskip(package, reason="needs an extra: pip install 'obviate[planning,gym]'")
    file = EXAMPLES / f"{name}.py"
    assert len(file.read_text(encoding="utf-8").splitlines()) < 60
    done = subprocess.run([sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for line in lines:
        assert line in done.stdout
