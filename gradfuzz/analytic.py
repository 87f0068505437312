"""The analytic side: TensorFlow's reverse mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.evaluate import Outputs, Runnable, Tensor
from gradfuzz.graph import Array
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

    def vjp(self, cotangents: Sequence[Array]) -> Gradients:
        """Return one gradient per leaf, None where TensorFlow sees no connection.

        `cotangents` has the shapes of `outputs`.  Raises `GradientError`.
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


def _dense(gradient: Any) -> Array:
    sparse = isinstance(gradient, tf.IndexedSlices)
    return np.asarray(tf.convert_to_tensor(gradient) if sparse else gradient)


def linearise(program: Runnable, primals: Sequence[Array], *, many: bool = False) -> Linearisation:
    """Run `program` at `primals` under a tape; `many` allows more than one VJP.

    Raises `ForwardError` where an op refuses its arguments.
    """
    sources = program.place(primals)
    with program.tape(persistent=many) as tape:
        tape.watch(sources)
        values = program.run_all(sources)
        outputs = program.outputs(values)
    return Linearisation(tape, sources, values, outputs)


def row_of_jacobian(linearisation: Linearisation, row: int) -> Gradients:
    """Return the gradients of one output, `row` of all outputs flattened.

    Raises `GradientError`.
    """
    cotangents, start = [], 0
    for output in linearisation.outputs:
        size = int(np.prod(output.shape, dtype=int))
        hot = np.arange(start, start + size) == row
        cotangents.append(hot.astype(np.float64).reshape(output.shape))
        start += size
    return linearisation.vjp(cotangents)
