"""Draw graphs and look for the simplest one that disagrees."""

from collections.abc import Sequence
from typing import Any

import hypothesis
from hypothesis import strategies as st

from gradfuzz.check import check
from gradfuzz.evaluate import Program, feed
from gradfuzz.finding import Finding
from gradfuzz.graph import Graph
from gradfuzz.realview import real_view
from gradfuzz.strategies.catalogue import CATALOGUE, complexes
from gradfuzz.strategies.graphs import Entries, graphs
from gradfuzz.strategies.modes import MODES, Mode
from tests.careful import careful

# No phase "explain": it runs variants of the simplest example, the last of which `find` returns.
THOROUGH = hypothesis.settings(
    max_examples=400,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
)
REAL_ENTRIES = Entries(entry for entry in CATALOGUE.entries if entry not in complexes.OPS)
BRIEF = hypothesis.settings(THOROUGH, max_examples=60)


def graphs_of(
    op: str,
    *,
    around: int = 0,
    modes: st.SearchStrategy[Mode] = MODES,
    only: int | None = None,
) -> st.SearchStrategy[Graph]:
    """Graphs of one op of the built-in catalogue, on real numbers, or of its entry `only`."""
    focus = [entry for entry in REAL_ENTRIES if entry.op == op]
    focus = focus if only is None else [focus[only]]
    return graphs(focus, run=careful, others=REAL_ENTRIES, around=around, modes=modes)


def run_forward(graph: Graph) -> list[Any]:
    """Return the tensors of the outputs at the point of the graph."""
    program = Program.of(graph)
    return program.run(feed(program, [real_view(primal) for primal in graph.primals]))


def simplest(
    strategy: st.SearchStrategy[Graph],
    op: str,
    kind: str = "value",
    settings: hypothesis.settings = THOROUGH,
    oracles: Sequence[str] = ("numeric",),
) -> Finding:
    """Return the simplest finding that blames `op` with a fault of `kind`."""

    def blames(graph: Graph) -> bool:
        finding = check(graph, oracles=oracles).finding
        return finding is not None and (finding.bucket.op, finding.bucket.kind) == (op, kind)

    graph = hypothesis.find(strategy, blames, settings=settings)
    finding = check(graph, oracles=oracles).finding
    assert finding is not None
    return finding
