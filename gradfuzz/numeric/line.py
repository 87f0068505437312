"""A graph along a straight line through its primals: the function that is differentiated."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.evaluate import Program, tensors
from gradfuzz.graph import Array

# Beyond this a value stands for "nothing here" (the lowest float of an empty segment), and
# differences of it overflow.
SENTINEL = 1e100


@dataclass(frozen=True, eq=False)
class Line:
    """The outputs of a program at x + t v, for the primals x and tangents v of its leaves.

    `weights` is None, or a row of weights to sum the outputs by: then there is one output.
    `kept` says which of the flattened outputs are looked at.  No value is computed past
    `deadline` on the monotonic clock.
    """

    program: Program
    primals: Sequence[Array]
    tangents: Sequence[Array]
    kept: Array
    weights: Array | None = None
    deadline: float = math.inf

    def at(self, step: float) -> Array:
        """Return the kept outputs at `step`, as float64 of shape (m,).

        They are not numbers where an op refuses the point or its outputs change their shape.
        Raises `SlowError` past the deadline.
        """
        if time.monotonic() > self.deadline:
            raise SlowError("the check: takes too long, should be a matter of seconds")
        moved = [_move(x, step, v) for x, v in zip(self.primals, self.tangents, strict=True)]
        try:
            found = flatten(self.program.run(tensors(moved)))
        except ForwardError:
            found = np.full(self.kept.size, np.nan)
        if found.size != self.kept.size:
            found = np.full(self.kept.size, np.nan)
        values = found[self.kept]
        return values if self.weights is None else np.array([self.weights @ values])

    def sample(self, steps: Array) -> Array:
        """Return the outputs at each of `steps`: shape (len(steps), m)."""
        return np.stack([self.at(float(step)) for step in steps])


def _move(primal: Array, step: float, tangent: Array) -> Array:
    moved: Array = (primal + step * tangent).astype(primal.dtype)
    return moved


def flatten(outputs: Sequence[object]) -> Array:
    """Return all outputs as one float64 vector."""
    flat = [np.asarray(output, np.float64).ravel() for output in outputs]
    return np.concatenate(flat) if flat else np.zeros(0)


def regular(values: Array) -> Array:
    """Return which values can be differentiated: finite, and no sentinels."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(values) & (np.abs(values) < SENTINEL)
