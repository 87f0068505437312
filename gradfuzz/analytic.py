"""The analytic side: TensorFlow's reverse mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.evaluate import Outputs, Runnable, Tensor, feed
from gradfuzz.graph import Array
from gradfuzz.realview import from_real_view, real_view
from gradfuzz.runtime import constant, tf

Gradients = list[Array | None]


class GradientError(Exception):
    """TensorFlow's reverse mode raised where the forward pass had not; `__cause__` says what."""


@dataclass(frozen=True)
class Linearisation:
    """A forward pass under a tape, ready for VJPs.

    `values` holds every node's outputs, `outputs` the graph's.  `tape` recorded the pass.
    """

    tape: Any
    sources: Sequence[Tensor]
    values: Sequence[Outputs]
    outputs: Sequence[Tensor]

    def pull(self, weights: Array) -> Gradients:
        """Return the real views of the VJP of `weights`, (m,), on the flattened real outputs.

        Raises `GradientError`.
        """
        found = self.vjp(self.split(weights))
        return [None if gradient is None else real_view(gradient) for gradient in found]

    def split(self, weights: Array) -> list[Array]:
        """Return flattened weights as one cotangent per output."""
        found, start = [], 0
        for output in self.outputs:
            shape = (*output.shape, 2) if output.dtype.is_complex else tuple(output.shape)
            size = int(np.prod(shape, dtype=int))
            part = weights[start : start + size].reshape(shape)
            found.append(from_real_view(part) if output.dtype.is_complex else part)
            start += size
        return found

    def vjp(self, cotangents: Sequence[Array]) -> Gradients:
        """Return one gradient per leaf, None where TensorFlow sees no connection.

        `cotangents` has the shapes of `outputs`; they and the gradients are complex where the
        tensors are.  Raises `GradientError`.
        """
        targets = list(self.outputs)
        pairs = zip(cotangents, targets, strict=True)
        seeds = [constant(u.astype(y.dtype.as_numpy_dtype, copy=False)) for u, y in pairs]
        try:
            found = self.tape.gradient(targets, list(self.sources), output_gradients=seeds)
            return [None if g is None else _dense(g) for g in found]
        # A gradient function is code under test: whatever it raises is the finding.
        except Exception as raised:
            raise GradientError(type(raised).__name__) from raised


class IndicesError(Exception):
    """A gradient came back as slices of a tensor that has no such slices."""


def _dense(gradient: Any) -> Array:
    """Return a gradient as an array.  Raises `IndicesError`.

    The sum over slices that TensorFlow makes of `IndexedSlices` drops those at negative indices.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return np.asarray(gradient)
    indices, shape = gradient.indices.numpy(), gradient.dense_shape
    least, most = indices.min(initial=0), indices.max(initial=0)
    if least < 0 or (shape is not None and indices.size and most >= shape[0]):
        count = "unknown" if shape is None else int(shape[0])
        raise IndicesError(f"IndexedSlices: indices from {least} to {most} of {count} slices")
    return np.asarray(tf.convert_to_tensor(gradient))


def linearise(program: Runnable, primals: Sequence[Array], *, many: bool = False) -> Linearisation:
    """Run `program` at the real views `primals` under a tape; `many` allows more than one VJP.

    Raises `ForwardError` where an op refuses its arguments.
    """
    sources = feed(program, primals)
    with program.tape(persistent=many) as tape:
        tape.watch(sources)
        values = program.run_all(sources)
        outputs = program.outputs(values)
    return Linearisation(tape, sources, values, outputs)


def row_of_jacobian(linearisation: Linearisation, row: int, size: int) -> Gradients:
    """Return the gradients of `row` of all `size` outputs, in real views and flattened.

    Raises `GradientError`.
    """
    return linearisation.pull((np.arange(size) == row).astype(np.float64))
