"""Carry out a request in this process, at whatever risk to it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gradfuzz.blame import isolated
from gradfuzz.catalogue import Catalogue
from gradfuzz.check import check
from gradfuzz.clock import Clock
from gradfuzz.errors import ForwardError, GradfuzzError
from gradfuzz.evaluate import Outputs, Program, Run, call, feed, first_line
from gradfuzz.events import CaseRejected, LinesRan
from gradfuzz.finding import Finding, Report
from gradfuzz.gradient_lines import Recorder
from gradfuzz.graph import Args, Array, Call, Graph, Ref
from gradfuzz.guard import require_small
from gradfuzz.order import (
    Answer,
    Isolation,
    Order,
    Poll,
    Question,
    Refused,
    Request,
    RoundDone,
    Told,
)
from gradfuzz.realview import real_view
from gradfuzz.round import Round, pass_over
from gradfuzz.vote import vote

# So often is a gradient that differs when taken twice looked at.
TRIES = 8


@dataclass(frozen=True, eq=False)
class Bench:
    """What requests are carried out with.

    `ops` are those to draw, `run_op` runs one while a graph is drawn, and `enter` is called
    with each graph before it is checked.  `gradients` are the gradient functions that ran,
    and `lines` tells which lines of theirs did, where that is recorded.
    """

    ops: Mapping[str, Catalogue]
    run_op: Run = call
    enter: Callable[[Graph], None] = pass_over
    clock: Clock = time.monotonic
    gradients: set[str] = field(default_factory=set)
    lines: Recorder | None = None

    def answer(self, request: Request, tell: Callable[[Told], None]) -> Answer:
        """Carry out one request; `tell` hears what happens in a round."""
        if isinstance(request, Order):
            return self._round(request, tell)
        self.enter(request.graph)
        match request:
            case Question():
                return answered(partial(examined, request))
            case Poll():
                return answered(partial(polled, request))
        return answered(partial(alone, request))

    def _round(self, order: Order, tell: Callable[[Told], None]) -> RoundDone:
        run = _telling(self.run_op, order.op, tell)
        strategy = self.ops[order.op].graphs(order.op, run=run, around=order.around)
        Round(order, strategy, tell, self.clock, self.enter).run()
        if self.lines is not None:
            tell(LinesRan(self.lines.new()))
        return RoundDone(frozenset(self.gradients))


def _telling(run_op: Run, op: str, tell: Callable[[Told], None]) -> Run:
    """Return `run_op`, with the calls of `op` told that refused their arguments.

    What is refused while it is drawn makes no graph.
    """

    def run(name: str, args: Args, values: Sequence[Outputs]) -> Outputs:
        try:
            return run_op(name, args, values)
        except ForwardError:
            if name == op:
                tell(CaseRejected(op))
            raise

    return run


def answered(work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns, or what it raises in one line."""
    try:
        return work()
    except GradfuzzError as error:
        return Refused(str(error), by_op=isinstance(error, ForwardError))
    # The graph may be hostile, and whoever asks must get an answer.
    except Exception as raised:  # noqa: BLE001
        return Refused(f"{type(raised).__name__}: {first_line(raised)}")


def examined(question: Question) -> Report:
    """Check the graph of a question; several times where the fault is memory never written.

    Such memory holds by chance what it should, now and then.
    """
    if question.foreign:
        require_small(question.graph)
    look = partial(check, question.graph, oracles=question.oracles, seconds=question.seconds)
    if question.kind != "unrepeatable":
        return look()
    for _ in range(TRIES):
        report = look(repeat=True)
        if report.finding is not None:
            break
    return report


def polled(request: Poll) -> Finding:
    """Return the finding with the votes on it."""
    return replace(request.finding, votes=vote(request.finding))


def alone(request: Isolation) -> Graph:
    """Return the last call of a graph by itself; it is not run, but all before it are."""
    graph = request.graph
    called = {ref for ref in graph.calls[-1][1].inputs if isinstance(graph.nodes[ref.node], Call)}
    if not called:
        return graph
    inputs = sorted(called)
    before = graph.cut(inputs)
    program = Program.of(before)
    outputs = program.run(feed(program, [real_view(primal) for primal in before.primals]))
    values: dict[Ref, Array] = {r: x.numpy() for r, x in zip(inputs, outputs, strict=True)}
    return isolated(graph, values.__getitem__)


def ask_here(request: Request) -> Answer:
    """Answer a question in this process, which does not survive a graph that kills it."""
    return Bench({}).answer(request, _hear_nothing)


def _hear_nothing(_told: Told) -> None:
    """Do nothing about what is told: there is no round."""
