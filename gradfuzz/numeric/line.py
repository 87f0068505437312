"""A graph along a straight line through its primals: the function that is differentiated."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.evaluate import Runnable, Tensor
from gradfuzz.graph import Array
from gradfuzz.realview import real_view
from gradfuzz.runtime import tf

# Beyond this a value stands for "nothing here" (the lowest float of an empty segment), and
# differences of it overflow.
SENTINEL = 1e100


@dataclass(frozen=True, eq=False)
class Line:
    """The outputs of a program at x + t v, for the primals x and tangents v of its leaves.

    Leaves and outputs are seen in their real views.
    `weights` is None, or a row of weights to sum the outputs by: then there is one output.
    `kept` says which of the flattened outputs are looked at.  No value is computed past
    `deadline` in CPU seconds of this process.
    """

    program: Runnable
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
        if time.process_time() > self.deadline:
            raise SlowError("the check: takes too long, should be a matter of seconds")
        try:
            found = flatten(self.program.run(self._point(step)))
        except ForwardError:
            found = np.full(self.kept.size, np.nan)
        if found.size != self.kept.size:
            found = np.full(self.kept.size, np.nan)
        values = found[self.kept]
        return values if self.weights is None else np.array([self.weights @ values])

    def _point(self, step: float) -> list[Tensor]:
        leaves = zip(self.program.feeds, self._at_rest, self.primals, self.tangents, strict=True)
        return [
            feed((x + step * v).astype(x.dtype, copy=False)) if still is None else still
            for feed, still, x, v in leaves
        ]

    @cached_property
    def _at_rest(self) -> list[Tensor | None]:
        """The tensors of the leaves that do not move, None for the others."""
        leaves = zip(self.program.feeds, self.primals, self.tangents, strict=True)
        return [None if v.any() else feed(x) for feed, x, v in leaves]

    def sample(self, steps: Array) -> Array:
        """Return the outputs at each of `steps`: shape (len(steps), m)."""
        return np.stack([self.at(float(step)) for step in steps])


def flatten(outputs: Sequence[object]) -> Array:
    """Return the real views of all outputs as one float64 vector."""
    # NumPy by itself knows no bfloat16.
    arrays = [y.numpy() if isinstance(y, tf.Tensor) else np.asarray(y) for y in outputs]
    views = [real_view(array).ravel() for array in arrays]
    flat = [view.astype(np.float64, copy=False) for view in views]
    return flat[0] if len(flat) == 1 else np.concatenate(flat)


def regular(values: Array) -> Array:
    """Return which values can be differentiated: finite, and no sentinels."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(values) & (np.abs(values) < SENTINEL)
