"""The screen: one random tangent, one random cotangent, two forward passes or six.

It passes most right gradients at little cost and never fails one: what it does not pass is
looked at closely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.numeric.line import Line

# The errors of the stencils below at their steps, relative to the terms summed up, are far below
# this many square roots of the rounding unit on ordinary functions.
TOLERANCE = 0.5
# A difference whose rounding noise exceeds this part of the derivative proves nothing.
BLIND = 1e-6


@dataclass(frozen=True)
class Stencil:
    """A central difference: its points in steps, the weight of each, and what divides their sum.

    The step is the rounding unit to the power 1/`root`, one more than the order of the error.
    """

    points: tuple[float, ...]
    weights: tuple[float, ...]
    divisor: float
    root: int

    def step(self, epsilon: float) -> float:
        """Return the step where rounding and the error of the stencil are of one size."""
        return _step(epsilon, self.root)


@cache
def _step(epsilon: float, root: int) -> float:
    return float(2.0 ** np.round(np.log2(epsilon) / root))


# The errors are step**2 f'''/6 and step**4 f'''''/30.
QUICK = Stencil((-1.0, 1.0), (-1.0, 1.0), 2.0, 3)
SHARP = Stencil((-2.0, -1.0, 1.0, 2.0), (1.0, -8.0, 8.0, -1.0), 12.0, 5)


def tangents(primals: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """Return a random tangent of each primal, its elements in proportion to the primal's.

    No step below 1/2 along such a tangent changes a sign, so positive values stay positive.
    """
    return [_random(x.shape, rng) * scale_of(x) for x in primals]


def scale_of(primal: Array) -> Array:
    """Return the unit of a step for each element: its size, or 1 for a zero."""
    return np.where(primal == 0, 1.0, np.abs(primal.astype(np.float64)))


def cotangent(outputs: Array, kept: Array, rng: np.random.Generator) -> Array:
    """Return a random weight of each output, 0 for those not kept.

    Large outputs get small weights, so that their rounding does not drown the others.
    """
    with np.errstate(invalid="ignore"):
        weights = _random(outputs.shape, rng) / np.maximum(1.0, np.abs(outputs))
    return np.where(kept, weights, 0.0)


def _random(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return numbers of either sign and of magnitude 1/2 to 3/2: none is negligible."""
    either_side = rng.uniform(-1.0, 1.0, shape)
    return either_side + np.copysign(0.5, either_side)


def passes(analytic: float, size: float, line: Line, outputs: Array, epsilon: float) -> bool:
    """Return whether the derivative of `line` at 0 is `analytic`, and large enough to be seen.

    `size` is the sum of the magnitudes of the terms that `analytic` is a sum of, `outputs`
    the values that the line sums up.
    """
    magnitude = _magnitude(line, outputs)
    # Where its rounding is no more than what is tolerated anyway, two passes see as much as four.
    sees = 0 < rounding(magnitude, epsilon, QUICK) <= 2 * tolerance(size, epsilon)
    if sees and not _differs(analytic, size, line, magnitude, epsilon, QUICK):
        return True
    sees = size == 0 or rounding(magnitude, epsilon) <= max(BLIND, np.sqrt(epsilon)) * size
    return bool(sees) and not _differs(analytic, size, line, magnitude, epsilon, SHARP)


def differs(analytic: float, size: float, line: Line, outputs: Array, epsilon: float) -> bool:
    """Return whether a difference of `line` is not `analytic`, within its own error."""
    return _differs(analytic, size, line, _magnitude(line, outputs), epsilon, SHARP)


def _differs(
    analytic: float, size: float, line: Line, magnitude: float, epsilon: float, by: Stencil
) -> bool:
    with np.errstate(all="ignore"):
        numeric, span = difference(line, epsilon, by)
        if size == 0:
            return bool(span[0] != 0)
        bound = tolerance(size, epsilon) + rounding(magnitude, epsilon, by)
        return not abs(numeric[0] - analytic) <= bound < np.inf


def _magnitude(line: Line, outputs: Array) -> float:
    assert line.weights is not None
    return float(np.abs(line.weights * outputs).sum())


def difference(line: Line, epsilon: float, by: Stencil = SHARP) -> tuple[Array, Array]:
    """Return the derivatives of `line` by a difference, and how far its values span.

    Both have shape (m,).  The error is that of the stencil beside `rounding`.
    """
    step = by.step(epsilon)
    values = line.sample(np.array(by.points) * step)
    slope = np.array(by.weights) @ values / (by.divisor * step)
    return slope, values.max(axis=0) - values.min(axis=0)


def rounding(magnitude: Any, epsilon: float, by: Stencil = SHARP) -> Any:
    """Return the error that rounding makes in a difference of values of that magnitude."""
    return 8 * epsilon * magnitude / by.step(epsilon)


def tolerance(size: Any, epsilon: float) -> Any:
    """Return by how much a difference may miss a derivative of that size."""
    return TOLERANCE * np.sqrt(epsilon) * size
