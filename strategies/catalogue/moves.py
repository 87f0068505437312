"""Ops that only move elements, copy them or drop them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import (
    FLAG,
    AxisAfter,
    Drawn,
    FromSizes,
    Integers,
    Mask,
    OneOf,
    Real,
    Reals,
    Window,
    const,
)
from gradfuzz.strategies.domains import DISTINCT
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.move_arguments import (
    Bands,
    Begins,
    BlockCrops,
    BlockPaddings,
    Blocks,
    Lengths,
    Paddings,
    PartlyKnown,
    Parts,
    Reshaped,
    strided_slice_of,
)
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.size_arguments import (
    Below,
    Bind,
    EachAxis,
    EitherInt,
    EveryAxis,
    Factor,
    NewShape,
    NewSize,
    RepeatableAxes,
    SomeAxes,
    WithSize,
    bound,
    divisor_of,
    up_to,
)

AXIS = AxisAfter("l", before="r")
AXIS_ARRAY = AxisAfter("l", before="r", array=True)
UNKNOWN = const(np.array(-1, np.int32))
ALIGN = OneOf(("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"))
DEPTH = OneOf(tuple(np.array(depth, np.int32) for depth in (1, 2, 3, 4, 0)))
WINDOW_3D = Drawn(lambda _: st.tuples(*[st.integers(1, 3)] * 3).map(lambda sides: [1, *sides, 1]))
BANDS = Bands("r", "c")
BRACKETS = strided_slice_of("*s *t", "int32")
LONG_BRACKETS = strided_slice_of("*s *t", "int64")

# Diagonals of an r c matrix, and of the smallest square one that holds them.
DIAGONALS: dict[str, Any] = {
    "num_rows": NewSize("r"),
    "num_cols": NewSize("c"),
    "k": BANDS,
    "diagonal": Real("*b *diagonals"),
    "padding_value": Real(""),
}
DIAGONALS_OF_SMALLEST: dict[str, Any] = {
    **DIAGONALS,
    "num_rows": UNKNOWN,
    "num_cols": UNKNOWN,
    "k": Bands("n", "n"),
}


def _no_axis_is_empty(dims: Dims, args: Mapping[str, Any]) -> bool:
    return all(0 not in run for run in dims.runs.values())


def _shorter_side(dims: Dims) -> int:
    return min(dims.size("r"), dims.size("c"))


def _either_axis(dims: Dims) -> st.SearchStrategy[list[int]]:
    return st.sampled_from(([len(dims.runs["l"])], [-1 - len(dims.runs["r"])]))


def _both_axes(dims: Dims) -> st.SearchStrategy[list[int]]:
    first, last = len(dims.runs["l"]) + 1, -1 - len(dims.runs["r"])
    return st.sampled_from(([0, first], [0, last], [last, 0]))


def _numbers_kept(dims: Dims) -> st.SearchStrategy[int]:
    """Draw how many of the n elements to keep.  Shrinks towards one."""
    return st.sampled_from((*range(1, dims.size("n") + 1), 0))


def _lengths_of_sequences(dims: Dims) -> st.SearchStrategy[Array]:
    length, count = st.integers(0, dims.size("t")), dims.size("b")
    return st.lists(length, min_size=count, max_size=count).map(np.array)


def _padding(pattern: str) -> Drawn:
    """Describe the padding of windows, each spread out by its rate; "VALID" where they fit."""

    def paddings(dims: Dims) -> st.SearchStrategy[str]:
        window, shape = dims.runs["window"], dims.shape(pattern)
        rates = dims.runs.get("rates", (1,) * len(window))
        sizes = zip(window, rates, shape, strict=True)
        fits = all((n - 1) * rate < side for n, rate, side in sizes)
        return st.sampled_from(("SAME", "VALID") if fits else ("SAME",))

    return Drawn(paddings)


OPS: tuple[Entry, ...] = (
    # The same elements.
    op("Identity", input=Real("*s")),
    op("IdentityN", input=Reals("_")),
    op("CheckNumerics", tensor=Real("*s"), message=const("not finite")),
    op("CheckNumericsV2", tensor=Real("*s"), message=const("not finite")),
    op("EnsureShape", input=Real("*s"), shape=PartlyKnown("*s")),
    op("PlaceholderWithDefault", input=Real("*s"), shape=PartlyKnown("*s")),
    op("Cast", x=Real("*s"), DstT=OneOf(("float64", "float32")), Truncate=FLAG),
    op("Cast", x=Real("*s", dtype="float32"), DstT=const("float64"), Truncate=FLAG),
    # Another shape.
    op("Reshape", tensor=Real("*s *t"), shape=EitherInt(Reshaped("*s *t"))),
    op("ExpandDims", input=Real("*l *r"), axis=EitherInt(AXIS_ARRAY)),
    op("Squeeze", input=Real("*l 1 *r"), axis=const([])),
    op("Squeeze", input=Real("*l 1 *r"), axis=Drawn(_either_axis)),
    op("Squeeze", input=Real("1 *l 1 *r"), axis=Drawn(_both_axes)),
    # Another order.
    op("Transpose", x=Real("*s *t"), perm=EitherInt(EveryAxis("*s *t"))),
    op("ConjugateTranspose", x=Real("*s *t"), perm=EitherInt(EveryAxis("*s *t"))),
    op("Reverse", tensor=Real("*s *t"), dims=EachAxis("*s *t", (False, True), "bool")),
    op("ReverseV2", tensor=Real("*s *t"), axis=EitherInt(SomeAxes("*s *t"))),
    op(
        "ReverseSequence",
        input=Real("b *m t"),
        seq_lengths=EitherInt(Drawn(_lengths_of_sequences)),
        seq_dim=FromSizes(lambda dims: 1 + len(dims.runs["m"])),
        batch_dim=const(0),
    ),
    op(
        "ReverseSequence",
        input=Real("*l t b _"),
        seq_lengths=EitherInt(Drawn(_lengths_of_sequences)),
        seq_dim=FromSizes(lambda dims: len(dims.runs["l"])),
        batch_dim=FromSizes(lambda dims: len(dims.runs["l"]) + 1),
    ),
    op(
        "Roll",
        input=Real("*l n *r"),
        shift=EitherInt(Integers("", -5, 5)),
        axis=EitherInt(AXIS_ARRAY),
    ),
    op(
        "Roll",
        input=Real("*s n"),
        shift=EitherInt(Integers("k", -3, 3)),
        axis=EitherInt(RepeatableAxes("k", of="*s n")),
    ),
    # Repeated.
    op("BroadcastTo", shape=EitherInt(NewShape("*s")), input=Real("*#s")),
    op("Fill", dims=EitherInt(NewShape("*s")), value=Real("")),
    op("Tile", input=Real("*s *t"), multiples=EitherInt(EachAxis("*s *t", (1, 2, 3, 0)))),
    op(
        "OneHot",
        indices=Integers("*l *r", -1, 3),
        depth=DEPTH,
        on_value=Real(""),
        off_value=Real(""),
        axis=AxisAfter("l"),
    ),
    op(
        "OneHot",
        indices=Integers("*s", -1, 3, "int64"),
        depth=DEPTH,
        on_value=Real(""),
        off_value=Real(""),
        axis=const(-1),
    ),
    # Together and apart.
    op("Pack", values=Reals("*l *r"), axis=AXIS),
    op("Unpack", value=Real("*l n *r"), num=bound("n"), axis=AXIS),
    op("ConcatV2", values=Reals("*l _ *r", least=2), axis=EitherInt(AXIS_ARRAY)),
    op("Concat", values=Reals("*l _ *r", least=2), concat_dim=AXIS_ARRAY),
    op("Split", value=Real("*l n *r"), axis=AXIS_ARRAY, num_split=divisor_of("n")),
    op(
        "SplitV",
        value=Real("*l n *r"),
        size_splits=EitherInt(Parts("n")),
        axis=AXIS_ARRAY,
        num_split=bound("parts"),
    ),
    # A part.
    op("Slice", input=Real("*s *t"), begin=Begins("*s *t"), size=Lengths("*s *t", rest=True)),
    op(
        "Slice",
        input=Real("*s *t"),
        begin=Begins("*s *t", "int64"),
        size=Lengths("*s *t", "int64", rest=True),
    ),
    op("StridedSlice", input=Real("*s *t"), **BRACKETS),
    op("StridedSlice", input=Real("*s *t"), **LONG_BRACKETS),
    op("StridedSliceGrad", shape=NewShape("*s *t"), **BRACKETS, dy=Real("*sliced")),
    op("StridedSliceGrad", shape=NewShape("*s *t", "int64"), **LONG_BRACKETS, dy=Real("*sliced")),
    op("TensorStridedSliceUpdate", input=Real("*s *t"), **BRACKETS, value=Real("*#sliced")),
    op("TensorStridedSliceUpdate", input=Real("*s *t"), **LONG_BRACKETS, value=Real("*#sliced")),
    op(
        "TopKV2",
        input=Real("*b n", DISTINCT),
        k=EitherInt(Drawn(_numbers_kept)),
        sorted=FLAG,
        index_type=OneOf(("int32", "int64")),
        outputs=(0,),
    ),
    op(
        "ApproxTopK",
        k=Below("n", least=1, inclusive=True),
        input=Real("*b n", DISTINCT, "float32"),
        aggregate_to_topk=FLAG,
        outputs=(0,),
    ),
    op("NthElement", n=Below("n", array=True), input=Real("*b n", DISTINCT), reverse=FLAG),
    # Padded.
    op("Pad", input=Real("*s *t"), paddings=EitherInt(Paddings("*s *t"))),
    op(
        "PadV2",
        input=Real("*s *t"),
        paddings=EitherInt(Paddings("*s *t")),
        constant_values=Real(""),
    ),
    op(
        "MirrorPad",
        input=Real("*s *t"),
        paddings=EitherInt(Paddings("*s *t", mirror=0)),
        mode=const("SYMMETRIC"),
    ),
    op(
        "MirrorPad",
        input=Real("*s *t"),
        paddings=EitherInt(Paddings("*s *t", mirror=1)),
        mode=const("REFLECT"),
        requires=_no_axis_is_empty,
    ),
    op(
        "MirrorPadGrad",
        paddings=EitherInt(Paddings("*s", mirror=0)),
        input=Real("*padded"),
        mode=const("SYMMETRIC"),
        requires=_no_axis_is_empty,
    ),
    op(
        "MirrorPadGrad",
        paddings=EitherInt(Paddings("*s", mirror=1)),
        input=Real("*padded"),
        mode=const("REFLECT"),
        requires=_no_axis_is_empty,
    ),
    # Blocks.
    op(
        "SpaceToBatchND",
        input=Real("n *s *r"),
        block_shape=EitherInt(Blocks("*s")),
        paddings=EitherInt(BlockPaddings("*s")),
    ),
    op(
        "BatchToSpaceND",
        block_shape=EitherInt(Blocks("*s", batch="n")),
        crops=EitherInt(BlockCrops("*s")),
        input=Real("n *s *r"),
    ),
    op(
        "SpaceToBatch",
        input=Real("n h w c"),
        block_size=Bind("b", OneOf((2, 3))),
        paddings=EitherInt(BlockPaddings("h w", blocks="b b")),
    ),
    op(
        "BatchToSpace",
        block_size=Factor("b", of="n", power=2),
        crops=EitherInt(BlockCrops("h w", blocks="b b")),
        input=Real("n h w c"),
    ),
    op("SpaceToDepth", block_size=Factor("b", of="h w"), input=Real("n h w c")),
    op("DepthToSpace", block_size=Factor("b", of="c", power=2), input=Real("n h w c")),
    op(
        "ExtractImagePatches",
        images=Real("n h w c"),
        ksizes=Bind("window", Window(1, 3)),
        strides=Window(1, 3),
        rates=Bind("rates", Window(1, 2)),
        padding=_padding("n h w c"),
    ),
    op(
        "ExtractVolumePatches",
        input=Real("n d h w c"),
        ksizes=Bind("window", WINDOW_3D),
        strides=WINDOW_3D,
        padding=_padding("n d h w c"),
    ),
    # Diagonals.
    op("Diag", diagonal=Real("n *s")),
    op("DiagPart", input=Real("n n")),
    op("DiagPart", input=Real("n m n m")),
    op("MatrixDiag", diagonal=Real("*b n")),
    op("MatrixDiagPart", input=Real("*b r c")),
    op(
        "MatrixSetDiag",
        input=WithSize(Real("*b r c"), "d", _shorter_side),
        diagonal=Real("*b d"),
    ),
    op("MatrixDiagPartV2", input=Real("*b r c"), k=BANDS, padding_value=Real("")),
    op("MatrixDiagPartV3", input=Real("*b r c"), k=BANDS, padding_value=Real(""), align=ALIGN),
    op("MatrixSetDiagV2", input=Real("*b r c"), k=BANDS, diagonal=Real("*b *diagonals")),
    op(
        "MatrixSetDiagV3",
        input=Real("*b r c"),
        k=BANDS,
        diagonal=Real("*b *diagonals"),
        align=ALIGN,
    ),
    op("MatrixDiagV2", **DIAGONALS),
    op("MatrixDiagV2", **DIAGONALS_OF_SMALLEST),
    op("MatrixDiagV3", **DIAGONALS, align=ALIGN),
    op("MatrixDiagV3", **DIAGONALS_OF_SMALLEST, align=ALIGN),
    op(
        "MatrixBandPart",
        input=Real("*b r c"),
        num_lower=up_to("r", least=-1),
        num_upper=up_to("c", least=-1),
    ),
    op(
        "MatrixBandPart",
        input=Real("*b r c"),
        num_lower=up_to("r", least=-1, dtype="int64"),
        num_upper=up_to("c", least=-1, dtype="int64"),
    ),
    # One or the other.
    op("Select", x=Real("*s"), y=Real("*s"), condition=Mask("*s")),
    op("Select", x=Real("n *s"), y=Real("n *s"), condition=Mask("n")),
    op("Select", x=Real("*s"), y=Real("*s"), condition=Mask("")),
    op("SelectV2", condition=Mask("*#s"), t=Real("*#s"), e=Real("*#s")),
)
