"""Check one graph: the oracles, then the blame."""

from collections.abc import Callable, Sequence
from functools import partial

from gradfuzz.blame import blame
from gradfuzz.errors import SlowError
from gradfuzz.examine import Examination, examine
from gradfuzz.finding import Finding, Report, Verdict
from gradfuzz.graph import Graph
from gradfuzz.oracles import numeric
from gradfuzz.subject import SECONDS


def check(
    graph: Graph,
    *,
    oracles: Sequence[str] = (numeric.NAME,),
    repeat: bool = False,
    seconds: float = SECONDS,
) -> Report:
    """Return whether the derivatives of `graph` are right at its leaves, as `oracles` see it.

    `repeat` demands that each gradient is taken twice; otherwise one case in sixteen is.  What
    an oracle cannot tell within so many CPU `seconds` is inconclusive.  Raises `ForwardError`
    where the graph does not run.
    """
    try:
        return _check(graph, oracles, partial(examine, seconds=seconds), repeat=repeat)
    except SlowError as error:
        return Report(Verdict.INCONCLUSIVE, reason=str(error))


def _check(
    graph: Graph, oracles: Sequence[str], examine: Callable[..., Examination], *, repeat: bool
) -> Report:
    examination = examine(graph, oracles=oracles, repeat=repeat)
    outcome = examination.outcome
    if outcome.fault is None:
        return Report(outcome.verdict, reason=outcome.reason, gap=outcome.gap)
    again = partial(
        examine,
        oracles=[name for name in oracles if name == examination.oracle],
        repeat=repeat or outcome.fault.kind == "unrepeatable",
    )
    blamed = blame(graph, examination, again)
    if isinstance(blamed, Finding):
        return Report(Verdict.DISAGREE, blamed)
    return Report(blamed.verdict, reason=blamed.reason)
