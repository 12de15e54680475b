"""The plot of evaluations against rooms: well-formed, with every point where its numbers put it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import obviate
from hypothesis import given
from hypothesis import strategies as st

from obviate.adapters import chart
from obviate.adapters.mind import build
from obviate.adapters.mind.bench import by_rooms, run
from obviate.adapters.procthor import shipped
from obviate.kb.errors import DataError

SVG = "{http://www.w3.org/2000/svg}"
SIZES = st.just(0.0) | st.floats(0.001, 1e6)  # rooms, and judgments of a sequence or for each event


def drawn(text: str) -> list[list[tuple[float, float]]]:
    """The lines of the chart, without those of the legend, in the units of the image."""
    lines = [line.get("points", "") for line in ET.fromstring(text).iter(f"{SVG}polyline")]
    return [[(float(x), float(y)) for x, y in (p.split(",") for p in line.split())] for line in lines[::2]]


def words(text: str) -> list[str | None]:
    return [element.text for element in ET.fromstring(text).iter(f"{SVG}text")]


def test_points_axes_and_names() -> None:
    text = chart.chart({"a <b>": [(0, 0), (10, 50)], "c": [(5, 25)]}, title="T & T", x="rooms", y="cost")
    (low, high), (middle,) = drawn(text)
    assert low == (chart.LEFT, chart.HEIGHT - chart.BOTTOM)
    assert high == (chart.WIDTH - chart.RIGHT, chart.TOP)
    assert middle == ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
    assert {"T & T", "rooms", "cost", "a <b>", "c", "0", "10", "50"} <= set(words(text))


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=5))
def test_every_point_is_inside_the_axes(points: list[tuple[float, float]]) -> None:
    (line,) = drawn(chart.chart({"one": points}, title="", x="", y=""))
    for x, y in line:
        assert chart.LEFT <= x <= chart.WIDTH - chart.RIGHT
        assert chart.TOP <= y <= chart.HEIGHT - chart.BOTTOM


def test_a_long_name_has_room() -> None:
    name = "just-in-time-advisory"
    svg = ET.fromstring(chart.chart({name: [(1, 1)]}, title="", x="", y=""))
    (label,) = (text for text in svg.iter(f"{SVG}text") if text.text == name)
    assert float(label.get("x", "")) + chart.LETTER * len(name) <= float(svg.get("width", ""))
    assert svg.get("viewBox") == f"0 0 {svg.get('width')} {chart.HEIGHT}"


def test_nothing_is_an_empty_chart() -> None:
    assert drawn(chart.chart({}, title="", x="", y="")) == []


def test_costs_are_averaged_for_each_number_of_rooms() -> None:
    sequences = build(shipped(), seed=0).sequences[:40]
    line = by_rooms(sequences, run(sequences, ["full"])["full"])
    assert line == [(rooms, 6 * rooms) for rooms in sorted({len(one.start) for one in sequences})]


def test_the_command_draws_three_policies_whichever_it_prints(tmp_path: Path) -> None:
    done = obviate("bench", "mind", "--policy", "ours", "--plot", "cost.svg", "--detection", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert (done.returncode, set(data["policies"])) == (0, {"ours"})
    assert data["detection"]["held_out"]["events"] == 29
    text = (tmp_path / "cost.svg").read_text(encoding="utf-8")
    full, reference, ours = (line[-1][1] for line in drawn(text))
    assert full < reference < ours  # from the top: the most expensive first
    assert {"full", "reference", "ours"} <= set(words(text))


def test_a_plot_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "plot.svg"):
        with pytest.raises(DataError, match="the plot cannot be written") as caught:
            chart.write(path, "")
        assert caught.value.code == "plot-unwritable"
