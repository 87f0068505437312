"""Compare two ways to one derivative, and find the element in which they differ."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.derived import GradientOf
from gradfuzz.errors import ForwardError
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty, gap, inconclusive
from gradfuzz.graph import Array
from gradfuzz.noise import UNITS as NOISE
from gradfuzz.noise import Noise
from gradfuzz.numeric.apart import DRAWS, MARGIN, UNITS, apart, wander
from gradfuzz.numeric.screen import scale_of
from gradfuzz.numeric.screen import tangents as random_tangents
from gradfuzz.oracles.always import fault_of_raising, has_derivative, raised
from gradfuzz.oracles.difference import Difference
from gradfuzz.oracles.place import Place, along, only, places
from gradfuzz.oracles.search import wrong_ones
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way
from gradfuzz.subject import Subject

# So many elements, and outputs of each, are looked at where the ways differ.
MOST = 8
# Rounding that noise does not reach, inside of ops, shows at so many points nearby, ...
JITTER = 6
# ... at this power of the rounding unit away, for elements of size 1, ...
NEAR = 0.4
# ... if it is no more than this power of it.
ROUNDING = 0.5
# Rounding that moves a value by more than this part of it leaves nothing to compare.
BLIND = 1e-3


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two ways to the derivative of `subject`: `second` is under test, `first` is compared with.

    `first` must not raise.  `path` is what the bucket calls the second.  `coarsest` is the
    rounding unit of the ways where the subject's own is finer.  Derivatives below `least` are
    nothing: the less precise way has no normal numbers there.
    """

    subject: Subject
    first: Way
    second: Way
    path: str = ""
    coarsest: float = 0.0
    least: float = 0.0

    @property
    def epsilon(self) -> float:
        """The rounding unit of the less precise way."""
        return max(self.coarsest, self.subject.epsilon)

    def examine(self, at: Place | None = None) -> Outcome:
        """Compare at one element of one leaf, or at all.

        A way that raises for want of a gradient is a gap, not a fault.
        """
        try:
            return self._examine_all() if at is None else self._examine_element(at)
        except GradientError as error:
            return self._raised(error)

    def _raised(self, error: GradientError) -> Outcome:
        fault = fault_of_raising(error)
        if fault.kind == "missing":
            return gap(f"{self.second.name}: {fault.evidence.message}")
        return raised(self.subject, error, self.path)

    def suspicious(self, at: Place | None = None) -> bool:
        """Return whether the ways differ by more than a few rounding units, or the second raises.

        At one element of one leaf, or along a random direction.
        """
        try:
            return self._differ(*self.direction(at))
        except GradientError:
            return True

    def direction(self, at: Place | None = None) -> tuple[list[Array], Array]:
        """Return the subject's tangents, of one element alone if given, and its weights."""
        tangents = self.subject.tangents if at is None else only(self.subject.tangents, [at])
        return tangents, self.subject.weights

    def _examine_all(self) -> Outcome:
        tangents, weights = self.subject.tangents, self.subject.weights

        def is_wrong(group: Sequence[Place]) -> bool:
            return self._differ(only(tangents, group), weights)

        if not self._differ(tangents, weights):
            return AGREED
        found: Outcome | None = None
        for place in wrong_ones(places(self.subject.primals), is_wrong, MOST, known_wrong=True):
            outcome = self._examine_element(place)
            if outcome.fault is not None:
                return outcome
            found = found or outcome
        return found or inconclusive("two ways differ along a random direction only")

    def _examine_element(self, place: Place) -> Outcome:
        leaf, element = place
        unit = float(scale_of(self.subject.primals[leaf]).flat[element])
        tangents = along(self.subject.primals, place, unit)
        rows = np.flatnonzero(self.subject.kept).tolist()
        found = AGREED

        def is_wrong(group: Sequence[int]) -> bool:
            return self._differ(tangents, self._chosen(group))

        for row in wrong_ones(rows, is_wrong, MOST):
            outcome = Entry(self, place, row, unit).examine()
            if outcome.fault is not None:
                return outcome
            found = outcome if found is AGREED else found
        return found

    def _chosen(self, rows: Sequence[int]) -> Array:
        """Return the subject's cotangent at `rows`, 0 elsewhere."""
        weights = np.zeros_like(self.subject.weights)
        weights[list(rows)] = self.subject.weights[list(rows)]
        return weights

    @cached_property
    def _products(self) -> tuple[Product, Product]:
        return self.first.at(self.subject), self.second.at(self.subject)

    def answers(self, tangents: Sequence[Array], weights: Array) -> tuple[Answer, Answer]:
        """Return what each way says of one product."""
        first, second = self._products
        return first(tangents, weights), second(tangents, weights)

    def _differ(self, tangents: Sequence[Array], weights: Array) -> bool:
        return differ(*self.answers(tangents, weights), self.epsilon)


def differ(first: Answer, second: Answer, epsilon: float) -> bool:
    """Return whether two answers differ by more than a few rounding units of their terms."""
    with np.errstate(all="ignore"):
        size = first.size + second.size
        values = np.array(first.value), np.array(second.value)
        return bool(apart(*values, size if np.isfinite(size) else 0.0, epsilon))


@dataclass(frozen=True, eq=False)
class Entry:
    """One element of the Jacobian in which the two ways differ by more than a few roundings."""

    comparison: Comparison
    place: Place
    row: int
    unit: float

    def examine(self) -> Outcome:
        """Return the fault, unless rounding or a kink explains the difference."""
        first, second = (answer.value for answer in self._answers)
        if np.isfinite([first, second]).all():
            if max(abs(first), abs(second)) < self.comparison.least * self.unit:
                return AGREED
            moved = max(self._wander(self.comparison.first, first),
                        self._wander(self.comparison.second, second))  # fmt: skip
            if abs(first - second) > MARGIN * moved:
                moved = max(self._erratic(first, second), self._inside(), self._backward(first))
            if abs(first - second) <= MARGIN * moved:
                blind = moved > BLIND * max(abs(first), abs(second))
                return inconclusive("rounding hides the difference") if blind else AGREED
        elif not has_derivative(self._subject, self._tangents):
            # 0 times an infinite slope is no number: the way that returns one is as right.
            return inconclusive("0 times infinity")
        return self._difference.explained() or self._faulty()

    @property
    def _weights(self) -> Array:
        weights = np.zeros(self._subject.weights.shape)
        weights[self.row] = 1.0
        return weights

    @property
    def _subject(self) -> Subject:
        return self.comparison.subject

    @property
    def _tangents(self) -> list[Array]:
        return along(self._subject.primals, self.place, self.unit)

    @cached_property
    def _answers(self) -> tuple[Answer, Answer]:
        return self.comparison.answers(self._tangents, self._weights)

    def _wander(self, way: Way, value: float) -> float:
        """Return how far noise moves what a way answers; not at all where it is compiled."""

        def measure(noise: Noise) -> Array:
            subject = self._subject.derived(self._subject.program.noisy(noise))
            try:
                return np.array(way.at(subject)(self._tangents, self._weights).value)
            except GradientError as error:
                raise ForwardError("the derivative raised under noise") from error

        return float(wander(np.array(value), measure)[()])

    def _erratic(self, first: float, second: float) -> float:
        """Return how far the difference of the ways jumps from point to point close by.

        A wrong derivative is off by about the same at all of them, or at this one alone.
        """
        comparison, subject = self.comparison, self._subject
        epsilon = comparison.epsilon
        most = epsilon**ROUNDING * max(1.0, abs(first), abs(second))
        # Digits that a lower precision loses are what is asked about.
        if comparison.coarsest or abs(first - second) > most:
            return 0.0
        rng, found = np.random.default_rng(5), []
        for _ in range(JITTER):
            pairs = zip(subject.primals, random_tangents(subject.primals, rng), strict=True)
            near = [(x + epsilon**NEAR * v).astype(x.dtype) for x, v in pairs]
            answers = self._answers_at(
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
        comparison, subject = self.comparison, self._subject
        if not subject.program.is_composed:
            return 0.0
        size = comparison.answers(subject.tangents, self._weights)[0].size
        if not comparison.coarsest:
            size = max(size, abs(float(subject.outputs[self.row])), self._first_order())
        return UNITS / MARGIN * comparison.epsilon * size

    def _first_order(self) -> float:
        """Return the size of the first derivative of which this is a second one, 0 for none."""
        program = self._subject.program
        if not isinstance(program, GradientOf):
            return 0.0
        first = self._subject.derived(program.program)
        weights = np.abs(first.weights).max(initial=0.0) * np.sign(first.weights)
        return abs(REVERSE.at(first)(self._tangents, weights).value)

    def _backward(self, first: float) -> float:
        """Return how far the first way moves when the leaves do as a stable solver moves them.

        What it returns in the lower precision is right for a matrix that differs by a few
        rounding units of its largest element.
        """
        if not self.comparison.coarsest:
            return 0.0
        rng, found, unit = np.random.default_rng(6), [0.0], NOISE * self.comparison.coarsest
        for _ in range(DRAWS):
            near = [
                x + unit * np.abs(x).max(initial=0.0) * rng.uniform(-1, 1, x.shape)
                for x in self._subject.primals
            ]
            try:
                there = self.comparison.first.at(self._subject.moved(near))
                found.append(abs(there(self._tangents, self._weights).value - first))
            except (GradientError, ForwardError):
                continue
        return float(np.max([each for each in found if np.isfinite(each)]))

    def _answers_at(
        self, primals: Sequence[Array], factors: tuple[float, float] = (1.0, 1.0)
    ) -> tuple[Answer, Answer] | None:
        """Return what the ways say at another point, None where one says nothing there.

        They are asked with the tangents and the cotangent times `factors`, which round otherwise.
        """
        ways = (self.comparison.first, self.comparison.second)
        tangents, weights = [factors[0] * v for v in self._tangents], factors[1] * self._weights
        try:
            subject = self._subject.moved(primals)
            answers = [way.at(subject)(tangents, weights) for way in ways]
        except (GradientError, ForwardError):
            return None
        scale = factors[0] * factors[1]
        first, second = (replace(x, value=x.value / scale, size=x.size / scale) for x in answers)
        return first, second

    @cached_property
    def _difference(self) -> Difference:
        first, second = (answer.value for answer in self._answers)
        kept = self._weights != 0
        line = self._subject.line(self._tangents, kept)
        return Difference(line, first, second, self._subject.epsilon, self._differs_at)

    def _differs_at(self, primals: Sequence[Array]) -> bool:
        answers = self._answers_at(primals)
        return answers is not None and differ(*answers, self.comparison.epsilon)

    def _faulty(self) -> Outcome:
        first, second = self._answers
        with np.errstate(all="ignore"):
            values = first.value / self.unit, second.value / self.unit
        bounds = self._difference.bounds() if self._subject.kept[self.row] else None
        low, high = (None, None) if bounds is None else (b / self.unit for b in bounds)
        names = (self.comparison.first.name, self.comparison.second.name)
        evidence = Evidence(
            _message(names, values, low, high, lost=second.none),
            leaf=self.place[0],
            element=self.place[1],
            output=self.row,
            analytic=None if second.none else values[1],
            low=low,
            high=high,
        )
        return faulty(_kind(first, second), evidence, self.comparison.path)


def _kind(first: Answer, second: Answer) -> str:
    if second.none:
        return "lost"
    return "value" if np.isfinite([first.value, second.value]).all() else "non-finite"


def _message(
    names: tuple[str, str],
    values: tuple[float, float],
    low: float | None,
    high: float | None,
    *,
    lost: bool,
) -> str:
    first, second = (f"{name} {value:.10g}" for name, value in zip(names, values, strict=True))
    second = f"{names[1]} None" if lost else second
    if low is None or high is None:
        return f"{second}, {first}"
    return f"{second}, {first}, should be {(low + high) / 2:.10g} ± {(high - low) / 2:.1g}"
