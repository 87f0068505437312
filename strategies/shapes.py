"""Shape patterns: the one small language the catalogue is written in.

A pattern is a string of axes in the notation of jaxtyping:

    n       a named axis; one name is one size within a call
    3       an axis of that size
    _       an axis of a size of its own
    *s      a named run of axes, possibly none
    *#s     that run, broadcastable: leading axes may be missing, any may be 1

A pattern is drawn for a new leaf and matched against an earlier tensor.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

from gradfuzz.errors import UsageError

Shape = tuple[int, ...]
Sides = st.SearchStrategy[int]

MOST_AXES_IN_A_RUN = 2


@dataclass
class Dims:
    """The sizes bound so far in one call, by name."""

    axes: dict[str, int] = field(default_factory=dict)
    runs: dict[str, Shape] = field(default_factory=dict)

    def size(self, name: str) -> int:
        """Return the size of axis `name`, or the number of elements of run `*name`."""
        if not name.startswith("*"):
            return self.axes[name]
        count = 1
        for side in self.runs[name[1:]]:
            count *= side
        return count

    def shape(self, pattern: str) -> Shape:
        """Return the shape of a pattern whose names are all bound already."""
        sides: list[int] = []
        for axis in pattern.split():
            if axis.startswith("*"):
                sides.extend(self.runs[axis[1:]])
            else:
                sides.append(int(axis) if axis.isdigit() else self.axes[axis])
        return tuple(sides)

    def adopt(self, other: "Dims") -> None:
        """Take over every size bound in `other`."""
        self.axes, self.runs = other.axes, other.runs


_AXIS = re.compile(r"_|[0-9]+|(\*#?)?[A-Za-z][A-Za-z0-9_]*")


def require_pattern(pattern: str) -> None:
    """Raise `UsageError`, naming the axis, for what is no pattern."""
    for axis in pattern.split():
        if not _AXIS.fullmatch(axis):
            raise UsageError(f"pattern {pattern!r}: {axis!r}, should be an axis (n), a size (3), "
                             "any axis (_) or a run of axes (*s, *#s)")  # fmt: skip


def draw_shape(draw: st.DrawFn, pattern: str, dims: Dims, sides: Sides) -> Shape:
    """Draw a shape for `pattern`, binding its names.  Shrinks towards few axes of size 1."""
    return tuple(side for axis in pattern.split() for side in _draw_axis(draw, axis, dims, sides))


def _draw_axis(draw: st.DrawFn, axis: str, dims: Dims, sides: Sides) -> Shape:
    if axis == "_":
        return (draw(sides),)
    if axis.isdigit():
        return (int(axis),)
    if axis.startswith("*"):
        run = _draw_run(draw, axis.lstrip("*#"), dims, sides)
        return _draw_broadcastable(draw, run) if axis.startswith("*#") else run
    if axis not in dims.axes:
        dims.axes[axis] = draw(sides)
    return (dims.axes[axis],)


def _draw_run(draw: st.DrawFn, name: str, dims: Dims, sides: Sides) -> Shape:
    if name not in dims.runs:
        # One choice an axis, whether it is there, not a drawn count: Hypothesis can drop any one.
        axis = st.one_of(st.none(), st.none(), sides)
        drawn = [draw(axis) for _ in range(MOST_AXES_IN_A_RUN)]
        dims.runs[name] = tuple(side for side in drawn if side is not None)
    return dims.runs[name]


def _draw_broadcastable(draw: st.DrawFn, run: Shape) -> Shape:
    """Draw a shape that broadcasts to `run`.  Shrinks towards `run` itself."""
    if not run or not draw(st.booleans()):
        return run
    kept = run[draw(st.integers(0, len(run))) :]
    return tuple(1 if draw(st.booleans()) else side for side in kept)


def matches(pattern: str, shape: Shape, dims: Dims) -> Iterator[Dims]:
    """Yield every way to read `shape` as `pattern` that agrees with `dims`."""
    return _matches(pattern.split(), shape, dims)


def _matches(axes: list[str], shape: Shape, dims: Dims) -> Iterator[Dims]:
    if not axes:
        if not shape:
            yield dims
        return
    first, *rest = axes
    if first.startswith("*"):
        yield from _match_run(first, rest, shape, dims)
    elif shape:
        side, *tail = shape
        if first in ("_", str(side)):
            yield from _matches(rest, tuple(tail), dims)
        elif not first.isdigit() and dims.axes.get(first, side) == side:
            found = Dims(dims.axes | {first: side}, dims.runs)
            yield from _matches(rest, tuple(tail), found)


def _match_run(first: str, rest: list[str], shape: Shape, dims: Dims) -> Iterator[Dims]:
    name = first.lstrip("*#")
    for width in range(len(shape) + 1):
        run = shape[:width]
        bound = dims.runs.get(name)
        if bound is None:
            yield from _matches(rest, shape[width:], Dims(dims.axes, dims.runs | {name: run}))
        elif run == bound or (first.startswith("*#") and _broadcasts(run, bound)):
            yield from _matches(rest, shape[width:], dims)


def _broadcasts(shape: Shape, target: Shape) -> bool:
    if len(shape) > len(target):
        return False
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return all(side in (1, wanted) for side, wanted in pairs)
