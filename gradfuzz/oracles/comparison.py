"""Compare two ways to one derivative, and find the element in which they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty, gap, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.apart import MARGIN, apart
from gradfuzz.numeric.screen import scale_of
from gradfuzz.oracles.always import fault_of_raising, has_derivative, raised
from gradfuzz.oracles.difference import Difference
from gradfuzz.oracles.place import Place, along, only, places
from gradfuzz.oracles.rounding import Rounding
from gradfuzz.oracles.search import wrong_ones
from gradfuzz.oracles.ways import Answer, Product, Way
from gradfuzz.subject import Subject

# So many elements, and outputs of each, are looked at where the ways differ.
MOST = 8
# Rounding that moves a value by more than this part of it leaves nothing to compare.
BLIND = 1e-3


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two ways to the derivative of `subject`: `second` is under test, `first` is compared with.

    `first` must not raise, and where it has no number it is differences that it is compared with,
    by another oracle.  `path` is what the bucket calls the second.  `coarsest` is the
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
            moved = self._rounding.moves(first, second)
            if abs(first - second) <= MARGIN * moved:
                blind = moved > BLIND * max(abs(first), abs(second))
                return inconclusive("rounding hides the difference") if blind else AGREED
        elif not np.isfinite(first):
            return inconclusive(f"{self.comparison.first.name} has no number to compare with")
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

    @cached_property
    def _rounding(self) -> Rounding:
        ways = (self.comparison.first, self.comparison.second)
        return Rounding(
            ways,
            self._subject,
            self._tangents,
            self._weights,
            self.comparison.epsilon,
            lower=self.comparison.coarsest > 0,
        )

    @cached_property
    def _difference(self) -> Difference:
        first, second = (answer.value for answer in self._answers)
        kept = self._weights != 0
        line = self._subject.line(self._tangents, kept)
        return Difference(line, first, second, self._subject.epsilon, self._differs_at)

    def _differs_at(self, primals: Sequence[Array]) -> bool:
        answers = self._rounding.answers_at(primals)
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
