"""The slopes of a function at a point, from both sides, each by two methods."""

from dataclasses import dataclass

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.numeric import fit, ridders
from gradfuzz.numeric.estimate import Estimate, agreed, better
from gradfuzz.numeric.line import Line

# Half-widths of the fitted intervals, in the order they are tried.
WIDTHS = (2.0**-6, 2.0**-3, 2.0**-11)

# Quotients of an infinite slope grow by at least so much each time the step is halved (those of
# sqrt by 1.4), in so many last steps.
LEAST_GROWTH = 1.1
GROWING = 5

# An estimate is conclusive at this many of the function's own units, see `scale`; a less
# precise function has the square root of its rounding unit instead.
RESOLUTION = 1e-6


@dataclass(frozen=True, eq=False)
class Slopes:
    """What is known of the derivatives at 0 of m functions of one variable.

    `centre`, `right` and `left` are what two methods agree on.  `jump_right` is the sign of
    the step from the value at 0 to the limit on the right, 0 where there is none; `jump_left`
    the sign of the step from the limit on the left to the value.  `missing_right` and
    `missing_left` say where that side has no finite value at all.  `infinite` is the slope
    where quotients grow without end, 0 elsewhere; `rise` the steepness over a longer step.
    """

    base: Array
    centre: Estimate
    right: Estimate
    left: Estimate
    jump_right: Array
    jump_left: Array
    missing_right: Array
    missing_left: Array
    infinite: Array
    rise: Array

    @property
    def scale(self) -> Array:
        """The size of changes that matter: the largest of value, slopes and rise."""
        estimates = (self.centre, self.right, self.left)
        known = [np.abs(e.value[np.isfinite(e.error)]) for e in estimates]
        steepest = np.concatenate(known).max(initial=0.0)
        size: Array = np.maximum(np.maximum(np.abs(self.base), self.rise), steepest)
        return size

    def conclusive(self, estimate: Estimate, epsilon: float) -> Array:
        """Return where `estimate` is sharp enough to be believed, for this rounding unit."""
        with np.errstate(invalid="ignore"):
            sharp: Array = estimate.error <= max(RESOLUTION, np.sqrt(epsilon)) * self.scale
        return sharp


def slopes(line: Line, epsilon: float) -> Slopes:
    """Measure the slopes of `line` at 0.

    Takes 37 evaluations where the first fit tells all, 16 more for each other width: 69 at most.
    """
    with np.errstate(all="ignore"):
        base = line.at(0.0)
        ahead, behind = line.sample(ridders.STEPS), line.sample(-ridders.STEPS)
        fitted: _Fitted | None = None
        for width in WIDTHS:
            fitted = _better(fitted, _fits(line.sample(width * fit.NODES), width))
            found = _together(base, ahead, behind, fitted)
            if found.conclusive(found.centre, epsilon).all():
                break
        return found


@dataclass(frozen=True, eq=False)
class _Fitted:
    centre: Estimate
    right: Estimate
    left: Estimate
    right_limit: Estimate
    left_limit: Estimate


def _tables(base: Array, ahead: Array, behind: Array) -> tuple[Estimate, Estimate, Estimate]:
    backward = ridders.one_sided(behind, base)
    return (
        ridders.central(ahead, behind),
        ridders.one_sided(ahead, base),
        Estimate(-backward.value, backward.error),
    )


def _fits(values: Array, width: float) -> _Fitted:
    right, right_limit = fit.right(values, width)
    left, left_limit = fit.left(values, width)
    return _Fitted(fit.central(values, width), right, left, right_limit, left_limit)


def _better(first: _Fitted | None, second: _Fitted) -> _Fitted:
    if first is None:
        return second
    return _Fitted(
        *(
            better(getattr(first, name), getattr(second, name))
            for name in ("centre", "right", "left", "right_limit", "left_limit")
        )
    )


def _together(base: Array, ahead: Array, behind: Array, fitted: _Fitted) -> Slopes:
    centre, right, left = _tables(base, ahead, behind)
    jump_right = _jump(fitted.right_limit, base)
    jump_left = -_jump(fitted.left_limit, base)
    return Slopes(
        base,
        agreed(centre, fitted.centre),
        _side(right, fitted.right, jump_right),
        _side(left, fitted.left, jump_left),
        jump_right,
        jump_left,
        _missing(ahead),
        _missing(behind),
        _infinite(ahead - base) + _infinite(base - behind),
        _rise(ahead, behind, base),
    )


def _rise(ahead: Array, behind: Array, base: Array) -> Array:
    """Return how steeply each function rises over a step of medium length."""
    middle = ridders.COUNT // 2
    rises = np.abs(np.stack([ahead[middle] - base, behind[middle] - base]))
    finite: Array = np.where(np.isfinite(rises), rises, 0.0) / ridders.STEPS[middle]
    return np.asarray(finite.max(axis=0))


def _missing(values: Array) -> Array:
    return np.asarray((~np.isfinite(values)).all(axis=0))


def _infinite(rises: Array) -> Array:
    """Return the infinity that `rises` over shrinking steps head for, 0 where they head for none.

    They do where each quotient is larger than the one before it, by no less as they go on.
    """
    quotients = rises / ridders.STEPS[:, None]
    growth = (quotients[1:] / quotients[:-1])[-GROWING:]
    endless = (growth > LEAST_GROWTH).all(axis=0) & (growth[-1] > growth[0] - 0.01)
    still = np.abs(rises[-1]) < np.abs(rises[0])
    return np.where(endless & still, np.sign(quotients[-1]) * np.inf, 0.0)


def _jump(limit: Estimate, base: Array) -> Array:
    """Return the sign of the step from `base` to `limit`, 0 where there is none to be seen."""
    step = limit.value - base
    certain = np.isfinite(limit.error) & (np.abs(step) > 3 * limit.error + 1e-9 * np.abs(base))
    return np.where(certain, np.sign(step), 0.0)


def _side(table: Estimate, fitted: Estimate, jump: Array) -> Estimate:
    """Return the slope on one side: beyond a jump only the fit, which leaves out the point."""
    both = agreed(table, fitted)
    return Estimate(
        np.where(jump != 0, fitted.value, both.value),
        np.where(jump != 0, fitted.error, both.error),
    )
