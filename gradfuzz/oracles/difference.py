"""Two ways to one derivative that differ beyond rounding, and what would excuse it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from gradfuzz.finding import AGREED, Outcome, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric import neighbourhood
from gradfuzz.numeric.judge import ROUNDING_UNITS, Judgement, judge, unit_inside
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.screen import tangents
from gradfuzz.numeric.slopes import Slopes, slopes

# Pieces that meet have slopes of their own.  Ways that differ by less than this part of the value
# differ for another reason.
PIECES = 1e-5
# What differs at so many points nearby differs at no kink.
NEARBY = 3
# They lie so far away, for elements of size 1: the rounding unit to this power.
DISTANCE = 0.3

# Returns whether the two ways differ at other primals.
DiffersAt = Callable[[Sequence[Array]], bool]


@dataclass(frozen=True, eq=False)
class Difference:
    """The derivative of `line`, which has one output, as two ways have it.

    `first` and `second` are in units of the line's tangent.
    """

    line: Line
    first: float
    second: float
    epsilon: float
    differs_at: DiffersAt

    def explained(self) -> Outcome | None:
        """Return what the difference comes to if it is none, and None if it is one.

        Where pieces meet each way may take the derivative of any of them.  It is no kink if the
        ways differ all around as well, or if the function is smooth here.
        """
        first, second = (self._judge(value) for value in (self.first, self.second))
        if first.kink[0] and first.agree[0] and second.agree[0]:
            return AGREED
        one_is_wrong = first.agree[0] != second.agree[0] and first.disagree[0] != second.disagree[0]
        if self._is_lost():
            return inconclusive("the derivative is lost in the rounding of the function")
        if one_is_wrong or (first.smooth[0] and self._is_large):
            return self._pieces()
        if self._differs_all_around():
            return None
        return inconclusive("two ways differ where there may be a kink")

    def bounds(self) -> tuple[float, float] | None:
        """Return the least and greatest value that differences allow, None where they say nothing.

        Both are in units of the line's tangent.
        """
        judged = self._judge(self.first)
        if not judged.smooth[0]:
            return None
        return float(judged.low[0]), float(judged.high[0])

    def _judge(self, value: float) -> Judgement:
        return judge(np.array([value]), self._slopes, self.epsilon)

    @cached_property
    def _slopes(self) -> Slopes:
        return slopes(self.line, self.epsilon)

    def _is_lost(self) -> bool:
        """Return whether the function is still, and rounding may hide both values in it."""
        bounds, values = self.bounds(), np.abs([self.first, self.second])
        if bounds is None or bounds[0] != -bounds[1] or not np.isfinite(values).all():
            return False
        return bool(values.max() <= ROUNDING_UNITS * unit_inside(self.line.primals, self.epsilon))

    @property
    def _is_large(self) -> bool:
        """Whether pieces with slopes of their own could explain it, and can be told apart."""
        first, second = abs(self.first), abs(self.second)
        return not abs(self.first - self.second) <= PIECES * max(first, second)

    def _pieces(self) -> Outcome | None:
        """Return agreement where one value is the derivative of another piece that meets here."""
        first, second = self.first, self.second
        if not np.isfinite([first, second]).all():
            return None
        explain = partial(neighbourhood.explanation, self.line, epsilon=self.epsilon, kink=False)
        return explain(first, second, second) or explain(second, first, first)

    def _differs_all_around(self) -> bool:
        rng = np.random.default_rng(3)
        for _ in range(NEARBY):
            offsets = tangents(self.line.primals, rng)
            pairs = zip(self.line.primals, offsets, strict=True)
            distance = self.epsilon**DISTANCE
            if not self.differs_at([(x + distance * v).astype(x.dtype) for x, v in pairs]):
                return False
        return True
