"""What the script of a finding shows, where that is not an element of the graph's own Jacobian.

A second derivative is the first one of a gradient, and digits are counted of one op at one point.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from gradfuzz.errors import CaseFileError
from gradfuzz.finding import Evidence, Finding
from gradfuzz.graph import Array, Graph
from gradfuzz.oracles import precision, second
from gradfuzz.oracles.digits import sharps
from gradfuzz.oracles.single import narrow
from gradfuzz.realview import real_view
from gradfuzz.repro.literals import arrays_source
from gradfuzz.repro.templates import GRADIENT, GRADIENT_OF_ONE, TANGENT
from gradfuzz.subject import Subject


@dataclass(frozen=True, eq=False)
class Shown:
    """The graph of a script, and the place in the Jacobian.

    `derivation` is the source that defines the function `derive`, whose Jacobian it is then, of
    that of the graph.  `mirrored` is the place on the other side of the diagonal of a Hessian,
    where that is the one in doubt: the bounds are still those of the place of `evidence`.
    `is_exact` says that the bounds come of exact arithmetic: no difference has as many digits.
    """

    graph: Graph
    evidence: Evidence
    derivation: str = ""
    derive: str = ""
    mirrored: Evidence | None = None
    is_exact: bool = False


def shown(finding: Finding) -> Shown:
    """Return what to show of a finding.

    Raises `ForwardError` where its graph does not run, and `CaseFileError` for evidence that
    does not belong to it.
    """
    if finding.bucket.oracle == precision.NAME:
        return _digits(finding)
    if finding.bucket.oracle == second.NAME:
        return _second(finding)
    return Shown(finding.graph, finding.evidence)


def is_of_one_op(finding: Finding) -> bool:
    """Return whether digits were counted of a derivative that the graph does not have itself.

    Neither paths nor differences of the graph are of it, then.
    """
    return finding.bucket.oracle == precision.NAME and finding.evidence.element is None


def _second(finding: Finding) -> Shown:
    subject, kind, evidence = Subject.of(finding.graph), finding.bucket.kind, finding.evidence
    if second.is_of_tangent(kind):
        return Shown(finding.graph, evidence, tangent_source(subject), "tangent_of")
    showing = Shown(finding.graph, evidence, gradient_source(subject), "gradient_of")
    # What was found is right where it is allowed: then it is the other one that is in doubt.
    if kind.startswith("transposed") and evidence.output is not None and not evidence.is_allowed:
        return replace(showing, mirrored=_mirrored(evidence, subject.primals))
    return showing


def gradient_source(subject: Subject) -> str:
    """Return the source of the gradient that second derivatives are of."""
    program = second.gradient_program(subject)
    weights = list(map(real_view, program.cotangents))
    bends = [real_view(each) for each in program.curvature or [np.zeros(u.shape) for u in weights]]
    return GRADIENT.format(weights=arrays_source(weights), bends=arrays_source(bends))


def tangent_source(subject: Subject) -> str:
    """Return the source of the JVP that second derivatives are of."""
    return TANGENT.format(tangents=arrays_source(subject.tangents))


def _mirrored(evidence: Evidence, primals: Sequence[Array]) -> Evidence:
    """Return the evidence at the place on the other side of the diagonal."""
    ends = np.cumsum([x.size for x in primals]).tolist()
    starts = [0, *ends]
    row = evidence.output or 0
    leaf = int(np.searchsorted(ends, row, side="right"))
    output = starts[evidence.leaf or 0] + (evidence.element or 0)
    return replace(evidence, leaf=leaf, element=row - starts[leaf], output=output)


def _digits(finding: Finding) -> Shown:
    """Return the one op at one point whose digits were counted, or else the graph in float32."""
    for sharp in sharps(Subject.of(finding.graph)):
        if (at := sharp.rounded()) is None:
            continue
        for by in _orders(sharp.inputs):
            if finding.evidence.message.startswith(f"{sharp.derivative(Counter(by), at)}: "):
                return _sharp(sharp.graph(at), [sharp.inputs.index(name) for name in by], finding)
    if not finding.bucket.kind.startswith("float32"):
        raise CaseFileError("evidence.message: names no point of the graph, should for a script")
    return Shown(narrow(finding.graph), finding.evidence)


def _orders(inputs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield by which inputs the first and second derivatives are."""
    yield from product(inputs)
    yield from product(inputs, inputs)


def _sharp(graph: Graph, leaves: Sequence[int], finding: Finding) -> Shown:
    """Return the derivative by some leaves, one after the other, of a graph of scalars."""
    evidence = replace(finding.evidence, leaf=leaves[-1], element=0, output=0)
    if len(leaves) == 1:
        return Shown(graph, evidence, is_exact=True)
    evidence = replace(evidence, output=leaves[0])
    return Shown(graph, evidence, GRADIENT_OF_ONE, "gradient_of", is_exact=True)
