"""Matrix ops, batched over leading axes where the op allows it."""

from gradfuzz.strategies.arguments import FALSE, FLAG, TRUE, Constant, OneOf, Real, const
from gradfuzz.strategies.domains import (
    FULL_RANK,
    INVERTIBLE,
    LOWER_BANDS,
    NONZERO,
    POSITIVE,
    SEPARATED,
    SPD,
    SYMMETRIC,
    TRIDIAGONAL,
    UPPER_BANDS,
)
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.equation_arguments import Equation, Operands
from gradfuzz.strategies.window_arguments import Sides, UpTo

EQUATIONS = (
    "ij,jk->ik",  # product
    "ij->ji",  # transpose
    "ijk->kij",
    "ij->",  # sums
    "ij->j",
    "...i->...",
    "ii->i",  # diagonals
    "ii->",
    "...ii->...i",
    "i->ii",
    "iij,j->i",
    "i,i->",  # inner, outer and elementwise products
    "i,j->ij",
    "ij,ij->ij",
    "ii,i->i",
    "ijk,k->ij",  # contractions, batched and broadcast
    "bij,bjk->bik",
    "bij,bkj->bik",
    "...ij,...jk->...ik",
    "...i,...i->...",
    "...ij,j->...i",
    "i...,i...->...",
)


OPS: tuple[Entry, ...] = (
    # Products, of constants too: the gradient functions take other ways where one side has none.
    op("MatMul", a=Real("m k"), b=Real("k n")),
    op("MatMul", a=Real("k m"), b=Real("k n"), transpose_a=TRUE),
    op("MatMul", a=Real("m k"), b=Real("n k"), transpose_b=TRUE),
    op("MatMul", a=Real("k m"), b=Real("n k"), transpose_a=TRUE, transpose_b=TRUE),
    *(
        op("MatMul", a=left(a), b=right(b), transpose_a=turned_a, transpose_b=turned_b)
        for left, right in ((Real, Constant), (Constant, Real))
        for a, turned_a in (("m k", FALSE), ("k m", TRUE))
        for b, turned_b in (("k n", FALSE), ("n k", TRUE))
    ),
    op("BatchMatMul", x=Real("*b m k"), y=Real("*b k n")),
    op("BatchMatMul", x=Real("*b k m"), y=Real("*b k n"), adj_x=TRUE),
    op("BatchMatMul", x=Real("*b m k"), y=Real("*b n k"), adj_y=TRUE),
    op("BatchMatMul", x=Real("*b k m"), y=Real("*b n k"), adj_x=TRUE, adj_y=TRUE),
    op("BatchMatMulV2", x=Real("*#b m k"), y=Real("*#b k n")),
    op("BatchMatMulV2", x=Real("*#b k m"), y=Real("*#b k n"), adj_x=TRUE),
    op("BatchMatMulV2", x=Real("*#b m k"), y=Real("*#b n k"), adj_y=TRUE),
    op("BatchMatMulV2", x=Real("*#b k m"), y=Real("*#b n k"), adj_x=TRUE, adj_y=TRUE),
    op("BatchMatMulV3", x=Real("*#b m k"), y=Real("*#b k n"), Tout=const("float64")),
    op(
        "BatchMatMulV3",
        x=Real("*#b k m"),
        y=Real("*#b n k"),
        Tout=const("float64"),
        adj_x=TRUE,
        adj_y=TRUE,
    ),
    *(
        op(
            "SparseMatMul",
            a=Real(a, dtype="float32"),
            b=Real(b, dtype="float32"),
            transpose_a=turned_a,
            transpose_b=turned_b,
            a_is_sparse=FLAG,
            b_is_sparse=FLAG,
        )
        for a, turned_a in (("m k", FALSE), ("k m", TRUE))
        for b, turned_b in (("k n", FALSE), ("n k", TRUE))
    ),
    op("Cross", a=Real("*s 3"), b=Real("*s 3")),
    op(
        "TridiagonalMatMul",
        superdiag=Real("*b 1 n"),
        maindiag=Real("*b 1 n"),
        subdiag=Real("*b 1 n"),
        rhs=Real("*b n k"),
    ),
    op("Einsum", equation=OneOf(EQUATIONS), inputs=Operands()),
    op("Einsum", equation=Equation(), inputs=Operands()),
    # Inverses and solvers.
    op("MatrixInverse", input=Real("*b n n", INVERTIBLE, strict=True), adjoint=FLAG),
    op(
        "MatrixSolve",
        matrix=Real("*b n n", INVERTIBLE, strict=True),
        rhs=Real("*b n k"),
        adjoint=FLAG,
    ),
    op(
        "MatrixTriangularSolve",
        matrix=Real("*#b n n", INVERTIBLE, strict=True),
        rhs=Real("*#b n k"),
        lower=FLAG,
        adjoint=FLAG,
    ),
    op(
        "BandedTriangularSolve",
        rhs=Sides(1, 4, Real("*#b n k")),
        matrix=UpTo("bands", "n", Real("*#b bands n", LOWER_BANDS, strict=True)),
        lower=TRUE,
        adjoint=FLAG,
    ),
    op(
        "BandedTriangularSolve",
        rhs=Sides(1, 4, Real("*#b n k")),
        matrix=UpTo("bands", "n", Real("*#b bands n", UPPER_BANDS, strict=True)),
        lower=FALSE,
        adjoint=FLAG,
    ),
    op(
        "TridiagonalSolve",
        diagonals=Real("*b 3 n", TRIDIAGONAL, strict=True),
        rhs=Real("*b n k"),
        partial_pivoting=FLAG,
    ),
    op(
        "MatrixSolveLs",
        matrix=Real("*b m n", FULL_RANK, strict=True),
        rhs=Real("*b m k"),
        l2_regularizer=Real("", POSITIVE, strict=True),
        fast=TRUE,
    ),
    op("tf.linalg.pinv", a=Real("*b m n", SEPARATED, strict=True)),
    # Determinants and traces.
    op("MatrixDeterminant", input=Real("*b n n", INVERTIBLE)),
    op("LogMatrixDeterminant", input=Real("*b n n", INVERTIBLE)),
    op("tf.linalg.logdet", matrix=Real("*b n n", SPD)),
    op("tf.linalg.trace", x=Real("*b m n")),
    # Decompositions, differentiated only in what is unique: spectra, factors whose signs the
    # algorithm fixes, and products of vectors (strategies/recipes/decompositions.py).
    op("Cholesky", input=Real("*b n n", SPD)),
    op("SelfAdjointEigV2", input=Real("*b n n", SYMMETRIC), compute_v=FLAG, outputs=(0,)),
    op(
        "Svd",
        input=Real("*b m n", SEPARATED),
        compute_uv=FLAG,
        full_matrices=FLAG,
        outputs=(0,),
    ),
    op("recipe.SelfAdjointEigV2", input=Real("*b n n", SYMMETRIC, strict=True)),
    op("recipe.Svd", input=Real("*b m n", SEPARATED, strict=True)),
    *(
        op("recipe.full.Svd", input=Real(pattern, SEPARATED, strict=True))
        for pattern in ("*b n n", "*b 2 3", "*b 3 2")
    ),
    op("Qr", input=Real("*b m n", FULL_RANK, strict=True)),
    op("Qr", input=Real("*b n n", FULL_RANK, strict=True), full_matrices=TRUE),
    # Functions and norms of a matrix.
    op("MatrixSquareRoot", input=Real("*b n n", INVERTIBLE)),
    op("tf.linalg.expm", input=Real("*b n n")),
    op("tf.norm", tensor=Real("*s n", NONZERO), ord=OneOf(("euclidean", 1, 3)), axis=const(-1)),
)
