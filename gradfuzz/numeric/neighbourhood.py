"""Whether a disagreement at a point is explained by smooth pieces that meet there.

Where several pieces meet, TensorFlow may return the derivative of any of them, and the
slopes along one axis need not show them all: the second largest of three equal numbers does
not move with any one of them.  Every piece shows at random points nearby.
"""

from dataclasses import replace

import numpy as np

from gradfuzz.finding import AGREED, Outcome, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.judge import NOTHING
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.screen import tangents

# So many points tell whether pieces meet, ...
POINTS = 8
# ... and so many show them: at a tie of four there are 24 orders.
MANY_POINTS = 192
# More pieces than this are no pieces but a continuum, of which the points show only a part.
MOST_PIECES = 32


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
        if not kink and not _pieces_meet(line, gap, epsilon, rng):
            return None
        pieces = _slopes_nearby(line, epsilon**0.3, MANY_POINTS, rng)
    least, most = min(low, pieces.min()), max(high, pieces.max())
    beyond = max(least - analytic, analytic - most) / max(most - least, NOTHING)
    if beyond <= 0.1:
        return AGREED
    continuum = len(np.unique(np.round((pieces - least) / gap, 4))) > MOST_PIECES
    return inconclusive("a continuum of pieces meets here") if continuum and beyond < 1 else None


def _pieces_meet(line: Line, gap: float, epsilon: float, rng: np.random.Generator) -> bool:
    """Return whether slopes nearby stay apart however near they are.

    Those along a direction that moves everything differ from piece to piece.  Where the
    function is smooth they come together.  None is far enough to matter where none is a
    sixteenth of the gap from another.
    """
    across = replace(line, tangents=tangents(line.primals, rng))
    wide = np.ptp(_slopes_nearby(across, epsilon**0.2, POINTS, rng))
    if wide < gap / 16:
        return False
    return bool(np.ptp(_slopes_nearby(across, epsilon**0.3, POINTS, rng)) > wide / 4)


def _slopes_nearby(line: Line, distance: float, count: int, rng: np.random.Generator) -> Array:
    """Return the derivative along the line's tangents at points around its own, in shape (n,)."""
    found = []
    for _ in range(count):
        offsets = tangents(line.primals, rng)
        pairs = zip(line.primals, offsets, strict=True)
        moved = [(x + distance * v).astype(x.dtype) for x, v in pairs]
        step = distance / 8
        behind, ahead = replace(line, primals=moved).sample(np.array([-step, step]))[:, 0]
        found.append((ahead - behind) / (2 * step))
    kept = np.array(found)
    return kept[np.isfinite(kept)] if np.isfinite(kept).any() else np.zeros(1)
