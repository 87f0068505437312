"""Arguments that make up sparse tensors: where the stored elements stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array, Ref
from gradfuzz.strategies.arguments import FromSizes, Real, Scope
from gradfuzz.strategies.domains import ANY, Domain
from gradfuzz.strategies.size_arguments import NewShape

MOST_STORED = 6


@dataclass(frozen=True)
class SparseIndices:
    """A matrix of the places of stored elements in a tensor of `pattern`, none of them twice.

    The places ascend in row-major order unless `ordered` is False.  Binds the axis `count`,
    their number, and the names of the pattern.  Shrinks towards one at the origin.
    """

    pattern: str
    count: str
    dtype: str = "int64"
    ordered: bool = True

    def draw(self, scope: Scope) -> Array:
        shape = scope.shape(self.pattern)
        places = scope.choose(_places(int(np.prod(shape, dtype=int))))
        scope.dims.axes[self.count] = len(places)
        return _unravel(sorted(places) if self.ordered else places, shape, self.dtype)


def _places(size: int) -> st.SearchStrategy[list[int]]:
    if size == 0:
        return st.just([])
    place = st.integers(0, size - 1)
    some = st.lists(place, unique=True, min_size=1, max_size=MOST_STORED)
    return st.one_of(some, st.lists(place, unique=True, max_size=MOST_STORED))


def _unravel(places: Sequence[int], shape: Sequence[int], dtype: str) -> Array:
    if not places:
        return np.zeros((0, len(shape)), dtype)
    return np.stack(np.unravel_index(places, shape), axis=-1).astype(dtype)


@dataclass(frozen=True)
class SparsePositions:
    """`SparseIndices` of a tensor with the one axis `of`, as a vector instead of a matrix."""

    of: str
    count: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        return SparseIndices(self.of, self.count, self.dtype).draw(scope)[:, 0]


@dataclass(frozen=True)
class SparseParts:
    """A list of two or three matrices of places, for tensors of one pattern with a `_` in it.

    Binds the axes "count0", "count1", … to the numbers of stored elements, and the runs
    "part0", "part1", … to the shapes.  Shrinks towards two parts with one element stored.
    """

    pattern: str

    def draw(self, scope: Scope) -> list[Array]:
        parts = [self._draw_part(scope, 0), self._draw_part(scope, 1)]
        if scope.choose(st.booleans()):
            parts.append(self._draw_part(scope, 2))
        return parts

    def _draw_part(self, scope: Scope, part: int) -> Array:
        scope.dims.runs[f"part{part}"] = scope.shape(self.pattern)
        return SparseIndices(f"*part{part}", count=f"count{part}").draw(scope)


@dataclass(frozen=True)
class PartValues:
    """The list of primals that belongs to `SparseParts`."""

    def draw(self, scope: Scope) -> list[Ref]:
        counts = [name for name in scope.dims.axes if name.startswith("count")]
        return [Real(count).draw(scope) for count in counts]


PART_SHAPES = FromSizes(
    lambda dims: [
        np.array(shape, np.int64) for name, shape in dims.runs.items() if name.startswith("part")
    ]
)


def sparse(
    pattern: str,
    indices: str = "indices",
    values: str = "values",
    shape: str = "shape",
    count: str = "stored",
    domain: Domain = ANY,
) -> dict[str, Any]:
    """Describe the three arguments, of these names, that are one sparse tensor of `pattern`."""
    return {
        indices: SparseIndices(pattern, count),
        values: Real(count, domain),
        shape: NewShape(pattern, "int64"),
    }
