"""What a check says: a verdict, and for a disagreement the finding and its bucket."""

from dataclasses import dataclass
from enum import Enum

from gradfuzz.graph import Graph


class Verdict(Enum):
    """What one check of one graph came to."""

    AGREE = "agree"
    DISAGREE = "disagree"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, order=True)
class Bucket:
    """The key of "the same bug".

    `kind` is one of value, none, lost, non-finite, shape, dtype, missing, raises-<exception>,
    indices, mutated and unrepeatable, behind the path where the oracle has several
    ("fwd-rev-value"); "complex-" stands before value, none and non-finite of or by an imaginary
    part.  `input` is the argument of `op` whose gradient is wrong: "" where the fault is not in
    one input.
    """

    op: str
    oracle: str
    kind: str
    input: str = ""

    def __str__(self) -> str:
        place = f"{self.op}.{self.input}" if self.input else self.op
        return f"{place} {self.kind} ({self.oracle})"


@dataclass(frozen=True)
class Evidence:
    """The numbers behind a finding, for one element of the Jacobian where there is one.

    `output` is the position in the graph's flattened differentiable outputs, `leaf` and
    `element` the leaf and the position in it, flattened.  `analytic` is None where TensorFlow
    returned None or raised.  The true derivative lies in [`low`, `high`]: one value within its
    error at a smooth point, the range of the one-sided slopes at a kink.
    """

    message: str
    leaf: int | None = None
    element: int | None = None
    output: int | None = None
    analytic: float | None = None
    low: float | None = None
    high: float | None = None
    kink: bool = False

    @property
    def is_allowed(self) -> bool:
        """Whether `analytic` lies within the bounds."""
        analytic, low, high = self.analytic, self.low, self.high
        if analytic is None or low is None or high is None:
            return False
        return low <= analytic <= high


@dataclass(frozen=True)
class Vote:
    """What one path to a derivative says: a value, if any, with its error if that has a bound.

    `note` says why there is no value: "None", "raises-ValueError".
    """

    path: str
    value: float | None
    error: float | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return self.note
        return f"{self.value:.12g}" + ("" if self.error is None else f" ± {self.error:.1g}")


@dataclass(frozen=True, eq=False)
class Finding:
    """A disagreement: the graph that shows it, its bucket and its numbers.

    `votes` is what every path says of it, once that was asked.
    """

    graph: Graph
    bucket: Bucket
    evidence: Evidence
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, eq=False)
class Report:
    """The outcome of one check.

    `reason` says what an inconclusive one failed on; `gap` that TensorFlow has no such path to
    the derivative.
    """

    verdict: Verdict
    finding: Finding | None = None
    reason: str = ""
    gap: bool = False


@dataclass(frozen=True)
class Fault:
    """What is wrong with the derivative of a graph, before an op is blamed for it.

    `path` says on which of an oracle's paths to the derivative, where it has several.  `culprit`
    is what is to blame where that is no op of the graph.
    """

    kind: str
    evidence: Evidence
    path: str = ""
    culprit: str = ""

    @property
    def full_kind(self) -> str:
        """The kind as a bucket has it: with the path."""
        return f"{self.path}-{self.kind}" if self.path else self.kind


@dataclass(frozen=True)
class Outcome:
    """What an oracle says of a graph as a whole.

    `gap` says that TensorFlow has no such path to the derivative here, for the reason given.
    """

    verdict: Verdict
    fault: Fault | None = None
    reason: str = ""
    gap: bool = False


AGREED = Outcome(Verdict.AGREE)


def inconclusive(reason: str) -> Outcome:
    """Return the outcome of an oracle that cannot say, and why."""
    return Outcome(Verdict.INCONCLUSIVE, None, reason)


def gap(reason: str) -> Outcome:
    """Return the outcome of an oracle that compares with what TensorFlow has not, and why."""
    return Outcome(Verdict.INCONCLUSIVE, None, reason, gap=True)


def faulty(kind: str, evidence: Evidence, path: str = "", culprit: str = "") -> Outcome:
    """Return the outcome of an oracle that found a fault."""
    return Outcome(Verdict.DISAGREE, Fault(kind, evidence, path, culprit))
