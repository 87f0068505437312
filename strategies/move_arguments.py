"""Arguments of ops that only move elements: paddings, blocks, parts, slices, diagonals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import Scope
from gradfuzz.strategies.shapes import Shape
from gradfuzz.strategies.size_arguments import bound, bound_vector


@dataclass(frozen=True)
class Paddings:
    """An int32 matrix of padding before and behind each axis of the pattern `of`.

    A mirror can't reach farther than its axis: `mirror` is how many elements at an end it
    leaves out, None for a padding that reads nothing.  Binds the run "padded", the padded
    shape.  Shrinks towards no padding.
    """

    of: str
    mirror: int | None = None

    def draw(self, scope: Scope) -> Array:
        shape = scope.shape(self.of)
        pairs = [[self._draw_side(scope, side) for _ in "ab"] for side in shape]
        scope.dims.runs["padded"] = tuple(
            side + sum(pair) for side, pair in zip(shape, pairs, strict=True)
        )
        return np.array(pairs, np.int32).reshape(len(shape), 2)

    def _draw_side(self, scope: Scope, side: int) -> int:
        most = 2 if self.mirror is None else max(0, min(2, side - self.mirror))
        return int(scope.choose(st.integers(0, most)))


@dataclass(frozen=True)
class Blocks:
    """An int32 vector with the side of a block along each axis of the pattern `of`.

    Binds the run "blocks", and `batch`, where named, to a multiple of a block's size.
    Shrinks towards sides of 1.
    """

    of: str
    batch: str | None = None

    def draw(self, scope: Scope) -> Array:
        sides = tuple(scope.choose(st.integers(1, 3)) for _ in scope.shape(self.of))
        scope.dims.runs["blocks"] = sides
        if self.batch is not None:
            scope.dims.axes[self.batch] = scope.shape("_")[0] * int(np.prod(sides, dtype=int))
        return np.array(sides, np.int32)


@dataclass(frozen=True)
class BlockPaddings:
    """An int32 matrix of paddings after which `blocks` divide the axes of the pattern `of`.

    Shrinks towards the least padding, all of it behind.
    """

    of: str
    blocks: str = "*blocks"

    def draw(self, scope: Scope) -> Array:
        pairs: list[list[int]] = []
        shape = scope.shape(self.of)
        for side, block in zip(shape, scope.dims.shape(self.blocks), strict=True):
            total = -side % block + (block if scope.choose(st.booleans()) else 0)
            before = scope.choose(st.integers(0, total))
            pairs.append([before, total - before])
        return np.array(pairs, np.int32).reshape(len(shape), 2)


@dataclass(frozen=True)
class BlockCrops:
    """An int32 matrix of crops within the axes of the pattern `of`, each grown by its block.

    Shrinks towards no crop.
    """

    of: str
    blocks: str = "*blocks"

    def draw(self, scope: Scope) -> Array:
        pairs: list[list[int]] = []
        shape = scope.shape(self.of)
        for side, block in zip(shape, scope.dims.shape(self.blocks), strict=True):
            grown = side * block
            before = scope.choose(st.integers(0, max(0, min(2, grown - 1))))
            behind = scope.choose(st.integers(0, min(2, grown - before)))
            pairs.append([before, behind])
        return np.array(pairs, np.int32).reshape(len(shape), 2)


@dataclass(frozen=True)
class Reshaped:
    """An int32 vector: another shape for the elements of a pattern whose names are bound.

    One side may be -1.  Shrinks towards one axis.
    """

    of: str

    def draw(self, scope: Scope) -> Array:
        rest = int(np.prod(scope.dims.shape(self.of), dtype=int))
        empty = rest == 0
        sides: list[int] = []
        # One boolean a turn, not a drawn count: Hypothesis can then delete any one axis.
        while scope.choose(st.booleans()):
            side = scope.choose(st.sampled_from(_divisors(rest)))
            sides.append(side)
            rest //= side
        if rest != 1 or not scope.choose(st.booleans()):
            sides.append(rest)
        if len(sides) > 0 and scope.choose(st.booleans()):
            # Only the empty side of an empty tensor can be inferred.
            place = len(sides) - 1 if empty else scope.choose(st.integers(0, len(sides) - 1))
            sides[place] = -1
        return np.array(sides, np.int32)


def _divisors(size: int) -> list[int]:
    return [n for n in range(1, (size or 3) + 1) if size % n == 0]


@dataclass(frozen=True)
class Parts:
    """An int32 vector of sizes that add up to the bound axis `of`; one may be -1, inferred.

    Binds the axis "parts", their number.  Shrinks towards one part.
    """

    of: str

    def draw(self, scope: Scope) -> Array:
        left = scope.dims.size(self.of)
        sizes: list[int] = []
        # One boolean a turn, not a drawn count: Hypothesis can then delete any one part.
        while scope.choose(st.booleans()):
            sizes.append(scope.choose(st.integers(0, left)))
            left -= sizes[-1]
        sizes.append(left)
        if len(sizes) > 1 and scope.choose(st.booleans()):
            sizes[scope.choose(st.integers(0, len(sizes) - 1))] = -1
        scope.dims.axes["parts"] = len(sizes)
        return np.array(sizes, np.int32)


@dataclass(frozen=True)
class Begins:
    """An integer vector: where a slice begins on each axis of a pattern whose names are bound.

    Binds the run "begins".  Shrinks towards 0.
    """

    of: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        shape = scope.dims.shape(self.of)
        begins = tuple(scope.choose(_mostly_less(side)) for side in shape)
        scope.dims.runs["begins"] = begins
        return np.array(begins, self.dtype)


@dataclass(frozen=True)
class Lengths:
    """An integer vector: how long a slice is on each axis, behind `Begins` of the same pattern.

    Where `rest`, -1 stands for all that is left.  Shrinks towards all that is left.
    """

    of: str
    dtype: str = "int32"
    rest: bool = False

    def draw(self, scope: Scope) -> Array:
        lengths = []
        shape = scope.dims.shape(self.of)
        for side, begin in zip(shape, scope.dims.runs["begins"], strict=True):
            length = side - begin - scope.choose(_mostly_less(side - begin))
            lengths.append(-1 if self.rest and scope.choose(st.booleans()) else length)
        return np.array(lengths, self.dtype)


def _mostly_less(most: int) -> st.SearchStrategy[int]:
    """Draw from [0, most], seldom `most` itself.  Shrinks towards 0."""
    return st.sampled_from((*range(most), *range(most), *range(most), most))


@dataclass(frozen=True)
class SliceItem:
    """One item between the brackets of `x[…]`: its numbers, its masks and the axes it leaves."""

    begin: int = 0
    end: int = 0
    stride: int = 1
    masks: tuple[str, ...] = ()
    leaves: Shape = ()


SLICE_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@dataclass(frozen=True)
class StridedBegins:
    """The `begin` of `x[…]`, for an x of the pattern `of`, an integer vector.

    Binds the rest of what stands between the brackets: the runs "ends" and "strides", each
    mask by its own name, and the run "sliced", the shape of the outcome.  Items are ranges,
    indices, new axes and one ellipsis.  Shrinks towards no item, the whole of x.
    """

    of: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        items = _draw_items(scope, scope.shape(self.of))
        runs, axes = scope.dims.runs, scope.dims.axes
        runs["sliced"] = tuple(side for item in items for side in item.leaves)
        if items[-1].masks == ("ellipsis_mask",) and not scope.choose(st.booleans()):
            items.pop()  # the axes behind the last item stay as they are all the same
        runs["ends"] = tuple(item.end for item in items)
        runs["strides"] = tuple(item.stride for item in items)
        for mask in SLICE_MASKS:
            axes[mask] = sum(2**bit for bit, item in enumerate(items) if mask in item.masks)
        return np.array([item.begin for item in items], self.dtype)


def _draw_items(scope: Scope, shape: Shape) -> list[SliceItem]:
    """Draw what stands between the brackets: items, an ellipsis, then items again."""
    start = scope.choose(st.integers(0, len(shape)))
    stop = len(shape) - scope.choose(st.integers(0, len(shape) - start))
    return [
        *_draw_some_items(scope, shape[:start]),
        SliceItem(masks=("ellipsis_mask",), leaves=shape[start:stop]),
        *_draw_some_items(scope, shape[stop:]),
    ]


def _draw_some_items(scope: Scope, shape: Shape) -> Iterator[SliceItem]:
    """Draw an item for each axis, and new axes before, between and behind."""
    rarely = st.sampled_from((False, False, False, True))
    for side in shape:
        if scope.choose(rarely):
            yield SliceItem(masks=("new_axis_mask",), leaves=(1,))
        is_index = side > 0 and scope.choose(rarely)
        yield _draw_index(scope, side) if is_index else _draw_range(scope, side)
    if scope.choose(rarely):
        yield SliceItem(masks=("new_axis_mask",), leaves=(1,))


def _draw_index(scope: Scope, side: int) -> SliceItem:
    begin = scope.choose(st.integers(-side, side - 1))
    return SliceItem(begin, begin + 1, masks=("shrink_axis_mask",))


def _draw_range(scope: Scope, side: int) -> SliceItem:
    """Draw a range that may reach beyond the axis.  Shrinks towards the whole axis."""
    stride = scope.choose(st.sampled_from((1, 2, -1, -2, 3)))
    first, last = scope.choose(st.integers(-1, 2)), side - scope.choose(st.integers(-1, 2))
    if stride < 0:
        first, last = last - 1, first - 1
    begin, end = (_from_either_end(scope, place, side) for place in (first, last))
    masks = tuple(mask for mask in SLICE_MASKS[:2] if scope.choose(st.booleans()))
    inside = slice(
        None if "begin_mask" in masks else begin, None if "end_mask" in masks else end, stride
    )
    return SliceItem(begin, end, stride, masks, (len(range(side)[inside]),))


def _from_either_end(scope: Scope, place: int, side: int) -> int:
    """Write a place on an axis, or before or behind it, as a number between brackets."""
    before = place < 0
    on_axis = 0 <= place < side
    return place - side if before or (on_axis and scope.choose(st.booleans())) else place


def strided_slice_of(pattern: str, dtype: str) -> dict[str, Any]:
    """Describe the arguments `begin`, `end`, `strides` and all masks of `x[…]`."""
    return {
        "begin": StridedBegins(pattern, dtype),
        "end": bound_vector("ends", dtype),
        "strides": bound_vector("strides", dtype),
        **{mask: bound(mask) for mask in SLICE_MASKS},
    }


@dataclass(frozen=True)
class Bands:
    """The diagonals of an r c matrix to set or read: one as a scalar, or the first and last.

    Binds the run "diagonals", the shape that TensorFlow packs them in.  Shrinks towards the
    main diagonal.

    Source: matrix_diag_op.cc in tensorflow/core/kernels.
    """

    rows: str
    columns: str

    def draw(self, scope: Scope) -> Array:
        rows, columns = scope.shape(f"{self.rows} {self.columns}")
        low = scope.choose(st.integers(min(0, 1 - rows), max(0, columns - 1)))
        high = low
        is_vector = scope.choose(st.booleans())
        if is_vector:
            high += scope.choose(st.integers(0, max(0, columns - 1) - low))
        longest = min(rows + min(high, 0), columns - max(low, 0))
        scope.dims.runs["diagonals"] = (high - low + 1, longest) if high > low else (longest,)
        return np.array([low, high] if is_vector else low, np.int32)


@dataclass(frozen=True)
class PartlyKnown:
    """An attr: the shape of a pattern whose names are bound, some sides of it unknown (-1).

    Shrinks towards all known.
    """

    of: str

    def draw(self, scope: Scope) -> list[int]:
        return [-1 if scope.choose(st.booleans()) else n for n in scope.dims.shape(self.of)]
