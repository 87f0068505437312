"""The float32 gradient of a whole graph against the float64 gradient of the same inputs.

Noise says what float32 can give.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradfuzz.analytic import linearise
from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Program, Tensor, feed
from gradfuzz.finding import AGREED, Outcome, inconclusive
from gradfuzz.graph import Array, Call, Graph, Leaf
from gradfuzz.numeric.line import flatten
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way, inner
from gradfuzz.registry import is_declared
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

# The least normal number.
LEAST = 2.0**-126
# Outputs in float32 that are off by more than this part of the largest, or of
# the largest input, are no rounded ones.
ROUGHLY = 1e-3

NARROW = {"float64": "float32", "complex128": "complex64"}


def compare_precisions(subject: Subject, at: Place | None) -> Outcome:
    """Compare the float32 gradient of a whole graph with the float64 one of the same inputs."""
    rounded = _narrow_primals(subject.primals)
    # A sample, or the step of a quantiser, is another number in another dtype.
    other = any(is_declared(call.op) for _, call in subject.computation.graph.calls)
    if rounded is None or other:
        return AGREED
    same = subject.moved([x.astype(np.float64) for x in rounded])
    try:
        program = Program.of(narrow(same.computation.graph))
        outputs = program.run(feed(program, rounded))
    except ForwardError:
        # There is no such kernel.
        return AGREED
    if _shapes(outputs) != _shapes(same.linearisation.outputs):
        return inconclusive("the shapes of the outputs depend on rounding")
    found, wanted = flatten(outputs), same.outputs
    if (np.isfinite(wanted) & ~np.isfinite(found)).any():
        # Beyond the range of float32.
        return AGREED
    with np.errstate(all="ignore"):
        apart = np.abs(found - wanted)[same.kept].max(initial=0.0)
    sizes = [np.abs(x).max(initial=0.0) for x in (wanted[same.kept], *same.primals)]
    if apart > ROUGHLY * max(sizes):
        # As where eigenvalues come in another order.
        return inconclusive("the outputs are others in float32")
    ways = Comparison(same, FLOAT64, FLOAT32, "float32", coarsest=EPSILON[tf.float32], least=LEAST)
    outcome = ways.examine(at)
    fault = outcome.fault
    if fault is not None and fault.evidence.is_allowed and same.program.is_composed:
        return inconclusive("differences allow both")
    return inconclusive("a sum cancels") if _cancels(subject, outcome) else outcome


def _shapes(outputs: Sequence[Tensor]) -> list[tuple[int, ...]]:
    return [tuple(y.shape) for y in outputs]


def _cancels(subject: Subject, outcome: Outcome) -> bool:
    """Return whether a derivative is wrong only as the sum of those by each read of a leaf."""
    graph = subject.computation.graph
    parted = graph.parted()
    if outcome.fault is None or len(parted.leaves) == len(graph.leaves):
        return False
    return compare_precisions(Subject.of(parted), None).fault is None


def _narrow_primals(primals: Sequence[Array]) -> list[Array] | None:
    """Return float64 primals as float32, None where float32 cannot hold one, or is there."""
    if any(x.dtype != np.float64 for x in primals):
        return None
    with np.errstate(over="ignore", under="ignore"):
        found = [x.astype(np.float32) for x in primals]
    for wide, narrow in zip(primals, found, strict=True):
        lost = (np.abs(narrow) < LEAST) & (wide != 0)
        if not np.isfinite(narrow).all() or lost.any():
            return None
    return found


def narrow(graph: Graph) -> Graph:
    """Return the graph in float32: leaves, constants and the names of dtypes."""
    nodes: list[Leaf | Call] = []
    for node in graph.nodes:
        if isinstance(node, Leaf):
            nodes.append(replace(node, value=_narrow_argument(node.value)))
        else:
            args = {name: _narrow_argument(arg) for name, arg in node.args.items()}
            nodes.append(Call(node.op, args))
    return Graph(tuple(nodes), graph.outputs)


def _narrow_argument(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_narrow_argument(item) for item in arg]
    if isinstance(arg, np.ndarray | np.generic):
        return arg.astype(NARROW[arg.dtype.name]) if arg.dtype.name in NARROW else arg
    return NARROW.get(arg, arg) if isinstance(arg, str) else arg


def _in_float64(subject: Subject) -> Product:
    """Return the product at what float32 rounds the point to."""
    rounded = _narrow_primals(subject.primals)
    if rounded is None:
        raise ForwardError("the point: should be within the range of float32")
    return REVERSE.at(subject.moved([x.astype(np.float64) for x in rounded]))


def _in_float32(subject: Subject) -> Product:
    rounded = _narrow_primals(subject.primals)
    if rounded is None:
        raise ForwardError("the point: should be within the range of float32")
    program = Program.of(narrow(subject.computation.graph))
    if subject.computation.noise is not None:
        program = program.noisy(subject.computation.noise)
    found = linearise(program, rounded, many=True)
    if _shapes(found.outputs) != _shapes(subject.linearisation.outputs):
        raise ForwardError("the outputs have other shapes in float32")

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        return inner(tangents, found.pull(weights))

    return product


FLOAT64 = Way("float64", _in_float64)
FLOAT32 = Way("float32", _in_float32)
