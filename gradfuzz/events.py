"""What a campaign reports as it goes: the command line, logs and tests listen."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gradfuzz.finding import Bucket, Finding, Verdict


@dataclass(frozen=True)
class RoundStarted:
    """The campaign turned to an op, with an oracle to ask about it."""

    op: str
    oracle: str = ""


@dataclass(frozen=True)
class RoundEnded:
    """A round is over, after so many seconds."""

    op: str
    oracle: str
    seconds: float


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
class FindingDropped:
    """A disagreement did not repeat when the same graph was checked again."""

    bucket: Bucket


@dataclass(frozen=True)
class RoundFailed:
    """A round ended early: its entry draws too slowly, or gradfuzz itself failed on a graph."""

    op: str
    reason: str


Event = (
    RoundStarted
    | RoundEnded
    | CaseChecked
    | CaseRejected
    | FindingSaved
    | FindingDropped
    | RoundFailed
)
Listener = Callable[[Event], None]
