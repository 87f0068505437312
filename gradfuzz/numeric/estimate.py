"""A numeric derivative and a bound on its error."""

from dataclasses import dataclass

import numpy as np

from gradfuzz.graph import Array

# The rounding unit in which samples are taken, and how many times what an estimate knows of its
# own error makes a bound.
EPS = 2.0**-52
SAFETY = 10.0


@dataclass(frozen=True, eq=False)
class Estimate:
    """Derivatives of some functions of one variable, with a bound on each one's error.

    `value` and `error` have shape (m,) for m functions.  An infinite error says that nothing
    is known.
    """

    value: Array
    error: Array

    def best(self) -> "Estimate":
        """Return, for each function, the one of several estimates with the smallest bound.

        Here `value` and `error` have shape (n, m): n estimates of each.
        """
        pick = self.error.argmin(axis=0)[None]
        take = np.take_along_axis
        return Estimate(take(self.value, pick, 0)[0], take(self.error, pick, 0)[0])

    @classmethod
    def bounded(cls, value: Array, error: Array) -> "Estimate":
        """Return an estimate in which whatever is not a number is not known."""
        known = np.isfinite(value) & np.isfinite(error)
        return cls(np.where(known, value, 0.0), np.where(known, error, np.inf))


def better(first: Estimate, second: Estimate) -> Estimate:
    """Return, function by function, the estimate with the smaller bound."""
    pick = second.error < first.error
    return Estimate(
        np.where(pick, second.value, first.value), np.where(pick, second.error, first.error)
    )


def agreed(first: Estimate, second: Estimate) -> Estimate:
    """Return what two independent methods say together: unknown where their bounds are apart.

    The error is the larger of the two: one method that converges is no witness by itself.
    """
    together = np.abs(first.value - second.value) <= first.error + second.error
    error = np.maximum(first.error, second.error)
    best = better(first, second)
    return Estimate(best.value, np.where(together, error, np.inf))
