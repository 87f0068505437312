"""Ops that quantise, and whose gradient is declared to be that of something smooth.

Each is the op itself with that something beside it.  Source: the documentation of the ops, and
their gradients in tensorflow/python/ops/array_grad.py and
tensorflow/core/kernels/fake_quant_ops_functor.h.
"""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def clipped(inputs: Tensor, min: Any, max: Any, num_bits: int, *, narrow_range: bool) -> Tensor:
    """Clip to the range that `min` and `max` are nudged to, so that 0 is a step of it.

    What is outside counts as the bound itself.  Source: `Nudge` in fake_quant_ops_functor.h.
    """
    low, high = tf.cast(min, inputs.dtype), tf.cast(max, inputs.dtype)
    least, most = (1.0 if narrow_range else 0.0), 2.0**num_bits - 1
    step = (high - low) / (most - least)
    zero = tf.clip_by_value(tf.floor(least - low / step + 0.5), least, most)
    above = tf.where(inputs > (most - zero) * step, high, inputs)
    return tf.where(inputs < (least - zero) * step, low, above)


def identity(input: Tensor, **_attrs: Any) -> Tensor:
    """Return the input as it is."""
    return tf.identity(input)


def within(input: Tensor, input_min: Tensor, input_max: Tensor, axis: int, **_attrs: Any) -> Tensor:
    """Return the input where it is in the range, and a constant elsewhere."""
    if axis >= 0:
        shape = [-1] + [1] * (len(input.shape) - axis - 1)
        input_min, input_max = tf.reshape(input_min, shape), tf.reshape(input_max, shape)
    inside = (input >= input_min) & (input <= input_max)
    return tf.where(inside, input, tf.zeros_like(input))


RECIPES = {
    "FakeQuantWithMinMaxArgs": Recipe(raw.FakeQuantWithMinMaxArgs, reference=clipped),
    "FakeQuantWithMinMaxVars": Recipe(raw.FakeQuantWithMinMaxVars, reference=clipped),
    "FakeQuantWithMinMaxVarsPerChannel": Recipe(
        raw.FakeQuantWithMinMaxVarsPerChannel, reference=clipped
    ),
    "QuantizeAndDequantizeV2": Recipe(raw.QuantizeAndDequantizeV2, reference=identity),
    "QuantizeAndDequantizeV3": Recipe(raw.QuantizeAndDequantizeV3, reference=identity),
    "QuantizeAndDequantizeV4": Recipe(raw.QuantizeAndDequantizeV4, reference=within),
}
