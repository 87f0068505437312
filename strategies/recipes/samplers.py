"""Samplers, whose gradient is declared to be that of the quantile function: implicit
reparametrisation.

A sample is held at its place in the distribution while the parameters move; the sampler itself may
jump from one attempt to the next.  So each recipe is told the parameters `at` which it stands,
and its reference is the quantile function at the place that the sample has there.

Source: tensorflow/python/ops/random_grad.py, and Figurnov, Mohamed and Mnih, Implicit
Reparameterization Gradients (2018).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types
Sampler = Callable[[Tensor, Tensor], Tensor]

SEED = (1, 2)
NEWTON_STEPS = 24


def _stateful(shape: Tensor, alpha: Tensor) -> Tensor:
    # The state of the sampler is in the kernel, of which TensorFlow then makes a new one.
    tf.random.set_seed(SEED[0])
    return raw.RandomGamma(shape=shape, alpha=alpha, seed=SEED[0], seed2=SEED[1])


def _stateless_v2(shape: Tensor, alpha: Tensor) -> Tensor:
    return raw.StatelessRandomGammaV2(shape=_whole(shape, alpha), seed=SEED, alpha=alpha)


def _stateless_v3(shape: Tensor, alpha: Tensor) -> Tensor:
    key, counter = tf.constant([1], tf.uint64), tf.constant([0, 0], tf.uint64)
    return raw.StatelessRandomGammaV3(
        shape=_whole(shape, alpha), key=key, counter=counter, alg=1, alpha=alpha
    )


def _whole(shape: Tensor, parameter: Tensor) -> Tensor:
    """Return the shape of all samples, of which each parameter has so many."""
    return tf.concat([shape, tf.shape(parameter)], 0)


def gamma(op: str, sampler: Sampler) -> Recipe:
    """Return the recipe of a sampler of the gamma distribution, which is one op."""

    def sample(shape: Tensor, alpha: Tensor, at: Tensor) -> Tensor:
        return sampler(shape, alpha)

    def quantile(shape: Tensor, alpha: Tensor, at: Tensor) -> Tensor:
        return _gamma_quantile(alpha, at, sampler(shape, at))

    return Recipe(sample, op, quantile)


def _gamma_quantile(alpha: Tensor, at: Tensor, sample: Tensor) -> Tensor:
    """Return what lies in the distribution of `alpha` where `sample` lies in that of `at`.

    Newton's method on the tail that is the smaller one, which has more digits.  It starts near:
    a hundred standard deviations away there is no density to divide by.
    """
    below = tf.math.igamma(at, sample) < 0.5
    wanted = tf.where(below, tf.math.igamma(at, sample), tf.math.igammac(at, sample))

    found = sample * (alpha / at)
    for _ in range(NEWTON_STEPS):
        density = tf.exp((alpha - 1) * tf.math.log(found) - found - tf.math.lgamma(alpha))
        too_far = tf.where(
            below, tf.math.igamma(alpha, found) - wanted, wanted - tf.math.igammac(alpha, found)
        )
        last, found = found, tf.clip_by_value(found - too_far / density, found / 2, 2 * found)
        # The digits double with each step.
        if tf.executing_eagerly() and np.all(np.abs(found - last) <= 1e-9 * found):
            break
    return found


def truncated_normal(
    shape: Tensor,
    means: Tensor,
    stddevs: Tensor,
    minvals: Tensor,
    maxvals: Tensor,
    at: list[Tensor],
) -> Tensor:
    """Sample normal distributions that are cut off at both ends."""
    return raw.StatelessParameterizedTruncatedNormal(
        shape=_whole(shape, means),
        seed=SEED,
        means=means,
        stddevs=stddevs,
        minvals=minvals,
        maxvals=maxvals,
    )


def _truncated_quantile(
    shape: Tensor,
    means: Tensor,
    stddevs: Tensor,
    minvals: Tensor,
    maxvals: Tensor,
    at: list[Tensor],
) -> Tensor:
    mean, stddev, least, most = at
    sample = truncated_normal(shape, mean, stddev, least, most, at)
    low, high = _bounds(mean, stddev, least, most)
    place = (_normal((sample - mean) / stddev) - low) / (high - low)
    low, high = _bounds(means, stddevs, minvals, maxvals)
    return means + stddevs * tf.math.ndtri(low + place * (high - low))


def _bounds(
    means: Tensor, stddevs: Tensor, minvals: Tensor, maxvals: Tensor
) -> tuple[Tensor, Tensor]:
    return _normal((minvals - means) / stddevs), _normal((maxvals - means) / stddevs)


def _normal(x: Tensor) -> Tensor:
    """Return the cumulative distribution function of the standard normal distribution."""
    return tf.math.erfc(-x / tf.sqrt(tf.constant(2.0, x.dtype))) / 2


RECIPES = {
    "recipe.RandomGamma": gamma("RandomGamma", _stateful),
    "recipe.StatelessRandomGammaV2": gamma("StatelessRandomGammaV2", _stateless_v2),
    "recipe.StatelessRandomGammaV3": gamma("StatelessRandomGammaV3", _stateless_v3),
    "recipe.StatelessParameterizedTruncatedNormal": Recipe(
        truncated_normal, "StatelessParameterizedTruncatedNormal", _truncated_quantile
    ),
}
