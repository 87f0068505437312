"""Ask the oracles about a graph as a whole."""

from dataclasses import dataclass

from gradfuzz.finding import AGREED, Fault, Outcome, inconclusive
from gradfuzz.graph import Graph
from gradfuzz.oracles import always, numeric
from gradfuzz.oracles.numeric import Place
from gradfuzz.subject import Subject


@dataclass(frozen=True)
class Examination:
    """The first outcome that is not agreement, and the oracle that it comes from."""

    oracle: str
    outcome: Outcome

    @property
    def fault(self) -> Fault | None:
        """What is wrong, or None."""
        return self.outcome.fault


def examine(graph: Graph, *, repeat: bool = False, at: Place | None = None) -> Examination:
    """Ask each oracle about `graph`; `repeat` demands that the gradient is taken twice.

    `at` limits the question about values to one element of one leaf.  Raises `ForwardError`
    where the graph does not run.
    """
    subject = Subject.of(graph)
    outcome = always.examine(subject, repeat=repeat)
    if outcome is not AGREED:
        return Examination(always.NAME, outcome)
    if at is not None:
        return Examination(numeric.NAME, numeric.examine_at(subject, at))
    return Examination(numeric.NAME, numeric.examine(subject))


def votes(subject: Subject) -> dict[str, Outcome]:
    """Return what each oracle says of a subject as a whole, its gradient taken twice.

    Where the gradient has no right form, there is nothing that the others could compare.
    """
    found = {always.NAME: always.examine(subject, repeat=True)}
    if found[always.NAME] is not AGREED:
        return found | {numeric.NAME: inconclusive("not asked: there is no gradient to compare")}
    return found | {numeric.NAME: numeric.examine(subject)}
