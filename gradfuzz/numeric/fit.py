"""A polynomial fitted to more points than it needs: the second, independent method.

What the polynomial cannot follow (rounding noise, a kink, a jump, a pole) shows up in the
residual, and the residual bounds the error of the slope.
"""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from gradfuzz.graph import Array
from gradfuzz.numeric.estimate import EPS, SAFETY, Estimate

POINTS = 16
DEGREE = 9
SIDE_DEGREE = 5

# Chebyshev nodes of [-1, 1], rising; the upper half serves the right-hand side.
NODES: Array = -np.cos((2 * np.arange(POINTS) + 1) * np.pi / (2 * POINTS))
SIDE = POINTS // 2


@dataclass(frozen=True, eq=False)
class Rule:
    """Least squares on fixed nodes, as weights: slope and value at 0, and the residual.

    `slope` and `value` have shape (n,) for n nodes, `residual` (n, n).
    """

    slope: Array
    value: Array
    residual: Array
    freedom: int

    @classmethod
    def of(cls, nodes: Array, degree: int) -> "Rule":
        """Return the rule of polynomials of `degree` on `nodes` in [-1, 1]."""
        basis = chebyshev.chebvander(nodes, degree)
        solve = np.linalg.pinv(basis)
        units = np.eye(degree + 1)
        at_zero = np.array([chebyshev.chebval(0.0, unit) for unit in units])
        slope_at_zero = np.array([chebyshev.chebval(0.0, chebyshev.chebder(u)) for u in units])
        residual = np.eye(len(nodes)) - basis @ solve
        return cls(slope_at_zero @ solve, at_zero @ solve, residual, len(nodes) - degree - 1)

    def apply(self, weights: Array, samples: Array, coarse: Array, unit: float) -> Estimate:
        """Return `weights` applied to `samples`, (n, m), divided by `unit`.

        The bound adds what the residual explains, the distance to a `coarse` rule of lower
        degree, and rounding.
        """
        found = weights @ samples
        noise = np.sqrt((np.square(self.residual @ samples)).sum(axis=0) / self.freedom)
        rounding = 4 * EPS * np.abs(samples).max(axis=0)
        spread = np.linalg.norm(weights) * noise + np.abs(weights).sum() * rounding
        error = SAFETY * spread + np.abs(found - coarse @ samples)
        return Estimate.bounded(found / unit, error / unit)


_BOTH = Rule.of(NODES, DEGREE)
_BOTH_COARSE = Rule.of(NODES, DEGREE - 2)
_RIGHT = Rule.of(NODES[SIDE:], SIDE_DEGREE)
_RIGHT_COARSE = Rule.of(NODES[SIDE:], SIDE_DEGREE - 1)


def central(samples: Array, width: float) -> Estimate:
    """Return the derivative at 0 from samples at `width * NODES`, of shape (POINTS, m)."""
    return _BOTH.apply(_BOTH.slope, samples, _BOTH_COARSE.slope, width)


def right(samples: Array, width: float) -> tuple[Estimate, Estimate]:
    """Return the slope at 0 and the limit there, from the upper half of the samples."""
    upper = samples[SIDE:]
    slope = _RIGHT.apply(_RIGHT.slope, upper, _RIGHT_COARSE.slope, width)
    return slope, _RIGHT.apply(_RIGHT.value, upper, _RIGHT_COARSE.value, 1.0)


def left(samples: Array, width: float) -> tuple[Estimate, Estimate]:
    """Return the slope at 0 and the limit there, from the lower half of the samples."""
    slope, limit = right(samples[::-1], width)
    return Estimate(-slope.value, slope.error), limit
