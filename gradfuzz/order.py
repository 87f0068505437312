"""What a worker is asked to do, and what it says: plain data that crosses between processes.

An order is a round, a slice of fuzzing on one op; a question is about one graph, which may be
the end of whoever answers it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gradfuzz.events import CaseChecked, CaseRejected, LinesRan, RoundFailed
from gradfuzz.finding import Finding, Report
from gradfuzz.graph import Graph
from gradfuzz.known import NOTHING, Known
from gradfuzz.oracles import numeric
from gradfuzz.subject import SECONDS


@dataclass(frozen=True)
class Order:
    """One round: graphs with a call of `op` and up to `around` others on each side.

    It lasts `seconds`, or `shrinking` more from its first new finding on.  Cases in `known`
    buckets pass.  `oracles` are asked, for the sake of the first of them.
    """

    op: str
    around: int
    seed: int
    seconds: float
    shrinking: float
    known: Known = NOTHING
    oracles: tuple[str, ...] = (numeric.NAME,)


@dataclass(frozen=True, eq=False)
class Question:
    """What do the oracles say of this graph?

    `kind` is what is wrong with it, as far as is known: some faults need a second look.  A
    graph that is `foreign` is refused before it runs where it would be too large.  `fresh`
    asks for a process that has answered nothing before.  Each oracle has so many CPU `seconds`.
    """

    graph: Graph
    kind: str = ""
    foreign: bool = False
    fresh: bool = False
    oracles: tuple[str, ...] = (numeric.NAME,)
    seconds: float = SECONDS


@dataclass(frozen=True, eq=False)
class Poll:
    """What does every path to the derivative say of the element that a finding names?"""

    finding: Finding

    @property
    def graph(self) -> Graph:
        """The graph of the finding."""
        return self.finding.graph


@dataclass(frozen=True, eq=False)
class Isolation:
    """What is the last call of this graph by itself, on the values it reads?"""

    graph: Graph


Request = Order | Question | Poll | Isolation


@dataclass(frozen=True, eq=False)
class Met:
    """A case fell into a new bucket: the graph as drawn, and the finding."""

    graph: Graph
    finding: Finding


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The simplest finding of a bucket that was met in a round, and the graph it was met with."""

    first: Graph
    simplest: Finding


Told = Met | Shrunk | CaseChecked | CaseRejected | RoundFailed | LinesRan


@dataclass(frozen=True)
class RoundDone:
    """The answer to an order: what gradient functions ran in this process so far."""

    gradients: frozenset[str]


@dataclass(frozen=True)
class Refused:
    """The answer to a question about a graph that cannot be examined, and why in one line.

    It is `by_op` where an op of the graph refused its arguments.
    """

    message: str
    by_op: bool = False


@dataclass(frozen=True, eq=False)
class Death:
    """The answer of a process that did not survive the request.

    `kind` is dies-<signal>, dies-exit-<code>, hangs or memory; `graph` what its journal says
    that it was running, `words` the last lines on its stderr.
    """

    kind: str
    graph: Graph | None = None
    words: str = ""


Answer = RoundDone | Report | Finding | Refused | Graph | Death
Ask = Callable[[Request], Answer]
