"""Reverse mode against finite differences: the screen, and what follows on suspicion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric import screen
from gradfuzz.numeric.judge import Judgement, judge
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.neighbourhood import explanation
from gradfuzz.numeric.screen import scale_of
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.column import OTHER_UNIT, Column
from gradfuzz.oracles.place import Place, only, places
from gradfuzz.oracles.search import wrong_ones
from gradfuzz.subject import Subject

NAME = "numeric"

# So many wrong elements of a graph's leaves are looked at, the rest is not told.
MOST_COLUMNS = 64
# With so few columns, each is looked at at once.
FEW_COLUMNS = 4


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare the gradients of `subject`, which must not raise, with differences.

    `at` limits the question to the derivatives by one element of one leaf.
    """
    if at is not None:
        return _examine_at(subject, at)
    if not subject.kept.any():
        return AGREED
    direction = Direction.of(subject, subject.tangents)
    if direction.passes_screen():
        return AGREED
    if sum(primal.size for primal in subject.primals) <= FEW_COLUMNS:
        return _by_element(subject)
    along = direction.judge()
    # At a kink or a jump of one element, the sum would agree whatever the others are.
    if (along.agree & along.smooth).all():
        return AGREED
    outcome = _by_element(subject)
    if outcome is AGREED and direction.is_wrong_by_itself(along):
        return faulty("value", direction.evidence(along))
    return outcome


def _examine_at(subject: Subject, place: Place) -> Outcome:
    """Compare the derivatives by one element of one leaf."""
    try:
        return Column(subject, *place).examine()
    except GradientError as error:
        fault = fault_of_raising(error)
        return faulty(fault.kind, fault.evidence)


@dataclass(frozen=True, eq=False)
class Direction:
    """The derivative along `tangents` of the subject's outputs, summed by its cotangent.

    `analytic` is a sum of terms of magnitude `size` in all.
    """

    subject: Subject
    tangents: Sequence[Array]
    analytic: float
    size: float

    @classmethod
    def of(cls, subject: Subject, tangents: Sequence[Array]) -> "Direction":
        """Take the inner product of the subject's gradients and `tangents`."""
        analytic, size = 0.0, 0.0
        with np.errstate(all="ignore"):
            for gradient, tangent in zip(subject.gradients, tangents, strict=True):
                if gradient is not None:
                    # What is not moved counts for nothing, even where its gradient is infinite.
                    moved = np.where(tangent != 0, gradient, 0.0).astype(np.float64)
                    analytic += float((moved * tangent).sum())
                    size += float(np.abs(moved * tangent).sum())
        return cls(subject, tangents, analytic, size)

    @property
    def line(self) -> Line:
        """The function whose derivative this is."""
        subject = self.subject
        return subject.line(self.tangents, subject.kept, subject.weights[subject.kept])

    def passes_screen(self) -> bool:
        """Return whether two forward passes or six confirm the analytic value."""
        return screen.passes(*self._question())

    def differs(self) -> bool:
        """Return whether four forward passes contradict the analytic value."""
        return screen.differs(*self._question())

    def _question(self) -> tuple[float, float, Line, Array, float]:
        outputs = self.subject.outputs[self.subject.kept]
        return self.analytic, self.size, self.line, outputs, self.subject.epsilon

    def judge(self) -> Judgement:
        """Measure the slopes and judge the analytic value by them."""
        epsilon = self.subject.epsilon
        return judge(np.array([self.analytic]), slopes(self.line, epsilon), epsilon)

    def is_wrong_by_itself(self, along: Judgement) -> bool:
        """Return whether a disagreement along the direction stands without one in an element.

        It does at a smooth point, whose elements are of one scale.
        """
        sizes = np.concatenate([scale_of(x).ravel() for x in self.subject.primals])
        of_one_scale = sizes.max() <= OTHER_UNIT and sizes.min() >= 1 / OTHER_UNIT
        smooth = bool(along.smooth.all() and along.disagree.all())
        if not (of_one_scale and smooth and np.isfinite(self.analytic)):
            return False
        low, high = float(along.low[0]), float(along.high[0])
        epsilon = self.subject.epsilon
        return explanation(self.line, self.analytic, low, high, epsilon, kink=False) is None

    def evidence(self, along: Judgement) -> Evidence:
        """Return the numbers of a disagreement that shows in no single element."""
        message = "wrong along a random direction, though in no element by itself"
        low, high = float(along.low[0]), float(along.high[0])
        return Evidence(message, analytic=self.analytic, low=low, high=high)


def _by_element(subject: Subject) -> Outcome:
    """Compare the elements of the Jacobian, a column at a time, where a difference differs."""

    def is_wrong(group: Sequence[Place]) -> bool:
        return Direction.of(subject, only(subject.tangents, group)).differs()

    columns = wrong_ones(places(subject.primals), is_wrong, MOST_COLUMNS + 1, known_wrong=True)
    unknown = inconclusive("too many elements") if len(columns) > MOST_COLUMNS else None
    for leaf, element in columns[:MOST_COLUMNS]:
        outcome = _examine_at(subject, (leaf, element))
        if outcome.fault is not None:
            return outcome
        unknown = unknown or (outcome if outcome is not AGREED else None)
    return unknown or AGREED
