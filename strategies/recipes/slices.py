"""`IndexedSlices`: gradients of gathers, which hold some slices of a tensor, one of them twice."""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

Tensor = Any  # tf.Tensor: TensorFlow ships no types


def global_norm(values: Tensor, indices: Tensor, shape: Tensor) -> Tensor:
    """Return the norm of slices."""
    return tf.linalg.global_norm([tf.IndexedSlices(values, indices, shape)])


def global_norm_of_dense(values: Tensor, indices: Tensor, shape: Tensor) -> Tensor:
    """Return the norm of the tensor that the slices stand for, where those at one place add up."""
    return tf.linalg.global_norm([tf.convert_to_tensor(tf.IndexedSlices(values, indices, shape))])


def clip(values: Tensor, indices: Tensor, shape: Tensor, clip_norm: Tensor) -> Tensor:
    """Clip slices by their norm."""
    slices = tf.IndexedSlices(values, indices, shape)
    [clipped], _ = tf.clip_by_global_norm([slices], clip_norm)
    return tf.convert_to_tensor(clipped)


def clip_dense(values: Tensor, indices: Tensor, shape: Tensor, clip_norm: Tensor) -> Tensor:
    """Clip the tensor that the slices stand for by its norm."""
    dense = tf.convert_to_tensor(tf.IndexedSlices(values, indices, shape))
    [clipped], _ = tf.clip_by_global_norm([dense], clip_norm)
    return clipped


RECIPES = {
    "recipe.global_norm": Recipe(global_norm, reference=global_norm_of_dense),
    "recipe.clip_by_global_norm": Recipe(clip, reference=clip_dense),
}
