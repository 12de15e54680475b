"""`obviate test`: what it prints, its exit codes, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import obviate

PACK = """
rule(shut, temporal).
hazard(shut, X) :- tag(X, function_storage), state(X, open).
"""
TESTS = """
test(left_open, "A drawer is left open").
given(left_open, (tag("drawer", function_storage); state(("drawer"; "window"), open); tag("chest", function_storage))).
expect(left_open, 0, only(trigger(shut, "drawer"))).
"""
FAILING = """
test(window, "An open window counts").
given(window, state("window", open)).
step(window, 1, execute(done)).
expect(window, 1, failed(shut, "window", unresolved)).
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home.lp").write_text(PACK)
    (tmp_path / "home.test.lp").write_text(TESTS)
    return tmp_path


def test_tests_beside_the_pack_are_found_and_pass(folder: Path) -> None:
    (folder / "home.windows.test.lp").write_text(TESTS.replace("left_open", "again"))
    (folder / "other.test.lp").write_text("not for this pack")
    done = obviate("test", "home.lp", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 tests, 2 passed, 0 failed\n", "")


def test_a_folder_is_a_pack_and_its_test_files_are_its_tests(folder: Path) -> None:
    done = obviate("test", ".", "--backend", "crosscheck", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1 test, 1 passed, 0 failed\n")


def test_a_failure_tells_what_is_there_instead_and_why(folder: Path) -> None:
    (folder / "home.test.lp").write_text(TESTS + FAILING)
    done = obviate("test", "home.lp", "--mutate", cwd=folder)
    assert done.returncode == 1
    assert done.stdout == (
        "failed window: An open window counts\n"
        "  home.test.lp:9:19 after step 1, execute(done)\n"
        '    expected  failed(shut, "window", unresolved)\n'
        "    instead   no failed(shut)\n"
        "    because   hazard literal 1, tag(window, function_storage), is false\n"
        "No mutants: they are judged by tests that pass.\n"
        "2 tests, 1 passed, 1 failed\n"
    )


def test_one_test_can_be_picked(folder: Path) -> None:
    (folder / "home.test.lp").write_text(TESTS + FAILING)
    assert obviate("test", "home.lp", "--only", "left_open", cwd=folder).returncode == 0
    assert obviate("test", "home.lp", "--only", "left_open", "--only", "window", cwd=folder).returncode == 1


def test_the_data_say_the_same(folder: Path) -> None:
    (folder / "home.test.lp").write_text(TESTS + FAILING)
    data = json.loads(obviate("test", "home.lp", "--json", cwd=folder).stdout)
    first, second = data["tests"]
    assert (first["name"], first["passed"], first["failures"]) == ("left_open", True, [])
    assert second["failures"] == [
        {
            "step": 1,
            "expected": 'failed(shut, "window", unresolved)',
            "found": [],
            "why": ["hazard literal 1, tag(window, function_storage), is false"],
            "file": "home.test.lp",
            "line": 9,
            "column": 19,
        }
    ]
    assert data.keys() == {"tests"}


def test_coverage_is_a_table_and_gaps_with_their_places(folder: Path) -> None:
    (folder / "home.test.lp").write_text(TESTS.replace('; "window"', ""))
    done = obviate("test", "home.lp", "--coverage", cwd=folder)
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()[1:2]] == [["shut", "1/1", "1/2"]]
    told = "home.lp:3:20 shut: literal 1, tag(X,function_storage), was never false while the others held"
    assert told in done.stdout
    assert "coverage 66.7 % (2 of 3)" in done.stdout


@pytest.mark.parametrize(("minimum", "code"), [("66", 0), ("67", 1)])
def test_too_little_coverage_is_a_finding(folder: Path, minimum: str, code: int) -> None:
    (folder / "home.test.lp").write_text(TESTS.replace('; "window"', ""))
    done = obviate("test", "home.lp", "--min-coverage", minimum, "--json", cwd=folder)
    assert done.returncode == code
    assert json.loads(done.stdout)["coverage"]["percent"] == 66.67
    assert ("below 67 %" in done.stderr) == bool(code)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_mutants_that_survive_are_told_and_change_no_exit_code(folder: Path, jobs: str) -> None:
    (folder / "home.test.lp").write_text(TESTS.replace('; "window"', ""))
    done = obviate("test", "home.lp", "--mutate", "--jobs", jobs, cwd=folder)
    assert done.returncode == 0
    assert done.stdout == (
        "survived home.lp:3:20 shut: without tag(X,function_storage)\n"
        "1 test, 1 passed, 0 failed; mutants killed 83.3 % (5 of 6)\n"
    )
    data = json.loads(obviate("test", "home.lp", "--mutate", "--jobs", jobs, "--json", cwd=folder).stdout)["mutation"]
    assert (data["killed"], data["survived"], data["percent"]) == (5, 1, 83.33)
    assert data["survivors"][0]["text"] == "hazard(shut,X) :- state(X,open)."


def test_words_of_ones_own(folder: Path) -> None:
    (folder / "words.lp").write_text("unary(ajar).")
    (folder / "home.lp").write_text(PACK.replace("open", "ajar"))
    (folder / "mine.lp").write_text(TESTS.replace("open)", "ajar)").replace("open,", "open,"))
    arguments = ("test", "home.lp", "--vocabulary", "words.lp", "--test-files", "mine.lp")
    assert obviate(*arguments, cwd=folder).returncode == 0


WRONG = [
    (("test", "home.lp", "--only", "left_opn"), "did you mean 'left_open'?"),
    (("test", "lonely.lp"), "[no-tests]"),
    (("test", "missing.lp"), "there is no such file"),
    (("test", "home.lp", "--test-files", "missing.lp"), "there is no such file"),
    (("test", "home.lp", "--test-files", "wrong.test.lp"), "wrong.test.lp:3:25: the pack has no rule shutt"),
    (("test", "home.lp", "--backend", "twoshot"), "did you mean 'oneshot'?"),
    (("test", "home.lp", "--min-coverage", "101"), "--min-coverage"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=[" ".join(w[0][1:]) for w in WRONG])
def test_wrong_use_exits_with_two_and_says_what_was_meant(arguments: tuple[str, ...], told: str, folder: Path) -> None:
    (folder / "lonely.lp").write_text(PACK)
    (folder / "wrong.test.lp").write_text('test(t, "T").\ngiven(t, object("a")).\nexpect(t, 0, no(trigger(shutt))).\n')
    done = obviate(*arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_names_are_data_on_the_screen(folder: Path) -> None:
    """Brackets are no markup."""
    odd = TESTS.replace("window", "[red]x[/b]").replace("A drawer", "[bold]A[/] drawer")
    (folder / "home.test.lp").write_text(odd + 'expect(left_open, 0, trigger(shut, "[red]x[/b]")).\n')
    done = obviate("test", "home.lp", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert "[bold]A[/] drawer" in done.stdout
    assert "tag([red]x[/b], function_storage), is false" in done.stdout
