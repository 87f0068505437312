"""A case as a stand-alone script.

It prints what is expected and what is observed, and exits with 1 while the bug is there, with 0
once it is gone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gradfuzz.casefile import Case
from gradfuzz.errors import CaseFileError
from gradfuzz.evaluate import Outputs, Program, feed
from gradfuzz.fatal import is_fatal
from gradfuzz.finding import Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.realview import real_view
from gradfuzz.registry import is_declared
from gradfuzz.repro.direction import direction
from gradfuzz.repro.element import element
from gradfuzz.repro.fatal import fatal_tail, standard_imports
from gradfuzz.repro.layer import layers_source
from gradfuzz.repro.literals import (
    Name,
    array_source,
    call_source,
    modules_of,
    reference_source,
    tensors_source,
)
from gradfuzz.repro.recipe import recipes_source
from gradfuzz.repro.shown import Shown, shown
from gradfuzz.repro.templates import FUNCTION, HEAD
from gradfuzz.repro.ways import way_of
from gradfuzz.repro.whole import ENDINGS, whole
from gradfuzz.runtime import op_def_registry

# The kinds of fault that are of one number.
ELEMENTS = ("value", "none", "non-finite", "lost")


def script(case: Case) -> str:
    """Return the source.

    Raises `CaseFileError` for a case that TensorFlow alone cannot show, and `ForwardError` for
    one whose graph does not run.
    """
    _require_script(case.finding)
    if is_fatal(case.finding.bucket.kind):
        graph = case.finding.graph
        return _head(case, graph) + _leaves(graph) + fatal_tail(case.finding)
    showing = shown(case.finding)
    start = _head(case, showing.graph) + _derived(showing) + _leaves(showing.graph)
    ending = _ending(case.finding, showing)
    return start + ("\n\n" if ending.startswith(("def ", "@")) else "") + ending


def _require_script(finding: Finding) -> None:
    bucket = finding.bucket
    if bucket.oracle == "precision" and is_fatal(bucket.kind):
        raise CaseFileError(f"bucket: {bucket.kind} in the oracle 'precision', should be in "
                            "reverse mode for a script")  # fmt: skip


def title(finding: Finding) -> str:
    """Return one line that says what is wrong."""
    bucket, message = finding.bucket, finding.evidence.message
    op = bucket.op if "." in bucket.op else f"tf.raw_ops.{bucket.op}"
    by = f" by its argument {bucket.input}" if bucket.input else ""
    return f"Gradient of {op}{by}: {message}".rstrip()


def _head(case: Case, graph: Graph) -> str:
    """Return the source of a graph: its leaves and its function."""
    ops = [call.op for _, call in graph.calls]
    modules = set().union(*map(modules_of, ops))
    kind = case.finding.bucket.kind
    is_end = is_fatal(kind)
    names = _Names.without_running(graph) if is_end else _Names.of(graph)
    return HEAD.format(
        standard=standard_imports(kind) if is_end else "import sys",
        imports="".join(f"import {module}\n" for module in sorted(modules)),
        title=_docstring(title(case.finding)),
        versions=", ".join(f"{name} {version}" for name, version in case.environment.items()),
        leaves="\n".join(f"    {array_source(real_view(leaf))}," for leaf in graph.primals),
        functions=recipes_source(ops) + layers_source(ops) + _functions(names),
    )


def _leaves(graph: Graph) -> str:
    return f"leaves = {tensors_source('LEAVES', graph)}\n"


def _functions(names: "_Names") -> str:
    """Return the function of a graph, and the one whose derivative its gradient should be."""
    ops = [call.op for _, call in names.graph.calls]
    found = _function(names, "function", call_source)
    if any(map(is_declared, ops)):
        found += _function(names, "reference", reference_source)
    return found


def _function(names: "_Names", name: str, source: Callable[[Call, Name], str]) -> str:
    graph = names.graph
    lines = [
        f"    v{i} = tf.complex(v{i}[..., 0], v{i}[..., 1])"
        for i in graph.leaves
        if _is_complex(graph, i)
    ] + [
        f"    {names.target(i)} = {names.wrapped(i, source(call, names.edge))}"
        for i, call in graph.calls
    ]
    return FUNCTION.format(
        name=name,
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

    @classmethod
    def without_running(cls, graph: Graph) -> "_Names":
        """Return them as far as the definitions of op types tell.

        A complex output stays one, of which a tape takes the gradient all the same.
        """
        return cls(graph, frozenset(_defined_single(graph)), frozenset())

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
    """Yield the nodes that return one tensor."""
    yield from _defined_single(graph)
    if unknown := [i for i, call in graph.calls if op_def_registry.get(call.op) is None]:
        values = _values(graph)
        yield from (i for i in unknown if len(values[i]) == 1)


def _defined_single(graph: Graph) -> Iterator[int]:
    """Yield those of which that is known before anything runs: by the definition of an op type."""
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Leaf):
            yield index
            continue
        definition = op_def_registry.get(node.op)
        outputs = [] if definition is None else definition.output_arg
        if len(outputs) == 1 and not (outputs[0].number_attr or outputs[0].type_list_attr):
            yield index


def _values(graph: Graph) -> Sequence[Outputs]:
    program = Program.of(graph)
    return program.run_all(feed(program, [real_view(primal) for primal in graph.primals]))


def _derived(showing: Shown) -> str:
    """Return what takes the first derivative as the function, where a second one is wrong."""
    if not showing.derive:
        return ""
    names = ["function", "reference"] if _has_reference(showing.graph) else ["function"]
    applied = "".join(f"{name} = {showing.derive}({name})\n" for name in names)
    return f"{showing.derivation}{applied}\n\n"


def _has_reference(graph: Graph) -> bool:
    return any(is_declared(call.op) for _, call in graph.calls)


def _truth(graph: Graph) -> str:
    """Return the function that differences are of."""
    return "reference" if _has_reference(graph) else "function"


def _ending(finding: Finding, showing: Shown) -> str:
    bucket, evidence = finding.bucket, showing.evidence
    if (way := way_of(bucket)) is None:
        raise CaseFileError(f"bucket: {bucket.kind!r} of the oracle {bucket.oracle!r}, should be "
                            "of a way to the gradient that a script knows")  # fmt: skip
    if bucket.kind.endswith(ELEMENTS):
        if None in (evidence.leaf, evidence.element, evidence.output):
            return direction(finding, way, showing, _truth(showing.graph))
        return element(way, showing, _truth(showing.graph))
    for kind in ENDINGS:
        if kind in bucket.kind.split("-"):
            return whole(kind, way, showing)
    raise CaseFileError(f"bucket.kind: {bucket.kind!r}, should be one that a script can show")
