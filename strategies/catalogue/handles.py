"""Ops with a handle between them: variables, lists, sparse matrices, variants, control flow.

All but those that read a variable are recipes (`strategies/recipes`), from tensors to tensors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import (
    FLAG,
    TRUE,
    Drawn,
    FromSizes,
    Integers,
    OneOf,
    Real,
    Reals,
    Variable,
    const,
)
from gradfuzz.strategies.domains import DISTINCT, POSITIVE
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.in_complex import in_complex
from gradfuzz.strategies.index_arguments import (
    Lengths,
    Points,
    Positions,
    RowSplits,
    StitchData,
    StitchIndices,
)
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.size_arguments import EitherInt, NewShape
from gradfuzz.strategies.sparse_arguments import SparseIndices, sparse
from gradfuzz.strategies.window_arguments import (
    Filled,
    Padding,
    Sides,
    Slid,
    Steps,
    Windowed,
    listed,
)

DOUBLE = const("float64")
PLACE = Positions("", below="n")
PLACES = Positions("k", below="n")

# What the body of a branch or a loop is made of, see strategies/recipes/control_flow.py.
STEPS = st.sampled_from(("neg", "sin", "tanh", "square", "times y", "plus y", "y"))
BODY = Drawn(lambda dims: st.lists(STEPS, max_size=3))
BODIES = Drawn(lambda dims: st.lists(st.lists(STEPS, max_size=3), min_size=1, max_size=3))
BRANCH: dict[str, Any] = {"x": Real("*s"), "y": Real("*s")}
LOOP: dict[str, Any] = {"times": Integers("", 0, 3), **BRANCH, "body": BODY}
PREDICATE = OneOf(tuple(np.array([False, True])))
MOST = OneOf((None, 4, 2))

CSR = sparse("m n")
A_NAMES = ("a_indices", "a_values", "a_shape", "a")
B_NAMES = ("b_indices", "b_values", "b_shape", "b")
B_K_N, B_N_K = sparse("k n", *B_NAMES), sparse("n k", *B_NAMES)


def _filled(pattern: str) -> dict[str, Any]:
    """Describe a sparse matrix that is not empty: a product of an empty one kills the process."""
    described = sparse(pattern, *A_NAMES)
    return described | {"a_indices": Filled(pattern, described["a_indices"])}


def _rows(count: Callable[[Dims], int]) -> Drawn:
    """Describe places among so many rows, some of them twice: none where there are no rows."""

    def places(dims: Dims) -> st.SearchStrategy[Array]:
        each = st.integers(0, max(0, count(dims) - 1))
        most = 3 if count(dims) else 0
        return st.lists(each, max_size=most).map(lambda rows: np.array(rows, np.int32))

    return Drawn(places)


A_M_K, A_K_M = _filled("m k"), _filled("k m")
TURNED_A: tuple[dict[str, Any], ...] = (
    A_M_K,
    A_K_M | {"transpose_a": TRUE},
    A_K_M | {"adjoint_a": TRUE},
)
TURNED_B: tuple[tuple[bool, dict[str, Any]], ...] = (
    (False, {}),
    (True, {"transpose_b": TRUE}),
    (True, {"adjoint_b": TRUE}),
)
PRODUCTS = (
    op("recipe.SparseMatrixMatMul", **_filled("b m k"), b=Real("b k n")),
    *(
        op(
            "recipe.SparseMatrixMatMul",
            **a,
            b=Real("n k" if turned else "k n"),
            **b,
            transpose_output=FLAG,
            conjugate_output=FLAG,
        )
        for a in TURNED_A
        for turned, b in TURNED_B
    ),
    *(
        op(name, **a, **(B_N_K if turned else B_K_N), **b)
        for name in ("recipe.SparseMatrixSparseMatMul", "recipe.traced.SparseMatrixSparseMatMul")
        for a in TURNED_A
        for turned, b in TURNED_B
    ),
)
MATRICES = (
    op("recipe.CSRSparseMatrixToDense", **CSR),
    op("recipe.CSRSparseMatrixToSparseTensor", **CSR),
    op("recipe.SparseMatrixTranspose", **CSR, conjugate=FLAG),
    op("recipe.DenseToCSRSparseMatrix", indices=SparseIndices("m n", "k"), dense=Real("m n")),
    *PRODUCTS,
)

POOL: dict[str, Any] = {
    "strides": Steps("1 sh sw 1"),
    "padding": Padding(),
    "input": Filled("n h w c", Real("n h w c", DISTINCT)),
    "ksize": Windowed(Steps("1 kh kw 1"), "h w"),
}
POOL_3D: dict[str, Any] = {
    "strides": Steps("1 sd sh sw 1"),
    "padding": Padding(),
    "input": Sides(1, 3, Real("n d h w c", DISTINCT, "float32")),
    "ksize": Windowed(Steps("1 kd kh kw 1"), "d h w"),
}
SLICES: dict[str, Any] = {
    "shape": NewShape("n *r", "int64"),
    "indices": Positions("k", below="n", within="n", dtype="int64"),
    "values": Real("k *r"),
}

OPS: tuple[Entry, ...] = (
    # Variables.
    op("ReadVariableOp", resource=Variable("*s"), dtype=DOUBLE),
    op(
        "ResourceGather",
        resource=Variable("n *r"),
        indices=EitherInt(Positions("*t", below="n")),
        dtype=DOUBLE,
    ),
    op(
        "ResourceGather",
        resource=Variable("b n *r"),
        indices=Positions("b *t", below="n"),
        batch_dims=const(1),
        dtype=DOUBLE,
    ),
    op(
        "ResourceGatherNd",
        resource=Variable("n *s *r"),
        dtype=DOUBLE,
        indices=EitherInt(Points("k *t", of="n *s", within="n *s *r")),
    ),
    # Slices of a tensor.
    op("recipe.global_norm", **SLICES),
    op("recipe.clip_by_global_norm", **SLICES, clip_norm=Real("", POSITIVE, strict=True)),
    # Ops whose output is gathered from, so that their gradient functions are handed slices.
    *(
        op(
            f"recipe.gathered.{name}",
            values=listed(("m *r", "n *r")),
            axis=const(np.array(0, np.int32)),
            indices=_rows(lambda dims: dims.size("m") + dims.size("n")),
        )
        for name in ("Concat", "ConcatV2")
    ),
    op(
        "recipe.gathered.ConcatV2",
        values=listed(("n *r a", "n *r b")),
        axis=OneOf((np.array(-1, np.int32), np.array(-1, np.int64))),
        indices=_rows(lambda dims: dims.size("n")),
    ),
    op(
        "recipe.gathered.Tile",
        input=Real("n *r"),
        multiples=FromSizes(lambda dims: np.full(len(dims.shape("n *r")), 2, np.int32)),
        indices=_rows(lambda dims: 2 * dims.size("n")),
    ),
    op(
        "recipe.gathered.DynamicStitch",
        places=StitchIndices(),
        data=StitchData("*r"),
        indices=const(np.zeros(2, np.int32)),
    ),
    op(
        "recipe.gathered.Reshape",
        tensor=Real("m n *r"),
        shape=FromSizes(
            lambda dims: np.array([dims.size("m") * dims.size("n"), *dims.runs["r"]], np.int32)
        ),
        indices=_rows(lambda dims: dims.size("m") * dims.size("n")),
    ),
    op(
        "recipe.gathered.StatelessWhile",
        times=Integers("", 0, 3),
        x=Real("n *r"),
        indices=_rows(lambda dims: dims.size("n")),
    ),
    # Tensor lists.
    op("recipe.TensorListStack", tensor=Real("n *r")),
    op("recipe.TensorListGather", tensor=Real("n *r"), indices=PLACES),
    op("recipe.TensorListGetItem", tensor=Filled("n", Real("n *r")), index=PLACE),
    op("recipe.TensorListSetItem", tensor=Filled("n", Real("n *r")), index=PLACE, item=Real("*r")),
    op("recipe.TensorListPushBack", tensor=Real("n *r"), item=Real("*r")),
    op("recipe.TensorListPopBack", tensor=Filled("n", Real("n *r"))),
    op("recipe.TensorListResize", tensor=Real("n *r"), size=Integers("", 0, 5)),
    op("recipe.TensorListScatter", indices=Integers("k", 0, 4), tensor=Real("k *r")),
    op(
        "recipe.TensorListScatterV2",
        indices=Integers("k", 0, 4),
        tensor=Real("k *r"),
        num_elements=OneOf((-1, 5, 6)),
    ),
    op(
        "recipe.TensorListScatterIntoExistingList",
        tensor=Real("n *r"),
        indices=PLACES,
        updates=Real("k *r"),
    ),
    op("recipe.TensorListConcat", tensor=Real("n *r"), lengths=Lengths("n")),
    op("recipe.TensorListConcatV2", tensor=Real("n *r"), lengths=Lengths("n")),
    # Tensor arrays, as people use them.
    op("recipe.TensorArray_gather", tensor=Real("n *r"), indices=PLACES),
    op("recipe.TensorArray_read", tensor=Filled("n", Real("n *r")), index=PLACE),
    op("recipe.TensorArray_write", tensor=Filled("n", Real("n *r")), index=PLACE, item=Real("*r")),
    op("recipe.TensorArray_concat", tensor=Filled("n", Real("n m *r"))),
    # Sparse matrices.
    *MATRICES,
    *in_complex(MATRICES, " ".join(entry.op for entry in MATRICES)),
    # Variants, and a call back into Python.
    op(
        "recipe.RaggedTensorToVariant",
        values=Real("v *r"),
        row_splits=RowSplits("v", "rows"),
        batched=FLAG,
    ),
    op(
        "recipe.CompositeTensorVariantFromComponents",
        values=Real("v *r"),
        row_splits=RowSplits("v", "rows"),
    ),
    op("recipe.OptionalFromValue", values=Real("*s")),
    op("recipe.EagerPyFunc", x=Real("*s"), function=OneOf(("sin", "square", "softplus"))),
    # Identities with a side effect that is switched off.
    op("Print", input=Real("*s"), data=const([]), first_n=const(0)),
    op("DebugIdentityV2", input=Real("*s")),
    # Control flow.
    op("recipe.StatelessIf", pred=PREDICATE, **BRANCH, then=BODY, other=BODY),
    op("recipe.If", pred=PREDICATE, **BRANCH, then=BODY, other=BODY),
    op("recipe.StatelessCase", index=Integers("", 0, 3), **BRANCH, branches=BODIES),
    op("recipe.Case", index=Integers("", 0, 3), **BRANCH, branches=BODIES),
    op("recipe.StatelessWhile", **LOOP, most=MOST),
    op("recipe.While", **LOOP, most=MOST),
    # Calls of functions, whose gradients are functions as well.
    op("recipe.PartitionedCall", **BRANCH, body=BODY),
    op("recipe.StatefulPartitionedCall", **BRANCH, body=BODY),
    op("recipe.SymbolicGradient", **BRANCH, body=BODY),
    # Tensor arrays and control flow of TensorFlow 1.
    op("recipe.TensorArrayGatherV3", tensor=Filled("n", Real("n *r")), indices=PLACES),
    op("recipe.TensorArrayWriteV3", tensor=Filled("n", Real("n *r"))),
    op("recipe.TensorArraySplitV3", tensor=Real("n *r"), lengths=Lengths("n")),
    op("recipe.Enter", times=Integers("", 0, 3), **BRANCH),
    op("recipe.Switch", pred=PREDICATE, **BRANCH),
    op("recipe.nested.Enter", times=Integers("", 0, 3), **BRANCH),
    op("recipe.bare.Switch", pred=PREDICATE, x=Real("*s")),
    *(
        op(
            name,
            times=Integers("", 0, 3),
            x=Real("n *r"),
            indices=_rows(lambda dims: dims.size("n")),
        )
        for name in ("recipe.gathered.Enter", "recipe.gathered.Exit")
    ),
    # References of TensorFlow 1.
    op("recipe.RefIdentity", x=Real("*s")),
    op("recipe.RefSwitch", pred=PREDICATE, x=Real("*s")),
    op("recipe.RefEnter", times=Integers("", 0, 3), x=Real("*s")),
    op("recipe.DebugGradientIdentity", x=Real("*s")),
    op("recipe.DebugGradientRefIdentity", x=Real("*s")),
    # Ops of graphs of early versions.
    op(
        "recipe.BatchNormWithGlobalNormalization",  # whose kernel ends the process without channels
        t=Filled("c", Real("n h w c", dtype="float32")),
        m=Real("c", dtype="float32"),
        v=Real("c", POSITIVE, "float32"),
        beta=Real("c", dtype="float32"),
        gamma=Real("c", dtype="float32"),
        variance_epsilon=OneOf((0.001, 0.5)),
        scale_after_normalization=FLAG,
    ),
    op("recipe.QuantizeAndDequantize", input=Real("*s"), num_bits=OneOf((8, 4))),
    # Ops that a pass replaces, or XLA alone knows.
    op("recipe.AccumulateNV2", inputs=Reals("*s")),
    op("recipe.XlaSharding", input=Real("*s")),
    op("recipe.XlaSpmdFullToShardShape", input=Real("*s")),
    op("recipe.XlaSpmdShardToFullShape", input=Real("*s")),
    op(
        "recipe.XlaEinsum",
        equation=OneOf(("ab,bc->ac", "ab,bc->ca")),
        a=Real("a b", dtype="float32"),
        b=Real("b c", dtype="float32"),
    ),
    # Gradients of pools.
    op("recipe.MaxPoolGrad", **POOL, grad=Slid(Real("n oh ow c"), "h w")),
    op("recipe.MaxPoolGradV2", **POOL, grad=Slid(Real("n oh ow c"), "h w")),
    op("recipe.MaxPoolGradGrad", **POOL, grad=Real("n h w c")),
    op(
        "recipe.MaxPool3DGrad", **POOL_3D, grad=Slid(Real("n od oh ow c", dtype="float32"), "d h w")
    ),
    op("recipe.MaxPool3DGradGrad", **POOL_3D, grad=Real("n d h w c", dtype="float32")),
)
