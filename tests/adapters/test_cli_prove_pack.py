"""`obviate diff` and `obviate prove pack`: exit codes, and JSON that a checker without Obviate confirms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obviate.adapters.cli import main
from obviate.examples.check_pack_proof import main as checked

Run = Callable[..., tuple[int, str]]
OLD = """
rule(warm, temporal).
principle(warm, "Leave no hot food standing.").
hazard(warm, X) :- tag(X, safety_food), state(X, hot).
rule(shelf, situational).
principle(shelf, "Put nothing wet on a shelf.").
hazard(shelf, (X,Y)) :- state(X, wet), tag(Y, surface_high).
threatens(shelf, (X,Y)) :- intent(place_on_top(X,Y)).
"""


@pytest.fixture(name="obviate")
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in a folder of its own; tells how it exits and what it prints."""
    monkeypatch.chdir(tmp_path)
    Path("old.lp").write_text(OLD, encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["obviate", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out + printed.err

    return run


def saved(printed: str) -> dict[str, Any]:
    Path("proof.json").write_text(printed, encoding="utf-8")
    data: dict[str, Any] = json.loads(printed)
    return data


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("state(X, hot)", "state(X, hot), not state(X, cooked)", {"trigger", "opens", "passed", "risk"}),
        ("warm, temporal).", "warm, temporal). deadline(warm, within(2)).", {"risk"}),
        ("warm, temporal).", "warm, temporal). severity(warm, advisory).", {"severity"}),
        ("intent(place_on_top(X,Y))", "intent((place_on_top(X,Y); place_inside(X,Y)))", {"trigger", "opens", "risk"}),
        (
            "rule(shelf",
            "resolved(shelf, (X,Y)) :- pending(shelf, (X,Y)), -state(X, wet).\nrule(shelf",
            {"passed", "risk"},
        ),
    ],
)
def test_each_kind_of_difference_is_told_and_the_checker_agrees(
    old: str, new: str, kinds: set[str], obviate: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new.lp").write_text(OLD.replace(old, new), encoding="utf-8")
    code, printed = obviate("diff", "old.lp", "new.lp", "--objects", "3", "--seconds", "300", "--json")
    data = saved(printed)
    assert (code, data["equivalent"], {found["kind"] for found in data["differences"]}) == (1, "no", kinds)
    assert checked("proof.json") == 0
    for found in data["differences"]:
        found["by"] = {"old": "new", "new": "old"}[found["by"]]
    Path("proof.json").write_text(json.dumps(data), encoding="utf-8")
    assert checked("proof.json") == 1
    capsys.readouterr()


def test_packs_without_a_difference_are_equivalent_within_bounds_and_without_time_not_decided(obviate: Run) -> None:
    Path("new.lp").write_text(
        OLD.replace("(warm, X)", "(warm, F)").replace("X, safety_food), state(X", "F, safety_food), state(F")
    )
    code, printed = obviate("diff", "old.lp", "new.lp", "--seconds", "300")
    assert (code, printed[:30]) == (0, "equivalent within these bounds")
    code, printed = obviate("diff", "old.lp", "new.lp", "--seconds", "0.1", "--objects", "6")
    assert (code, "equivalent" in printed) in ((0, True), (3, False))


def test_a_pack_is_proven_question_by_question(obviate: Run) -> None:
    arguments = ("--question", "triggers", "--question", "independent", "--seconds", "300")
    assert obviate("prove", "pack", "old.lp", *arguments) == (0, "old: 4 yes (up to 4 objects and 5 actions)\n")


def test_a_refuted_pack_exits_with_one_and_its_json_can_be_checked(
    obviate: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.lp").write_text(OLD.replace("state(X, hot)", "state(X, hot), -state(X, hot)"), encoding="utf-8")
    code, printed = obviate("prove", "pack", "bad.lp", "--question", "triggers", "--seconds", "300", "--json")
    answers = [(verdict["rules"], verdict["answer"]) for verdict in saved(printed)["verdicts"]]
    assert (code, answers) == (1, [(["warm"], "no"), (["shelf"], "yes")])
    assert checked("proof.json") == 0
    assert capsys.readouterr().out == "1 checked\n"


def test_what_is_not_decided_exits_with_three(obviate: Run) -> None:
    Path("odd.lp").write_text(OLD.replace("state(X, hot)", "state(X, open)"), encoding="utf-8")
    arguments = ("--rule", "warm", "--question", "reachable", "--seconds", "300")
    code, printed = obviate("prove", "pack", "odd.lp", *arguments)
    assert (code, printed.partition(":")[0]) == (3, "not decided")
    assert (
        json.loads(obviate("prove", "pack", "odd.lp", *arguments, "--json")[1])["verdicts"][0]["answer"]
        == "not decided"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "pack", "old.lp", "--question", "reach"),
        ("prove", "pack", "old.lp", "--rule", "warn"),
        ("prove", "pack", "old.lp", "--skills", "none.lp"),
        ("prove", "pack", "none.lp"),
        ("diff", "old.lp", "none.lp"),
    ],
)
def test_wrong_use_exits_with_two(arguments: tuple[str, ...], obviate: Run) -> None:
    assert obviate(*arguments)[0] == 2
