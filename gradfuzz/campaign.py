"""A campaign: many short Hypothesis runs, each on one op, until the budget is spent.

One long run would stop soon after its first failure.  In a round, known buckets pass and each
new bucket raises an exception class of its own, so that shrinking can't slip from one bug to
another.  A finding is saved before it is shrunk, and again once it has shown in a fresh process.

What a place of the crew does is a task: it yields requests and is sent the answers.  So a
worker that died of a case looks into it in its next lives, while the others go on.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import islice

from gradfuzz.autopsy import Autopsy
from gradfuzz.clock import Clock, Stopwatch
from gradfuzz.crew import Crew
from gradfuzz.events import (
    CaseChecked,
    Listener,
    RoundEnded,
    RoundStarted,
    WorkerDied,
)
from gradfuzz.examine import oracles_of
from gradfuzz.fatal import fatal, is_fatal
from gradfuzz.finding import Bucket, Finding, Report, Verdict
from gradfuzz.graph import Graph
from gradfuzz.known import Accepted, Known
from gradfuzz.order import (
    Answer,
    Death,
    Met,
    Order,
    Poll,
    Question,
    Request,
    RoundDone,
    Shrunk,
    Told,
)
from gradfuzz.schedule import Schedule, Turn
from gradfuzz.shares import Shares
from gradfuzz.storage import Pending, Storage

# Shrinking a finding is given this part of the budget, within bounds in seconds.
SHRINKING = 1 / 100
SHORTEST_SHRINKING, LONGEST_SHRINKING = 1.0, 30.0
# What is looked into when the budget is spent has so many times the time of a shrinking left,
# and so many seconds at least; so many in all when the campaign is stopped.
GRACE, SHORTEST_GRACE, FAREWELL = 2.0, 10.0, 5.0
# A graph that ends processes is made smaller for so many seconds at least: each look costs one.
SHORTEST_AUTOPSY = 10.0
# What a case of these oracles may take, in times of the usual limit.
SLOW = {"compiled": 4.0, "batched": 4.0, "second": 4.0}
# How a worker ends that somebody has killed, or whose fork server was.
KILLED = ("dies-SIGKILL", "dies-SIGTERM", "dies-exit-255")
# A finding that did not show in a fresh process is looked for so many times more.
LOOKS = 4
# A bucket whose findings did not repeat passes after so many.
FLAKY_AT_MOST = 3

Task = Generator[Request, Answer, None]


@dataclass(frozen=True, eq=False)
class Present:
    """The round that a place is at, or was last, and what it met."""

    turn: Turn
    met: list[Pending]


@dataclass(eq=False)
class Campaign:
    """One run of the fuzzer for `budget` seconds, by `crew`, in the order of `schedule`.

    Buckets in `known` pass, and those that match `patterns`.  `shares` says which oracle a round
    asks.  A campaign that is resumed has had so many `rounds`, and its `stopwatch` says how much
    of the budget it has spent.  `tick` is called several times a second.
    """

    schedule: Schedule
    storage: Storage
    budget: float
    listen: Listener
    crew: Crew
    clock: Clock
    known: set[Bucket] = field(default_factory=set)
    patterns: tuple[Accepted, ...] = ()
    shares: Shares = field(default_factory=lambda: Shares({"numeric": 1.0}))
    rounds: int = 0
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    tick: Callable[[], None] = lambda: None
    _tasks: dict[int, Task] = field(default_factory=dict)
    _urgent: deque[Task] = field(default_factory=deque)
    _rounds: dict[int, Present] = field(default_factory=dict)
    _pending: dict[Bucket, Pending] = field(default_factory=dict)
    _flaky: Counter[Bucket] = field(default_factory=Counter)
    _gradients: frozenset[str] = frozenset()
    _deadline: float | None = None

    def run(self) -> None:
        """Fuzz until the budget is spent.

        What is found is in the corpus, at whatever instant this is interrupted.  Raises
        `StorageError` where something cannot be saved, even at the end, and `WorkerError` where
        no worker can be started.
        """
        try:
            self._work()
        finally:
            self.crew.end()
            self.storage.close()

    def _work(self) -> None:
        self.crew.ready()
        self.stopwatch.start()
        end = self.clock() + self.budget - self.stopwatch.earlier
        turns = islice(self.schedule.turns(), self.rounds, None)
        while not self._late(end):
            for place in range(self.crew.size):
                if place not in self._tasks and self._urgent:
                    self._begin(place, self._urgent.popleft())
                elif place not in self._tasks and self.clock() < end:
                    self._begin(place, self._round(place, next(turns), end))
            if not self._tasks:
                return
            for place, answer in self.crew.listen(self._hear):
                self._advance(place, answer)
            self.storage.try_again()
            self.tick()

    def _late(self, end: float) -> bool:
        """Return whether all that is left to do is to be left; ask the crew to hurry before."""
        if self.clock() < end:
            return False
        if self._deadline is None:
            stopped = math.isinf(self.clock())
            grace = FAREWELL if stopped else max(GRACE * self._shrinking(), SHORTEST_GRACE)
            self._deadline = time.monotonic() + grace
            if stopped:
                self.crew.stop()
        return time.monotonic() > self._deadline

    def _begin(self, place: int, task: Task) -> None:
        self._tasks[place] = task
        self._advance(place, None)

    def _advance(self, place: int, answer: Answer | None) -> None:
        """Go on with the task of a place, up to its next request."""
        task = self._tasks[place]
        try:
            request = next(task) if answer is None else task.send(answer)
        except StopIteration:
            del self._tasks[place]
        else:
            self.crew.give(place, request, _patience(request))

    def _hear(self, place: int, told: Told) -> None:
        """Take what a round tells: what is new is saved before anything else is done about it."""
        match told:
            case Met():
                self._meet(place, told.graph, told.finding)
            case Shrunk():
                self._simplify(place, told.simplest)
            case _:
                if isinstance(told, CaseChecked):
                    self.schedule.accounts[told.op].cases += 1
                self.listen(told)

    def _meet(self, place: int, graph: Graph, finding: Finding) -> None:
        # Another worker, or another campaign, may have met it since the round began.
        if finding.bucket not in self._passing():
            self.known |= self.storage.buckets_of_others() - self._pending.keys()
        if finding.bucket not in self._passing():
            pending = self._open(graph, finding, self._rounds[place].turn.seed)
            self._rounds[place].met.append(pending)

    def _open(self, graph: Graph, finding: Finding, seed: int) -> Pending:
        """Save a finding at once, and let its bucket pass while it is looked into."""
        pending = self._pending[finding.bucket] = Pending(graph, finding, seed)
        self.storage.save_first(pending)
        return pending

    def _passing(self) -> Known:
        """Return the buckets whose cases pass: the known ones, and those that are looked into."""
        return Known(frozenset({*self.known, *self._pending}), self.patterns)

    def _settled(self) -> Known:
        """Return the known buckets, without those that are looked into."""
        return Known(frozenset(self.known), self.patterns)

    def _simplify(self, place: int, simplest: Finding) -> None:
        for pending in self._rounds[place].met:
            if pending.bucket == simplest.bucket:
                pending.finding = simplest

    def _round(self, place: int, turn: Turn, end: float) -> Task:
        """Have one round; what it finds is looked into afterwards, however it ends."""
        oracles = self.shares.next(turn.op, self.schedule.usual)
        # In a short campaign an oracle has one round on an op: single calls find most.
        around = 0 if self.shares.is_first(turn.op, oracles[0]) else turn.around
        self.shares.charge(turn.op, oracles[0], self.schedule.usual)
        self.listen(RoundStarted(turn.op, oracles[0]))
        met, start, began = list[Pending](), self.clock(), self.stopwatch()
        seconds = min(turn.seconds, end - start)
        self._rounds[place] = Present(turn, met)
        known, shrinking = self._passing(), self._shrinking()
        answer = yield Order(turn.op, around, turn.seed, seconds, shrinking, known, oracles)
        seconds = self.clock() - start
        # The clock of a campaign that is stopped is at the end of time.
        seconds = self.stopwatch() - began if math.isinf(seconds) else seconds
        self.schedule.accounts[turn.op].seconds += seconds
        self._urgent.extend(self._confirmation(pending) for pending in met)
        if isinstance(answer, Death):
            self._urgent.append(self._autopsy(turn, answer, oracles))
        ran = answer.gradients if isinstance(answer, RoundDone) else frozenset[str]()
        gradients, self._gradients = ran - self._gradients, self._gradients | ran
        self.schedule.unseen -= gradients
        self.listen(RoundEnded(turn.op, oracles[0], seconds, gradients, around))

    def _confirmation(self, pending: Pending) -> Task:
        """Look at a finding in a fresh process: it is one only if it shows there, too."""
        bucket = pending.bucket
        oracles = oracles_of(bucket)
        answer = yield Question(pending.finding.graph, bucket.kind, fresh=True, oracles=oracles)
        again = answer.finding if isinstance(answer, Report) else None
        # What cannot be told again, for want of time, is not refuted.
        untold = isinstance(answer, Report) and answer.verdict is Verdict.INCONCLUSIVE
        if untold or (again is not None and again.bucket == bucket):
            pending.finding = again or pending.finding
            self._settle(bucket, pending)
            # What every path says of it takes long, and may be too much for a process.
            polled = yield Poll(pending.finding)
            if isinstance(polled, Finding):
                pending.finding = polled
                self.storage.annotate(pending)
        else:
            yield from self._set_apart(bucket, pending)

    def _settle(self, opened: Bucket, pending: Pending) -> None:
        """Take a finding as one: from now on its bucket is known."""
        self.storage.save_shrunk(pending)
        self.known.add(pending.bucket)
        self._pending.pop(opened, None)
        if pending.bucket.op in self.schedule.accounts:
            self.schedule.accounts[pending.bucket.op].findings += 1

    def _set_apart(self, opened: Bucket, pending: Pending) -> Task:
        """Count how often a finding shows that did not repeat at once, and take it for none."""
        shown, graph, bucket = 0, pending.finding.graph, pending.bucket
        for _ in range(LOOKS):
            answer = yield Question(graph, bucket.kind, fresh=True, oracles=oracles_of(bucket))
            shown += _bucket(graph, answer, bucket.oracle) == bucket
        self.storage.set_apart(pending, shown, LOOKS)
        del self._pending[opened]
        self._flaky[pending.bucket] += 1
        if self._flaky[pending.bucket] >= FLAKY_AT_MOST:
            self.known.add(pending.bucket)

    def reopen(self, pending: Pending) -> None:
        """Look into a finding that an earlier run of this campaign saved and did not get to."""
        self.known.discard(pending.bucket)
        self._pending[pending.bucket] = pending
        ends = is_fatal(pending.bucket.kind)
        oracles = oracles_of(pending.bucket)
        self._urgent.append(
            self._inquiry(pending, oracles) if ends else self._confirmation(pending)
        )

    def _autopsy(self, turn: Turn, death: Death, oracles: tuple[str, ...]) -> Task:
        """Look into the case that ended a worker, if its journal has one."""
        if death.graph is None:
            self.listen(WorkerDied(turn.op, death.kind))
            return
        first = fatal(death.graph, death)
        pending = Pending(death.graph, first, turn.seed)
        if death.kind not in KILLED and first.bucket not in self._passing():
            pending = self._open(death.graph, first, turn.seed)
        yield from self._inquiry(pending, oracles)

    def _inquiry(self, pending: Pending, oracles: tuple[str, ...]) -> Task:
        """Make a graph that ended a process as small as can be, and keep it unless it is known."""
        met, kind = pending.bucket, pending.bucket.kind
        seconds = max(self._shrinking(), SHORTEST_AUTOPSY)
        autopsy = Autopsy(kind, pending.first, self._settled(), seconds, oracles)
        finding = yield from autopsy.inquire()
        bucket = finding.bucket if finding else None
        if bucket is not None and bucket.op in self.schedule.accounts:
            self.schedule.accounts[bucket.op].deaths += 1
        self.listen(WorkerDied(met.op, kind, bucket))
        is_open = self._pending.get(met) is pending
        if finding is not None and finding.bucket not in self._settled():
            pending.finding = finding
            self._settle(met, pending)
        elif is_open and finding is None:
            yield from self._set_apart(met, pending)
        elif is_open:
            self.storage.remove(pending)
            del self._pending[met]

    def _shrinking(self) -> float:
        return min(max(self.budget * SHRINKING, SHORTEST_SHRINKING), LONGEST_SHRINKING)


def _patience(request: Request) -> float:
    """Return how many times the usual time a case may take: tracing and compiling take long."""
    oracles = request.oracles if isinstance(request, Order | Question) else tuple(SLOW)
    return max(SLOW.get(oracle, 1.0) for oracle in oracles)


def _bucket(graph: Graph, answer: Answer, oracle: str) -> Bucket | None:
    """Return the bucket that an answer to a question puts its graph into."""
    match answer:
        case Report(finding=Finding() as finding):
            return finding.bucket
        case Death():
            return fatal(graph, answer, oracle).bucket
    return None
