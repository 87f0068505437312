"""The estimates of derivatives cover the true ones, and know when they don't know."""

import mpmath
import numpy as np
import pytest

from gradfuzz.numeric import fit, ridders
from gradfuzz.numeric.estimate import Estimate, agreed

# Smooth functions, in NumPy and in mpmath, each at points on either side of its curvature.
SMOOTH = {
    "exp": (np.exp, mpmath.exp, (-3.0, 0.0, 2.5)),
    "sin": (np.sin, mpmath.sin, (0.1, 1.5, 3.0)),
    "tanh": (np.tanh, mpmath.tanh, (0.0, 0.7, -2.0)),
    "log": (np.log, mpmath.log, (0.75, 2.0, 1e3)),
    "sqrt": (np.sqrt, mpmath.sqrt, (0.5, 4.0)),
    "reciprocal": (lambda x: 1 / x, lambda x: 1 / x, (0.5, -3.0)),
    "arctan": (np.arctan, mpmath.atan, (0.0, 1.0)),
    "cube": (lambda x: x**3, lambda x: x**3, (0.0, -1.25, 50.0)),
    "sinc-like": (lambda x: np.sin(5 * x) / x, lambda x: mpmath.sin(5 * x) / x, (1.0, 2.0)),
    "expm1 of square": (lambda x: np.expm1(x * x), lambda x: mpmath.expm1(x * x), (0.3, 1.0)),
    "log1p": (np.log1p, mpmath.log1p, (0.0, 5.0)),
    "runge": (lambda x: 1 / (1 + 25 * x**2), lambda x: 1 / (1 + 25 * x**2), (0.5, 1.0)),
}
POINTS = [(name, x) for name, (_, _, points) in SMOOTH.items() for x in points]


def on_steps(f, x, steps):
    with np.errstate(all="ignore"):
        return f(x + steps)[:, None]


def true_slope(name, x):
    with mpmath.workdps(50):
        return float(mpmath.diff(SMOOTH[name][1], mpmath.mpf(x)))


def estimates(f, x):
    scale = abs(x) or 1.0

    def scaled(t):
        return f(x + scale * t)

    table = ridders.central(
        on_steps(scaled, 0.0, ridders.STEPS), on_steps(scaled, 0.0, -ridders.STEPS)
    )
    widths = (2.0**-6, 2.0**-11)
    fits = [fit.central(on_steps(scaled, 0.0, w * fit.NODES), w) for w in widths]
    best = min(fits, key=lambda e: e.error[0])
    return [Estimate(e.value / scale, e.error / scale) for e in (table, best)]


@pytest.mark.parametrize(("name", "x"), POINTS)
def test_both_methods_cover_the_true_derivative(name, x):
    for estimate in estimates(SMOOTH[name][0], x):
        assert abs(estimate.value[0] - true_slope(name, x)) <= estimate.error[0]


@pytest.mark.parametrize(("name", "x"), POINTS)
def test_both_methods_are_sharp(name, x):
    unit = abs(x) or 1.0
    scale = abs(true_slope(name, x)) + abs(float(SMOOTH[name][0](x + unit / 8))) / unit
    for estimate in estimates(SMOOTH[name][0], x):
        assert estimate.error[0] <= 1e-7 * scale


@pytest.mark.parametrize("f", [np.abs, lambda t: np.maximum(t, 0), np.sign, np.cbrt, np.floor])
def test_no_two_methods_converge_where_there_is_no_derivative(f):
    with np.errstate(all="ignore"):
        table, fitted = estimates(f, 0.0)
    together = agreed(table, fitted)
    assert not together.error[0] <= 1e-6


def test_one_sided_slopes_of_a_kink_are_told_apart():
    def bent(t):
        return np.where(t > 0, np.exp(t) - 1, -2 * np.sin(t))

    base = np.zeros(1)
    right = ridders.one_sided(on_steps(bent, 0.0, ridders.STEPS), base)
    left = ridders.one_sided(on_steps(bent, 0.0, -ridders.STEPS), base)
    assert right.value[0] == pytest.approx(1, abs=max(right.error[0], 1e-12))
    assert -left.value[0] == pytest.approx(-2, abs=max(left.error[0], 1e-12))
    samples = on_steps(bent, 0.0, 2.0**-6 * fit.NODES)
    for (slope, limit), true in (
        (fit.right(samples, 2.0**-6), 1),
        (fit.left(samples, 2.0**-6), -2),
    ):
        assert abs(slope.value[0] - true) <= slope.error[0] <= 1e-6
        assert abs(limit.value[0]) <= limit.error[0]


def test_rounding_noise_widens_the_bound():
    rng = np.random.default_rng(1)

    def noisy(t):
        return np.exp(t) * (1 + 1e-7 * rng.standard_normal(np.shape(t)))

    for estimate in estimates(noisy, 0.0):
        assert abs(estimate.value[0] - 1) <= estimate.error[0]
        assert estimate.error[0] > 1e-7


def test_values_that_are_missing_on_long_steps_do_not_hide_the_short_ones():
    (table, _) = estimates(lambda t: np.where(t < 0.2, np.exp(t), np.nan), 0.0)
    assert abs(table.value[0] - 1) <= table.error[0] <= 1e-8


def test_a_fit_is_exact_on_polynomials_of_its_degree():
    def polynomial(t):
        return 1 + 2 * t - 3 * t**2 + t**7

    estimate = fit.central(on_steps(polynomial, 0.0, 0.5 * fit.NODES), 0.5)
    assert abs(estimate.value[0] - 2) <= estimate.error[0] <= 1e-10
