"""What rounding may come to in one element of a Jacobian that two ways answer differently."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.derived import GradientOf
from gradfuzz.errors import ForwardError
from gradfuzz.graph import Array
from gradfuzz.noise import UNITS as NOISE
from gradfuzz.noise import Noise
from gradfuzz.numeric.apart import DRAWS, MARGIN, UNITS, wander
from gradfuzz.numeric.judge import unit_inside
from gradfuzz.numeric.screen import tangents as random_tangents
from gradfuzz.oracles.ways import REVERSE, Answer, Way
from gradfuzz.subject import Subject

# Rounding that noise does not reach, inside of ops, shows at so many points nearby, ...
JITTER = 6
# ... at this power of the rounding unit away, for elements of size 1, ...
NEAR = 0.4
# ... if it is no more than this power of it, or what an exponential of the leaves loses by it.
PLAUSIBLE = 0.5


@dataclass(frozen=True, eq=False)
class Rounding:
    """The product ⟨weights, J tangents⟩ of `subject` as two ways have it.

    `epsilon` is the rounding unit of the less precise way, and `lower` says that it is lower than
    the other's.
    """

    ways: tuple[Way, Way]
    subject: Subject
    tangents: Sequence[Array]
    weights: Array
    epsilon: float
    lower: bool

    def moves(self, first: float, second: float) -> float:
        """Return how far rounding moves the answers: they may differ by `MARGIN` times that."""
        moved = max(map(self._wander, self.ways, (first, second)))
        if abs(first - second) <= MARGIN * moved:
            return moved
        inside = max(self._inside(), self._other_part())
        return max(self._erratic(first, second), inside, self._backward(first))

    def _wander(self, way: Way, value: float) -> float:
        """Return how far noise moves what a way answers; not at all where it is compiled."""

        def measure(noise: Noise) -> Array:
            subject = self.subject.derived(self.subject.program.noisy(noise))
            try:
                return np.array(way.at(subject)(self.tangents, self.weights).value)
            except GradientError as error:
                raise ForwardError("the derivative raised under noise") from error

        return float(wander(np.array(value), measure)[()])

    def _erratic(self, first: float, second: float) -> float:
        """Return how far the difference of the ways jumps from point to point close by.

        A wrong derivative is off by about the same at all of them, or at this one alone.
        """
        subject, epsilon = self.subject, self.epsilon
        plausible = max(epsilon**PLAUSIBLE, unit_inside(subject.primals, epsilon))
        most = plausible * max(1.0, abs(first), abs(second))
        # Digits that a lower precision loses are what is asked about.
        if self.lower or abs(first - second) > most:
            return 0.0
        rng, found = np.random.default_rng(5), []
        for _ in range(JITTER):
            pairs = zip(subject.primals, random_tangents(subject.primals, rng), strict=True)
            near = [(x + epsilon**NEAR * v).astype(x.dtype) for x, v in pairs]
            answers = self.answers_at(
                near, (float(rng.uniform(0.5, 1)), float(rng.uniform(0.5, 1)))
            )
            if answers is not None:
                found.append(answers[0].value - answers[1].value)
        apart = np.array(found)
        return float(np.ptp(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0

    def _inside(self) -> float:
        """Return what rounding inside of functions may come to, whose tensors no noise moves.

        It is measured by the row of the Jacobian, and where both ways have one precision by the
        output, and by the first derivative that it is a second one of.
        """
        subject = self.subject
        if not subject.program.is_composed:
            return 0.0
        size = self.ways[0].at(subject)(subject.tangents, self.weights).size
        if not self.lower:
            size = max(
                size, float(np.abs(subject.outputs[self.weights != 0]).max()), self._first_order()
            )
        return UNITS / MARGIN * self.epsilon * size

    def _other_part(self) -> float:
        """Return what rounding of a complex number, by its modulus, may come to in one part."""
        weights = np.zeros_like(self.weights)
        for row in np.flatnonzero(self.weights).tolist():
            weights[self.subject.other_part(row)] = self.weights[row]
        if np.array_equal(weights, self.weights):
            return 0.0
        other = self.ways[0].at(self.subject)(self.tangents, weights).value
        return UNITS / MARGIN * self.epsilon * abs(other)

    def _first_order(self) -> float:
        """Return the size of the first derivative of which this is a second one, 0 for none."""
        program = self.subject.program
        if not isinstance(program, GradientOf):
            return 0.0
        first = self.subject.derived(program.program)
        weights = np.abs(first.weights).max(initial=0.0) * np.sign(first.weights)
        return abs(REVERSE.at(first)(self.tangents, weights).value)

    def _backward(self, first: float) -> float:
        """Return how far the first way moves when the leaves do as a stable solver moves them.

        What it returns in the lower precision is right for a matrix that differs by a few
        rounding units of its largest element.
        """
        if not self.lower:
            return 0.0
        rng, found, unit = np.random.default_rng(6), [0.0], NOISE * self.epsilon
        for _ in range(DRAWS):
            near = [
                x + unit * np.abs(x).max(initial=0.0) * rng.uniform(-1, 1, x.shape)
                for x in self.subject.primals
            ]
            try:
                there = self.ways[0].at(self.subject.moved(near))
                found.append(abs(there(self.tangents, self.weights).value - first))
            except (GradientError, ForwardError):
                continue
        return float(np.max([each for each in found if np.isfinite(each)]))

    def answers_at(
        self, primals: Sequence[Array], factors: tuple[float, float] = (1.0, 1.0)
    ) -> tuple[Answer, Answer] | None:
        """Return what the ways say at another point, None where one says nothing there.

        They are asked with the tangents and the cotangent times `factors`, which round otherwise.
        """
        tangents, weights = [factors[0] * v for v in self.tangents], factors[1] * self.weights
        try:
            subject = self.subject.moved(primals)
            answers = [way.at(subject)(tangents, weights) for way in self.ways]
        except (GradientError, ForwardError):
            return None
        scale = factors[0] * factors[1]
        first, second = (replace(x, value=x.value / scale, size=x.size / scale) for x in answers)
        return first, second
