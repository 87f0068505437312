"""Rounding made visible: every tensor of a forward pass moved by a few units of its last place.

What a derivative changes by under such noise is what its rounding may be off by, whatever the
reason: cancellation inside the graph shows as well as in its outputs (Monte Carlo arithmetic).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.dtypes import EPSILON
from gradfuzz.graph import Array
from gradfuzz.runtime import tf

# Each element is moved by up to so many rounding units of its dtype.
UNITS = 4.0

# NumPy by itself draws and rounds in these.
_DTYPES = (tf.float64, tf.complex128, tf.float32, tf.complex64)


@dataclass(frozen=True)
class Noise:
    """Noise that `seed` decides."""

    seed: int

    def on(self, values: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
        """Return a view of the outputs of nodes in which each look moves them anew.

        So a tensor that is read twice is two tensors, which differ by rounding: what cancels only
        because they are one shows.
        """
        return _Moving(values, np.random.default_rng([self.seed, 2]))

    def moved(self, arrays: Sequence[Array]) -> list[Array]:
        """Return cotangents or tangents, each element moved by a few rounding units."""
        rng = np.random.default_rng([self.seed, 3])
        return [_near(array, EPSILON[tf.as_dtype(array.dtype)], rng) for array in arrays]


@dataclass(frozen=True)
class _Moving(Sequence[tuple[Any, ...]]):
    values: Sequence[tuple[Any, ...]]
    rng: np.random.Generator

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return tuple(_moved(tensor, self.rng) for tensor in self.values[index])


def _moved(tensor: Any, rng: np.random.Generator) -> Any:
    """Return a tensor, each real number times 1 plus a few rounding units; zeros stay zeros."""
    if tensor.dtype not in _DTYPES or not hasattr(tensor, "numpy"):
        return tensor
    return _replaced(_near(tensor.numpy(), EPSILON[tensor.dtype], rng))(tensor)


def _near(value: Array, epsilon: float, rng: np.random.Generator) -> Array:
    if np.iscomplexobj(value):
        # Each part by itself, as they are rounded: what cancels between them shows.
        parts = _near(value.real, epsilon, rng) + 1j * _near(value.imag, epsilon, rng)
        return parts.astype(value.dtype)
    with np.errstate(all="ignore"):
        units = np.round(rng.uniform(-UNITS, UNITS, value.shape))
        return (value * (1 + epsilon * units)).astype(value.dtype)


def _replaced(value: Any) -> Any:
    """Return a function that passes derivatives through but has another value.

    No op does it, which might be the one that is wrong.
    """

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # TensorFlow ships no types
    def identity(tensor: Any) -> Any:
        del tensor
        return tf.constant(value), lambda cotangent: cotangent

    return identity
