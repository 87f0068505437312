"""The ways to one derivative: each answers what ⟨u, J v⟩ is, for a cotangent u and a tangent v."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError, ShapeError
from gradfuzz.graph import Array
from gradfuzz.subject import Subject


@dataclass(frozen=True)
class Answer:
    """A value that is a sum of terms of magnitude `size` in all.

    `none` says that TensorFlow sees no connection at all, which counts as 0.
    """

    value: float
    size: float
    none: bool = False


# Takes tangents, one per leaf, and a flattened cotangent.  Raises `GradientError`.
Product = Callable[[Sequence[Array], Array], Answer]


@dataclass(frozen=True)
class Way:
    """A way, and what it is called.

    `at` returns the products at a subject's point.  Raises `GradientError` and `ForwardError`.
    """

    name: str
    at: Callable[[Subject], Product]


def _reverse(subject: Subject) -> Product:
    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        return inner(tangents, subject.pullback.pull(weights))

    return product


def _forward(subject: Subject) -> Product:
    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        pushed, lost = subject.pushed(tangents)
        found = inner([weights], [pushed])
        return Answer(found.value, found.size, none=bool(lost[weights != 0].all()))

    return product


def inner(seeds: Sequence[Array], derivatives: Sequence[Array | None]) -> Answer:
    """Return the inner product of seeds and derivatives, of which None is 0.

    What has the weight 0 counts for nothing, even where it is infinite.  Raises `GradientError`
    where a derivative has another shape than its seed.
    """
    terms = [np.zeros(0)]
    with np.errstate(all="ignore"):
        for seed, derivative in zip(seeds, derivatives, strict=True):
            if derivative is not None:
                if derivative.shape != seed.shape:
                    raise GradientError("shape") from ShapeError(
                        f"shape {derivative.shape}, should be {seed.shape}"
                    )
                moved = seed != 0
                terms.append(derivative[moved].astype(np.float64) * seed[moved])
        flat = np.concatenate(terms)
        none = all(d is None for d, seed in zip(derivatives, seeds, strict=True) if seed.any())
        return Answer(float(flat.sum()), float(np.abs(flat).sum()), none)


REVERSE = Way("reverse", _reverse)
FORWARD = Way("forward", _forward)
