"""Gradients of max pools as ops of their own, which read what their pool put out."""

from collections.abc import Callable
from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def pooled(pool: str, gradient: str) -> Recipe:
    """Return the recipe of a pool and one of its gradients.

    The gradient carries a cotangent of the pool's output back, or a tangent of its input forward.
    """
    forward: Callable[..., Tensor] = getattr(raw, pool)
    back: Callable[..., Tensor] = getattr(raw, gradient)

    def function(input: Tensor, grad: Tensor, ksize: Any, strides: Any, padding: str) -> Tensor:
        attrs = {"ksize": ksize, "strides": strides, "padding": padding}
        output = forward(input=input, **attrs)
        return back(orig_input=input, orig_output=output, grad=grad, **attrs)

    return Recipe(function, f"{pool} {gradient}")


RECIPES = {
    "recipe.MaxPoolGrad": pooled("MaxPool", "MaxPoolGrad"),
    "recipe.MaxPoolGradV2": pooled("MaxPoolV2", "MaxPoolGradV2"),
    "recipe.MaxPoolGradGrad": pooled("MaxPool", "MaxPoolGradGrad"),
    "recipe.MaxPool3DGrad": pooled("MaxPool3D", "MaxPool3DGrad"),
    "recipe.MaxPool3DGradGrad": pooled("MaxPool3D", "MaxPool3DGradGrad"),
}
