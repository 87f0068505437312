"""Graphs that are the end of the process that runs them: by death, a hang or lack of memory."""

from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Graph
from gradfuzz.oracles import always, numeric
from gradfuzz.order import Death

# As for what must hold of every gradient, whatever its value.
ORACLE = always.NAME

_MEANING = {
    "hangs": "no end in the time a case may take",
    "memory": "more memory than a case may take",
}


def is_fatal(kind: str) -> bool:
    """Return whether a bucket's kind is an end of the process."""
    return kind.startswith("dies-") or kind in _MEANING


def fatal(graph: Graph, death: Death, oracle: str = ORACLE) -> Finding:
    """Return the finding of a graph whose last call is the end of the process.

    `oracle` was asked: it is blamed unless it takes no more than a plain gradient.
    """
    op = graph.calls[-1][1].op if graph.calls else ""
    plain = oracle in (ORACLE, numeric.NAME)
    bucket = Bucket(op, ORACLE if plain else oracle, death.kind)
    meaning = _MEANING.get(death.kind, f"the process {death.kind.replace('-', ' by ', 1)}")
    said = f"; it said: {death.words}" if death.words else ""
    return Finding(graph, bucket, Evidence(meaning + said))
