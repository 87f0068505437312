"""What a campaign reports as it goes: the command line, logs and tests listen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradfuzz.finding import Bucket, Finding, Verdict


@dataclass(frozen=True)
class RoundStarted:
    """The campaign turned to an op, with an oracle to ask about it."""

    op: str
    oracle: str = ""


@dataclass(frozen=True)
class CaseChecked:
    """One graph was checked.  `bucket` names the disagreement, new or known, if it was one.

    `gap` says that an inconclusive one is so because TensorFlow has no such derivative.
    """

    op: str
    verdict: Verdict
    bucket: Bucket | None = None
    reason: str = ""
    gap: bool = False


@dataclass(frozen=True)
class CaseRejected:
    """One graph did not run forward: `op` refused its arguments."""

    op: str


@dataclass(frozen=True, eq=False)
class FindingSaved:
    """A new finding was written to the corpus: as found, then again `shrunk`."""

    finding: Finding
    path: Path
    shrunk: bool


@dataclass(frozen=True)
class FindingWithdrawn:
    """What was saved in `bucket` when it was met turned out to be in another one."""

    bucket: Bucket


@dataclass(frozen=True)
class FindingFlaky:
    """A disagreement did not repeat in a fresh process: it showed `shown` times in `looks` more."""

    bucket: Bucket
    shown: int = 0
    looks: int = 0


@dataclass(frozen=True)
class RoundFailed:
    """A round ended early: its entry draws too slowly, or gradfuzz itself (`own`) failed."""

    op: str
    reason: str
    own: bool = False


@dataclass(frozen=True)
class RoundEnded:
    """A round is over, after so many seconds.

    `gradients` are the op types whose gradient function ran for the first time; up to `around`
    calls stood before and behind the one in focus.
    """

    op: str
    oracle: str = ""
    seconds: float = 0.0
    gradients: frozenset[str] = frozenset()
    around: int = 0


@dataclass(frozen=True)
class LinesRan:
    """These lines of TensorFlow's gradient files ran for the first time in some process.

    Each is the name of its file and its number.  Told where somebody asked for it.
    """

    lines: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class WorkerDied:
    """A worker did not survive a case of `op`, by a death, a hang or its hunger for memory.

    `bucket` is what it was found to be; None where the case does not do it again.
    """

    op: str
    kind: str
    bucket: Bucket | None = None


@dataclass(frozen=True)
class StorageFailed:
    """Something could not be saved, for now: it is kept, and saved when there is room again."""

    reason: str


@dataclass(frozen=True)
class CasesCounted:
    """So many cases of `op`, read back from the log of a campaign that went before.

    `reasons` are those of the inconclusive ones, `gaps` what TensorFlow has no derivative for,
    `hits` the buckets of those that disagreed.
    """

    op: str
    cases: int
    rejected: int
    inconclusive: int
    reasons: Mapping[str, int]
    hits: Mapping[Bucket, int]
    gaps: Mapping[str, int] = field(default_factory=dict)


Event = (
    RoundStarted
    | CasesCounted
    | CaseChecked
    | CaseRejected
    | FindingSaved
    | FindingWithdrawn
    | FindingFlaky
    | RoundFailed
    | RoundEnded
    | LinesRan
    | WorkerDied
    | StorageFailed
)
Listener = Callable[[Event], None]
