"""Sparse matrices in the CSR form: their stored values go in and come out."""

from functools import lru_cache
from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types

# Traced functions are kept, each for two shapes.
MOST_FUNCTIONS = 256


def _csr(indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
    return raw.SparseTensorToCSRSparseMatrix(indices=indices, values=values, dense_shape=shape)


def _dense(matrix: Tensor, like: Tensor) -> Tensor:
    return raw.CSRSparseMatrixToDense(sparse_input=matrix, type=like.dtype)


def to_dense(indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
    """Make a sparse matrix dense."""
    return _dense(_csr(indices, values, shape), values)


def to_sparse_tensor(indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
    """Return the stored values of a matrix."""
    _, found, _ = raw.CSRSparseMatrixToSparseTensor(
        sparse_matrix=_csr(indices, values, shape), type=values.dtype
    )
    return found


def from_dense(dense: Tensor, indices: Tensor) -> Tensor:
    """Keep some elements of a matrix, as a dense one."""
    return _dense(raw.DenseToCSRSparseMatrix(dense_input=dense, indices=indices), dense)


def transpose(indices: Tensor, values: Tensor, shape: Tensor, *, conjugate: bool) -> Tensor:
    """Transpose a matrix."""
    turned = raw.SparseMatrixTranspose(
        input=_csr(indices, values, shape), type=values.dtype, conjugate=conjugate
    )
    return _dense(turned, values)


def mat_mul(
    a_indices: Tensor,
    a_values: Tensor,
    a_shape: Tensor,
    b: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    transpose_output: bool = False,
    conjugate_output: bool = False,
) -> Tensor:
    """Multiply a sparse matrix by a dense one."""
    return raw.SparseMatrixMatMul(
        a=_csr(a_indices, a_values, a_shape),
        b=b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        transpose_output=transpose_output,
        conjugate_output=conjugate_output,
    )


def sparse_mat_mul(
    a_indices: Tensor,
    a_values: Tensor,
    a_shape: Tensor,
    b_indices: Tensor,
    b_values: Tensor,
    b_shape: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:
    """Multiply two sparse matrices."""
    product = raw.SparseMatrixSparseMatMul(
        a=_csr(a_indices, a_values, a_shape),
        b=_csr(b_indices, b_values, b_shape),
        type=a_values.dtype,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
    )
    return _dense(product, a_values)


FLAGS = ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b")


@lru_cache(MOST_FUNCTIONS)
def _traced(a_shape: tuple[int, ...], b_shape: tuple[int, ...], *turned: bool) -> Any:
    """Return the product as a traced function for matrices of these shapes."""

    def function(
        a_indices: Tensor, a_values: Tensor, b_indices: Tensor, b_values: Tensor
    ) -> Tensor:
        a, b = (a_indices, a_values, a_shape), (b_indices, b_values, b_shape)
        return sparse_mat_mul(*a, *b, **dict(zip(FLAGS, turned, strict=True)))

    return tf.function(function, autograph=False)


def traced_sparse_mat_mul(
    a_indices: Tensor,
    a_values: Tensor,
    a_shape: Tensor,
    b_indices: Tensor,
    b_values: Tensor,
    b_shape: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:
    """Multiply two sparse matrices in a traced function, which knows their shapes."""
    shapes = [tuple(tf.get_static_value(shape).tolist()) for shape in (a_shape, b_shape)]
    function = _traced(*shapes, transpose_a, transpose_b, adjoint_a, adjoint_b)
    return function(a_indices, a_values, b_indices, b_values)


_TO_DENSE = "SparseTensorToCSRSparseMatrix CSRSparseMatrixToDense"

RECIPES = {
    "recipe.CSRSparseMatrixToDense": Recipe(to_dense, _TO_DENSE),
    "recipe.CSRSparseMatrixToSparseTensor": Recipe(
        to_sparse_tensor, "SparseTensorToCSRSparseMatrix CSRSparseMatrixToSparseTensor"
    ),
    "recipe.DenseToCSRSparseMatrix": Recipe(
        from_dense, "DenseToCSRSparseMatrix CSRSparseMatrixToDense"
    ),
    "recipe.SparseMatrixTranspose": Recipe(transpose, f"{_TO_DENSE} SparseMatrixTranspose"),
    "recipe.SparseMatrixMatMul": Recipe(
        mat_mul, "SparseTensorToCSRSparseMatrix SparseMatrixMatMul"
    ),
    # In eager mode the gradient of the product raises, and that of what it reads never runs.
    "recipe.SparseMatrixSparseMatMul": Recipe(
        sparse_mat_mul, "CSRSparseMatrixToDense SparseMatrixSparseMatMul"
    ),
    "recipe.traced.SparseMatrixSparseMatMul": Recipe(
        traced_sparse_mat_mul, f"{_TO_DENSE} SparseMatrixSparseMatMul"
    ),
}
