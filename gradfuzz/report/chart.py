"""Line charts as SVG, drawn by hand: a page that needs nothing else, and reads on a phone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 40
TICKS = 4
# On a logarithmic axis, what lies within these: the powers of 10 around it are numbers, too.
LEAST, MOST = 1e-300, 1e300


@dataclass(frozen=True)
class Series:
    """One line: `style` is the class it has in the style sheet of the page."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """An axis: from values to positions between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, *, log: bool) -> "Scale":
        """Return an axis that holds `values`."""
        low, high = min(values), max(values)
        if log:
            low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        return cls(low, high if high > low else low + 1, start, end, log)

    def at(self, value: float) -> float:
        """Return the position of a value."""
        part = math.log10(value) if self.logarithmic else value
        share = (part - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return a few values to write at the axis."""
        if not self.logarithmic:
            return [self.low + i * (self.high - self.low) / TICKS for i in range(TICKS + 1)]
        step = max(1, math.ceil((self.high - self.low) / TICKS))
        return [10.0**power for power in range(int(self.low), int(self.high) + 1, step)]


def line_chart(series: Sequence[Series], x_label: str, y_label: str, *, log: bool) -> str:
    """Return the SVG of some lines; with `log` on logarithmic axes, without what these cannot hold.

    Returns "" where there is nothing to draw.
    """
    kept = [Series(s.name, s.style, [p for p in s.points if _can_be_drawn(p, log=log)])
            for s in series]  # fmt: skip
    points = [point for each in kept for point in each.points]
    if len(points) < 2:
        return ""
    x = Scale.of([p[0] for p in points], LEFT, WIDTH - RIGHT, log=log)
    y = Scale.of([p[1] for p in points], HEIGHT - BOTTOM, TOP, log=log)
    parts = [*_grid(x, y), *(_line(each, x, y) for each in kept), *_legend(kept),
             _text(x_label, (LEFT + WIDTH) / 2, HEIGHT - 6, "middle"),
             f'<text class="axis" transform="translate(12 {HEIGHT / 2}) rotate(-90)" '
             f'text-anchor="middle">{escape(y_label)}</text>']  # fmt: skip
    body = "".join(parts)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{body}</svg>'


def _can_be_drawn(point: tuple[float, float], *, log: bool) -> bool:
    if log:
        return all(LEAST <= value <= MOST for value in point)
    return all(map(math.isfinite, point))


def _line(series: Series, x: Scale, y: Scale) -> str:
    places = [(x.at(a), y.at(b)) for a, b in series.points]
    line = " ".join(f"{a},{b}" for a, b in places)
    dots = "".join(f'<circle cx="{a}" cy="{b}" r="2.5"/>' for a, b in places[:64])
    return f'<g class="{series.style}"><polyline points="{line}"/>{dots}</g>'


def _grid(x: Scale, y: Scale) -> list[str]:
    found = []
    for value in x.ticks():
        at = x.at(value)
        found.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        found.append(_text(f"{value:.3g}", at, HEIGHT - BOTTOM + 14, "middle"))
    for value in y.ticks():
        at = y.at(value)
        found.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        found.append(_text(f"{value:.3g}", LEFT - 6, at + 4, "end"))
    return found


def _legend(series: Sequence[Series]) -> list[str]:
    if len(series) < 2:
        return []
    return [
        f'<g class="{each.style}"><circle cx="{LEFT + 12}" cy="{TOP + 12 + 16 * row}" r="4"/></g>'
        + _text(each.name, LEFT + 22, TOP + 16 + 16 * row, "start")
        for row, each in enumerate(series)
    ]


def _text(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text class="axis" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
