"""Line charts as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path

from obviate.kb.errors import DataError

__all__ = ["Line", "chart", "write"]

Line = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 72, 170, 48, 56  # margins; the right one holds the legend
LETTER, ROOM = 8, 14  # the widest that a letter gets, and how many the legend has room for
# Okabe and Ito's colours, which colour-blind people tell apart; each line has a mark and dashes of its own too.
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
DASHES = ("", "7 4", "2 4", "10 3 2 3")
MARKS = ("circle", "square", "diamond")


def write(path: Path, text: str) -> None:
    """Write a chart to a file. Raises `DataError` (``plot-unwritable``)."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"the plot cannot be written: {error.strerror}"
        raise DataError("plot-unwritable", message, where=str(path), help="name a file in a folder there is") from None


def chart(lines: Mapping[str, Line], *, title: str, x: str, y: str, logarithmic: bool = False) -> str:
    """An SVG of `lines` by their name, with the axes `x` and `y`.

    Both start at 0; if they are `logarithmic`, at a power of ten, and every coordinate is above 0.
    """
    points = [point for line in lines.values() for point in line]
    ticks_x, ticks_y = (
        _decades([point[axis] for point in points]) if logarithmic else _ticks([point[axis] for point in points])
        for axis in (0, 1)
    )
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(point: tuple[float, float]) -> tuple[float, float]:
        along, up = (
            log10(at / ticks[0]) / log10(ticks[-1] / ticks[0]) if logarithmic else at / ticks[-1]
            for at, ticks in zip(point, (ticks_x, ticks_y), strict=True)
        )
        return LEFT + along * wide, HEIGHT - BOTTOM - up * high

    total = WIDTH + LETTER * max(0, max(map(len, lines), default=0) - ROOM)
    middle_x, middle_y = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT}" width="{total}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13" fill="#222">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{total}" height="{HEIGHT}" fill="#fff"/>',
        _text(middle_x, TOP - 20, title, 'font-size="15" text-anchor="middle"'),
        _text(middle_x, HEIGHT - 12, x, 'text-anchor="middle"'),
        _text(18, middle_y, y, f'text-anchor="middle" transform="rotate(-90 18 {middle_y:.1f})"'),
    ]
    for tick in ticks_x:
        at = place((tick, ticks_y[0]))[0]
        parts.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{_grid(tick == ticks_x[0])}"/>')
        parts.append(_text(at, HEIGHT - BOTTOM + 20, _number(tick), 'text-anchor="middle"'))
    for tick in ticks_y:
        at = place((ticks_x[0], tick))[1]
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="{_grid(tick == ticks_y[0])}"/>')
        parts.append(_text(LEFT - 8, at + 4, _number(tick), 'text-anchor="end"'))
    for number, (name, line) in enumerate(lines.items()):
        corner, height = WIDTH - RIGHT + 16, TOP + 12 + 24 * number
        parts += _drawn([place(point) for point in line], number)
        parts += _drawn([(corner, height), (corner + 32, height)], number)
        parts.append(_text(corner + 42, height + 4, name))
    return "\n".join((*parts, "</svg>", ""))


def _ticks(values: Sequence[float]) -> list[float]:
    """Round numbers from 0 to the largest value or just above, at most eleven."""
    most = max(values, default=0.0)
    if most <= 0:
        return [0, 1]
    power = 10.0 ** floor(log10(most))
    step = next(power * part for part in (0.1, 0.2, 0.5, 1) if most / (power * part) <= 10)
    return [step * i for i in range(int(-(-most // step)) + 1)]


def _decades(values: Sequence[float]) -> list[float]:
    """The powers of ten around `values`, two at least."""
    low, high = (floor(log10(min(values))), ceil(log10(max(values)))) if values else (0, 1)
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _number(tick: float) -> str:
    return f"{tick:,.0f}" if tick >= 1_000 else f"{tick:g}"


def _grid(edge: bool) -> str:
    return "#222" if edge else "#ddd"


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _drawn(line: Line, number: int) -> Iterator[str]:
    colour, dashes, mark = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)], MARKS[number % len(MARKS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    for x, y in line:
        if mark == "circle":
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        else:
            turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if mark == "diamond" else ""
            yield f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"{turn}/>'
