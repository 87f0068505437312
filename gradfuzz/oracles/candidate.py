"""A disagreement in one element, and the innocent explanations that must be ruled out."""

from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError, linearise, row_of_jacobian
from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError
from gradfuzz.finding import Outcome, inconclusive
from gradfuzz.numeric import neighbourhood
from gradfuzz.numeric.judge import ROUNDING_UNITS, unit_inside
from gradfuzz.numeric.line import Line
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

# A disagreement is looked at again on shorter and shorter steps: from afar, floor has slope 1, and
# nothing is seen of a pole at -1e-7 with little weight.
CLOSER = 2.0 ** -np.arange(15, 45, 5)
# A function that is constant on all short steps is looked at on longer and longer ones: x + 1e18
# moves by steps of 128, and nothing of the large number need be seen in the result.
FARTHER = 2.0 ** np.arange(4, 64, 4)
# There it must have the analytic slope, on both sides, up to this share of it.
FAR_AGREEMENT = 2.0**-6
# A function is called constant if steps that should move it by so many ulps do not.
ULPS = 64.0
# The analytic value is taken again with the primals scaled by 1 plus so many rounding units.
ROUNDING_STEPS = (-3.0, 5.0)
# A disagreement must be this many times what those values differ by.
CONDITION_MARGIN = 8.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """One element whose `analytic` derivative lies outside [`low`, `high`].

    All three are in units of the line's tangent.
    `line` has that element's output alone; `position` is its leaf, element and output; `unit`
    is the length of the line's tangent.
    """

    subject: Subject
    line: Line
    position: tuple[int, int, int]
    unit: float
    analytic: float
    low: float
    high: float
    kink: bool

    def explained(self) -> Outcome | None:
        """Return what the disagreement comes to if it is none, and None if it is one.

        The derivative of one of the pieces that meet here is as right as any other.
        """
        if not np.isfinite(self.analytic):
            return None
        if self._agrees_closer() or self._is_staircase():
            return inconclusive("the slope depends on the length of the steps")
        if self._is_below_inside() or (self._is_still() and self._is_lost()):
            return inconclusive("the derivative is lost in the rounding of the function")
        pieces = self._meeting_pieces()
        if pieces is not None:
            return pieces
        if self._is_ill_conditioned():
            return inconclusive("the gradient is as uncertain as the disagreement")
        return None

    def _distance(self, value: float) -> float:
        return max(self.low - value, value - self.high, 0.0)

    def _agrees_closer(self) -> bool:
        """Return whether a difference on much shorter steps sides with the analytic value.

        It must do so clearly, on a step on which rounding cannot make it: neither that of the
        function nor that of the leaf, which must be seen to move.
        """
        largest = float(np.abs(self.subject.primals[self.position[0]]).max())
        least = min(CLOSER[0], ULPS * self.subject.epsilon * largest / self.unit)
        return any(self._agrees_on(float(step)) for step in CLOSER if step >= least)

    def _agrees_on(self, step: float) -> bool:
        with np.errstate(all="ignore"):
            at = self.line.sample(np.array([-2.0, -1.0, 1.0, 2.0]) * step)[:, 0]
            slope = float((8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * step))
            noise = 8 * self.subject.epsilon * float(np.abs(at).max()) / step
        return abs(slope - self.analytic) < self._distance(slope) / 4 and noise < self._gap() / 2

    def _is_staircase(self) -> bool:
        """Return whether the function is constant over steps that should move it by many ulps."""
        slope, base = abs(self.low + self.high) / 2, self.line.at(0.0)
        if slope == 0 or self.kink:
            return False
        step = ULPS * self.subject.epsilon * max(1.0, abs(float(base[0])) / slope)
        if not step < 2.0**-12:
            return False
        still = self.line.sample(np.array([-2.0, -1.0, 1.0, 2.0]) * step)[:, 0] == base[0]
        # On one side suffices: the point may stand on the edge of a step.
        return bool(still[:2].all() or still[2:].all())

    def _is_still(self) -> bool:
        """Return whether the slope is 0, but for what the value may be rounded by."""
        return self.low == -self.high

    def _gap(self) -> float:
        return self._distance(self.analytic)

    def _is_lost(self) -> bool:
        """Return whether rounding may hide the analytic slope of a function that is constant."""
        return abs(self.analytic) <= self._least_visible() or self._agrees_afar()

    def _agrees_afar(self) -> bool:
        """Return whether the function has the analytic slope on much longer steps."""
        with np.errstate(all="ignore"):
            ahead = (self.line.sample(FARTHER)[:, 0] - self.line.at(0.0)[0]) / FARTHER
            behind = (self.line.at(0.0)[0] - self.line.sample(-FARTHER)[:, 0]) / FARTHER
            apart = np.maximum(np.abs(ahead - self.analytic), np.abs(behind - self.analytic))
        return bool((apart <= FAR_AGREEMENT * abs(self.analytic)).any())

    def _least_visible(self) -> float:
        """Return what a function that works with numbers of this size may lose in rounding."""
        return ROUNDING_UNITS * self._unit_inside()

    def _is_below_inside(self) -> bool:
        """Return whether single precision inside may make the difference by one rounding.

        A kernel of many steps, as a loss over time, returns what is much smaller than its steps.
        """
        return self.subject.epsilon > EPSILON[tf.float64] and self._gap() <= self._unit_inside()

    def _unit_inside(self) -> float:
        return unit_inside([self.subject.primals[self.position[0]]], self.subject.epsilon)

    def _meeting_pieces(self) -> Outcome | None:
        line, bounds, epsilon = self.line, (self.low, self.high), self.subject.epsilon
        return neighbourhood.explanation(line, self.analytic, *bounds, epsilon, kink=self.kink)

    def _is_ill_conditioned(self) -> bool:
        """Return whether rounding the primals moves the analytic value about as far.

        They are scaled as a whole, so that ties and zeros stay what they are.
        """
        leaf, element, output = self.position
        found = []
        for steps in ROUNDING_STEPS:
            factor = 1 + steps * self.subject.epsilon
            moved = [(x * factor).astype(x.dtype) for x in self.subject.primals]
            try:
                again = linearise(self.subject.program, moved)
                row = row_of_jacobian(again, output, self.subject.outputs.size)[leaf]
            except (GradientError, ForwardError):
                return False
            found.append(self.analytic if row is None else float(row.flat[element]) * self.unit)
        spread = np.abs(np.array(found) - self.analytic).max()
        return not self._gap() > CONDITION_MARGIN * spread
