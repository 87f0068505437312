"""Functions of `tf.TensorArray`: a list of Python in eager mode, a `TensorList` in a graph."""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

Tensor = Any


def _array(tensor: Tensor) -> Any:
    empty = tf.TensorArray(tensor.dtype, tf.shape(tensor)[0], clear_after_read=False)
    return empty.unstack(tensor)


def gather(tensor: Tensor, indices: Tensor) -> Tensor:
    """Read slices."""
    return _array(tensor).gather(indices)


def read(tensor: Tensor, index: Tensor) -> Tensor:
    """Read one slice."""
    return _array(tensor).read(index)


def write(tensor: Tensor, index: Tensor, item: Tensor) -> Tensor:
    """Write one slice over another."""
    return _array(tensor).write(index, item).stack()


def concat(tensor: Tensor) -> Tensor:
    """Join slices along their first axis."""
    return _array(tensor).concat()


RECIPES = {
    "recipe.TensorArray_gather": Recipe(gather),
    "recipe.TensorArray_read": Recipe(read),
    "recipe.TensorArray_write": Recipe(write),
    "recipe.TensorArray_concat": Recipe(concat),
}
