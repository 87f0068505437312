"""Ask the oracles about a graph as a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradfuzz.errors import UsageError
from gradfuzz.finding import AGREED, Bucket, Fault, Outcome, gap, inconclusive
from gradfuzz.graph import Graph
from gradfuzz.oracles import always, batched, compiled, effects, forward, numeric, precision, second
from gradfuzz.oracles.place import Place
from gradfuzz.registry import is_reverse_only
from gradfuzz.strictjson import shortened
from gradfuzz.subject import SECONDS, Subject


class Oracle(Protocol):
    """What compares the ways to one derivative of a subject."""

    def __call__(self, subject: Subject, *, at: Place | None = None) -> Outcome:
        """Return what it says, of one element of one leaf if `at` is given."""


ORACLES: Mapping[str, Oracle] = {
    numeric.NAME: numeric.examine,
    forward.NAME: forward.examine,
    second.NAME: second.examine,
    compiled.NAME: compiled.examine,
    batched.NAME: batched.examine,
    effects.NAME: effects.examine,
    precision.NAME: precision.examine,
}


def oracles_of(bucket: Bucket) -> tuple[str, ...]:
    """Return the oracles to ask whether a bug is still there.

    Raises `UsageError` for a bucket of an oracle that is not known.
    """
    if bucket.oracle == always.NAME:
        return (numeric.NAME,)
    if bucket.oracle not in ORACLES:
        wanted = ", ".join((always.NAME, *ORACLES))
        raise UsageError(f"bucket.oracle {shortened(bucket.oracle)!r}: should be one of {wanted}")
    return (bucket.oracle,)


@dataclass(frozen=True)
class Examination:
    """The first fault, or else the first outcome that is not agreement, and whose it is."""

    oracle: str
    outcome: Outcome

    @property
    def fault(self) -> Fault | None:
        """What is wrong, or None."""
        return self.outcome.fault


def examine(
    graph: Graph,
    *,
    oracles: Sequence[str] = (),
    repeat: bool = False,
    at: Place | None = None,
    seconds: float = SECONDS,
) -> Examination:
    """Ask each oracle about `graph`; `repeat` demands that the gradient is taken twice.

    `at` limits the question about values to one element of one leaf.  Each oracle has so many
    CPU `seconds`.  Raises `ForwardError` where the graph does not run.
    """
    subject = Subject.of(graph, seconds)
    found = Examination(always.NAME, always.examine(subject, repeat=repeat))
    if found.outcome is not AGREED:
        return found
    for name in oracles:
        outcome = _ask(name, subject, at, graph)
        if outcome.fault is not None:
            return Examination(name, outcome)
        if found.outcome is AGREED:
            found = Examination(name, outcome)
    return found


def _ask(
    oracle: str, subject: Subject, at: Place | None = None, graph: Graph | None = None
) -> Outcome:
    if subject.has_variables and oracle != numeric.NAME:
        # A handle has no tangent, and is no argument of a function.
        return gap("of a variable there is the gradient in reverse mode alone")
    if oracle != numeric.NAME and graph and _is_reverse_only(graph):
        return gap("a recipe of TensorFlow 1 has a gradient in reverse mode alone")
    return ORACLES[oracle](subject, at=at)


def _is_reverse_only(graph: Graph) -> bool:
    return any(is_reverse_only(call.op) for _, call in graph.calls)


def votes(subject: Subject, oracles: Sequence[str] = (numeric.NAME,)) -> dict[str, Outcome]:
    """Return what each of `oracles` says of a subject as a whole, its gradient taken twice.

    Where the gradient has no right form, there is nothing that the others could compare.
    """
    found = {always.NAME: always.examine(subject, repeat=True)}
    for name in oracles:
        if found[always.NAME] is not AGREED:
            found[name] = inconclusive("not asked: there is no gradient to compare")
        else:
            found[name] = _ask(name, subject)
    return found
