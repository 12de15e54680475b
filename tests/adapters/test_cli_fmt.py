"""`obviate fmt`: what it writes, what it leaves alone, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import obviate

from obviate.adapters.cli import fmt
from obviate.kb import household
from obviate.kb.errors import DataError

MESSY = "a(X):-b( X,c ).   % why\n\n\nb(d,c)."
NEAT = "a(X) :- b(X, c).  % why\n\nb(d, c).\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one.lp", "one.test.lp", "two.lp"):
        (tmp_path / name).write_text(MESSY, encoding="utf-8")
    (tmp_path / "neat.lp").write_text(NEAT, encoding="utf-8")
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_bytes().decode() for file in folder.iterdir()}


def test_files_are_rewritten_once_with_their_mode(folder: Path) -> None:
    (folder / "one.lp").chmod(0o640)
    (folder / "link.lp").symlink_to("two.lp")
    done = obviate("fmt", "one.lp", "link.lp", "neat.lp", cwd=folder)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "one.lp: formatted\nlink.lp: formatted\nneat.lp: fine\n"
    assert texts(folder) == {
        "one.lp": NEAT,
        "two.lp": NEAT,
        "link.lp": NEAT,
        "neat.lp": NEAT,
        "one.test.lp": MESSY,
    }
    assert (folder / "one.lp").stat().st_mode & 0o777 == 0o640
    assert (folder / "link.lp").is_symlink()
    assert obviate("fmt", "one.lp", "--check", cwd=folder).returncode == 0


def test_a_folder_is_its_packs_and_a_test_is_named(folder: Path) -> None:
    done = obviate("fmt", ".", "one.test.lp", "one.lp", cwd=folder)

    assert done.returncode == 0
    assert done.stdout == "neat.lp: fine\none.lp: formatted\ntwo.lp: formatted\none.test.lp: formatted\n"
    assert set(texts(folder).values()) == {NEAT}


def test_check_and_diff_change_nothing(folder: Path) -> None:
    before = texts(folder)
    checked = obviate("fmt", "one.lp", "neat.lp", "--check", cwd=folder)
    different = obviate("fmt", "one.lp", "neat.lp", "--diff", cwd=folder)

    assert (checked.returncode, checked.stdout) == (1, "one.lp: would change\nneat.lp: fine\n")
    assert different.returncode == 1
    assert different.stdout.startswith(
        "--- one.lp\n+++ one.lp\n@@ -1,4 +1,3 @@\n-a(X):-b( X,c ).   % why\n+a(X) :- b(X, c)."
    )
    assert "-b(d,c).\n\\ No newline at end of file\n+b(d, c).\n" in different.stdout
    assert texts(folder) == before
    same = obviate("fmt", "neat.lp", "--diff", cwd=folder)
    assert (same.returncode, same.stdout) == (0, "")


def test_json_tells_of_every_file(folder: Path) -> None:
    done = obviate("fmt", "one.lp", "neat.lp", "--check", "--json", cwd=folder)
    one, neat = json.loads(done.stdout)

    assert done.returncode == 1
    assert (one["file"], one["changed"]) == ("one.lp", True)
    assert "+b(d, c).\n" in one["diff"]
    assert neat == {"file": "neat.lp", "changed": False, "diff": ""}


@pytest.mark.parametrize(
    ("options", "text", "code", "printed"),
    [
        ((), MESSY, 0, NEAT),
        (("--check",), MESSY, 1, "-: would change\n"),
        (("--check",), NEAT, 0, "-: fine\n"),
        ((), "a :- ", 2, ""),
        ((), b"\xff", 2, ""),
    ],
)
def test_standard_input(options: tuple[str, ...], text: str | bytes, code: int, printed: str, tmp_path: Path) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    command = [str(Path(sys.executable).parent / "obviate"), "fmt", "-", *options]
    done = subprocess.run(command, input=data, cwd=tmp_path, capture_output=True, check=False)

    assert (done.returncode, done.stdout.decode()) == (code, printed)
    assert bool(done.stderr) == (code == 2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("one.lp", "bad.lp"), "bad.lp:1:"),
        (("one.lp", "absent.lp"), "there is no such file"),
        (("one.lp", "-"), "stands alone"),
        ((), "Missing argument"),
    ],
)
def test_no_file_is_touched_when_one_cannot_be_read(arguments: tuple[str, ...], told: str, folder: Path) -> None:
    (folder / "bad.lp").write_text("a :- b :- c.", encoding="utf-8")
    before = texts(folder)
    done = obviate("fmt", *arguments, cwd=folder)

    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert texts(folder) == before


def test_a_file_that_cannot_be_written_stays_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("the disk is full")

    before = texts(folder)
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(DataError, match="the disk is full"):
        fmt.fmt([str(folder / "one.lp")])

    assert texts(folder) == before


def test_the_shipped_pack_has_the_layout(tmp_path: Path) -> None:
    file = household.folder / "packs" / "household.lp"
    done = obviate("fmt", "household", "--check", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, f"{file}: fine\n")
