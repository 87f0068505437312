"""Ridders' method: difference quotients on shrinking steps, extrapolated to step 0.

Source: C. J. F. Ridders, Accurate computation of F'(x) and F'(x)F''(x), Advances in
Engineering Software 4 (1982).  The error is judged by how entries of the table differ from
their parents.  Measured on smooth ops, ten times that covers nine errors in ten, so that
this is never the only witness.
"""

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.numeric.estimate import EPS, SAFETY, Estimate

FIRST_STEP = 2.0**-2
COUNT = 10

STEPS: Array = FIRST_STEP * 2.0 ** -np.arange(COUNT)


def central(ahead: Array, behind: Array) -> Estimate:
    """Return the derivative from values at `STEPS` and `-STEPS`, each of shape (COUNT, m).

    Its error is even in the step, so each column of the table gains two orders.
    """
    quotients = (ahead - behind) / (2 * STEPS[:, None])
    magnitude = np.maximum(np.abs(ahead[-1]), np.abs(behind[-1]))
    return _extrapolate(quotients, magnitude, orders_per_column=2)


def one_sided(values: Array, base: Array) -> Estimate:
    """Return the slope from `base`, (m,), towards values at `STEPS` (or `-STEPS`: its negative).

    Its error has every power of the step, so each column of the table gains one order.
    """
    quotients = (values - base) / STEPS[:, None]
    magnitude = np.maximum(np.abs(values[-1]), np.abs(base))
    return _extrapolate(quotients, magnitude, orders_per_column=1)


def _extrapolate(quotients: Array, magnitude: Array, *, orders_per_column: int) -> Estimate:
    """Extrapolate to step 0 and keep, function by function, the entry nearest to its parents.

    The first two columns are no candidates: two quotients may be equal by chance.
    """
    column = quotients
    values, errors = [], []
    for order in range(1, COUNT):
        gain = 2.0 ** (orders_per_column * order) - 1
        extrapolated = column[1:] + (column[1:] - column[:-1]) / gain
        spread = np.maximum(np.abs(extrapolated - column[1:]), np.abs(extrapolated - column[:-1]))
        if order > 1:
            values.append(extrapolated)
            errors.append(SAFETY * spread + 4 * EPS * magnitude / STEPS[order:, None])
        column = extrapolated
    return Estimate.bounded(np.concatenate(values), np.concatenate(errors)).best()
