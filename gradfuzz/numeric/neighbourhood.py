"""Whether a disagreement at a point is explained by smooth pieces that meet there.

Where several pieces meet, TensorFlow may return the derivative of any of them, and the
slopes along one axis need not show them all: the second largest of three equal numbers does
not move with any one of them.  Every piece shows at random points nearby.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradfuzz.finding import AGREED, Outcome, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.judge import NOTHING
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.screen import scale_of, tangents

# So many points tell whether pieces meet, ...
POINTS = 8
# ... and so many show them: at a tie of four there are 24 orders.
MANY_POINTS = 192
# More pieces than this are no pieces but a continuum, of which the points show only a part.
MOST_PIECES = 32
# A piece meets the point if its value comes at least twice as near from so much farther away.
FARTHER = 16
# What changes by less than this part of it does not jump.
ROUNDING = 1e-12


def explanation(
    line: Line, analytic: float, low: float, high: float, epsilon: float, *, kink: bool
) -> Outcome | None:
    """Return agreement if `analytic` is the derivative of a piece that meets the point of `line`.

    `line` has one output, whose derivative along the tangents lies in [low, high] at the
    point itself; `kink` says that pieces are known to meet there.  Returns None where they
    do not explain the value, and cannot tell where it might be one of a continuum.
    """
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        gap = max(low - analytic, analytic - high)
        if not kink and not _pieces_meet(line, gap, epsilon):
            return None
        pieces = _slopes_nearby(line, epsilon**0.3, MANY_POINTS, rng, meeting=True)
    if not pieces.size:
        return None
    least, most = min(low, pieces.min()), max(high, pieces.max())
    beyond = max(least - analytic, analytic - most) / max(most - least, NOTHING)
    if beyond <= 0.1:
        return AGREED
    continuum = len(np.unique(np.round((pieces - least) / gap, 4))) > MOST_PIECES
    return inconclusive("a continuum of pieces meets here") if continuum and beyond < 1 else None


def _pieces_meet(line: Line, gap: float, epsilon: float) -> bool:
    """Return whether slopes nearby stay apart however near they are.

    Those along a direction that moves everything differ from piece to piece.  Where the
    function is smooth they come together.  None is far enough to matter where none is a
    sixteenth of the gap from another.
    """
    across = _across(line)

    def spread(distance: float) -> float:
        # In the same directions from the point at each distance: slopes can be far apart by chance.
        found = _slopes_nearby(across, distance, POINTS, np.random.default_rng(1))
        return float(np.ptp(found)) if found.size else 0.0

    wide = spread(epsilon**0.2)
    return wide >= gap / 16 and spread(epsilon**0.3) > wide / 4


def _across(line: Line) -> Line:
    """Return a line that moves everything, in the unit of length of the line's own tangents."""
    pairs = zip(line.tangents, line.primals, strict=True)
    unit = max(float(np.max(np.abs(v) / scale_of(x), initial=0.0)) for v, x in pairs)
    offsets = tangents(line.primals, np.random.default_rng(0))
    return replace(line, tangents=[unit * v for v in offsets])


def _slopes_nearby(
    line: Line, distance: float, count: int, rng: np.random.Generator, *, meeting: bool = False
) -> Array:
    """Return the derivative along the line's tangents at points around its own, in shape (n,).

    `meeting` leaves out those of pieces that do not meet the point: what jumps on the way to it.
    """
    found = []
    base = float(line.at(0.0)[0])
    for _ in range(count):
        offsets = tangents(line.primals, rng)

        def at(distance: float, step: float, offsets: Sequence[Array] = offsets) -> float:
            pairs = zip(line.primals, offsets, strict=True)
            moved = [(x + distance * v).astype(x.dtype) for x, v in pairs]
            return float(replace(line, primals=moved).at(step)[0])

        step = distance / 8
        behind, ahead = at(distance, -step), at(distance, step)
        jump = abs((behind + ahead) / 2 - base) - ROUNDING * abs(base)
        if not meeting or jump <= abs(at(FARTHER * distance, 0.0) - base) / 2:
            found.append((ahead - behind) / (2 * step))
    slopes: Array = np.array(found)
    finite: Array = slopes[np.isfinite(slopes)]
    return finite
