"""Arguments that point into a tensor: positions, points, segments and what is stitched."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array, Ref
from gradfuzz.strategies.arguments import Real, Scope
from gradfuzz.strategies.domains import DISTINCT, Domain


def _ranks_less(part: float) -> Domain:
    """Return `DISTINCT`, each element less by `part`: never a tie with another such domain."""
    ranks = DISTINCT.inside
    assert ranks is not None
    return Domain(f"DISTINCT - {part}", inside=lambda x: ranks(x) - part, edges=DISTINCT.edges)


DISTINCT_LESS_HALF = _ranks_less(0.5)
DISTINCT_LESS_QUARTER = _ranks_less(0.25)


@dataclass(frozen=True)
class Positions:
    """An integer tensor of positions on the bound axis `below`.  Shrinks towards 0; repeats happen.

    The last axis or run of `pattern`, which no earlier argument may have bound, is empty
    where one of the axes of the pattern `within` is (as a rule `below` alone): then there is
    nothing to point at.
    """

    pattern: str
    below: str
    within: str = ""
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        _bind_empty(scope, self.pattern, self.within or self.below)
        return scope.integers(self.pattern, 0, scope.dims.size(self.below) - 1, self.dtype)


@dataclass(frozen=True)
class SortedPositions:
    """`Positions` on an axis, sorted: the segment ids of an op that knows how many there are."""

    pattern: str
    below: str
    within: str = ""
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        positions = Positions(self.pattern, self.below, self.within, self.dtype)
        return np.sort(positions.draw(scope))


@dataclass(frozen=True)
class Points:
    """An integer tensor whose last axis holds a point: a position on each axis of `of`.

    The last run of `pattern` is empty where one of the axes of the pattern `within` is.
    `beyond` is how far a point may lie outside.  Shrinks towards the origin; repeats happen.
    """

    pattern: str
    of: str
    within: str = ""
    dtype: str = "int32"
    beyond: int = 0

    def draw(self, scope: Scope) -> Array:
        _bind_empty(scope, self.pattern, self.within or self.of)
        shape, sides = scope.shape(self.pattern), scope.dims.shape(self.of)
        points = [
            [scope.choose(st.integers(-self.beyond, side - 1 + self.beyond)) for side in sides]
            for _ in range(int(np.prod(shape, dtype=int)))
        ]
        return np.array(points, self.dtype).reshape(*shape, len(sides))


def _bind_empty(scope: Scope, pattern: str, within: str) -> None:
    if 0 not in scope.dims.shape(within):
        return
    last = pattern.split()[-1]
    if last.startswith("*"):
        scope.dims.runs[last[1:]] = (0,)
    else:
        scope.dims.axes[last] = 0


@dataclass(frozen=True)
class SegmentIds:
    """An integer tensor of segments below the bound size `count`; -1 drops an element.

    Shrinks towards segment 0.
    """

    pattern: str
    count: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        last = scope.dims.size(self.count) - 1
        return scope.integers(self.pattern, -1, last, self.dtype)


@dataclass(frozen=True)
class StitchIndices:
    """A list of int32 tensors in which every number from 0 to the largest occurs.

    Binds the runs "part0", "part1", … to their shapes.  Repeats happen, within a part and
    across.  Shrinks towards one part, and all 0.
    """

    def draw(self, scope: Scope) -> list[Array]:
        shapes = [scope.shape("*part0")]
        # One boolean a turn, not a drawn count: Hypothesis can then delete any one part.
        while len(shapes) < 3 and scope.choose(st.booleans()):
            shapes.append(scope.shape(f"*part{len(shapes)}"))
        ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in shapes])
        drawn = np.array([scope.choose(st.integers(0, 4)) for _ in range(ends[-1])], np.int32)
        dense = np.unique(drawn, return_inverse=True)[1].astype(np.int32).ravel()
        pieces = np.split(dense, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


@dataclass(frozen=True)
class StitchData:
    """The list of primals that belongs to `StitchIndices`: each part, then the pattern `each`."""

    each: str
    dtype: str = "float64"

    def draw(self, scope: Scope) -> list[Ref]:
        parts = [name for name in scope.dims.runs if name.startswith("part")]
        return [Real(f"*{part} {self.each}", dtype=self.dtype).draw(scope) for part in parts]


@dataclass(frozen=True)
class Lengths:
    """An integer vector of the lengths of parts that make up the bound axis `of`; some are 0.

    Shrinks towards one part.
    """

    of: str
    dtype: str = "int64"

    def draw(self, scope: Scope) -> Array:
        [splits] = RowSplits(self.of, "parts", self.dtype).draw(scope)
        return np.diff(splits)


@dataclass(frozen=True)
class RowSplits:
    """A list of one integer vector that cuts the bound axis `of` into rows, some of them empty.

    Binds the axis `rows`, the number of rows.  Shrinks towards one row.
    """

    of: str
    rows: str
    dtype: str = "int64"

    def draw(self, scope: Scope) -> list[Array]:
        total = scope.dims.size(self.of)
        cuts: list[int] = []
        # One boolean a turn, not a drawn count: Hypothesis can then delete any one row.
        while scope.choose(st.booleans()):
            cuts.append(scope.choose(st.integers(0, total)))
        scope.dims.axes[self.rows] = len(cuts) + 1
        return [np.array([0, *sorted(cuts), total], self.dtype)]
