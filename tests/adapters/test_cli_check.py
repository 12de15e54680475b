"""`obviate check`: what it prints, how it exits, and what it mends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import obviate

RULE = 'rule(shut, temporal).\nprinciple(shut, "Close what was opened.").\n'
FINE = RULE + "hazard(shut, X) :- state(X, open).\n"


def findings(*arguments: str, cwd: Path) -> list[dict[str, Any]]:
    done = obviate("check", *arguments, "--json", cwd=cwd)
    assert done.stderr == ""
    return [finding for report in json.loads(done.stdout) for finding in report["findings"]]


def test_every_problem_is_found_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text(
        "rule(dry, temporl).\nhazard(dry, X) :- state(X, wett), not state(X,(open;hot)).\nhazard(dri, X) :- objct(X).\n"
    )

    assert [(f["code"], f["line"], f["column"]) for f in findings("mine.lp", cwd=tmp_path)] == [
        ("unknown-mode", 1, 11),
        ("undeclared-name", 2, 28),
        ("negated-pool", 2, 35),
        ("unknown-rule", 3, 8),
        ("undeclared-predicate", 3, 19),
    ]


def test_a_finding_says_where_what_was_expected_and_how_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text(RULE + "hazard(shut, X) :- state(X, Open).\n")
    (found,) = findings("mine.lp", cwd=tmp_path)

    assert found == {
        "code": "capitalised-constant",
        "severity": "error",
        "message": "Open is a variable here, not a state: names begin in lower case",
        "expected": "write open",
        "file": "mine.lp",
        "line": 3,
        "column": 29,
        "end_line": 3,
        "end_column": 33,
        "fix": {"title": "write open", "begin": [3, 29], "end": [3, 33], "replacement": "open", "safe": True},
    }


def test_as_text_a_finding_has_its_line_and_a_caret(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text(RULE + "hazard(shut, X) :- state(X, Open).\n")
    done = obviate("check", "mine.lp", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout == (
        "mine.lp:3:29: error: Open is a variable here, not a state: names begin in lower case [capitalised-constant]\n"
        "  hazard(shut, X) :- state(X, Open).\n"
        "                              ^^^^\n"
        "  help: write open\n"
        "  fix: write open\n"
        "mine.lp: 1 error\n"
    )


def test_the_household_pack_has_no_finding(tmp_path: Path) -> None:
    done = obviate("check", "household", "--strict", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "household: fine\n", "")


def test_a_folder_is_one_pack_and_several_packs_are_checked_each(tmp_path: Path) -> None:
    folder = tmp_path / "kitchen"
    folder.mkdir()
    (folder / "rules.lp").write_text(RULE + "hazard(shut, X) :- ajar(X).\n")
    (folder / "helpers.lp").write_text("ajar(X) :- state(X, open).\n")
    (folder / "rules.test.lp").write_text("this is no pack")
    (tmp_path / "alone.lp").write_text(FINE)
    done = obviate("check", "kitchen", "alone.lp", "kitchen/rules.lp", cwd=tmp_path)

    assert done.returncode == 1
    assert "kitchen (2 files, one pack): fine\nalone.lp: fine\n" in done.stdout
    assert "nothing defines ajar/1" in done.stdout


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (FINE, [], 0),
        (FINE, ["--format", "json"], 0),
        (FINE + "damp(X) :- state(X, wet).\n", [], 0),
        (FINE + "damp(X) :- state(X, wet).\n", ["--strict"], 1),
        (FINE + "damp(X) :- state(X, wett).\n", [], 1),
        (FINE, ["--format", "yaml"], 2),
        (FINE, ["--vocabulary", "absent.lp"], 2),
    ],
)
def test_exit_codes(tmp_path: Path, text: str, arguments: list[str], code: int) -> None:
    (tmp_path / "mine.lp").write_text(text)

    assert obviate("check", "mine.lp", *arguments, cwd=tmp_path).returncode == code


def test_what_cannot_be_read_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with (tmp_path / "huge.lp").open("wb") as stream:
        stream.truncate(50_000_000)
    for pack in ("absent.lp", "empty", "huge.lp"):
        done = obviate("check", pack, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("obviate: ")
        assert "Traceback" not in done.stderr


# -- mending ---------------------------------------------------------------------------------------


def test_fix_applies_what_is_safe_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text(
        "```prolog\nHere is the rule:\nrule(shut, Temporal)\nprinciple(shut, “Close it.”).\n"
        "hazard(shut, X) :- state(X, Open), \\+ tag(X, safety_fod).\n```\n"
    )
    done = obviate("check", "mine.lp", "--fix", cwd=tmp_path)

    assert done.returncode == 1
    assert "did you mean 'safety_food'?" in done.stdout  # a guess, so that it stays
    assert (tmp_path / "mine.lp").read_text() == (
        '\n% Here is the rule:\nrule(shut, temporal).\nprinciple(shut, "Close it.").\n'
        "hazard(shut, X) :- state(X, open), not tag(X, safety_fod).\n\n"
    )
    done = obviate("check", "mine.lp", "--unsafe-fixes", "--json", cwd=tmp_path)
    (report,) = json.loads(done.stdout)
    assert done.returncode == 0
    assert [finding["code"] for finding in report["fixed"]] == ["undeclared-name"]
    assert "safety_food" in (tmp_path / "mine.lp").read_text()


def test_without_fix_no_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "mine.lp"
    file.write_text(RULE + "hazard(shut, X) :- state(X, Open).\n")
    before = file.stat()
    obviate("check", "mine.lp", cwd=tmp_path)

    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


# -- what a pack says and cannot mean --------------------------------------------------------------

CLEAN = 'rule(clean, situational).\nprinciple(clean, "Put food on clean things.").\n'
DUSTY = "hazard(clean, (X,Y)) :- tag(X, safety_food), state(Y, dusty).\n"
CONTRADICTION = "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), state(Y, wet), -state(Y, wet).\n"
PLACED = "threatens(clean, (X,Y)) :- intent(place_on_top(X, Y)).\n"


@pytest.mark.parametrize(
    ("text", "code", "severity", "line"),
    [
        (RULE + "hazard(shut, X) :- state(X, open), -state(X, open).\n", "never-hazard", "error", 3),
        (RULE + "hazard(shut, X) :- edge(ontop, X, X).\n", "never-hazard", "error", 3),
        (
            CLEAN + DUSTY + "threatens(clean, (X,Y)) :- intent(place_on_top(X, Y)), not state(Y, dusty).\n",
            "never-threatens",
            "error",
            4,
        ),
        (
            CLEAN
            + DUSTY
            + PLACED
            + "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), state(Y, wet), -state(Y, wet).\n",
            "never-resolved",
            "warning",
            5,
        ),
        (
            CLEAN + DUSTY + PLACED + "resolved(clean, (X,Y)) :- pending(clean, (X,Y)), state(Y, wet).\n",
            "hazard-with-target",
            "warning",
            5,
        ),
        (FINE + "hazard(shut, X) :- state(X, hot), edge(inside, X, X).\n", "never-holds", "warning", 4),
        (
            RULE + "hazard(shut, (A,B,C,D,E)) :- state(A, open), object(B), object(C), object(D), object(E).\n",
            "too-costly",
            "error",
            3,
        ),
    ],
)
def test_what_can_never_hold_is_found_by_search(tmp_path: Path, text: str, code: str, severity: str, line: int) -> None:
    (tmp_path / "mine.lp").write_text(text)
    (found,) = findings("mine.lp", "--seconds", "4", cwd=tmp_path)

    assert (found["code"], found["severity"], found["line"]) == (code, severity, line)


def test_rules_that_the_search_does_not_reach_are_told(tmp_path: Path) -> None:
    rules = "".join(
        f'rule(r{i}, temporal).\nprinciple(r{i}, "Close it.").\nhazard(r{i}, X) :- state(X, open), not state(X, hot).\n'
        for i in range(300)
    )
    (tmp_path / "many.lp").write_text(rules)
    found = findings("many.lp", "--seconds", "0.5", cwd=tmp_path)

    assert {(f["code"], f["severity"]) for f in found} <= {("search-timeout", "warning"), ("too-costly", "error")}
    assert found


# -- packs of strangers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("#script (python)\nimport os\nos._exit(7)\n#end.\n", "refused-statement"),
        ('#include "/etc/passwd".\n', "include-refused"),
        ("n(0). n(X+1) :- n(X).\n", "endless-recursion"),
        ("n(1..1000). m(A,B,C,D) :- n(A), n(B), n(C), n(D).\n", "too-costly"),
        ("%* never closed\n", "unclosed-comment"),
        ("\0", "syntax"),
    ],
)
def test_a_hostile_pack_is_a_finding(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "mine.lp").write_text(FINE + text)
    done = obviate("check", "mine.lp", "--json", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert [f["code"] for report in json.loads(done.stdout) for f in report["findings"]] == [code]
