"""One column of the Jacobian: all outputs by one element of one leaf."""

from collections.abc import Callable, Sequence
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
from gradfuzz.oracles.place import along
from gradfuzz.oracles.search import wrong_ones
from gradfuzz.subject import Subject

# Elements are also moved in steps of 1, of the leaf's largest element and of the other part of a
# complex number, where those differ from the element itself by more than this factor.
OTHER_UNIT = 16.0


# So many wrong outputs of one element are looked at.
MOST_ROWS = 32


@dataclass(frozen=True, eq=False)
class Column:
    """The derivatives of the kept outputs by `element` of `leaf`."""

    subject: Subject
    leaf: int
    element: int

    @property
    def is_none(self) -> bool:
        """Whether TensorFlow sees no connection."""
        return self.subject.gradients[self.leaf] is None

    @property
    def other_part(self) -> "Column | None":
        """The column of the other part, of an element that is a part of a complex number."""
        is_part = self.subject.program.is_complex(self.leaf)
        return Column(self.subject, self.leaf, self.element ^ 1) if is_part else None

    @cached_property
    def rows(self) -> Array:
        """The positions of the kept outputs, (m,)."""
        return np.flatnonzero(self.subject.kept)

    @cached_property
    def analytic(self) -> Array:
        """The analytic derivatives, (m,).

        Each takes a VJP, so those in which a difference sees no fault are that difference.
        Raises `GradientError`.
        """
        if self.is_none:
            return np.zeros(len(self.rows))
        found = self._numeric.copy()
        with np.errstate(all="ignore"):
            for row in self._wrong_rows[:MOST_ROWS]:
                found[row] = self._pulled([row]) / self._weights[row]
        return found

    @cached_property
    def _wrong_rows(self) -> list[int]:
        """The rows in which a difference sees a fault, one more than are looked at."""
        return wrong_ones(range(len(self.rows)), self._differs(self._numeric), MOST_ROWS + 1)

    @cached_property
    def _numeric(self) -> Array:
        """The derivatives by a difference, (m,)."""
        with np.errstate(all="ignore"):
            found, _ = difference(self._line(self._unit, self.subject.kept), self.subject.epsilon)
            return np.asarray(found / self._unit)

    @property
    def _unit(self) -> float:
        return self._units()[0]

    @property
    def _weights(self) -> Array:
        return self.subject.weights[self.rows]

    def _differs(self, numeric: Array) -> Callable[[Sequence[int]], bool]:
        """Return a test whether the VJP of some outputs differs from differences."""
        epsilon, weights = self.subject.epsilon, self._weights
        outputs = self.subject.outputs[self.rows] / self._unit

        def differ(group: Sequence[int]) -> bool:
            chosen = np.array(group)
            terms = weights[chosen] * numeric[chosen]
            size = float(np.abs(weights[chosen] * outputs[chosen]).sum())
            bound = tolerance(np.abs(terms).sum(), epsilon) + rounding(size, epsilon)
            return not abs(self._pulled(group) - terms.sum()) <= bound < np.inf

        return differ

    def _pulled(self, group: Sequence[int]) -> float:
        """Return the VJP of the cotangent that is the subject's at `group` and 0 elsewhere."""
        cotangent = np.zeros(self.subject.weights.shape)
        cotangent[self.rows[np.array(group)]] = self._weights[np.array(group)]
        gradient = self.subject.pullback.pull(cotangent)[self.leaf]
        return 0.0 if gradient is None else float(gradient.flat[self.element])

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
        others = [1.0, float(sizes.max())]
        if self.other_part is not None:
            others.append(float(sizes.flat[self.other_part.element]))
        for unit in others:
            if all(not 1 / OTHER_UNIT < unit / known < OTHER_UNIT for known in units):
                units.append(unit)
        return units

    def _examine_in(self, unit: float, *, from_afar: bool = False) -> Outcome:
        judged = self._judge(unit)
        told = (judged.agree | judged.disagree).all()
        if not self.is_none:
            told &= len(self._wrong_rows) <= MOST_ROWS
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
        nonfinite = ~np.isfinite(self.analytic)
        excuses = nonfinite.any() and (self._has_infinity(judged) or self._other_part_is_singular())
        return np.asarray(judged.singular.any() | (nonfinite & excuses))

    def _has_infinity(self, judged: Judgement) -> bool:
        told = (judged.agree | judged.disagree).all()
        return bool(not told or not np.isfinite(self.subject.outputs).all())

    def _other_part_is_singular(self) -> bool:
        """Return whether the function has no derivative by the complex number as a whole."""
        if self.other_part is None:
            return False
        return not self.other_part._judge(self.other_part._unit).smooth.all()

    def _candidate(self, row: int, judged: Judgement, unit: float) -> Candidate:
        kept = np.zeros(self.subject.kept.shape, bool)
        kept[self.rows[row]] = True
        analytic = float(self.analytic[row]) * unit
        low, high = float(judged.low[row]), float(judged.high[row])
        position = (self.leaf, self.element, int(self.rows[row]))
        kink = bool(judged.kink[row])
        line = self._line(unit, kept)
        return Candidate(self.subject, line, position, unit, analytic, low, high, kink)

    def _judge(self, unit: float) -> Judgement:
        with np.errstate(all="ignore"):
            analytic = self.analytic * unit
        epsilon = self.subject.epsilon
        return judge(analytic, slopes(self._line(unit, self.subject.kept), epsilon), epsilon)

    def _line(self, unit: float, kept: Array) -> Line:
        place = (self.leaf, self.element)
        return self.subject.line(along(self.subject.primals, place, unit), kept)

    def _faulty(self, row: int, judged: Judgement, unit: float) -> Outcome:
        analytic = float(self.analytic[row])
        kind = "value" if np.isfinite(analytic) else "non-finite"
        if self.is_none:
            kind = "none"
        low, high = float(judged.low[row]) / unit, float(judged.high[row]) / unit
        kink = bool(judged.kink[row])
        output = int(self.rows[row])
        where = self.subject.complex_place(self.leaf, self.element, output)
        evidence = Evidence(
            _message(kind, analytic, low, high, kink=kink) + (f", {where}" if where else ""),
            leaf=self.leaf,
            element=self.element,
            output=output,
            analytic=None if kind == "none" else analytic,
            low=low,
            high=high,
            kink=kink,
        )
        # A fault that real numbers have as well, once known, must not hide one that they have not.
        is_imaginary = self.subject.is_imaginary(self.leaf, self.element, output)
        return faulty(f"complex-{kind}" if is_imaginary else kind, evidence)


def _message(kind: str, analytic: float, low: float, high: float, *, kink: bool) -> str:
    is_ = "None" if kind == "none" else f"{analytic:.10g}"
    if kink:
        return f"analytic {is_}, should be within the one-sided slopes {low:.10g} and {high:.10g}"
    return f"analytic {is_}, should be {(low + high) / 2:.10g} ± {(high - low) / 2:.1g}"
