"""The screen: one random tangent, one random cotangent, four forward passes.

It passes most right gradients at little cost and never fails one: what it does not pass is
looked at closely.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.numeric.line import Line

# The error of the stencil below at its step, relative to the terms summed up, is far below
# this many square roots of the rounding unit on ordinary functions.
TOLERANCE = 0.5
# A difference whose rounding noise exceeds this part of the derivative proves nothing.
BLIND = 1e-6


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
    noise = rounding(_magnitude(line, outputs), epsilon)
    sees = size == 0 or noise <= max(BLIND, np.sqrt(epsilon)) * size
    return bool(sees) and not differs(analytic, size, line, outputs, epsilon)


def differs(analytic: float, size: float, line: Line, outputs: Array, epsilon: float) -> bool:
    """Return whether a difference of `line` is not `analytic`, within its own error."""
    with np.errstate(all="ignore"):
        numeric, span = difference(line, epsilon)
        if size == 0:
            return bool(span[0] != 0)
        bound = tolerance(size, epsilon) + rounding(_magnitude(line, outputs), epsilon)
        return not abs(numeric[0] - analytic) <= bound < np.inf


def _magnitude(line: Line, outputs: Array) -> float:
    assert line.weights is not None
    return float(np.abs(line.weights * outputs).sum())


def difference(line: Line, epsilon: float) -> tuple[Array, Array]:
    """Return the derivatives of `line` by a fourth-order difference, and how far its values span.

    Both have shape (m,).  The error is step**4 f'''''/30 beside `rounding`.
    """
    step = _step(epsilon)
    values = line.sample(np.array([-2.0, -1.0, 1.0, 2.0]) * step)
    slope = (8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * step)
    return slope, values.max(axis=0) - values.min(axis=0)


def rounding(magnitude: Any, epsilon: float) -> Any:
    """Return the error that rounding makes in a difference of values of that magnitude."""
    return 8 * epsilon * magnitude / _step(epsilon)


def tolerance(size: Any, epsilon: float) -> Any:
    """Return by how much a difference may miss a derivative of that size."""
    return TOLERANCE * np.sqrt(epsilon) * size


def _step(epsilon: float) -> float:
    return float(2.0 ** np.round(np.log2(epsilon) / 5))
