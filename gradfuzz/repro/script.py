"""A case as a stand-alone script.

It prints what is expected and what is observed, and exits with 1 while the bug is there, with 0
once it is gone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.casefile import Case
from gradfuzz.derived import GradientOf, TangentOf
from gradfuzz.errors import CaseFileError
from gradfuzz.evaluate import Outputs, Program, feed
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.numeric.screen import scale_of
from gradfuzz.oracles import second
from gradfuzz.realview import real_view
from gradfuzz.registry import recipes
from gradfuzz.repro.literals import array_source, call_source, modules_of, number_source
from gradfuzz.repro.templates import FORM, HEAD, MUTATED, RAISES, REPEAT, VALUE
from gradfuzz.repro.ways import GRADIENT, OUTPUT, TANGENT, WAYS
from gradfuzz.runtime import op_def_registry
from gradfuzz.subject import Subject

# By how much an observed value may miss the bounds of the true one, relative to it: a quarter
# of what it was off by when it was found, and no more than this.
SLACK = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-3, "complex64": 1e-3}


def script(case: Case) -> str:
    """Return the source.

    Raises `CaseFileError` for a case of an oracle that has no script, and for one that TensorFlow
    alone cannot run.
    """
    finding = case.finding
    _require_stand_alone(finding.graph)
    return _head(case) + _derived(finding) + _tail(finding)


def _require_stand_alone(graph: Graph) -> None:
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Leaf) and node.variable:
            raise CaseFileError(f"nodes[{index}]: a variable, should be a tensor for a script")
        if isinstance(node, Call) and node.op in recipes() and "." in node.op:
            raise CaseFileError(
                f"nodes[{index}].op: {node.op!r}, a recipe of gradfuzz, should be of TensorFlow "
                "alone for a script"
            )


def title(finding: Finding) -> str:
    """Return one line that says what is wrong."""
    bucket, message = finding.bucket, finding.evidence.message
    op = bucket.op if "." in bucket.op else f"tf.raw_ops.{bucket.op}"
    by = f" by its argument {bucket.input}" if bucket.input else ""
    return f"Gradient of {op}{by}: {message}"


def _head(case: Case) -> str:
    graph = case.finding.graph
    names = _Names.of(graph)
    lines = [
        f"    v{i} = tf.complex(v{i}[..., 0], v{i}[..., 1])"
        for i in graph.leaves
        if _is_complex(graph, i)
    ] + [
        f"    {names.target(i)} = {names.wrapped(i, call_source(call, names.edge))}"
        for i, call in graph.calls
    ]
    modules = set().union(*(modules_of(call.op) for _, call in graph.calls))
    return HEAD.format(
        imports="".join(f"import {module}\n" for module in sorted(modules)),
        title=_docstring(title(case.finding)),
        versions=", ".join(f"{name} {version}" for name, version in case.environment.items()),
        leaves="\n".join(f"    {array_source(real_view(leaf))}," for leaf in graph.primals),
        parameters=", ".join(f"v{i}" for i in graph.leaves),
        body="\n".join(lines) or "    # The leaves themselves are the outputs.",
        outputs=", ".join(names.parts(ref) for ref in graph.outputs),
    )


def _is_complex(graph: Graph, index: int) -> bool:
    node = graph.nodes[index]
    return isinstance(node, Leaf) and node.value.dtype.kind == "c"


def _docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


@dataclass(frozen=True)
class _Names:
    """The variable of each node, and which nodes return one tensor rather than several."""

    graph: Graph
    single: frozenset[int]
    pairs: frozenset[Ref]

    @classmethod
    def of(cls, graph: Graph) -> "_Names":
        return cls(graph, frozenset(_single(graph)), frozenset(_complex_outputs(graph)))

    def target(self, node: int) -> str:
        return f"v{node}"

    def wrapped(self, node: int, source: str) -> str:
        return source if node in self.single else f"tf.nest.flatten({source})"

    def edge(self, ref: Ref) -> str:
        return f"v{ref.node}" if ref.node in self.single else f"v{ref.node}[{ref.output}]"

    def parts(self, ref: Ref) -> str:
        """Return an output as real numbers: of a complex one, its parts on a new last axis."""
        edge = self.edge(ref)
        if ref not in self.pairs:
            return edge
        return f"tf.stack([tf.math.real({edge}), tf.math.imag({edge})], -1)"


def _complex_outputs(graph: Graph) -> Iterator[Ref]:
    """Yield the outputs that are complex; nothing runs where no leaf and no attr is."""
    if "complex" in str(graph):
        values = _values(graph)
        yield from (r for r in graph.outputs if values[r.node][r.output].dtype.is_complex)


def _single(graph: Graph) -> Iterator[int]:
    """Yield the nodes that return one tensor.

    Of an op type its definition says so, before anything runs: it may be one that crashes.
    """
    values = None
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Leaf):
            yield index
            continue
        definition = op_def_registry.get(node.op)
        if definition is not None:
            outputs = definition.output_arg
            if len(outputs) == 1 and not (outputs[0].number_attr or outputs[0].type_list_attr):
                yield index
            continue
        values = values or _values(graph)
        if len(values[index]) == 1:
            yield index


def _values(graph: Graph) -> Sequence[Outputs]:
    program = Program.of(graph)
    return program.run_all(feed(program, [real_view(primal) for primal in graph.primals]))


def _tail(finding: Finding) -> str:
    way, kind = _way(finding.bucket)
    for start, write in _TAILS.items():
        if kind.removeprefix("complex-").startswith(start):
            return way + write(finding)
    raise CaseFileError(f"bucket.kind: {kind!r}, should be one that a script can show")


def _derived(finding: Finding) -> str:
    """Return the first derivative as the function, where a second one is wrong."""
    if finding.bucket.oracle != second.NAME:
        return ""
    program = second.examined(Subject.of(finding.graph), finding.bucket.kind).program
    if isinstance(program, TangentOf):
        return TANGENT.format(tangents=_arrays(program.tangents))
    assert isinstance(program, GradientOf)
    bends = program.curvature or [np.zeros(u.shape) for u in program.cotangents]
    return GRADIENT.format(weights=_arrays(program.cotangents), bends=_arrays(bends))


def _arrays(arrays: Sequence[Array]) -> str:
    return ", ".join(map(array_source, arrays))


def _way(bucket: Bucket) -> tuple[str, str]:
    """Return the way to the gradient that is wrong, "" for a tape's, and the kind without it."""
    if bucket.oracle in ("numeric", "always"):
        return "", bucket.kind
    for (oracle, path), source in WAYS.items():
        if oracle == bucket.oracle and (not path or bucket.kind.startswith(f"{path}-")):
            return source, bucket.kind.removeprefix(f"{path}-")
    raise CaseFileError(f"bucket: {bucket.kind!r} of the oracle {bucket.oracle!r}, of which there "
                        "is no script yet, should be of a tape, of forward mode, of a compiled "
                        "graph or of a Jacobian")  # fmt: skip


def _value(finding: Finding) -> str:
    evidence = finding.evidence
    if None in (evidence.leaf, evidence.element, evidence.output, evidence.low, evidence.high):
        raise CaseFileError("evidence: names no element, should for a script")
    leaf = real_view(finding.graph.primals[evidence.leaf or 0])
    element = evidence.element or 0
    return VALUE.format(
        leaf=evidence.leaf,
        element=element,
        output=evidence.output,
        low=number_source(evidence.low or 0.0),
        high=number_source(evidence.high or 0.0),
        slack=slack(evidence, leaf),
        step=_step(leaf, element),
        expected=expected(evidence),
    )


def slack(evidence: Evidence, leaf: Array) -> float:
    """Return by how much an observed value may miss the bounds of the true one."""
    low, high = evidence.low or 0.0, evidence.high or 0.0
    bound = SLACK[leaf.dtype.name] * max(1.0, abs(low), abs(high))
    if evidence.analytic is None or not np.isfinite(evidence.analytic):
        return bound
    return min(bound, max(low - evidence.analytic, evidence.analytic - high) / 4)


def expected(evidence: Evidence) -> str:
    """Return what the derivative should be."""
    low, high = evidence.low or 0.0, evidence.high or 0.0
    if evidence.kink:
        return f"within the one-sided slopes {low:.10g} and {high:.10g}"
    return f"{(low + high) / 2:.10g} ± {(high - low) / 2:.1g}"


def _step(leaf: Array, element: int) -> float:
    epsilon = 2.0**-52 if SLACK[leaf.dtype.name] < 1e-3 else 2.0**-23
    return float(scale_of(real_view(leaf)).flat[element] * 2.0 ** round(np.log2(epsilon) / 3))


def _of_leaf(template: str) -> Callable[[Finding], str]:
    return lambda finding: template.format(leaf=finding.evidence.leaf or 0)


def _output(finding: Finding) -> str:
    return OUTPUT.format(output=finding.evidence.output or 0)


_TAILS: dict[str, Callable[[Finding], str]] = {
    "output": _output,
    "lost": _value,
    "value": _value,
    "none": _value,
    "non-finite": _value,
    "missing": _of_leaf(RAISES),
    "raises": _of_leaf(RAISES),
    "shape": _of_leaf(FORM),
    "dtype": _of_leaf(FORM),
    "unrepeatable": _of_leaf(REPEAT),
    "mutated": _of_leaf(MUTATED),
}
