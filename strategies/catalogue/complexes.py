"""Ops that read or return complex numbers: the complex forms of other families, and transforms."""

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import FLAG, Complex, Drawn, Real, const
from gradfuzz.strategies.catalogue import (
    elementwise,
    gathers,
    linalg,
    moves,
    reductions,
    segments,
    sparse,
)
from gradfuzz.strategies.complex_domains import (
    APART,
    DOMINANT,
    FULL,
    HERMITIAN,
    HERMITIAN_POSITIVE,
    OFF_NEGATIVE,
    RIGHT_OF_ONE,
    WITHIN_ONE,
)
from gradfuzz.strategies.domains import NONZERO, SEPARATED
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.in_complex import in_complex
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.window_arguments import Filled

DOUBLE = const("float64")
COMPLEX = const("complex128")


def _lengths(*axes: str) -> Drawn:
    """Describe the lengths of a transform, an int32 vector: as long as the axes or shorter."""
    return Drawn(lambda dims: _below([dims.size(axis) for axis in axes]))


def _inverse_lengths(*axes: str) -> Drawn:
    """Describe the lengths of an inverse transform: the last of its axes holds half the numbers."""

    def lengths(dims: Dims) -> st.SearchStrategy[Array]:
        *others, last = [dims.size(axis) for axis in axes]
        return _below([*others, 2 * last - 1])

    return Drawn(lengths)


def _below(most: list[int]) -> st.SearchStrategy[Array]:
    """Draw an int32 vector of numbers up to `most`, often those.  Shrinks towards `most`."""
    each = [st.one_of(st.just(side), st.integers(1, side)) for side in most]
    return st.tuples(*each).map(lambda sides: np.array(sides, np.int32))


OPS: tuple[Entry, ...] = (
    # The complex forms of what moves, adds and multiplies.
    *in_complex(
        elementwise.OPS,
        "Neg Exp Expm1 Sin Cos Tan Sinh Cosh Tanh Square Sigmoid Reciprocal Inv Sign Add AddV2 Sub"
        " Mul MulNoNan SquaredDifference Div RealDiv DivNoNan Xdivy AddN InvGrad ReciprocalGrad"
        " SqrtGrad RsqrtGrad TanhGrad SigmoidGrad",
    ),
    *in_complex(reductions.OPS, "Sum Mean Prod EuclideanNorm Cumsum Cumprod"),
    *in_complex(
        moves.OPS,
        "BroadcastTo Concat ConcatV2 DepthToSpace Diag DiagPart"
        " EnsureShape ExpandDims ExtractImagePatches Fill Identity IdentityN MatrixBandPart"
        " MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3"
        " MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MirrorPad MirrorPadGrad Pack Pad PadV2"
        " Reshape Reverse ReverseSequence ReverseV2 Roll Select SelectV2 Slice"
        " SpaceToDepth Split SplitV Squeeze StridedSlice StridedSliceGrad"
        " TensorStridedSliceUpdate Tile Transpose Unpack",
    ),
    *in_complex(
        gathers.OPS,
        "DynamicPartition DynamicStitch ParallelDynamicStitch Gather GatherNd GatherV2 ScatterNd"
        " ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterSub TensorScatterUpdate",
    ),
    *in_complex(
        segments.OPS, "SegmentMean SegmentProd SegmentSum UnsortedSegmentProd UnsortedSegmentSum"
    ),
    *in_complex(
        sparse.OPS,
        "RaggedGather RaggedTensorToSparse RaggedTensorToTensor RaggedFillEmptyRows SparseAdd"
        " SparseFillEmptyRows SparseReduceSum SparseReorder SparseSlice SparseTensorDenseAdd"
        " SparseTensorDenseMatMul SparseToDense",
    ),
    *in_complex(
        linalg.OPS, "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 TridiagonalMatMul Einsum"
    ),
    op("ConjugateTranspose", x=Complex("a b"), perm=const(np.array([1, 0], np.int32))),
    op("Conj", input=Complex("*s")),
    # To and from parts.
    op("Real", input=Complex("*s"), Tout=DOUBLE),
    op("Imag", input=Complex("*s"), Tout=DOUBLE),
    op("Complex", real=Real("*#s"), imag=Real("*#s"), Tout=COMPLEX),
    op("ComplexAbs", x=Complex("*s", NONZERO), Tout=DOUBLE),
    op("Angle", input=Complex("*s", OFF_NEGATIVE), Tout=DOUBLE),
    op("Cast", x=Complex("*s"), DstT=DOUBLE),
    op("Cast", x=Real("*s"), DstT=COMPLEX),
    # Off their branch cuts.
    op("Log", x=Complex("*s", OFF_NEGATIVE)),
    op("Log1p", x=Complex("*s", OFF_NEGATIVE)),
    op("Sqrt", x=Complex("*s", OFF_NEGATIVE)),
    op("Rsqrt", x=Complex("*s", OFF_NEGATIVE)),
    op("Asin", x=Complex("*s", WITHIN_ONE)),
    op("Acos", x=Complex("*s", WITHIN_ONE)),
    op("Atan", x=Complex("*s", WITHIN_ONE)),
    op("Asinh", x=Complex("*s", WITHIN_ONE)),
    op("Atanh", x=Complex("*s", WITHIN_ONE)),
    op("Acosh", x=Complex("*s", RIGHT_OF_ONE)),
    op("Pow", x=Complex("*#s", OFF_NEGATIVE), y=Complex("*#s")),
    op("Xlogy", x=Complex("*#s"), y=Complex("*#s", OFF_NEGATIVE)),
    op("Xlog1py", x=Complex("*#s"), y=Complex("*#s", OFF_NEGATIVE)),
    # Transforms.  (FFTND and its kin have neither a kernel for CPUs nor a gradient.)
    *(op(name, input=Filled("n", Complex("*b n"))) for name in ("FFT", "IFFT")),
    *(op(name, input=Filled("m n", Complex("*b m n"))) for name in ("FFT2D", "IFFT2D")),
    *(op(name, input=Filled("l m n", Complex("*b l m n"))) for name in ("FFT3D", "IFFT3D")),
    op("RFFT", input=Filled("n", Real("*b n")), fft_length=_lengths("n"), Tcomplex=COMPLEX),
    op(
        "RFFT2D",
        input=Filled("m n", Real("*b m n")),
        fft_length=_lengths("m", "n"),
        Tcomplex=COMPLEX,
    ),
    op(
        "RFFT3D",
        input=Filled("l m n", Real("*b l m n")),
        fft_length=_lengths("l", "m", "n"),
        Tcomplex=COMPLEX,
    ),
    op("IRFFT", input=Filled("n", Complex("*b n")), fft_length=_inverse_lengths("n"), Treal=DOUBLE),
    op(
        "IRFFT2D",
        input=Filled("m n", Complex("*b m n")),
        fft_length=_inverse_lengths("m", "n"),
        Treal=DOUBLE,
    ),
    op(
        "IRFFT3D",
        input=Filled("l m n", Complex("*b l m n")),
        fft_length=_inverse_lengths("l", "m", "n"),
        Treal=DOUBLE,
    ),
    # Solvers, determinants and decompositions.
    op("MatrixInverse", input=Complex("*b n n", DOMINANT, strict=True), adjoint=FLAG),
    op(
        "MatrixSolve",
        matrix=Complex("*b n n", DOMINANT, strict=True),
        rhs=Complex("*b n k"),
        adjoint=FLAG,
    ),
    op(
        "MatrixTriangularSolve",
        matrix=Complex("*#b n n", DOMINANT, strict=True),
        rhs=Complex("*#b n k"),
        lower=FLAG,
        adjoint=FLAG,
    ),
    op("MatrixDeterminant", input=Complex("*b n n", DOMINANT)),
    op("LogMatrixDeterminant", input=Complex("*b n n", DOMINANT)),
    op("Cholesky", input=Complex("*b n n", HERMITIAN_POSITIVE)),
    op("SelfAdjointEigV2", input=Complex("*b n n", HERMITIAN), compute_v=FLAG, outputs=(0,)),
    op("Svd", input=Complex("*b m n", APART), compute_uv=FLAG, outputs=(0,)),
    op("Qr", input=Complex("*b m n", FULL, strict=True)),
    op("Eig", input=Complex("*b n n", APART), compute_v=FLAG, Tout=COMPLEX, outputs=(0,)),
    op("Eig", input=Real("*b n n", SEPARATED), compute_v=FLAG, Tout=COMPLEX, outputs=(0,)),
    op("recipe.SelfAdjointEigV2", input=Complex("*b n n", HERMITIAN, strict=True)),
    op("recipe.Svd", input=Complex("*b m n", APART, strict=True)),
    op("recipe.Eig", input=Complex("*b n n", APART, strict=True), Tout=COMPLEX),
    op("recipe.Eig", input=Real("*b n n", SEPARATED, strict=True), Tout=COMPLEX),
    op("MatrixSquareRoot", input=Complex("*b n n", DOMINANT)),
    op("MatrixLogarithm", input=Complex("*b n n", DOMINANT, strict=True)),
    op("tf.linalg.expm", input=Complex("*b n n")),
)
