"""`IndexedSlices`: gradients of gathers, which hold some slices of a tensor, one of them twice.

They come as they are to the gradient function of the op whose output is gathered from.
"""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
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


def of_concat(values: list[Tensor], axis: Tensor, indices: Tensor) -> Tensor:
    """Join tensors, and read slices."""
    return _gathered(raw.Concat(concat_dim=axis, values=values), indices)


def of_concat_v2(values: list[Tensor], axis: Tensor, indices: Tensor) -> Tensor:
    """Join tensors, and read slices."""
    return _gathered(raw.ConcatV2(values=values, axis=axis), indices)


def of_tile(input: Tensor, multiples: Tensor, indices: Tensor) -> Tensor:
    """Repeat a tensor, and read slices."""
    return _gathered(raw.Tile(input=input, multiples=multiples), indices)


def of_stitch(places: list[Tensor], data: list[Tensor], indices: Tensor) -> Tensor:
    """Interleave tensors, and read slices."""
    return _gathered(raw.DynamicStitch(indices=places, data=data), indices)


def of_reshape(tensor: Tensor, shape: Tensor, indices: Tensor) -> Tensor:
    """Reshape a tensor, and read slices."""
    return _gathered(raw.Reshape(tensor=tensor, shape=shape), indices)


def of_loop(x: Tensor, times: Tensor, indices: Tensor) -> Tensor:
    """Read slices of one tensor in each turn of a loop."""
    return _loop(x, times, indices)


@tf.function(autograph=False, reduce_retracing=True)  # type: ignore[untyped-decorator]  # untyped
def _loop(x: Tensor, times: Tensor, indices: Tensor) -> Tensor:
    start = tf.zeros_like(_gathered(x, indices))
    _, found = tf.while_loop(
        lambda i, _: i < times,
        lambda i, total: (i + 1, tf.sin(total) + _gathered(x, indices)),
        (tf.constant(0), start),
    )
    return found


def _gathered(tensor: Tensor, indices: Tensor) -> Tensor:
    return raw.GatherV2(params=tensor, indices=indices, axis=0)


RECIPES = {
    "recipe.global_norm": Recipe(global_norm, reference=global_norm_of_dense),
    "recipe.clip_by_global_norm": Recipe(clip, reference=clip_dense),
    "recipe.gathered.Concat": Recipe(of_concat, "Concat GatherV2"),
    "recipe.gathered.ConcatV2": Recipe(of_concat_v2, "ConcatV2 GatherV2"),
    "recipe.gathered.Tile": Recipe(of_tile, "Tile GatherV2"),
    "recipe.gathered.DynamicStitch": Recipe(of_stitch, "DynamicStitch GatherV2"),
    "recipe.gathered.Reshape": Recipe(of_reshape, "Reshape GatherV2"),
    "recipe.gathered.StatelessWhile": Recipe(of_loop, "StatelessWhile GatherV2"),
}
