"""Plant a wrong gradient, to see that it is found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradfuzz.runtime import ops, restart_forward_mode, tf

Wrong = Callable[..., Any]


@contextmanager
def planted_gradient(op_type: str, wrong: Wrong) -> Iterator[None]:
    """Within the block, the gradient of `op_type` is `wrong(right, op, *cotangents)`."""
    registry = ops.gradient_registry._registry
    entry = registry[op_type]

    def planted(op: Any, *cotangents: Any) -> Any:
        return wrong(entry["type"], op, *cotangents)

    registry[op_type] = entry | {"type": planted}
    restart_forward_mode(forget=True)
    try:
        yield
    finally:
        registry[op_type] = entry
        restart_forward_mode(forget=True)


def hidden(change: Callable[[Any], Any]) -> Wrong:
    """Return a gradient of the right value whose own gradient goes through `change`.

    So reverse mode is right, and what differentiates the gradient again is not: forward mode
    too, which takes the derivative by the cotangent.
    """

    def wrong(right: Any, op: Any, *cotangents: Any) -> Any:
        gradients = right(op, *cotangents)
        first, *rest = gradients if isinstance(gradients, list | tuple) else [gradients]
        # Where nobody needs the first, it is None.
        return [None if first is None else passing_back(change)(first), *rest]

    return wrong


def passing_back(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the identity, whose gradient goes through `change`."""

    @tf.custom_gradient
    def identity(x: Any) -> Any:
        return tf.identity(x), change

    return identity


def refuse(_gradient: Any) -> Any:
    """Raise, as a gradient of a gradient may."""
    raise ValueError("of all things")


def one_element_times(factor: float) -> Wrong:
    """Return a gradient off by a factor in the first element of the first input that has any."""

    def wrong(right: Any, op: Any, *cotangents: Any) -> Any:
        gradients = right(op, *cotangents)
        listed = list(gradients) if isinstance(gradients, list | tuple) else [gradients]
        for position, gradient in enumerate(listed):
            if gradient is not None and tf.convert_to_tensor(gradient).dtype.is_floating:
                listed[position] = _first_times(tf.convert_to_tensor(gradient), factor)
                break
        return listed

    return wrong


def _first_times(gradient: Any, factor: float) -> Any:
    flat = tf.reshape(gradient, [-1])
    if flat.shape[0] == 0:
        return gradient
    scaled = tf.concat([flat[:1] * tf.cast(factor, flat.dtype), flat[1:]], 0)
    return tf.reshape(scaled, gradient.shape)
