"""A line chart as SVG, for what policies cost in houses of different sizes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Many
from html import escape
from math import floor, log10
from pathlib import Path

from obviate.adapters.mind.bench import Row
from obviate.adapters.mind.benchmark import Sequence
from obviate.kb.errors import DataError

__all__ = ["by_rooms", "chart", "write"]

Line = Many[tuple[float, float]]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 48, 56  # margins; the right one holds the legend
# Okabe and Ito's colours, which colour-blind people tell apart; each line has a mark and dashes of its own too.
STYLES = (("#d55e00", "", "circle"), ("#0072b2", "7 4", "square"), ("#009e73", "2 4", "diamond"))


def by_rooms(sequences: Iterable[Sequence], row: Row) -> Line:
    """The mean evaluations of a sequence for each number of rooms. `row` is of the same sequences in that order."""
    costs: dict[int, list[int]] = {}
    for one, evaluations in zip(sequences, row.evaluations, strict=True):
        costs.setdefault(len(one.start), []).append(evaluations)
    return [(rooms, statistics.fmean(found)) for rooms, found in sorted(costs.items())]


def write(path: Path, text: str) -> None:
    """Write a chart to a file. Raises `DataError` (``plot-unwritable``)."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"the plot cannot be written: {error.strerror}"
        raise DataError("plot-unwritable", message, where=str(path), help="name a file in a folder there is") from None


def chart(lines: Mapping[str, Line], *, title: str, x: str, y: str) -> str:
    """An SVG of up to three `lines` by their name, with the axes `x` and `y`, which both start at 0."""
    points = [point for line in lines.values() for point in line]
    ticks_x, ticks_y = (_ticks(max((point[axis] for point in points), default=0.0)) for axis in (0, 1))
    across, up = (WIDTH - LEFT - RIGHT) / ticks_x[-1], (HEIGHT - TOP - BOTTOM) / ticks_y[-1]

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return LEFT + point[0] * across, HEIGHT - BOTTOM - point[1] * up

    middle_x, middle_y = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13" fill="#222">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(middle_x, TOP - 20, title, 'font-size="15" text-anchor="middle"'),
        _text(middle_x, HEIGHT - 12, x, 'text-anchor="middle"'),
        _text(18, middle_y, y, f'text-anchor="middle" transform="rotate(-90 18 {middle_y:.1f})"'),
    ]
    for tick in ticks_x:
        parts.append(_text(place((tick, 0))[0], HEIGHT - BOTTOM + 20, f"{tick:g}", 'text-anchor="middle"'))
    for tick in ticks_y:
        height = place((0, tick))[1]
        colour = "#ddd" if tick else "#222"
        parts.append(f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="{colour}"/>')
        parts.append(_text(LEFT - 8, height + 4, f"{tick:g}", 'text-anchor="end"'))
    for number, ((name, line), style) in enumerate(zip(lines.items(), STYLES, strict=False)):
        corner, height = WIDTH - RIGHT + 16, TOP + 12 + 24 * number
        parts += _drawn([place(point) for point in line], *style)
        parts += _drawn([(corner, height), (corner + 32, height)], *style)
        parts.append(_text(corner + 42, height + 4, name))
    return "\n".join((*parts, "</svg>", ""))


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 to `most` or just above, at most eleven."""
    if most <= 0:
        return [0, 1]
    power = 10.0 ** floor(log10(most))
    step = next(power * part for part in (0.1, 0.2, 0.5, 1) if most / (power * part) <= 10)
    return [step * i for i in range(int(-(-most // step)) + 1)]


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _drawn(line: Line, colour: str, dashes: str, mark: str) -> Iterator[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    for x, y in line:
        if mark == "circle":
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        else:
            turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if mark == "diamond" else ""
            yield f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"{turn}/>'
