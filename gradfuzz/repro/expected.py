"""What the derivative that a script takes should be, and how near to it is near enough."""

import numpy as np

from gradfuzz.dtypes import EPSILON
from gradfuzz.finding import Evidence
from gradfuzz.graph import Array
from gradfuzz.numeric.screen import scale_of
from gradfuzz.realview import real_view
from gradfuzz.runtime import tf

# By how much an observed value may miss the bounds of the true one, relative to it: a quarter
# of what it was off by when it was found, and no more than this.
SLACK = {"float64": 1e-6, "float32": 1e-3, "bfloat16": 1e-1, "float16": 1e-2}


def _slack(evidence: Evidence, leaf: Array) -> float:
    """Return by how much an observed value may miss the bounds of the true one."""
    low, high = evidence.low or 0.0, evidence.high or 0.0
    bound = SLACK[leaf.dtype.name] * max(1.0, abs(low), abs(high))
    if evidence.analytic is None or not np.isfinite(evidence.analytic) or evidence.is_allowed:
        return bound
    return min(bound, max(low - evidence.analytic, evidence.analytic - high) / 4)


def expected(evidence: Evidence) -> str:
    """Return what the derivative should be."""
    low, high = evidence.low or 0.0, evidence.high or 0.0
    if evidence.kink:
        return f"within the one-sided slopes {low:.10g} and {high:.10g}"
    if low == high:
        return repr(float(low))
    return f"{(low + high) / 2:.10g} ± {(high - low) / 2:.1g}"


def step_of(leaf: Array, element: int) -> float:
    """Return a step of that element, which differences converge on."""
    epsilon = EPSILON[tf.float64 if leaf.dtype == np.float64 else tf.float32]
    return float(scale_of(real_view(leaf)).flat[element] * 2.0 ** round(np.log2(epsilon) / 3))


def allowed(evidence: Evidence, leaf: Array) -> tuple[float, float]:
    """Return within what an observed value is right, to as many digits as matter."""
    room = _slack(evidence, leaf)
    low, high = float((evidence.low or 0.0) - room), float((evidence.high or 0.0) + room)
    if not 0 < room < np.inf:
        return low, high
    digits = 2 - int(np.floor(np.log10(room)))
    return round(low, digits), round(high, digits)
