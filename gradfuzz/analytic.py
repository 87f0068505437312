"""The analytic side: TensorFlow's reverse mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.evaluate import Outputs, Program, Tensor, tensors
from gradfuzz.graph import Array
from gradfuzz.runtime import tf

Gradients = list[Array | None]


class GradientError(Exception):
    """TensorFlow's reverse mode raised where the forward pass had not; `__cause__` says what."""


@dataclass(frozen=True)
class Linearisation:
    """A forward pass under a tape, ready for VJPs.

    `values` holds every node's outputs, `outputs` the graph's.
    """

    tape: Any
    sources: Sequence[Tensor]
    values: Sequence[Outputs]
    outputs: Sequence[Tensor]

    def vjp(self, cotangents: Sequence[Array]) -> Gradients:
        """Return one gradient per leaf, None where TensorFlow sees no connection.

        `cotangents` has the shapes of `outputs`.  Raises `GradientError`.
        """
        targets = list(self.outputs)
        seeds = [tf.constant(u, y.dtype, y.shape) for u, y in zip(cotangents, targets, strict=True)]
        try:
            found = self.tape.gradient(targets, list(self.sources), output_gradients=seeds)
            return [None if g is None else tf.convert_to_tensor(g).numpy() for g in found]
        # A gradient function is code under test: whatever it raises is the finding.
        except Exception as raised:
            raise GradientError(type(raised).__name__) from raised


def linearise(program: Program, primals: Sequence[Array], *, many: bool = False) -> Linearisation:
    """Run `program` at `primals` under a tape; `many` allows more than one VJP.

    Raises `ForwardError` where an op refuses its arguments.
    """
    sources = tensors(primals)
    with tf.GradientTape(persistent=many) as tape:
        tape.watch(sources)
        values = program.run_all(sources)
        outputs = program.outputs(values)
    return Linearisation(tape, sources, values, outputs)


def jacobian(linearisation: Linearisation, rows: Sequence[int]) -> list[Array | None]:
    """Return rows of the Jacobian by one VJP each: an array (len(rows), leaf size) per leaf.

    `rows` are positions in the flattened outputs.  None stands for a leaf that no row is
    connected with.  Raises `GradientError`.
    """
    sizes = [int(np.prod(y.shape, dtype=int)) for y in linearisation.outputs]
    found = [linearisation.vjp(_one_hot(linearisation, sizes, row)) for row in rows]
    return [_stacked([row[leaf] for row in found]) for leaf in range(len(linearisation.sources))]


def _one_hot(linearisation: Linearisation, sizes: Sequence[int], row: int) -> list[Array]:
    hot = np.split(np.arange(sum(sizes)) == row, np.cumsum(sizes)[:-1])
    pairs = zip(hot, linearisation.outputs, strict=True)
    return [part.astype(np.float64).reshape(y.shape) for part, y in pairs]


def _stacked(gradients: Sequence[Array | None]) -> Array | None:
    known = next((g for g in gradients if g is not None), None)
    if known is None:
        return None
    flat = [np.zeros(known.size) if g is None else g.ravel() for g in gradients]
    return np.stack(flat).astype(np.float64)


def epsilon(values: Sequence[Outputs]) -> float:
    """Return the rounding unit of the least precise real tensor in a forward pass."""
    dtypes = {tensor.dtype for outputs in values for tensor in outputs}
    return max(
        (float(np.finfo(d.as_numpy_dtype).eps) for d in dtypes if d in _REAL), default=2.0**-52
    )


_REAL = frozenset({tf.float64, tf.float32, tf.float16})
