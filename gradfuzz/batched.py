"""A graph and its derivatives over batches: by `pfor`, which rewrites each op for all at once.

`pfor` rewrites an op by a converter of its own; where it has none it loops.
Source: tensorflow/python/ops/parallel_for/pfor.py.
"""

from collections.abc import Sequence
from typing import Any

from gradfuzz.analytic import GradientError, Gradients
from gradfuzz.derived import seeds_of
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Runnable, Tensor, feed
from gradfuzz.graph import Array
from gradfuzz.runtime import tf


def jacobian(
    program: Runnable, primals: Sequence[Array], *, pfor: bool, batch: bool = False
) -> list[Gradients]:
    """Return the Jacobian of each output by each leaf, None where TensorFlow has none.

    By `pfor`, or row by row.  `batch` takes the batch Jacobian, and only of those whose first
    axes are one.  Raises `GradientError`.
    """
    sources = feed(program, primals)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        outputs = program.run(sources)
    # What differentiates is code under test: whatever it raises is the finding.
    try:
        if batch:
            return [[_batch(tape, y, x, pfor=pfor) for x in sources] for y in outputs]
        found = [tape.jacobian(y, sources, experimental_use_pfor=pfor) for y in outputs]
        return [[None if j is None else j.numpy() for j in row] for row in found]
    except Exception as raised:
        raise GradientError(type(raised).__name__) from raised


def _batch(tape: Any, output: Tensor, source: Tensor, *, pfor: bool) -> Array | None:
    if not has_batch(tuple(output.shape), tuple(source.shape)):
        return None
    found = tape.batch_jacobian(output, source, experimental_use_pfor=pfor)
    return None if found is None else found.numpy()


def has_batch(output: tuple[int, ...], source: tuple[int, ...]) -> bool:
    """Return whether shapes have a first axis of the same size, and others.

    Source: `batch_jacobian` in tensorflow/python/eager/backprop.py, which refuses others.
    """
    return len(output) > 1 and len(source) > 1 and output[0] == source[0]


def mapped(
    program: Runnable, batch: Sequence[Array], cotangents: Sequence[Array]
) -> tuple[list[Array], Gradients]:
    """Return outputs and gradients at each point of a batch, by `vectorized_map`.

    `batch` stacks the real views of the points of each leaf.  Raises `GradientError`, and
    `ForwardError` where the outputs alone raise.
    """
    connected: list[bool] = []

    def run(sources: list[Tensor]) -> list[Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(sources)
            outputs = program.run(sources)
        found = tape.gradient(outputs, sources, output_gradients=seeds_of(cotangents, outputs))
        connected[:] = [g is not None for g in found]
        return [*outputs, *(tf.convert_to_tensor(g) for g in found if g is not None)]

    found = _map(run, batch, program)
    count = len(cotangents)
    rest = iter(found[count:])
    return found[:count], [next(rest) if yes else None for yes in connected]


def _map(run: Any, batch: Sequence[Array], program: Runnable) -> list[Array]:
    # As above: it may raise anything.
    try:
        return [t.numpy() for t in tf.vectorized_map(run, feed(program, batch), warn=False)]
    except Exception as raised:
        _require_outputs(program, batch)
        raise GradientError(type(raised).__name__) from raised


def _require_outputs(program: Runnable, batch: Sequence[Array]) -> None:
    try:
        tf.vectorized_map(lambda sources: program.run(sources), feed(program, batch), warn=False)
    except Exception as raised:
        raise ForwardError(f"vectorized_map raised {type(raised).__name__}") from raised
