"""What a campaign came to so far, counted from its events."""

from collections import Counter, defaultdict
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

from gradfuzz.events import (
    CaseChecked,
    CaseRejected,
    CasesCounted,
    Event,
    FindingFlaky,
    FindingSaved,
    FindingWithdrawn,
    LinesRan,
    RoundEnded,
    RoundFailed,
    RoundStarted,
    StorageFailed,
    WorkerDied,
)
from gradfuzz.finding import Bucket, Finding, Verdict


@dataclass
class OpTally:
    """The cases of one op.  `reasons` counts what the inconclusive ones failed on.

    `gaps` counts apart from these what TensorFlow has no derivative for.
    """

    cases: int = 0
    rejected: int = 0
    inconclusive: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The part of the cases that was inconclusive."""
        return self.inconclusive / self.cases if self.cases else 0.0


@dataclass(frozen=True, eq=False)
class Saved:
    """A new finding and its file."""

    finding: Finding
    path: Path
    shrunk: bool


@dataclass
class Tally:
    """The counts of a campaign; `known` are the buckets that it started with.

    `new` has the findings that stand, `hits` the cases in each bucket, `dropped` how often one
    in it did not repeat, `deaths` how often a worker ended in which way, `gradients` the
    gradient functions that ran, `lines` those of gradient files that did, and `broken` what
    gradfuzz itself failed on, by op.  `oracles` has the oracle that was last asked about an op,
    `by_oracle` the cases of each, `seconds` its time.
    """

    known: Container[Bucket]
    ops: defaultdict[str, OpTally] = field(default_factory=lambda: defaultdict(OpTally))
    hits: Counter[Bucket] = field(default_factory=Counter)
    new: dict[Bucket, Saved] = field(default_factory=dict)
    dropped: Counter[Bucket] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)
    gradients: set[str] = field(default_factory=set)
    lines: set[tuple[str, int]] = field(default_factory=set)
    oracles: dict[str, str] = field(default_factory=dict)
    by_oracle: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def count(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case RoundStarted():
                self.oracles[event.op] = event.oracle
            case CaseChecked():
                self._count_case(event)
            case CasesCounted():
                self._count_many(event)
            case CaseRejected():
                self.ops[event.op].rejected += 1
            case FindingSaved():
                self.new[event.finding.bucket] = Saved(event.finding, event.path, event.shrunk)
            case FindingWithdrawn():
                self.new.pop(event.bucket, None)
            case FindingFlaky():
                self.new.pop(event.bucket, None)
                self.dropped[event.bucket] += 1
            case RoundFailed(own=True):
                self.broken[event.op] = event.reason
            case RoundFailed():
                self.failed[event.op] = event.reason
            case RoundEnded():
                self.seconds[event.oracle] += event.seconds
                self.gradients |= event.gradients
            case LinesRan():
                self.lines |= event.lines
            case WorkerDied():
                self._count_death(event)
            case StorageFailed():
                pass  # nothing is lost yet

    def _count_case(self, event: CaseChecked) -> None:
        op = self.ops[event.op]
        op.cases += 1
        self.by_oracle[self.oracles.get(event.op, "")] += 1
        if event.gap:
            op.gaps[event.reason] += 1
        elif event.verdict is Verdict.INCONCLUSIVE:
            op.inconclusive += 1
            op.reasons[event.reason] += 1
        if event.bucket is not None:
            self.hits[event.bucket] += 1

    def _count_many(self, event: CasesCounted) -> None:
        op = self.ops[event.op]
        op.cases += event.cases
        self.by_oracle[self.oracles.get(event.op, "")] += event.cases
        op.rejected += event.rejected
        op.inconclusive += event.inconclusive
        op.reasons.update(event.reasons)
        op.gaps.update(event.gaps)
        self.hits.update(event.hits)

    def _count_death(self, event: WorkerDied) -> None:
        self.deaths[event.kind] += 1
        if event.bucket is not None:
            self.hits[event.bucket] += 1

    @property
    def total(self) -> OpTally:
        """The counts of all ops together."""
        found = OpTally()
        for op in list(self.ops.values()):
            found.cases += op.cases
            found.rejected += op.rejected
            found.inconclusive += op.inconclusive
        return found

    @property
    def ops_seen(self) -> int:
        """How many ops had a case."""
        return sum(op.cases > 0 for op in list(self.ops.values()))

    @property
    def known_hits(self) -> dict[Bucket, int]:
        """The known buckets that cases fell into, the most frequent first."""
        return {bucket: count for bucket, count in self.hits.most_common() if bucket in self.known}
