"""Reverse mode against finite differences: the screen, and what follows on suspicion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError, jacobian, linearise
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty
from gradfuzz.graph import Array
from gradfuzz.numeric import screen
from gradfuzz.numeric.judge import Judgement, judge
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.column import Column
from gradfuzz.subject import Subject

NAME = "numeric"

# So many rows and columns of a Jacobian are looked at; of a larger one, a random choice.
MOST_ROWS = 64
MOST_COLUMNS = 64
# With so few columns, each is looked at at once.
FEW_COLUMNS = 4


def examine(subject: Subject) -> Outcome:
    """Compare the gradients of `subject`, which must not raise, with differences."""
    if not subject.kept.any():
        return AGREED
    direction = Direction.of(subject)
    if direction.passes_screen():
        return AGREED
    if sum(primal.size for primal in subject.primals) <= FEW_COLUMNS:
        return _by_element(subject)
    along = direction.judge()
    if along.agree.all():
        return AGREED
    outcome = _by_element(subject)
    told = np.isfinite(direction.analytic) and along.smooth.all()
    if outcome is AGREED and told and along.disagree.all():
        return faulty("value", direction.evidence(along))
    return outcome


@dataclass(frozen=True, eq=False)
class Direction:
    """The derivative along the subject's tangents of its outputs summed by its cotangent.

    `analytic` is a sum of terms of magnitude `size` in all.
    """

    subject: Subject
    analytic: float
    size: float

    @classmethod
    def of(cls, subject: Subject) -> "Direction":
        """Take the inner product of the subject's gradients and tangents."""
        analytic, size = 0.0, 0.0
        with np.errstate(all="ignore"):
            for gradient, tangent in zip(subject.gradients, subject.tangents, strict=True):
                if gradient is not None:
                    terms = gradient.astype(np.float64) * tangent
                    analytic += float(terms.sum())
                    size += float(np.abs(terms).sum())
        return cls(subject, analytic, size)

    @property
    def line(self) -> Line:
        """The function whose derivative this is."""
        subject = self.subject
        return subject.line(subject.tangents, subject.kept, subject.weights[subject.kept])

    def passes_screen(self) -> bool:
        """Return whether four forward passes confirm the analytic value."""
        kept = self.subject.outputs[self.subject.kept]
        return screen.passes(self.analytic, self.size, self.line, kept, self.subject.epsilon)

    def judge(self) -> Judgement:
        """Measure the slopes and judge the analytic value by them."""
        epsilon = self.subject.epsilon
        return judge(np.array([self.analytic]), slopes(self.line, epsilon), epsilon)

    def evidence(self, along: Judgement) -> Evidence:
        """Return the numbers of a disagreement that shows in no single element."""
        message = "wrong along a random direction, though in no element by itself"
        low, high = float(along.low[0]), float(along.high[0])
        return Evidence(message, analytic=self.analytic, low=low, high=high)


def _by_element(subject: Subject) -> Outcome:
    """Compare the Jacobian element by element, a column at a time, the worst first."""
    rows = _choice(np.flatnonzero(subject.kept), MOST_ROWS, subject.rng)
    try:
        pulled = jacobian(linearise(subject.program, subject.primals, many=True), rows.tolist())
    except GradientError as error:
        fault = fault_of_raising(error)
        return faulty(fault.kind, fault.evidence)
    positions = _positions(subject.primals)
    chosen = _choice(np.arange(len(positions)), MOST_COLUMNS, subject.rng)
    columns = [
        Column(subject, rows, leaf, element, pulled[leaf])
        for leaf, element in (positions[i] for i in chosen)
    ]
    suspects = [column for column in columns if column.suspicion > 1]
    unknown = None
    for column in sorted(suspects, key=lambda suspect: -suspect.suspicion):
        outcome = column.examine()
        if outcome.fault is not None:
            return outcome
        unknown = unknown or (outcome if outcome is not AGREED else None)
    return unknown or AGREED


def _positions(primals: Sequence[Array]) -> list[tuple[int, int]]:
    return [(leaf, element) for leaf, x in enumerate(primals) for element in range(x.size)]


def _choice(positions: Array, most: int, rng: np.random.Generator) -> Array:
    if len(positions) <= most:
        return positions
    return np.sort(rng.choice(positions, most, replace=False))
