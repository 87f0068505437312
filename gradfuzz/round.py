"""A round: one Hypothesis run on one op, for a slice of time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import hypothesis
from hypothesis.errors import FailedHealthCheck, Flaky, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from gradfuzz.check import check
from gradfuzz.errors import CaseFileError, ForwardError, GradfuzzError
from gradfuzz.events import CaseChecked, CaseRejected, Listener, RoundFailed
from gradfuzz.finding import Bucket, Finding
from gradfuzz.graph import Graph

# A round ends by time; this only keeps Hypothesis from ending it first.
MOST_CASES = 100_000
Clock = Callable[[], float]


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


@dataclass(eq=False)
class Round:
    """Graphs of `strategy`, asked about until `end` on the clock, where nothing new turns up.

    `oracles` are what is asked.  Cases in `known` buckets pass.  `on_new` is called with the
    first case of a new bucket, at once; an error it raises ends the round and is raised again.
    From then on, the round ends after `shrinking` seconds, whatever `end` says.
    """

    op: str
    strategy: SearchStrategy[Graph]
    seed: int
    end: float
    shrinking: float
    known: set[Bucket]
    on_new: Callable[[Graph, Finding], None]
    listen: Listener
    oracles: Sequence[str] = ("numeric",)
    clock: Clock = time.monotonic
    found: dict[Bucket, Found] = field(default_factory=dict)
    _shrinking_ends: float | None = None
    _broken: GradfuzzError | None = None

    def run(self) -> dict[Bucket, Found]:
        """Draw and check, and return what is new by bucket, shrunk as far as time allowed."""

        @hypothesis.seed(self.seed)
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
            self.listen(RoundFailed(self.op, str(reason).splitlines()[0]))
        except BaseExceptionGroup as several:
            for failure in several.exceptions:
                self._tell(failure)
        # Whatever ends a run is sorted out in one place.
        except BaseException as failure:  # noqa: BLE001
            self._tell(failure)
        if self._broken is not None:
            raise self._broken
        return self.found

    def _case(self, graph: Graph) -> None:
        self._watch_the_clock()
        try:
            # A gradient that differs when taken twice is shrunk by taking each one twice.
            repeat = any(bucket.kind == "unrepeatable" for bucket in self.found)
            report = check(graph, oracles=self.oracles, repeat=repeat)
        except ForwardError:
            self.listen(CaseRejected(self.op))
            hypothesis.reject()
        finding = report.finding
        bucket = finding.bucket if finding else None
        self.listen(CaseChecked(self.op, report.verdict, bucket, report.reason, report.gap))
        if finding is not None and finding.bucket not in self.known:
            self._new(graph, finding)

    def _tell(self, failure: BaseException) -> None:
        """Raise what must end the campaign; tell of a fault of our own on one graph.

        The latter must not end a night.  A run is flaky where a failure did not repeat, which
        the campaign looks into itself.
        """
        if isinstance(failure, (RoundOverError, NewBucketError, Flaky)):
            return
        if isinstance(failure, GradfuzzError) or not isinstance(failure, Exception):
            raise failure
        self.listen(RoundFailed(self.op, f"gradfuzz itself failed: {failure!r}"[:200]))

    def _announce(self, graph: Graph, finding: Finding) -> None:
        try:
            self.on_new(graph, finding)
        except CaseFileError as error:
            self.known.add(finding.bucket)
            self.listen(RoundFailed(self.op, f"{finding.bucket} cannot be saved: {error}"))
            raise RoundOverError from error
        except GradfuzzError as error:
            # Hypothesis would take it for one more failing case, and shrink it.
            self._broken = error
            raise RoundOverError from error

    def _watch_the_clock(self) -> None:
        now = self.clock()
        until = self._shrinking_ends if self._shrinking_ends is not None else self.end
        if now > until:
            raise RoundOverError

    def _new(self, graph: Graph, finding: Finding) -> None:
        if self._shrinking_ends is None:
            self._shrinking_ends = self.clock() + self.shrinking
        if finding.bucket not in self.found:
            self._announce(graph, finding)
            error = type("NewBucketError", (NewBucketError,), {})
            self.found[finding.bucket] = Found(graph, finding, error)
        found = self.found[finding.bucket]
        found.offer(finding)
        raise found.error(str(finding.bucket))
