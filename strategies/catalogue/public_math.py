"""Functions of `tf.math` and `tf.linalg` that are built of several ops."""

import numpy as np

from gradfuzz.strategies.arguments import (
    FALSE,
    FLAG,
    TRUE,
    AxisAfter,
    Index,
    Integers,
    Mask,
    OneOf,
    Permutation,
    Real,
    Reals,
    SortedIds,
    const,
)
from gradfuzz.strategies.domains import (
    DISTINCT,
    INVERTIBLE,
    LOWER_BANDS,
    NONZERO,
    POSITIVE,
    SEPARATED,
    SYMMETRIC,
    TRIDIAGONAL,
    UNIT,
)
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.size_arguments import up_to
from gradfuzz.strategies.window_arguments import Filled, Sides, UpTo

AXIS = AxisAfter("l", before="r")
ANY_AXIS = Real("*l n *r")
ORDER = OneOf(("euclidean", 1, 2, np.inf))

OPS: tuple[Entry, ...] = (
    # Elementwise.
    op("tf.math.erfcinv", x=Real("*s", UNIT)),
    op("tf.math.log_sigmoid", x=Real("*s")),
    op("tf.math.divide_no_nan", x=Real("*#s"), y=Real("*#s", NONZERO)),
    op("tf.math.reciprocal_no_nan", x=Real("*s", NONZERO)),
    op("tf.math.scalar_mul", scalar=Real(""), x=Real("*s")),
    op("tf.math.polyval", coeffs=Reals("*s"), x=Real("*s")),
    op("tf.clip_by_norm", t=ANY_AXIS, clip_norm=Real("", POSITIVE), axes=AXIS),
    op("tf.clip_by_global_norm", t_list=Reals("*s"), clip_norm=Real("", POSITIVE)),
    op("tf.linalg.global_norm", t_list=Reals("*s")),
    op("tf.where", condition=Mask("*s"), x=Real("*s"), y=Real("*s")),
    op("tf.add_n", inputs=Reals("*s")),
    # Along an axis.
    op("tf.math.softmax", logits=ANY_AXIS, axis=AXIS),
    op("tf.math.log_softmax", logits=ANY_AXIS, axis=AXIS),
    op("tf.math.l2_normalize", x=ANY_AXIS, axis=AXIS),
    op("tf.math.lbeta", x=Real("*s n", POSITIVE)),
    op(
        "tf.math.top_k",
        input=Filled("n", Real("*s n", DISTINCT)),
        k=up_to("n", 1, "int32"),
        outputs=(0,),
    ),
    op("tf.sort", values=Real("*l n *r", DISTINCT), axis=AXIS),
    op("tf.reverse", tensor=ANY_AXIS, axis=const([0])),
    op("tf.roll", input=ANY_AXIS, shift=OneOf((1, -1, 2)), axis=AXIS),
    op("tf.repeat", input=ANY_AXIS, repeats=OneOf((2, 1, 3, 0)), axis=AXIS),
    op("tf.boolean_mask", tensor=Real("n *r"), mask=Mask("n")),
    op("tf.gather", params=ANY_AXIS, indices=Index("*t", below="n"), axis=AXIS),
    # Segments.
    op("tf.math.segment_mean", data=Real("n *r"), segment_ids=SortedIds("n")),
    *(
        op(name, data=Real("n *r"), segment_ids=Integers("n", -1, 2), num_segments=const(3))
        for name in ("tf.math.unsorted_segment_mean", "tf.math.unsorted_segment_sqrt_n")
    ),
    # Norms.
    op("tf.linalg.norm", tensor=Real("*l n *r", NONZERO), ord=ORDER, axis=AXIS, keepdims=FLAG),
    op("tf.linalg.normalize", tensor=Real("*l n *r", NONZERO), ord=ORDER, axis=AXIS),
    op("tf.linalg.norm", tensor=Real("*b m n", NONZERO), ord=const("fro"), axis=const([-2, -1])),
    op("tf.linalg.norm", tensor=Real("m n", SEPARATED), ord=const(2), axis=const([-2, -1])),
    # Products.
    op("tf.linalg.matvec", a=Real("*b m n"), b=Real("*b n")),
    op("tf.linalg.matvec", a=Real("*b n m"), b=Real("*b n"), transpose_a=TRUE),
    op("tf.linalg.tensordot", a=Real("*l n"), b=Real("n *r"), axes=const(1)),
    op("tf.linalg.tensordot", a=Real("*l"), b=Real("*r"), axes=const(0)),
    op("tf.linalg.tridiagonal_matmul", diagonals=Real("*b 3 n"), rhs=Real("*b n m")),
    op("tf.linalg.adjoint", matrix=Real("*b m n")),
    op("tf.linalg.matrix_transpose", a=Real("*b m n")),
    op("tf.transpose", a=Real("*s"), perm=Permutation("*s")),
    op("tf.linalg.tensor_diag_part", input=Real("n n")),
    # Of a matrix.
    op("tf.linalg.eigvalsh", tensor=Real("*b n n", SYMMETRIC)),
    op("tf.linalg.svd", tensor=Real("*b m n", SEPARATED), compute_uv=FALSE),
    # Systems of equations.
    op("tf.linalg.cholesky_solve", chol=Real("*b n n", INVERTIBLE), rhs=Real("*b n m")),
    op(
        "tf.linalg.triangular_solve",
        matrix=Real("*b n n", INVERTIBLE),
        rhs=Real("*b n m"),
        lower=FLAG,
        adjoint=FLAG,
    ),
    op(
        "tf.linalg.banded_triangular_solve",
        rhs=Sides(1, 4, Real("*b n m")),
        bands=UpTo("k", "n", Real("*b k n", LOWER_BANDS, strict=True)),
    ),
    op("tf.linalg.tridiagonal_solve", diagonals=Real("*b 3 n", TRIDIAGONAL), rhs=Real("*b n m")),
    op(
        "tf.linalg.lstsq",
        matrix=Real("*b m n", SEPARATED),
        rhs=Real("*b m k"),
        l2_regularizer=const(0.5),
    ),
)
