"""What is given beside the tensors of a graph: shapes, and values to feed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradfuzz.errors import FunctionError
from gradfuzz.runtime import tf


def require_shapes(xs: Sequence[Any], given: Any, *, several: bool) -> list[tuple[int, ...]]:
    """Return a shape for each of `xs`.  Raises `FunctionError` where it does not fit."""
    shapes = given if several else [given]
    if not isinstance(shapes, list | tuple) or len(shapes) != len(xs):
        raise FunctionError(f"x_shape: {given!r}, should be a list of {len(xs)} shapes, one for "
                            "each x")  # fmt: skip
    found = [require_shape("x_shape", shape) for shape in shapes]
    for x, shape in zip(xs, found, strict=True):
        if not x.shape.is_compatible_with(shape):
            own = tuple(x.shape)
            raise FunctionError(f"x_shape: {shape}, should be {own}, as {x.name} has it")
    return found


def require_shape(place: str, given: Any) -> tuple[int, ...]:
    """Return a shape, given as any sequence of sizes, or as one.  Raises `FunctionError`."""
    sizes = [given] if isinstance(given, int | np.integer) else given
    try:
        shape = tuple(int(size) for size in sizes)
    except (TypeError, ValueError):
        shape = (-1,)
    if isinstance(given, str) or any(size < 0 for size in shape):
        raise FunctionError(f"{place}: {given!r}, should be a tuple of sizes")
    return shape


def require_feeds(place: str, given: Any) -> Mapping[Any, Any]:
    """Return what is fed: values of the shapes of their tensors.  Raises `FunctionError`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise FunctionError(f"{place}: {given!r}, should be a dict of tensors and their values")
    for tensor, value in given.items():
        # A session takes composite tensors and names, too, and says what is wrong with them.
        if not isinstance(tensor, tf.Tensor):
            continue
        found = np.shape(value)
        if not tensor.shape.is_compatible_with(found):
            raise FunctionError(f"{place}: {tensor.name} has a value of shape {found}, "
                                f"should be {tuple(tensor.shape)}")  # fmt: skip
    return given
