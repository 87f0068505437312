"""Ops on sparse and ragged tensors: the stored elements are the primals."""

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import (
    FALSE,
    FLAG,
    TRUE,
    AxisAfter,
    Drawn,
    FromSizes,
    OneOf,
    Real,
    const,
)
from gradfuzz.strategies.domains import NONZERO
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.index_arguments import (
    DISTINCT_LESS_HALF,
    DISTINCT_LESS_QUARTER,
    Positions,
    RowSplits,
    SortedPositions,
)
from gradfuzz.strategies.move_arguments import Begins, Lengths
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.size_arguments import (
    Below,
    EitherInt,
    NewShape,
    NewSize,
    SomeAxes,
    axis_between,
)
from gradfuzz.strategies.sparse_arguments import (
    PART_SHAPES,
    PartValues,
    SparseIndices,
    SparseParts,
    SparsePositions,
    sparse,
)

# Sparse operands by the names that the ops have for their three arguments.
PLAIN = sparse("n *s")
INPUT = sparse("n *s", "input_indices", "input_values", "input_shape")
SP = sparse("n *s", "sp_indices", "sp_values", "sp_shape")
SP_MATRIX = sparse("n 3", "sp_indices", "sp_values", "sp_shape")
SP_MATRICES = sparse("*b r c", "sp_indices", "sp_values", "sp_shape")

A_NAMES = ("a_indices", "a_values", "a_shape", "a")
B_NAMES = ("b_indices", "b_values", "b_shape", "b")
A = sparse("n *s", *A_NAMES)
B = sparse("n *s", *B_NAMES)
A_UNTIED = sparse("n *s", *A_NAMES, domain=DISTINCT_LESS_HALF)
B_UNTIED = sparse("n *s", *B_NAMES, domain=DISTINCT_LESS_QUARTER)
MATRIX = sparse("m k", *A_NAMES)
TRANSPOSED_MATRIX = sparse("k m", *A_NAMES)


def _size_or_own(dims: Dims) -> st.SearchStrategy[Array]:
    """Draw the dense shape of ragged rows: each side left to the rows, or a size of its own."""
    own = st.one_of(st.just(-1), st.integers(0, 4))
    each = st.tuples(own, own, *(st.just(side) for side in dims.runs["r"]))
    return each.map(lambda sides: np.array(sides, np.int64))


OPS: tuple[Entry, ...] = (
    # Sparse with sparse.
    op("SparseAdd", **A, **B, thresh=OneOf((np.array(0.0), np.array(0.3))), outputs=(1,)),
    op("SparseSparseMaximum", **A_UNTIED, **B_UNTIED, outputs=(1,)),
    op("SparseSparseMinimum", **A_UNTIED, **B_UNTIED, outputs=(1,)),
    # Sparse with dense.
    op("SparseTensorDenseAdd", **A, b=Real("n *s")),
    op(
        "SparseTensorDenseAdd",
        a_indices=SparseIndices("n *s", "a", "int32"),
        a_values=Real("a"),
        a_shape=NewShape("n *s"),
        b=Real("n *s"),
    ),
    op("SparseTensorDenseMatMul", **MATRIX, b=Real("k n")),
    op("SparseTensorDenseMatMul", **MATRIX, b=Real("n k"), adjoint_b=TRUE),
    op("SparseTensorDenseMatMul", **TRANSPOSED_MATRIX, b=Real("k n"), adjoint_a=TRUE),
    op(
        "SparseTensorDenseMatMul",
        **TRANSPOSED_MATRIX,
        b=Real("n k"),
        adjoint_a=TRUE,
        adjoint_b=TRUE,
    ),
    op("SparseDenseCwiseAdd", **SP, dense=Real("n *s")),
    op("SparseDenseCwiseAdd", **SP, dense=Real("*#s")),
    op("SparseDenseCwiseAdd", **SP_MATRIX, dense=Real("n 1")),
    op("SparseDenseCwiseMul", **SP, dense=Real("n *s")),
    op("SparseDenseCwiseMul", **SP, dense=Real("*#s")),
    op("SparseDenseCwiseMul", **SP_MATRIX, dense=Real("n 1")),
    op("SparseDenseCwiseDiv", **SP, dense=Real("n *s", NONZERO, strict=True)),
    op("SparseDenseCwiseDiv", **SP, dense=Real("*#s", NONZERO, strict=True)),
    op("SparseDenseCwiseDiv", **SP_MATRIX, dense=Real("n 1", NONZERO, strict=True)),
    # One sparse tensor.
    op("SparseReduceSum", **INPUT, reduction_axes=SomeAxes("n *s"), keep_dims=FLAG),
    op("SparseSoftmax", **SP_MATRICES),
    op(
        "SparseSlice",
        **PLAIN,
        start=Begins("n *s", "int64"),
        size=Lengths("n *s", "int64"),
        outputs=(1,),
    ),
    op(
        "SparseReorder",
        input_indices=SparseIndices("n *s", "stored", ordered=False),
        input_values=Real("stored"),
        input_shape=NewShape("n *s", "int64"),
        outputs=(1,),
    ),
    op(
        "SparseFillEmptyRows",
        indices=SparseIndices("n *s", "stored"),
        values=Real("stored"),
        dense_shape=NewShape("n *s", "int64"),
        default_value=Real(""),
        outputs=(1,),
    ),
    # Apart and together.
    op(
        "SparseSplit",
        num_split=Below("m", least=1, inclusive=True),
        **sparse("*l m *r"),
        split_dim=axis_between("*l", "*r", "int64"),
    ),
    op(
        "SparseConcat",
        indices=SparseParts("*l _ *r"),
        values=PartValues(),
        shapes=PART_SHAPES,
        concat_dim=AxisAfter("l", before="r"),
        outputs=(1,),
    ),
    # To dense: places as a matrix, a vector or a scalar; values one each or one for all.
    op(
        "SparseToDense",
        sparse_indices=SparseIndices("n *s", "stored"),
        output_shape=NewShape("n *s", "int64"),
        sparse_values=Real("stored"),
        default_value=Real(""),
        validate_indices=FLAG,
    ),
    op(
        "SparseToDense",
        sparse_indices=SparseIndices("n *s", "stored", "int32", ordered=False),
        output_shape=NewShape("n *s"),
        sparse_values=Real("stored"),
        default_value=Real(""),
        validate_indices=FALSE,
    ),
    op(
        "SparseToDense",
        sparse_indices=SparseIndices("n *s", "stored"),
        output_shape=NewShape("n *s", "int64"),
        sparse_values=Real(""),
        default_value=Real(""),
        validate_indices=FLAG,
    ),
    op(
        "SparseToDense",
        sparse_indices=SparsePositions("n", "stored"),
        output_shape=NewShape("n"),
        sparse_values=Real("stored"),
        default_value=Real(""),
        validate_indices=FLAG,
    ),
    op(
        "SparseToDense",
        sparse_indices=Below("n", array=True),
        output_shape=NewShape("n"),
        sparse_values=Real(""),
        default_value=Real(""),
        validate_indices=FLAG,
    ),
    # Ragged rows.
    op(
        "RaggedGather",
        params_dense_values=Real("v *r"),
        params_nested_splits=RowSplits("v", rows="rows"),
        indices=EitherInt(Positions("*t", below="rows")),
        OUTPUT_RAGGED_RANK=FromSizes(lambda dims: len(dims.runs["t"])),
    ),
    op(
        "RaggedTensorToSparse",
        rt_dense_values=Real("v *r"),
        rt_nested_splits=RowSplits("v", rows="rows"),
    ),
    op(
        "RaggedTensorToTensor",
        values=Real("v *r"),
        default_value=Real("*#r"),
        shape=Drawn(_size_or_own),
        row_partition_tensors=RowSplits("v", rows="rows"),
        row_partition_types=const(["ROW_SPLITS"]),
    ),
    op(
        "RaggedFillEmptyRows",
        nrows=NewSize("rows", "int64"),
        value_rowids=SortedPositions("v", below="rows", dtype="int64"),
        values=Real("v"),
        default_value=Real(""),
        outputs=(1,),
    ),
)
