"""The benchmark of maintenance policies: what is promised is kept, and costs what the paper says or less."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from conftest import obviate

from obviate.adapters.cli.mind import bench_mind
from obviate.adapters.mind import Benchmark, build
from obviate.adapters.mind.bench import PAPER, ROWS, UNSOUND, Row, floor, follow, run
from obviate.adapters.mind.footprints import sweep
from obviate.adapters.procthor import houses, shipped
from obviate.kb.errors import DataError


@cache
def benchmark() -> Benchmark:
    return build(shipped(), seed=0)


@cache
def rows() -> dict[str, Row]:
    return run(benchmark().sequences, ROWS)


@pytest.mark.parametrize("policy", [name for name in ROWS if name not in UNSOUND])
def test_a_policy_that_claims_to_preserve_decisions_does(policy: str) -> None:
    row = rows()[policy]
    assert (row.agreed, row.decisions) == (1200, 1200)
    assert row.right == row.episodes == 240
    (adjacent,) = run(benchmark().adjacent, [policy]).values()
    assert (adjacent.agreed, adjacent.decisions) == (400, 400)


def test_the_static_policy_does_not() -> None:
    assert rows()["static"].agreed < 1_100
    assert rows()["static"].invalidated[0] < rows()["static"].invalidated[1]


def test_deciding_event_by_event_loses_decisions_where_the_decider_errs() -> None:
    assert rows()["eventwise"].agreed < 1_180
    assert rows()["eventwise"].right < 200


def test_policies_cost_in_the_order_of_the_paper() -> None:
    full, static, universal, merged, reference = (rows()[name].mean for name in PAPER)
    assert full > universal > merged > reference > static
    assert full == pytest.approx(30, abs=2)
    assert reference == pytest.approx(11, abs=1)


def test_ours_costs_half_of_the_reference_and_each_part_helps() -> None:
    ours, reference = rows()["ours"].mean, rows()["reference"].mean
    assert ours <= 6.0
    assert ours <= 0.65 * reference
    assert all(ours < rows()[part].mean < reference for part in ("exact", "addressed", "lazy", "polar"))
    assert floor(benchmark().sequences) - ours < 1  # the rest is polarity


def test_containing_policies_refresh_whatever_changed() -> None:
    for name in ("full", "universal", "merged", "reference", "exact"):
        assert rows()[name].invalidated[0] == rows()[name].invalidated[1]


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_changes_nothing_of_that(seed: int) -> None:
    other = build(shipped(), seed=seed)
    found = run(other.sequences, ["reference", "ours"])
    assert all(row.agreed == row.decisions == 1200 for row in found.values())
    assert found["ours"].mean <= 0.65 * found["reference"].mean


def test_too_much_never_costs_a_decision_and_too_little_does() -> None:
    found = {(one.kind, one.rate): one for one in sweep(benchmark().sequences[::4], seed=0)}
    exact = found["as it is", 0.0]
    assert all(one.agreed == one.decisions for (kind, _), one in found.items() if kind in ("too much", "everything"))
    assert found["too little", 0.5].agreed < found["too little", 0.1].agreed < exact.agreed
    assert found["too little", 0.5].mean < exact.mean < found["too much", 1.0].mean <= found["everything", 1.0].mean
    assert found["wrong category", 0.4].stale > found["wrong category", 0.2].stale > exact.stale == 0


def test_a_sequence_is_followed_step_by_step() -> None:
    one = benchmark().sequences[0]
    targets, evaluations, refreshed = follow(one, "full")
    assert targets == one.targets
    assert evaluations == 6 * len(one.start)
    assert [len(regions) for regions in refreshed] == 5 * [len(one.start)]


@pytest.mark.parametrize(
    "name", ["houses_4_to_10_rooms", "houses_2_to_3_rooms", "houses_1_to_10_rooms_objaverse", "houses_generated_clean"]
)
def test_on_every_file_of_houses(procthor: Path, name: str) -> None:
    found = build(houses(procthor / f"{name}.jsonl.gz"), seed=0)
    for sequences in (found.sequences, found.adjacent):
        both = run(sequences, ["reference", "ours"])
        assert all(row.agreed == row.decisions for row in both.values())
        assert both["ours"].mean <= 0.65 * both["reference"].mean


def test_pooled_houses_need_six_judgments(procthor: Path) -> None:
    every = [house for file in sorted(procthor.glob("houses*.jsonl.gz")) for house in houses(file)]
    found = build(every, seed=0)
    assert len({one.house for one in found.sequences}) >= 57
    assert run(found.sequences, ["ours"])["ours"].mean <= 6.0


# -- the command line --------------------------------------------------------------------------------


def test_json_names_policies_and_adjacent(tmp_path: Path) -> None:
    done = obviate("bench", "mind", "--policy", "reference", "--policy", "ours", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert (done.returncode, set(data["policies"]), set(data["adjacent"])) == (0, *2 * ({"reference", "ours"},))
    assert (data["policies"]["ours"]["decisions"], data["policies"]["ours"]["agreed"]) == (1200, 1200)
    assert data["policies"]["ours"]["evaluations_mean"] <= 6.0


def test_wrong_use_is_told(tmp_path: Path) -> None:
    done = obviate("bench", "mind", "--policy", "our", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'ours'?" in done.stderr
    with pytest.raises(DataError, match="no houses in this folder"):
        bench_mind([tmp_path], seed=0, policies=["ours"], footprints=False, json=True)
