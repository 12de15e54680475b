"""`obviate bench step`: rows, comparisons, what is skipped, and what is drawn. No test depends on times."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import obviate
from hypothesis import given
from hypothesis import strategies as st

from obviate.adapters import chart as plot
from obviate.adapters.step import baseline, peer
from obviate.adapters.step.pair import WARM, Measured, Task, measure
from obviate.adapters.step.row import Row, medians, percentile, probe_of, rows_of, unit_row
from obviate.adapters.step.series import Series, backends
from obviate.engine.backend import BACKENDS
from obviate.kb.errors import DataError, DisagreementError

SVG = "{http://www.w3.org/2000/svg}"
FEW = ("--objects", "30", "--steps", "8", "--backend", "oneshot", "--backend", "multishot", "--backend", "matcher")


def row(backend: str = "oneshot", objects: int = 30, units: float = 2.0, verb: str = "step") -> Row:
    return Row(backend, verb, objects, units, units, units, units, units, 1.0)


def measured(**changes: object) -> Measured:
    found = Measured(
        unit=2.0,
        start=1_000.0,
        steps=(1.0, 3.0),
        probes=(4.0, 6.0),
        digests=("a", "b", "c"),
        probe_digests=("d", "e", "f"),
        triggers=(1, 2, 3),
        house_mb=50.0,
        peak_mb=60.0,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


# -- the command -----------------------------------------------------------------------------------


def test_json_is_a_list_of_rows(tmp_path: Path) -> None:
    done = obviate("bench", "step", *FEW, "--json", "--save", "rows.json", "--plot", "rows.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(r["backend"], r["verb"], r["objects"]) for r in rows] == [
        ("unit", "ground", 7),
        ("oneshot", "step", 30),
        ("oneshot probe", "probe", 30),
        ("multishot", "step", 30),
        ("multishot probe", "probe", 30),
        ("matcher", "step", 30),
        ("matcher probe", "probe", 30),
    ]
    for one in rows:
        assert 0 < one["p50_ms"] <= one["p95_ms"] <= one["p99_ms"]
        assert one["p50_units"] > 0
    assert rows[1]["count"] == 8
    assert json.loads((tmp_path / "rows.json").read_text(encoding="utf-8")) == rows
    words = {text.text for text in ET.parse(tmp_path / "rows.svg").iter(f"{SVG}text")}
    assert {"oneshot", "multishot", "matcher", "objects"} <= words


def test_the_table_names_every_backend(tmp_path: Path) -> None:
    done = obviate("bench", "step", *FEW, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split()[:2] for line in done.stdout.splitlines()]
    assert [line for line in lines if line[:1] in (["7"], ["30"])] == [
        ["7", "unit"],
        ["30", "oneshot"],
        ["30", "multishot"],
        ["30", "matcher"],
    ]


@pytest.mark.parametrize(("units", "code"), [(1e6, 0), (1e-6, 1)])
def test_a_row_that_became_slower_is_a_finding(tmp_path: Path, units: float, code: int) -> None:
    stored = [row("oneshot", units=units), row("matcher", units=1e-9), row("sliced", 500)]
    baseline.write(tmp_path / "old.json", stored)
    done = obviate("bench", "step", *FEW, "--compare", "old.json", "--json", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)[0]["backend"] == "unit"
    assert "slower" in done.stderr or not code
    assert "not measured now: sliced 500" in done.stderr
    assert "not in the baseline: unit 7, oneshot probe 30, multishot 30" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--backend", "multishoot"), "unknown-backend"),
        (("--objects", "9"), ""),
        (("--compare", "nowhere.json"), "file-missing"),
        (("--compare", "bad.json"), "file-malformed"),
        (("--compare", "zero.json"), "file-malformed"),
        ((*FEW, "--save", "nowhere/rows.json"), "file-missing"),
        ((*FEW, "--plot", "nowhere/rows.svg"), "plot-unwritable"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    (tmp_path / "bad.json").write_text('[{"backend": "unit"}]', encoding="utf-8")
    (tmp_path / "zero.json").write_text(json.dumps([row(units=0).to_json()]), encoding="utf-8")
    done = obviate("bench", "step", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert code in done.stderr


# -- a pair ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_all_answer_alike(seed: int) -> None:
    tasks = [Task(name, 60, 15, seed, 60.0) for name in ("oneshot", "crosscheck", "matcher", "networkx")]
    found = [measure(task) for task in tasks]
    assert len({one.digests for one in found}) == 1
    assert len({one.probe_digests for one in found[:3]}) == 1
    for one in found:
        assert len(one.digests) == len(one.triggers) == WARM + 15
        assert len(one.steps) == 15
        assert 0 < one.house_mb <= one.peak_mb
    assert found[3].probes == ()


def test_without_time_there_are_still_some_steps() -> None:
    found = measure(Task("matcher", 30, 100, 0, 0.0))
    assert (len(found.digests), len(found.steps)) == (3, 2)


# -- a series --------------------------------------------------------------------------------------


def test_every_backend_is_measured_but_the_one_that_compares() -> None:
    assert {*backends()} == {*BACKENDS} - {"crosscheck"}


def series(monkeypatch: pytest.MonkeyPatch, found: dict[tuple[str, int], Measured], **options: float) -> Series:
    names = list(dict.fromkeys(name for name, _ in found))
    sizes = [size for _, size in found]
    made = Series(names, sizes, steps=2, seed=5, budget=options.get("budget", 1e9))
    monkeypatch.setattr(Series, "_measure", lambda _, task: found[task.backend, task.objects])
    return made


def test_rows_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {("one", 30): measured(), ("one", 10): measured(probes=(), probe_digests=()), ("two", 10): measured()}
    pairs["two", 30] = measured(why="its process ended with -9: killed", steps=())
    told: list[tuple[str, int]] = []
    made = series(monkeypatch, pairs)
    made.run(lambda name, objects: told.append((name, objects)))
    assert told == [("one", 10), ("two", 10), ("one", 30), ("two", 30)]
    assert [r.key for r in made.rows] == [
        *[("unit", 7), ("one", 10), ("two", 10), (probe_of("two"), 10), ("one", 30), (probe_of("one"), 30)]
    ]
    assert list(map(str, made.skipped)) == ["two with 30 objects: its process ended with -9: killed"]


def test_what_would_take_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start of 1 s with 10 objects and 4 s with 20 grows with the square: 100 s are foreseen for 100 objects."""
    pairs = {("one", 10): measured(steps=(1e-3,)), ("one", 20): measured(start=4_000.0, steps=(1e-3,))}
    pairs["one", 100] = measured()
    enough, little = (series(monkeypatch, pairs, budget=budget) for budget in (10.1, 9.9))
    enough.run()
    little.run()
    assert enough.skipped == []
    assert str(little.skipped[0]).startswith("one with 100 objects: its start and three steps would take about 100 s")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"digests": ("a", "x", "c")}, "triggers after update 2 of 10 objects"),
        ({"probe_digests": ("d", "e", "x")}, "risks after update 3 of 10 objects"),
    ],
)
def test_a_disagreement_is_an_error(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, tuple[str, ...]], words: str
) -> None:
    made = series(monkeypatch, {("one", 10): measured(), ("two", 10): measured(**changes)})
    with pytest.raises(DisagreementError, match=words) as caught:
        made.run()
    assert caught.value.code == "peers-disagree"
    assert "the seed, 5" in caught.value.help


def test_a_shorter_run_is_compared_as_far_as_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {("one", 10): measured(), ("two", 10): measured(digests=("a", "b"), probe_digests=())}
    made = series(monkeypatch, pairs)
    made.run()
    assert made.skipped == []


def test_a_process_that_fails_is_told() -> None:
    made = Series(["nobody"], [10], steps=1, seed=0, budget=1.0)
    made.run()
    (skipped,) = made.skipped
    assert "there is no backend 'nobody'" in skipped.why
    assert made.rows == []


def test_a_process_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obviate.adapters.step.series.SPARE", -0.99)
    made = Series(["oneshot"], [3_000], steps=1, seed=0, budget=0.1)
    made.run()
    (skipped,) = made.skipped
    assert skipped.why.startswith("out of time")


# -- rows and pictures -----------------------------------------------------------------------------

TIMES = st.lists(st.floats(1e-3, 1e5), min_size=1, max_size=60)


@given(TIMES, st.integers(0, 100))
def test_a_percentile_is_a_time_that_so_many_do_not_exceed(times: list[float], part: int) -> None:
    found = percentile(times, part)
    assert found in times
    assert sum(time <= found for time in times) * 100 >= part * len(times)
    assert sum(time < found for time in times) * 100 < part * len(times) or found == min(times)


def test_rows_are_in_units_of_their_own_process() -> None:
    steps, probes = rows_of("one", 30, measured())
    assert (steps.p50_ms, steps.p95_ms, steps.p50_units, steps.p95_units) == (1.0, 3.0, 0.5, 1.5)
    assert (probes.backend, probes.verb, probes.p95_units) == ("one probe", "probe", 3.0)
    unit = unit_row([1.0, 2.0, 4.0])
    assert (unit.backend, unit.p50_ms, unit.p50_units, unit.p95_units) == ("unit", 2.0, 1.0, 2.0)


@given(st.lists(st.tuples(st.sampled_from(("a", "b")), st.integers(1, 9), st.floats(1e-6, 1e6)), max_size=9))
def test_a_baseline_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, drawn: list[object]) -> None:
    file = tmp_path_factory.getbasetemp() / "rows.json"
    rows = [row(*one) for one in drawn]  # type: ignore[misc]
    baseline.write(file, rows)
    read = baseline.read(file)
    assert [(r.key, r.verb) for r in read] == [(r.key, r.verb) for r in rows]
    assert all(abs(r.p50_units / old.p50_units - 1) < 1e-3 for r, old in zip(read, rows, strict=True))


def test_only_what_is_ours_can_become_slower() -> None:
    names = ("oneshot", "oneshot probe", "unit", *peer.PEERS, *map(probe_of, peer.PEERS))
    found = baseline.compare([row(name, units=3.2) for name in names], [row(name, units=2.0) for name in names])
    assert {ratio.p50 for ratio in found.ratios} == {1.6}
    assert [ratio.backend for ratio in found.ratios if ratio.slower] == ["oneshot", "oneshot probe"]
    assert (found.new, found.absent) == ((), ())


SIZES = st.tuples(st.floats(1e-4, 1e6), st.floats(1e-4, 1e6))


@given(st.dictionaries(st.sampled_from("abcdefghij"), st.lists(SIZES, min_size=1, max_size=4)))
def test_every_point_is_inside_the_axes(lines: dict[str, list[tuple[float, float]]]) -> None:
    text = plot.chart(lines, title="T & T", x="objects", y="units", logarithmic=True)
    drawn = [line.get("points", "").split() for line in ET.fromstring(text).iter(f"{SVG}polyline")][::2]
    assert len(drawn) == len(lines)
    for x, y in (map(float, point.split(",")) for line in drawn for point in line):
        assert plot.LEFT <= x <= plot.WIDTH - plot.RIGHT
        assert plot.TOP <= y <= plot.HEIGHT - plot.BOTTOM


def test_the_axes_are_logarithmic() -> None:
    text = plot.chart({"one": [(10, 0.1), (100, 1), (1_000, 10)]}, title="", x="", y="", logarithmic=True)
    low, middle, high = next(ET.fromstring(text).iter(f"{SVG}polyline")).get("points", "").split()
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in (low, middle, high))
    assert (x0, y0) == (plot.LEFT, plot.HEIGHT - plot.BOTTOM)
    assert (x1, y1) == ((x0 + x2) / 2, (y0 + y2) / 2)
    assert medians([row("a", 100, 2.0), row("a", 10, 1.0), row("a probe", 10, 9.0, "probe")]) == {
        "a": [(10, 1.0), (100, 2.0)]
    }


def test_a_baseline_is_stored() -> None:
    rows = baseline.read(Path(__file__).parents[2] / "benchmarks" / "step.json")
    assert {"unit", *backends(), *peer.PEERS} <= {one.backend for one in rows}
    with pytest.raises(DataError):
        baseline.read(Path(__file__))
