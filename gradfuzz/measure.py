"""A measuring run: draw and check as a campaign does, shrink nothing, save nothing, and count."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import hypothesis
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from gradfuzz.catalogue import Catalogue
from gradfuzz.check import check
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Outputs, Run, call
from gradfuzz.events import CaseChecked, CaseRejected, Listener, RoundFailed
from gradfuzz.gradients_run import recording
from gradfuzz.graph import Args, Graph

# Each op has a turn in each pass; cases around one call run more of a gradient than alone.
AROUND = (0, 2)
MOST_CASES = 100_000


class TurnOverError(BaseException):
    """The time of a turn is up.  Not an `Exception`, which Hypothesis would take for a failure."""


def measure(
    ops: Mapping[str, Catalogue],
    seconds: float,
    seed: int,
    listen: Listener,
    *,
    run_op: Run = call,
    clock: Callable[[], float] = time.monotonic,
) -> set[str]:
    """Draw and check graphs of all `ops` in turn for about so many seconds.

    Returns the op types whose gradient function ran.
    """
    rng = random.Random(seed)
    turns = [(op, around) for around in AROUND for op in sorted(ops)]
    end = clock() + seconds
    with recording() as ran:
        for position, (op, around) in enumerate(turns):
            # What one turn leaves of its time is for those behind it.
            until = clock() + max(0.0, end - clock()) / (len(turns) - position)
            run = _telling(run_op, op, listen)
            strategy = ops[op].graphs(op, run=run, around=around)
            _turn(op, strategy, rng.getrandbits(32), _Deadline(clock, until), listen)
    return ran


def _telling(run_op: Run, op: str, listen: Listener) -> Run:
    """Return `run_op`, with the calls of `op` told that refused their arguments.

    What is refused while it is drawn makes no graph.
    """

    def run(name: str, args: Args, values: Sequence[Outputs]) -> Outputs:
        try:
            return run_op(name, args, values)
        except ForwardError:
            if name == op:
                listen(CaseRejected(op))
            raise

    return run


@dataclass(frozen=True)
class _Deadline:
    clock: Callable[[], float]
    end: float

    def is_over(self) -> bool:
        return self.clock() > self.end


def _turn(
    op: str,
    strategy: SearchStrategy[Graph],
    seed: int,
    deadline: _Deadline,
    listen: Listener,
) -> None:
    checked = 0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=MOST_CASES,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def cases(graph: Graph) -> None:
        nonlocal checked
        # One case at least, however short the turn.
        if checked and deadline.is_over():
            raise TurnOverError
        checked += 1
        _case(op, graph, listen)

    try:
        cases()
    except TurnOverError:
        return
    except HypothesisException as reason:
        listen(RoundFailed(op, str(reason).splitlines()[0]))


def _case(op: str, graph: Graph, listen: Listener) -> None:
    try:
        report = check(graph)
    except ForwardError:
        listen(CaseRejected(op))
        hypothesis.reject()
    bucket = report.finding.bucket if report.finding else None
    listen(CaseChecked(op, report.verdict, bucket, report.reason))
