"""Arguments whose sizes follow from one another: windows that slide along an image, and lists.

The axis `h` of an image has a window of size `kh`, which moves by `sh`, is dilated by `dh`,
has `ph` elements of explicit padding and leaves `oh` positions.  Whichever of them an entry
draws is bound under that name; what it does not draw is 1 (for `ph`, 0).  So strides and
padding stand before the filter in an entry, the filter before what has the output's size.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from gradfuzz.graph import Ref
from gradfuzz.strategies.arguments import Argument, Real, Scope
from gradfuzz.strategies.shapes import Dims, draw_shape

MOST_WINDOW = 3


@dataclass(frozen=True)
class Steps:
    """An attr with one number for each axis of a pattern: [1, sh, sw, 1] for "1 sh sw 1".

    Binds the names, all to one number where they should be `equal`.  Shrinks towards ones.
    """

    pattern: str
    equal: bool = False

    def draw(self, scope: Scope) -> list[int]:
        steps = st.integers(1, 2)
        if self.equal:
            steps = st.just(scope.choose(steps))
        return list(draw_shape(scope.choose, self.pattern, scope.dims, steps))


@dataclass(frozen=True)
class Padding:
    """An attr, "SAME" or "VALID", that windows drawn later follow.  Shrinks towards "SAME"."""

    def draw(self, scope: Scope) -> str:
        valid = scope.choose(st.booleans())
        scope.dims.axes["same"] = 0 if valid else 1
        return "VALID" if valid else "SAME"


@dataclass(frozen=True)
class Paddings:
    """An attr of explicit paddings: [0, 0, before, after, …, 0, 0] for the axes of an image.

    Shrinks towards no padding.
    """

    axes: str

    def draw(self, scope: Scope) -> list[int]:
        pairs = [0, 0]
        for axis in self.axes.split():
            pair = [scope.choose(st.integers(0, 2)) for _ in range(2)]
            scope.dims.axes[f"p{axis}"] = sum(pair)
            pairs += pair
        return [*pairs, 0, 0]


@dataclass(frozen=True)
class Windowed:
    """An argument with the sizes of a window (`kh`, `kw`) that slides along the axes `h w`.

    Unless the padding is SAME the window lies inside the padded image.  Where it may `overhang`
    it sticks out by up to one stride on an edge, and then leaves no position.  Shrinks towards
    windows of size 1.
    """

    argument: Argument
    axes: str
    overhang: bool = False

    def draw(self, scope: Scope) -> Any:
        for axis in self.axes.split():
            most = _longest_window(scope.dims, axis, overhang=self.overhang and scope.mode.edges)
            scope.dims.axes[f"k{axis}"] = scope.choose(st.integers(1, max(1, most)))
        return self.argument.draw(scope)


@dataclass(frozen=True)
class Slid:
    """An argument with the sizes (`oh`, `ow`) that a window leaves of the axes `h w`."""

    argument: Argument
    axes: str

    def draw(self, scope: Scope) -> Any:
        for axis in self.axes.split():
            scope.dims.axes[f"o{axis}"] = _positions(scope.dims, axis)
        return self.argument.draw(scope)


def _longest_window(dims: Dims, axis: str, *, overhang: bool) -> int:
    """Return the most taps of a window inside the padded axis, or a stride past it."""
    if dims.axes.get("same"):
        return MOST_WINDOW
    stride = dims.axes.get(f"s{axis}", 1)
    room = dims.axes[axis] + dims.axes.get(f"p{axis}", 0) + (stride if overhang else 0)
    return min(MOST_WINDOW, (room - 1) // dims.axes.get(f"d{axis}", 1) + 1)


def _positions(dims: Dims, axis: str) -> int:
    """Return how many positions the window takes.

    Source: `GetWindowedOutputSizeVerbose` in tensorflow/core/framework/kernel_shape_util.cc.
    """
    size, stride = dims.axes[axis], dims.axes.get(f"s{axis}", 1)
    if dims.axes.get("same"):
        return -(-size // stride)
    reach = (dims.axes[f"k{axis}"] - 1) * dims.axes.get(f"d{axis}", 1) + 1
    return max(0, size + dims.axes.get(f"p{axis}", 0) - reach + stride) // stride


@dataclass(frozen=True)
class Sides:
    """An argument whose new axes have sizes in [least, most], for ops that take no others."""

    least: int
    most: int
    argument: Argument

    def draw(self, scope: Scope) -> Any:
        sides = scope.mode.sides.map(lambda side: min(max(side, self.least), self.most))
        return self.argument.draw(replace(scope, mode=replace(scope.mode, sides=sides)))


@dataclass(frozen=True)
class Filled:
    """An argument some of whose axes, or runs of axes, may have no size 0, on edges either."""

    axes: str
    argument: Argument

    def draw(self, scope: Scope) -> Any:
        # In other modes no size is 0, and a size that is not bound can still match.
        for axis in self.axes.split() if scope.mode.edges else ():
            sides = [max(1, side) for side in scope.shape(axis)]
            if axis.startswith("*"):
                scope.dims.runs[axis[1:]] = tuple(sides)
            else:
                [scope.dims.axes[axis]] = sides
        return self.argument.draw(scope)


@dataclass(frozen=True)
class UpTo:
    """An argument whose axis `name` is no longer than the axis `of`.  Shrinks towards size 1."""

    name: str
    of: str
    argument: Argument

    def draw(self, scope: Scope) -> Any:
        most = max(1, scope.dims.size(self.of))
        scope.dims.axes[self.name] = scope.choose(st.integers(1, most))
        return self.argument.draw(scope)


@dataclass(frozen=True)
class Listed:
    """A list of primals, each with a pattern of its own."""

    reals: tuple[Real, ...]

    def draw(self, scope: Scope) -> list[Ref]:
        return [real.draw(scope) for real in self.reals]


def listed(patterns: Iterable[str]) -> Listed:
    """Describe a list of unrestricted primals, one for each pattern."""
    return Listed(tuple(Real(pattern) for pattern in patterns))
