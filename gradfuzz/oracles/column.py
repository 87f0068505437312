"""One column of the Jacobian: all outputs by one element of one leaf."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradfuzz.finding import AGREED, Evidence, Outcome, faulty, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.judge import Judgement, judge
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.screen import difference, rounding, scale_of, tolerance
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles.candidate import Candidate
from gradfuzz.subject import Subject

# Elements are also moved in steps of 1, and of the leaf's largest element, where those differ
# from the element itself by more than this factor.
OTHER_UNIT = 16.0


@dataclass(frozen=True, eq=False)
class Column:
    """The derivatives of the outputs `rows` by `element` of `leaf`.

    `jacobian` holds the analytic rows of that leaf, (len(rows), size), or None.
    """

    subject: Subject
    rows: Array
    leaf: int
    element: int
    jacobian: Array | None

    @cached_property
    def suspicion(self) -> float:
        """How far four forward passes miss the analytic values: above 1 is reason to look."""
        epsilon, unit = self.subject.epsilon, self._units()[0]
        with np.errstate(all="ignore"):
            analytic = self._analytic() * unit
            numeric, _ = difference(self._line(unit, self._kept()), epsilon)
            noise = rounding(np.abs(self.subject.outputs[self.rows]), epsilon)
            bound = tolerance(np.abs(analytic), epsilon) + noise
            misses = np.abs(numeric - analytic) / np.where(bound == 0, np.finfo(float).tiny, bound)
        return float(np.where(np.isfinite(misses), misses, np.inf).max(initial=0.0))

    def examine(self) -> Outcome:
        """Judge each derivative, on steps of every unit that makes sense for the element.

        A disagreement must show on all: where the element is small beside others, steps may
        be lost in their rounding.
        """
        first, *others = self._units()
        outcome = self._examine_in(first)
        for unit in others:
            if outcome is AGREED:
                break
            other = self._examine_in(unit, from_afar=unit > first)
            outcome = outcome if other.fault is not None else other
        return outcome

    def _units(self) -> list[float]:
        primal = self.subject.primals[self.leaf]
        sizes = scale_of(primal)
        units = [float(sizes.flat[self.element])]
        for unit in (1.0, float(sizes.max())):
            if all(not 1 / OTHER_UNIT < unit / known < OTHER_UNIT for known in units):
                units.append(unit)
        return units

    def _examine_in(self, unit: float, *, from_afar: bool = False) -> Outcome:
        judged = self._judge(unit)
        told = (judged.agree | judged.disagree).all()
        if from_afar:
            # From there a smooth bend looks like a kink, which would excuse too much.
            told &= judged.smooth.all()
        outcome = AGREED if told else inconclusive("some slopes cannot be told")
        for row in np.flatnonzero(judged.disagree & ~self._excused(judged)).tolist():
            explained = self._candidate(row, judged, unit).explained()
            if explained is None:
                return self._faulty(row, judged, unit)
            outcome = explained if outcome is AGREED else outcome
        return outcome

    def _excused(self, judged: Judgement) -> Array:
        """Return which disagreements are no reason for a verdict.

        Where another output jumps, the op has no derivative, whichever branch it takes.  Where
        one is infinite or has an infinite slope, 0 times that is not a number in IEEE arithmetic.
        """
        told = (judged.agree | judged.disagree).all()
        infinite = not np.isfinite(self.subject.outputs).all()
        nonfinite = ~np.isfinite(self._analytic())
        return np.asarray(judged.singular.any() | (nonfinite & (infinite or not told)))

    def _candidate(self, row: int, judged: Judgement, unit: float) -> Candidate:
        kept = np.zeros(self.subject.kept.shape, bool)
        kept[self.rows[row]] = True
        analytic = float(self._analytic()[row]) * unit
        low, high = float(judged.low[row]), float(judged.high[row])
        position = (self.leaf, self.element, int(self.rows[row]))
        return Candidate(self.subject, self._line(unit, kept), position, unit, analytic, low, high)

    def _judge(self, unit: float) -> Judgement:
        with np.errstate(all="ignore"):
            analytic = self._analytic() * unit
        epsilon = self.subject.epsilon
        return judge(analytic, slopes(self._line(unit, self._kept()), epsilon), epsilon)

    def _kept(self) -> Array:
        kept = np.zeros(self.subject.kept.shape, bool)
        kept[self.rows] = True
        return kept

    def _analytic(self) -> Array:
        if self.jacobian is None:
            return np.zeros(len(self.rows))
        column: Array = self.jacobian[:, self.element]
        return column

    def _line(self, unit: float, kept: Array) -> Line:
        tangents = [np.zeros(x.shape) for x in self.subject.primals]
        tangents[self.leaf].flat[self.element] = unit
        return self.subject.line(tangents, kept)

    def _faulty(self, row: int, judged: Judgement, unit: float) -> Outcome:
        analytic = float(self._analytic()[row])
        kind = "value" if np.isfinite(analytic) else "non-finite"
        if self.jacobian is None:
            kind = "none"
        low, high = float(judged.low[row]) / unit, float(judged.high[row]) / unit
        kink = bool(judged.kink[row])
        evidence = Evidence(
            _message(kind, analytic, low, high, kink=kink),
            leaf=self.leaf,
            element=self.element,
            output=int(self.rows[row]),
            analytic=None if kind == "none" else analytic,
            low=low,
            high=high,
            kink=kink,
        )
        return faulty(kind, evidence)


def _message(kind: str, analytic: float, low: float, high: float, *, kink: bool) -> str:
    is_ = "None" if kind == "none" else f"{analytic:.10g}"
    if kink:
        return f"analytic {is_}, should be within the one-sided slopes {low:.10g} and {high:.10g}"
    return f"analytic {is_}, should be {(low + high) / 2:.10g} ± {(high - low) / 2:.1g}"
