"""Values wrapped in a variant, and unwrapped again: ragged and composite tensors, optionals."""

from typing import Any

from tensorflow.python.ops import composite_tensor_ops

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def ragged(values: Tensor, row_splits: list[Tensor], *, batched: bool) -> Tensor:
    """Wrap ragged rows, one variant each where `batched`."""
    encoded = raw.RaggedTensorToVariant(
        rt_nested_splits=row_splits, rt_dense_values=values, batched_input=batched
    )
    _, found = raw.RaggedTensorFromVariant(
        encoded_ragged=encoded,
        input_ragged_rank=0 if batched else 1,
        output_ragged_rank=1,
        Tvalues=values.dtype,
        Tsplits=row_splits[0].dtype,
    )
    return found


def composite(values: Tensor, row_splits: list[Tensor]) -> Tensor:
    """Wrap a ragged tensor as a composite one.

    Source: `composite_tensor_to_variants` in tensorflow/python/ops/composite_tensor_ops.py.
    """
    rows = tf.RaggedTensor.from_nested_row_splits(values, row_splits, validate=False)
    spec = tf.type_spec_from_value(rows)
    wrapped = composite_tensor_ops.composite_tensor_to_variants(rows)
    return composite_tensor_ops.composite_tensor_from_variant(wrapped, spec).values


def optional(values: Tensor) -> Tensor:
    """Wrap a tensor as an optional."""
    wrapped = raw.OptionalFromValue(components=[values])
    [found] = raw.OptionalGetValue(
        optional=wrapped, output_types=[values.dtype], output_shapes=[values.shape]
    )
    return found


_FUNCTIONS = {"sin": tf.sin, "square": tf.square, "softplus": tf.nn.softplus}


def py_function(x: Tensor, function: str) -> Tensor:
    """Call a function back in Python."""
    found = tf.py_function(_FUNCTIONS[function], [x], x.dtype)
    found.set_shape(x.shape)
    return found


RECIPES = {
    "recipe.RaggedTensorToVariant": Recipe(ragged, "RaggedTensorToVariant RaggedTensorFromVariant"),
    "recipe.CompositeTensorVariantFromComponents": Recipe(
        composite, "CompositeTensorVariantFromComponents CompositeTensorVariantToComponents"
    ),
    "recipe.OptionalFromValue": Recipe(optional, "OptionalFromValue OptionalGetValue"),
    "recipe.EagerPyFunc": Recipe(py_function, "EagerPyFunc"),
}
