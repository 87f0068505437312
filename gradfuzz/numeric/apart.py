"""Whether two values of one derivative differ by more than rounding explains."""

from collections.abc import Callable

import numpy as np

from gradfuzz.errors import ForwardError
from gradfuzz.graph import Array
from gradfuzz.noise import Noise

# Two ways to the same value may differ by so many rounding units of the terms they sum up, ...
UNITS = 256.0
# ... or by so many times what noise moves either by.
MARGIN = 32.0
# Noise is drawn so often.
DRAWS = 4
# Below this a value is nothing, whatever memory held it.
NOTHING = 1e-200

# Returns some values of a derivative as computed under noise.
Measure = Callable[[Noise], Array]


def apart(first: Array, second: Array, size: Array | float, epsilon: float) -> Array:
    """Return which of two sets of values, (n,), differ by more than a few rounding units.

    `size` is the magnitude of the terms that they are sums of.  NaN on both sides is agreement,
    and so is the same infinity.
    """
    with np.errstate(all="ignore"):
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        bound = UNITS * epsilon * np.maximum(np.abs(first), np.abs(second)) + NOTHING
        close = np.abs(first - second) <= bound + UNITS * epsilon * np.asarray(size)
    return np.asarray(~(same | close))


def wander(values: Array, measure: Measure) -> Array:
    """Return how far noise moves `values`, (n,), which `measure` takes; infinite where it fails.

    What is not finite is no distance: a NaN says nothing of rounding.
    """
    found = np.zeros(values.shape)
    with np.errstate(all="ignore"):
        for seed in range(DRAWS):
            try:
                distance = np.abs(measure(Noise(seed)) - values)
            except ForwardError:
                return np.full(values.shape, np.inf)
            found = np.maximum(found, np.where(np.isfinite(distance), distance, 0.0))
    return found
