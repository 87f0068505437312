"""Compare analytic derivatives with measured slopes, element by element.

At a smooth point the analytic value must be the derivative within its bound.  At a kink it
must lie within the slopes of the two sides (a Clarke subgradient).  At the edge of the
function's domain it must be the slope of the only side, which may be infinite.  At a jump it
may be anything that the jump explains, and nothing else is said.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.numeric.slopes import Slopes

# Below this a value is nothing, whatever memory held it.
NOTHING = 1e-200
# An analytic value has rounding errors of its own: this relative error is none, ...
ANALYTIC_NOISE = 1e-9
# ... and so are this many rounding units of the function's scale.
ROUNDING_UNITS = 256.0
# Where those make up this part of the scale, agreement says nothing: half precision.
BLUNT = 1 / 8


@dataclass(frozen=True, eq=False)
class Judgement:
    """The outcome for each of m elements.

    `low` and `high` bound the true derivative, by the errors of the estimates.  `agree` and
    `disagree` are both false where nothing can be said; `smooth` is true where the derivative
    exists, `kink` where the two sides have different slopes, `singular` where there is a jump
    or an infinite slope.
    """

    agree: Array
    disagree: Array
    singular: Array
    low: Array
    high: Array
    smooth: Array
    kink: Array


def judge(analytic: Array, slopes: Slopes, epsilon: float) -> Judgement:
    """Judge `analytic`, of shape (m,), against `slopes` for functions of that rounding unit."""
    with np.errstate(all="ignore"):
        jump = (slopes.jump_right != 0) | (slopes.jump_left != 0)
        # Differences around the point do not see that its own value is another.
        smooth = slopes.conclusive(slopes.centre, epsilon) & ~jump
        right = slopes.conclusive(slopes.right, epsilon)
        left = slopes.conclusive(slopes.left, epsilon)
        low, high = _range(slopes, smooth, right, left)
        margin = _margin(analytic, slopes, low, high, epsilon)
        known = smooth | right | left
        inside = known & (analytic >= low - margin) & (analytic <= high + margin)
        inside |= (slopes.infinite != 0) & (analytic == slopes.infinite)
        sided = ~smooth & right & left & ~jump
        boundary = ~smooth & (right ^ left) & ~jump & _one_side_is_nothing(slopes, right)
        decided = smooth | sided | boundary
        sharp = ROUNDING_UNITS * epsilon < BLUNT
        agree = sharp & inside & (decided | (right & left) | (slopes.infinite != 0))
        outside = ~((analytic >= low - 3 * margin) & (analytic <= high + 3 * margin))
        kink = sided & (high - low > 8 * margin)
    singular = ~smooth & (jump | (slopes.infinite != 0))
    return Judgement(agree, decided & outside, singular, low, high, smooth, kink)


def _range(slopes: Slopes, smooth: Array, right: Array, left: Array) -> tuple[Array, Array]:
    """Return the least and greatest value that the derivative may have, errors included."""
    chosen = (
        (slopes.centre, smooth),
        (slopes.right, ~smooth & right),
        (slopes.left, ~smooth & left),
    )
    lows = [np.where(used, e.value - e.error, np.inf) for e, used in chosen]
    highs = [np.where(used, e.value + e.error, -np.inf) for e, used in chosen]
    rising = (slopes.jump_right > 0) | (slopes.jump_left > 0)
    falling = (slopes.jump_right < 0) | (slopes.jump_left < 0)
    low = np.where(~smooth & falling, -np.inf, np.minimum.reduce(lows))
    high = np.where(~smooth & rising, np.inf, np.maximum.reduce(highs))
    return low, high


def _margin(analytic: Array, slopes: Slopes, low: Array, high: Array, epsilon: float) -> Array:
    """Return the rounding error that the analytic value may have of its own."""
    bounds = [np.where(np.isfinite(x), np.abs(x), 0.0) for x in (analytic, low, high)]
    largest = np.maximum.reduce(bounds)
    margin: Array = NOTHING + ANALYTIC_NOISE * largest + ROUNDING_UNITS * epsilon * slopes.scale
    return margin


def _one_side_is_nothing(slopes: Slopes, right: Array) -> Array:
    """Return where the other side has no values at all, rather than values that puzzle."""
    other = np.where(right, slopes.left.error, slopes.right.error)
    missing = np.where(right, slopes.missing_left, slopes.missing_right)
    nothing: Array = np.isinf(other) & missing
    return nothing


def unit_inside(primals: Iterable[Array], epsilon: float) -> float:
    """Return the rounding unit of numbers of the size of the primals, or of 1."""
    return epsilon * max([1.0, *(float(np.abs(x).max(initial=0.0)) for x in primals)])
