"""Name the op, and its input, that a wrong derivative is the fault of.

The graph is cut at each call in turn: the first cut that disagrees ends in the op to blame.
A lift's own ops are suspects like any other.  The input is found by holding all others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gradfuzz.examine import Examination
from gradfuzz.finding import Bucket, Fault, Finding, Outcome, Verdict, inconclusive
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref, replace_refs
from gradfuzz.graphjson import LEAF_DTYPES
from gradfuzz.numeric.screen import tangents
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles import always, batched
from gradfuzz.oracles.place import Place
from gradfuzz.subject import Subject


class Examine(Protocol):
    """What asks the oracles about a graph, as a whole or at one element of one leaf."""

    def __call__(self, graph: Graph, *, at: Place | None = None) -> Examination:
        """Return what they say."""


# Kinds that say nothing of a value, so that neither kinks nor single inputs explain them.
WITHOUT_VALUE = ("missing", "raises", "mutated", "unrepeatable", "output")


@dataclass(frozen=True, eq=False)
class Blamed:
    """The part of a graph that ends in the op to blame, and what is wrong with it there."""

    graph: Graph
    oracle: str
    fault: Fault

    @property
    def call(self) -> Call:
        """The call to blame: the last one."""
        return self.graph.calls[-1][1]

    def at(self, outputs: Sequence[Ref], graph: Graph | None = None) -> Place | None:
        """Return where the wrong element is in the part of the graph that `outputs` depend on.

        Returns None where the fault is in no element.  Raises `ValueError` where the element is
        not in that part.
        """
        leaf, element = self.fault.evidence.leaf, self.fault.evidence.element
        if leaf is None or element is None:
            return None
        kept = (graph or self.graph).live(outputs)
        leaves = [node for node in kept if isinstance(self.graph.nodes[node], Leaf)]
        return leaves.index(self.graph.leaves[leaf]), element


def blame(graph: Graph, examination: Examination, examine: Examine) -> Finding | Outcome:
    """Return the finding of a graph that an oracle disagrees on.

    Returns an inconclusive outcome where the disagreement comes from kinks that meet: then
    each op returned one of the derivatives it may, and only their combination is none.
    """
    assert examination.fault is not None
    if examination.fault.culprit:
        return _without_op(graph, examination)
    whole = Blamed(graph, examination.oracle, examination.fault)
    blamed = _first_cut(whole, examine) if len(graph.calls) > 1 else whole
    if blamed is None:
        return inconclusive("no op is wrong by itself")
    has_value = not blamed.fault.kind.startswith(WITHOUT_VALUE)
    raised = blamed.fault.kind.startswith(("raises", "missing"))
    if raised and _reads_rough(blamed, Subject.of(blamed.graph)):
        # What it reads may be what raises, where it has no derivative.
        return inconclusive(f"{blamed.call.op} reads a tensor that is not smooth at this point")
    # Where another path has a number, kinks are no reason for a NaN.
    is_nan = bool(blamed.fault.path) and blamed.fault.kind == "non-finite"
    if is_nan and _reads_nonfinite(blamed):
        return inconclusive(f"{blamed.call.op} reads a tensor that is not finite at this point")
    if has_value and not is_nan and not _is_single(blamed.graph):
        reason = _meeting_kinks(blamed, examine)
        if reason is not None:
            return inconclusive(reason)
    name, blamed = _input_to_blame(blamed, examine) if has_value else ("", blamed)
    bucket = Bucket(blamed.call.op, blamed.oracle, blamed.fault.full_kind, name)
    return Finding(blamed.graph, bucket, blamed.fault.evidence)


def _without_op(graph: Graph, examination: Examination) -> Finding:
    """Return the finding of a fault that no op of the graph is to blame for."""
    fault = examination.fault
    assert fault is not None
    bucket = Bucket(fault.culprit, examination.oracle, fault.full_kind)
    return Finding(graph, bucket, fault.evidence)


def _first_cut(whole: Blamed, examine: Examine) -> Blamed | None:
    """Return the shortest beginning of the graph that disagrees, if any does by itself."""
    graph, subject = whole.graph, Subject.of(whole.graph)
    used = {ref for _, call in graph.calls for ref in call.inputs} | set(graph.outputs)
    for index, _ in graph.calls:
        outputs = sorted(
            ref for ref in used if ref.node == index and subject.is_differentiable(ref)
        )
        found = _part(whole, graph, outputs, examine) if outputs else None
        if found is not None:
            return found
    return None


def _part(blamed: Blamed, graph: Graph, outputs: Sequence[Ref], examine: Examine) -> Blamed | None:
    """Return what is wrong with the part of `graph` that `outputs` depend on, if anything is.

    `graph` has the nodes of the blamed one, so the wrong element is looked up in it.  Another
    oracle's fault, or one on a path of another kind, is another bug.
    """
    try:
        place = blamed.at(outputs, graph)
    except ValueError:
        return None
    cut = graph.cut(outputs)
    found = examine(cut, at=place) if cut.leaves else None
    if found is None or found.fault is None or not _same_bug(blamed, found):
        return None
    return Blamed(cut, found.oracle, found.fault)


def _same_bug(blamed: Blamed, found: Examination) -> bool:
    # Where the gradient of a part raises, or has another shape, no oracle is asked any more.
    assert found.fault is not None
    if found.oracle not in (blamed.oracle, always.NAME):
        return False
    # Each path of that oracle goes through the same converters of ops.
    return found.fault.path == blamed.fault.path or found.oracle == batched.NAME


def _is_single(graph: Graph) -> bool:
    """Return whether the graph is one call that reads each of its leaves once."""
    read = [ref for _, call in graph.calls for ref in call.inputs]
    return len(graph.calls) == 1 and len(read) == len(set(read))


def _meeting_kinks(blamed: Blamed, examine: Examine) -> str | None:
    """Return why the op is not to blame, or None if it is.

    It is where what it reads is smooth at the point and it disagrees by itself, or is smooth and
    what it reads is right.  None that is right by itself is right wherever the op stands.
    """
    subject = Subject.of(blamed.graph)
    if _reads_rough(blamed, subject):
        return f"{blamed.call.op} reads a tensor that is not smooth at this point"
    alone = isolated(blamed.graph, subject.value)
    if examine(alone).fault is not None:
        return None
    if blamed.fault.kind.endswith("none") or not _is_smooth(alone):
        return f"{blamed.call.op} is not smooth at this point"
    if _reads_unknown(blamed, subject, examine):
        return f"{blamed.call.op} is right by itself, and nothing can be told of what it reads"
    return None


def _reads_rough(blamed: Blamed, subject: Subject) -> bool:
    """Return whether the call to blame reads what is not smooth at the point."""
    read = _computed(blamed, subject)
    return bool(read) and not _is_smooth(blamed.graph.cut(read))


def _reads_unknown(blamed: Blamed, subject: Subject, examine: Examine) -> bool:
    """Return whether nothing can be told of the derivative of what the call to blame reads."""
    read = _computed(blamed, subject)
    return bool(read) and examine(blamed.graph.cut(read)).outcome.verdict is Verdict.INCONCLUSIVE


def _reads_nonfinite(blamed: Blamed) -> bool:
    """Return whether the call to blame reads what another call made infinite, or no number."""
    subject = Subject.of(blamed.graph)
    read = _computed(blamed, subject)
    return not all(np.isfinite(subject.value(ref)).all() for ref in read)


def _computed(blamed: Blamed, subject: Subject) -> list[Ref]:
    """Return what the call to blame reads from other calls and has a gradient by."""
    inputs = [ref for ref in blamed.call.inputs if isinstance(blamed.graph.nodes[ref.node], Call)]
    return [ref for ref in inputs if subject.is_differentiable(ref)]


def isolated(graph: Graph, value: Callable[[Ref], Array]) -> Graph:
    """Return the last call by itself, on a new leaf for each differentiable tensor it reads.

    `value` returns the tensor at an edge.
    """
    index, call = graph.calls[-1]
    nodes: list[Leaf | Call] = []

    def as_leaf(ref: Ref) -> Ref | Array:
        read = graph.nodes[ref.node]
        if isinstance(read, Leaf):
            nodes.append(read)
            return Ref(len(nodes) - 1)
        found = value(ref)
        if found.dtype.name not in LEAF_DTYPES:
            return found
        nodes.append(Leaf(found))
        return Ref(len(nodes) - 1)

    args = {name: replace_refs(arg, as_leaf) for name, arg in call.args.items()}
    place = len(nodes)
    outputs = tuple(Ref(place, ref.output) for ref in graph.outputs if ref.node == index)
    return Graph((*nodes, Call(call.op, args)), outputs)


def _is_smooth(graph: Graph) -> bool:
    """Return whether every output of `graph` has a derivative along random directions."""
    subject = Subject.of(graph)
    rng = np.random.default_rng(subject.digest)
    for _ in range(3):
        line = subject.line(tangents(subject.primals, rng), subject.kept)
        measured = slopes(line, subject.epsilon)
        if not measured.conclusive(measured.centre, subject.epsilon).all():
            return False
    return bool(subject.kept.all())


def _input_to_blame(blamed: Blamed, examine: Examine) -> tuple[str, Blamed]:
    """Return the argument whose gradient is wrong, and what is wrong with it by itself.

    The argument is "" where the gradient of none is wrong by itself.
    """
    arguments = [(name.partition("[")[0], ref) for name, ref in blamed.call.input_names()]
    names = list(dict.fromkeys(name for name, _ in arguments))
    leaf = blamed.fault.evidence.leaf
    if len(names) == 1:
        return names[0], blamed
    if _is_single(blamed.graph) and leaf is not None:
        reads = {ref.node: name for name, ref in arguments}
        return reads[blamed.graph.leaves[leaf]], blamed
    subject = Subject.of(blamed.graph)
    for name in names:
        held = _hold_all_but(name, blamed.graph, subject)
        found = _part(blamed, held, held.outputs, examine)
        if found is not None:
            return name, found
    return "", blamed


def _hold_all_but(name: str, graph: Graph, subject: Subject) -> Graph:
    """Return `graph` with every other argument of its last call made constant.

    A variable cannot be.
    """
    index, call = graph.calls[-1]

    def held(ref: Ref) -> Ref | Array:
        read = graph.nodes[ref.node]
        return ref if isinstance(read, Leaf) and read.variable else subject.value(ref)

    args = {
        other: arg if other == name else replace_refs(arg, held) for other, arg in call.args.items()
    }
    return graph.with_call(index, Call(call.op, args))
