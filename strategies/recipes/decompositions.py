"""Decompositions, with what of their vectors is unique: the products in which signs and phases
cancel.

The k-th product is of the k-th column of one factor and the conjugate of that of another.
"""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def _products(left: Tensor, right: Tensor) -> Tensor:
    return tf.einsum("...ik,...jk->...kij", left, tf.math.conj(right))


def self_adjoint_eig(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of Hermitian matrices, and the projectors on their eigenvectors."""
    values, vectors = raw.SelfAdjointEigV2(input=input, compute_v=True)
    return values, _products(vectors, vectors)


def eig(input: Tensor, Tout: str) -> tuple[Tensor, Tensor]:  # noqa: N803  # as the op has it
    """Return the eigenvalues of matrices, and the projectors on their right eigenvectors."""
    values, vectors = raw.Eig(input=input, compute_v=True, Tout=Tout)
    return values, _products(vectors, vectors)


def svd(input: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the singular values of matrices, and the products of their singular vectors."""
    values, left, right = raw.Svd(input=input, compute_uv=True, full_matrices=False)
    singular = tf.math.real(values)
    return singular, _products(left, right), _products(left, left), _products(right, right)


def full_svd(input: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Likewise, with all vectors of the longer side: the last one has no partner."""
    values, left, right = raw.Svd(input=input, compute_uv=True, full_matrices=True)
    return tf.math.real(values), _products(left, left), _products(right, right)


RECIPES = {
    "recipe.SelfAdjointEigV2": Recipe(self_adjoint_eig, "SelfAdjointEigV2"),
    "recipe.Eig": Recipe(eig, "Eig"),
    "recipe.Svd": Recipe(svd, "Svd"),
    "recipe.full.Svd": Recipe(full_svd, "Svd"),
}
