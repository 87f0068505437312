"""The script of a case that is the end of the process: it runs in a child of the script."""

from gradfuzz.finding import Finding
from gradfuzz.graph import Graph
from gradfuzz.oracles import second
from gradfuzz.repro.shown import gradient_source, tangent_source
from gradfuzz.repro.templates import FATAL, LIMITS
from gradfuzz.repro.ways import WAYS
from gradfuzz.subject import Subject


def standard_imports(kind: str) -> str:
    """Return the imports of Python's own modules that such a script needs."""
    watching = ("os", "resource", "threading", "time") if kind == "memory" else ()
    names = sorted(("signal", "subprocess", "sys", *watching))
    return "\n".join(f"import {name}" for name in names)


def fatal_tail(finding: Finding) -> str:
    """Return what comes behind the head: every way of the oracle that ended the process, tried.

    At second order the graph itself runs to write it, which is then no end of this process.
    """
    bucket = finding.bucket
    sources = dict.fromkeys(WAYS[way] for way in WAYS if way[0] == bucket.oracle)
    derived = _derived(finding.graph) if bucket.oracle == second.NAME else ""
    functions = "gradient_of(function), tangent_of(function)" if derived else "function,"
    tail = FATAL.format(limit=LIMITS.get(bucket.kind, ""), functions=functions)
    return derived + "".join(sources) + tail


def _derived(graph: Graph) -> str:
    subject = Subject.of(graph)
    return gradient_source(subject) + tangent_source(subject)
