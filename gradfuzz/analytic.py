"""The analytic side: TensorFlow's reverse and forward mode."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.derived import seeds_of
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Outputs, Runnable, Tensor, feed
from gradfuzz.graph import Array
from gradfuzz.realview import from_real_view, real_view
from gradfuzz.runtime import restart_forward_mode, tf

Gradients = list[Array | None]


class GradientError(Exception):
    """TensorFlow raised while differentiating, where the forward pass had not; see `__cause__`."""


class ShapeError(Exception):
    """A derivative has another shape than what it is by."""


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
        return real_views(self.vjp(self.split(weights)))

    def split(self, weights: Array) -> list[Array]:
        """Return flattened weights as one cotangent per output."""
        found, start = [], 0
        for output in self.outputs:
            shape = (*output.shape, 2) if output.dtype.is_complex else tuple(output.shape)
            size = math.prod(shape)
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
        seeds = seeds_of(cotangents, targets)
        try:
            found = self.tape.gradient(targets, list(self.sources), output_gradients=seeds)
            return [None if g is None else _dense(g) for g in found]
        # A gradient function is code under test: whatever it raises is the finding.
        except Exception as raised:
            raise GradientError(type(raised).__name__) from raised


def real_views(gradients: Gradients) -> Gradients:
    """Return the real view of each gradient that is one."""
    return [None if gradient is None else real_view(gradient) for gradient in gradients]


@dataclass(frozen=True)
class BrokenTape:
    """Stands for a tape of a program that only runs where nobody watches."""

    error: BaseException | None

    def gradient(self, *_args: Any, **_options: Any) -> Any:
        """Raise what the program raised under a tape."""
        assert self.error is not None
        raise self.error


class IndicesError(Exception):
    """A gradient came back as slices of a tensor that has no such slices."""


def _dense(gradient: Any) -> Array:
    """Return a gradient as an array.  Raises `IndicesError`.

    The sum over slices that TensorFlow makes of `IndexedSlices` drops those at negative indices.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return _array(gradient)
    indices, shape = gradient.indices.numpy(), gradient.dense_shape
    least, most = indices.min(initial=0), indices.max(initial=0)
    if least < 0 or (shape is not None and indices.size and most >= shape[0]):
        count = "unknown" if shape is None else int(shape[0])
        raise IndicesError(f"IndexedSlices: indices from {least} to {most} of {count} slices")
    return _array(tf.convert_to_tensor(gradient))


def _array(gradient: Any) -> Array:
    # NumPy by itself knows no bfloat16.
    found: Array = gradient.numpy() if isinstance(gradient, tf.Tensor) else np.asarray(gradient)
    return found


def linearise(program: Runnable, primals: Sequence[Array], *, many: bool = False) -> Linearisation:
    """Run `program` at the real views `primals` under a tape; `many` allows more than one VJP.

    Raises `ForwardError` where an op refuses its arguments.
    """
    sources = feed(program, primals)
    tape: Any
    try:
        with program.tape(persistent=many) as tape:
            tape.watch(sources)
            values = program.run_all(sources)
    # A traced function builds its gradient while it runs, if somebody watches: what that raises,
    # whatever it is, is the fault of the gradient.
    except Exception as raised:  # noqa: BLE001
        values = program.run_all(sources)
        refused = isinstance(raised, ForwardError) and raised.__cause__ is not None
        tape = BrokenTape(raised.__cause__ if refused else raised)
    return Linearisation(tape, sources, values, program.outputs(values))


def push(
    program: Runnable,
    primals: Sequence[Array],
    tangents: Sequence[Array],
    *,
    traced: bool = False,
) -> Gradients:
    """Return the JVP along `tangents`, one per output, None where forward mode has none.

    Primals, tangents and JVPs are real views.

    `traced` runs all of it in a graph of TensorFlow's.  Raises `GradientError`, and
    `ForwardError` where an op refuses its arguments.
    """
    restart_forward_mode()
    run = tf.function(_push, autograph=False) if traced else _push
    sources = feed(program, primals)
    try:
        found = run(program, sources, seeds_of(tangents, sources))
        return [None if t is None else real_view(t.numpy()) for t in found]
    except ForwardError as refusal:
        # Forward mode differentiates each op as it runs.  It is the op that raised where this does:
        program.run(feed(program, primals))
        cause = _root(refusal)
        raise GradientError(type(cause).__name__) from cause
    # What differentiates is code under test: whatever it raises is the finding.
    except Exception as raised:
        raise GradientError(type(raised).__name__) from raised


def _push(
    program: Runnable, sources: Sequence[Tensor], tangents: Sequence[Tensor]
) -> list[Tensor | None]:
    with tf.autodiff.ForwardAccumulator(list(sources), list(tangents)) as accumulator:
        outputs = program.run(sources)
    found = [accumulator.jvp(output) for output in outputs]
    return [None if t is None else tf.convert_to_tensor(t) for t in found]


def _root(error: BaseException) -> BaseException:
    """Return what TensorFlow raised, below what we made of it."""
    while isinstance(error, ForwardError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def row_of_jacobian(linearisation: Linearisation, row: int, size: int) -> Gradients:
    """Return the gradients of `row` of all `size` outputs, in real views and flattened.

    Raises `GradientError`.
    """
    return linearisation.pull((np.arange(size) == row).astype(np.float64))
