"""A round: one Hypothesis run on one op, for a slice of time."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import hypothesis
from hypothesis.errors import FailedHealthCheck, Flaky, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from gradfuzz.check import check
from gradfuzz.clock import Clock
from gradfuzz.errors import ForwardError
from gradfuzz.events import CaseChecked, CaseRejected, RoundFailed
from gradfuzz.finding import Bucket, Finding
from gradfuzz.graph import Graph
from gradfuzz.order import Met, Order, Shrunk, Told

# A round ends by time; this only keeps Hypothesis from ending it first.
MOST_CASES = 100_000


class NewBucketError(Exception):
    """A case fell into a bucket that was not known.  Every bucket has a subclass of its own."""


class RoundOverError(BaseException):
    """The time of a round is up.  Not an `Exception`, which Hypothesis would take for a failure."""


@dataclass(eq=False)
class Found:
    """What a round found in one bucket: as first met, and the simplest so far."""

    first: Graph
    simplest: Finding
    error: type[NewBucketError]

    def offer(self, finding: Finding) -> None:
        """Keep `finding` if it is simpler."""
        if finding.graph.complexity < self.simplest.graph.complexity:
            self.simplest = finding


def pass_over(_graph: Graph) -> None:
    """Do nothing about a graph that is about to be checked."""


@dataclass(eq=False)
class Round:
    """Graphs of `strategy`, checked until the time of `order` is up.

    `tell` hears of each case, of the first in a new bucket at once, and at the end of the
    simplest in it.  `enter` is called with each graph before it is checked.
    """

    order: Order
    strategy: SearchStrategy[Graph]
    tell: Callable[[Told], None]
    clock: Clock = time.monotonic
    enter: Callable[[Graph], None] = pass_over
    found: dict[Bucket, Found] = field(default_factory=dict)
    _end: float = field(init=False)
    _begun: bool = False

    def run(self) -> None:
        """Draw and check, and shrink what is new as far as time allows."""
        self._end = self.clock() + self.order.seconds

        @hypothesis.seed(self.order.seed)
        @hypothesis.settings(
            max_examples=MOST_CASES,
            database=None,
            deadline=None,
            phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
        )
        @hypothesis.given(self.strategy)
        def cases(graph: Graph) -> None:
            self._case(graph)

        try:
            cases()
        except (FailedHealthCheck, Unsatisfiable) as reason:
            self._failed(str(reason).splitlines()[0])
        except BaseExceptionGroup as several:
            for failure in several.exceptions:
                self._sort_out(failure)
        # Whatever ends a run is sorted out in one place.
        except BaseException as failure:  # noqa: BLE001
            self._sort_out(failure)
        for found in self.found.values():
            self.tell(Shrunk(found.first, found.simplest))

    def _case(self, graph: Graph) -> None:
        now = self.clock()
        # A round has one case at least, however slow the first may be to draw.
        if now > self._end and (self._begun or math.isinf(now)):
            raise RoundOverError
        self._begun = True
        self.enter(graph)
        try:
            # A gradient that differs when taken twice is shrunk by taking each one twice.
            repeat = any(bucket.kind == "unrepeatable" for bucket in self.found)
            report = check(graph, oracles=self.order.oracles, repeat=repeat)
        except ForwardError:
            self.tell(CaseRejected(self.order.op))
            hypothesis.reject()
        finding = report.finding
        bucket = finding.bucket if finding else None
        gap = report.gap
        self.tell(CaseChecked(self.order.op, report.verdict, bucket, report.reason, gap))
        if finding is not None and finding.bucket not in self.order.known:
            self._new(graph, finding)

    def _sort_out(self, failure: BaseException) -> None:
        """Tell of a fault of our own on one graph, which must not end a night.

        A run is flaky where a failure did not repeat, which the campaign looks into itself.
        """
        if isinstance(failure, (RoundOverError, NewBucketError, Flaky)):
            return
        if not isinstance(failure, Exception):
            raise failure
        self._failed(f"gradfuzz itself failed: {failure!r}"[:200], own=True)

    def _failed(self, reason: str, *, own: bool = False) -> None:
        self.tell(RoundFailed(self.order.op, reason, own))

    def _new(self, graph: Graph, finding: Finding) -> None:
        if not self.found:
            self._end = self.clock() + self.order.shrinking
        if finding.bucket not in self.found:
            self.tell(Met(graph, finding))
            error = type("NewBucketError", (NewBucketError,), {})
            self.found[finding.bucket] = Found(graph, finding, error)
        found = self.found[finding.bucket]
        found.offer(finding)
        raise found.error(str(finding.bucket))
