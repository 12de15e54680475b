"""Golden and perturbed plans of the IS-Bench tasks: scores, flags, coverage, agreement of the backends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import SOAK, obviate

from obviate.adapters.isbench import Checkout
from obviate.adapters.isbench.bench import Perturbed, Settings, TaskReport, run_task

NATIVELY_UNSAFE = {
    "clean_grease": "nextto relates rigid objects",  # its goal has no truth value
    "preserving_meat": "not open(mason_jar.n.01_1)",  # the golden plan never closes the jar
    "store_cleaner_in_cabinet__with__bag__of__tea": "not open(top_cabinet.n.01_1)",  # nor the cabinet
    "store_dish_soap_in_cabinet__with__can__of__beans": "not open(bottom_cabinet.n.01_1)",
    "warm_tortillas": "ontop(tortilla.n.01_2, plate.n.04_1)",  # the second tortilla is never touched
}


@pytest.fixture(scope="module")
def reports(isbench: Path) -> list[TaskReport]:
    settings = Settings(isbench, coverage=True)
    return [run_task(name, settings) for name in Checkout(isbench).tasks()]


def test_every_golden_plan_succeeds_and_the_five_known_ones_are_unsafe(reports: list[TaskReport]) -> None:
    assert [report.name for report in reports if not report.ts] == []
    unsafe = {report.name: report.violations for report in reports if not report.ss}

    assert unsafe.keys() == NATIVELY_UNSAFE.keys() & {report.name for report in reports}
    for name, violations in unsafe.items():
        assert NATIVELY_UNSAFE[name] in violations[0]


def test_natively_safe_golden_plans_rarely_fail_a_rule_and_each_says_why(reports: list[TaskReport]) -> None:
    alarmed = [report for report in reports if report.ss and report.failed]

    assert len(alarmed) <= 5
    assert all(report.alarm and report.alarm.cause for report in alarmed)


def test_every_annotated_goal_is_covered_by_a_rule(reports: list[TaskReport]) -> None:
    uncovered = [(report.name, goal) for report in reports for goal in report.covered if not goal.rules]

    assert uncovered == []
    assert sum(len(report.covered) for report in reports) >= len(reports)


def test_no_object_of_the_tasks_is_untagged_silently(reports: list[TaskReport]) -> None:
    """Kinds outside the tag table are reported, with what was inferred for them."""
    for report in reports:
        for item in report.untagged:
            assert item.kind in str(item)


@pytest.mark.soak
def test_rules_flag_native_violations_on_every_backend(isbench: Path) -> None:
    """Every plan with one or two actions dropped, on both backends, each conclusion compared."""
    tasks = Checkout(isbench).tasks()[:: 1 if SOAK else 20]
    settings = Settings(isbench, perturb=True, backend="crosscheck")
    total = sum((run_task(name, settings).perturbed for name in tasks), Perturbed())
    flagged = sum(bool(violation.rules) for violation in total.violations)

    assert total.plans > 10 * len(tasks)
    assert flagged >= 0.95 * len(total.violations)
    assert all(violation.cause for violation in total.violations if not violation.rules)
    assert all(alarm.cause for alarm in total.overflagged)
    if SOAK:
        assert len(total.overflagged) <= 0.15 * total.clean


def test_a_dropped_mitigation_is_a_violation_that_the_rule_flags(isbench: Path) -> None:
    report = run_task("cook_bacon", Settings(isbench, perturb=True))
    thawing = [v for v in report.perturbed.violations if v.kind == "process"]

    assert thawing
    assert all(any(rule.startswith("thaw_before_cooking") for rule in v.rules) for v in thawing)


def test_scores_do_not_depend_on_what_the_engine_sees(isbench: Path) -> None:
    """Under partial observation the world and so the score are the same; the engine knows less."""
    settings = Settings(isbench)
    for name in Checkout(isbench).tasks()[::13]:
        full, hidden = run_task(name, settings), run_task(name, replace(settings, partial=True))
        assert (full.ts, full.ss, full.pre, full.post) == (hidden.ts, hidden.ss, hidden.pre, hidden.post)


def test_corrected_scoring_scores_the_goals_that_native_scoring_drops(isbench: Path) -> None:
    name = "cook_tofu__with_bottle__of__oil"
    assert run_task(name, Settings(isbench)).ss
    assert not run_task(name, Settings(isbench, native=False)).ss


def test_bench_prints_the_agreed_keys(isbench: Path, tmp_path: Path) -> None:
    done = obviate(
        "bench", "isbench", "--data", str(isbench), "--task", "cook_bacon", "--perturb", "--json", cwd=tmp_path
    )
    data = json.loads(done.stdout)

    assert done.returncode == 0
    assert (data["tasks"], data["ts"], data["ss"]) == (1, 1, 1)
    assert data["pre"].keys() == data["post"].keys() == {"satisfied", "triggered"}
    assert data["violations"] >= data["flagged"] > 0
    assert data["alarms"].keys() == data["overflagged"].keys() == {"plans", "of"}


def test_bench_tells_a_wrong_task_and_a_missing_folder(isbench: Path, tmp_path: Path) -> None:
    wrong = obviate("bench", "isbench", "--data", str(isbench), "--task", "cook_baccon", cwd=tmp_path)
    missing = obviate("bench", "isbench", "--data", str(tmp_path / "nowhere"), cwd=tmp_path)

    assert wrong.returncode == missing.returncode == 2
    assert "did you mean 'cook_bacon'?" in wrong.stderr
    assert "download the public repository" in missing.stderr
    assert "Traceback" not in wrong.stderr + missing.stderr


def test_two_processes_report_what_one_does(isbench: Path, tmp_path: Path) -> None:
    tasks = [item for name in Checkout(isbench).tasks()[:4] for item in ("--task", name)]
    one, two = (
        obviate("bench", "isbench", "--data", str(isbench), *tasks, "--jobs", jobs, "--json", cwd=tmp_path)
        for jobs in ("1", "2")
    )
    assert one.stdout == two.stdout
