"""Ops that read references, the mutable tensors of TensorFlow 1, in graphs that have them."""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf
from gradfuzz.strategies.recipes.legacy import run
from gradfuzz.strategies.recipes.private import private

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def _identity(x: Tensor) -> Tensor:
    return tf.sin(raw.RefIdentity(input=x))


def _switch(pred: Tensor, x: Tensor) -> Tensor:
    no, yes = raw.RefSwitch(data=x, pred=pred)
    return tf.sin(raw.RefMerge(inputs=[no, yes])[0])


def _loop(times: Tensor, x: Tensor) -> Tensor:
    _, found = tf.compat.v1.while_loop(lambda i, _: i < times, lambda i, x: (i + 1, x), [0, x])
    return tf.sin(found)


def _debugged(x: Tensor) -> Tensor:
    debugger = private("tensorflow.python.debug.lib.debug_gradients").GradientsDebugger()
    with debugger:
        return tf.sin(debugger.identify_gradient(x))


def identity(x: Tensor) -> Tensor:
    """Read a reference."""
    return run(_identity, x, held=True)


def switch(pred: Tensor, x: Tensor) -> Tensor:
    """Send a reference one of two ways."""
    return run(_switch, pred, x, held=True)


def loop(times: Tensor, x: Tensor) -> Tensor:
    """Hand a reference on so many times."""
    return run(_loop, times, x, held=True)


def debugged(x: Tensor) -> Tensor:
    """Watch the gradient of a tensor."""
    return run(_debugged, x)


def debugged_reference(x: Tensor) -> Tensor:
    """Watch the gradient of a reference."""
    return run(_debugged, x, held=True)


RECIPES = {
    "recipe.RefIdentity": Recipe(identity, "RefIdentity", reverse_only=True),
    "recipe.RefSwitch": Recipe(switch, "RefSwitch RefMerge", reverse_only=True),
    "recipe.RefEnter": Recipe(
        loop, "RefEnter RefExit RefMerge RefNextIteration RefSwitch", reverse_only=True
    ),
    "recipe.DebugGradientIdentity": Recipe(debugged, "DebugGradientIdentity", reverse_only=True),
    "recipe.DebugGradientRefIdentity": Recipe(
        debugged_reference, "DebugGradientRefIdentity", reverse_only=True
    ),
}
