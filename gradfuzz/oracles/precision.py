"""How many digits of a derivative are right.

An elementwise op that mpmath can express is compared, at single elements and in every float
dtype, with its derivative to 50 digits.  Of any other graph, the float32 gradient is compared
with the float64 gradient of the same inputs, and noise says what float32 can give.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradfuzz.analytic import GradientError, linearise
from gradfuzz.derived import GradientOf
from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Program, Tensor, feed
from gradfuzz.exact import Exact, derivative, exact_functions
from gradfuzz.finding import AGREED, Evidence, Fault, Outcome, faulty, gap, inconclusive
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.numeric.line import flatten
from gradfuzz.oracles import numeric, second
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way, inner
from gradfuzz.registry import is_declared
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

NAME = "precision"


@dataclass(frozen=True)
class Format:
    """A float dtype: its least normal and largest number, and its rounding unit."""

    dtype: Any
    least: float
    largest: float

    @property
    def epsilon(self) -> float:
        """From 1 to the next number."""
        return EPSILON[self.dtype]


FORMATS = (
    Format(tf.float64, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
    Format(tf.float32, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    Format(tf.bfloat16, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    Format(tf.float16, 2.0**-14, 65504.0),
)

# So many elements of each call are looked at.
ELEMENTS = 3
# An op may be off by so many units of the last place, and times what its value moves by when
# its inputs do by so many, ...
UNITS, MOVED = 16.0, 2.0
# ... and by this power of the rounding unit: special functions are series cut short.
POWER = 2 / 3
# Outputs in float32 that are off by more than this part of the largest, or of
# the largest input, are no rounded ones.
ROUGHLY = 1e-3

NARROW = {"float64": "float32", "complex128": "complex64"}


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare elementwise calls with exact derivatives, or else float32 with float64."""
    if not subject.has_graph:
        return gap("only of the ops of a graph are there exact derivatives")
    for sharp in sharps(subject):
        outcome = sharp.examine()
        if outcome.fault is not None and _is_seen(subject, outcome.fault):
            return inconclusive("no matter of digits")
        if outcome is not AGREED:
            return outcome
    if all(_is_exact(subject, call) for _, call in subject.computation.graph.calls):
        return AGREED
    return _float32(subject, at)


def sharps(subject: Subject) -> Iterator["Sharp"]:
    """Yield the elements of calls that are compared with exact derivatives, in every dtype."""
    for index, call in subject.computation.graph.calls:
        if _is_exact(subject, call):
            for row, point in _points(subject, call):
                yield from (Sharp(subject, index, row, point, each) for each in FORMATS)


def _points(subject: Subject, call: Call) -> list[tuple[int, dict[str, float]]]:
    """Return some elements of the output of `call`, each with its numeric arguments by name."""
    values = {name: _value(subject, arg) for name, arg in call.args.items()}
    numbers = {name: value for name, value in values.items() if value.dtype.kind in "fiu"}
    flat = [np.ravel(v).astype(np.float64) for v in np.broadcast_arrays(*numbers.values())]
    # The same ones where the graph is cut behind the call.
    rows = np.random.default_rng(5).permutation(flat[0].size)[:ELEMENTS]
    points = [
        (row, dict(zip(numbers, (float(v[row]) for v in flat), strict=True)))
        for row in rows.tolist()
    ]
    return [(row, p) for row, p in points if np.isfinite(list(p.values())).all()]


def _is_exact(subject: Subject, call: Call) -> bool:
    """Return whether a call has an exact function, which is one of real numbers."""
    real = all(subject.value(ref).dtype.kind in "fiu" for ref in call.inputs)
    return call.op in exact_functions() and real


def _value(subject: Subject, arg: Any) -> Array:
    if isinstance(arg, Ref):
        return subject.value(arg)
    # A number that is no array is an attr, of which TensorFlow keeps a float32.
    return np.asarray(np.float32(arg) if isinstance(arg, float) else arg)


@dataclass(frozen=True)
class Sharp:
    """One call at one element of its output, `row`, in one dtype."""

    subject: Subject
    index: int
    row: int
    point: Mapping[str, float]
    format: Format

    def examine(self) -> Outcome:
        """Compare its first and second derivatives with exact ones."""
        rounded = self.rounded()
        kinks = self._exact.kinks
        if rounded is None or (kinks is not None and kinks(**rounded)):
            return AGREED
        try:
            found = list(self._derivatives(rounded))
        except (ForwardError, GradientError):
            # No such kernel, or gradient: which is for others to say.
            return AGREED
        for orders, analytic in found:
            outcome = self._compare(orders, analytic, rounded)
            if outcome is not AGREED:
                return outcome
        return AGREED

    @property
    def _call(self) -> Call:
        call = self.subject.computation.graph.nodes[self.index]
        assert isinstance(call, Call)
        return call

    @property
    def _exact(self) -> Exact:
        return exact_functions()[self._call.op]

    @property
    def inputs(self) -> list[str]:
        """The arguments to differentiate by."""
        return [name for name, arg in self._call.args.items() if isinstance(arg, Ref)]

    def rounded(self) -> dict[str, float] | None:
        """Return the point in this dtype, None where that is subnormal or infinite."""
        found = {}
        for name, value in self.point.items():
            with np.errstate(over="ignore", under="ignore"):
                near = float(np.asarray(value).astype(self._numpy))
            if not np.isfinite(near) or (value != 0 and abs(near) < self.format.least):
                return None
            found[name] = near if name in self.inputs else value
        return found

    @property
    def _numpy(self) -> Any:
        return self.format.dtype.as_numpy_dtype

    def _derivatives(self, at: Mapping[str, float]) -> Iterator[tuple[dict[str, int], float]]:
        """Yield each derivative that TensorFlow has, by how often which argument."""
        program, primals = Program.of(self.graph(at)), self._primals(at)
        if not np.isfinite(flatten(program.run(feed(program, primals)))).all():
            # TensorFlow has no value here, of which there might be a derivative.
            return
        ones = [np.ones(())]
        known = dict(self._by_each(program, primals, ones))
        for name, gradient in known.items():
            yield {name: 1}, gradient
        # What is lost at first order is wrong at second.
        if len(known) < len(self.inputs):
            return
        for position, first in enumerate(self.inputs):
            hot = [np.ones(()) * (i == position) for i in range(len(primals))]
            try:
                rows = list(self._by_each(GradientOf(program, ones), primals, hot))
            except GradientError:
                return
            for name, gradient in rows:
                yield ({name: 2} if name == first else {first: 1, name: 1}), gradient

    def _by_each(
        self, program: Any, primals: Sequence[Array], cotangents: Sequence[Array]
    ) -> Iterator[tuple[str, float]]:
        gradients = linearise(program, primals).vjp(cotangents)
        for name, gradient in zip(self.inputs, gradients, strict=True):
            # None is for the other oracles: it is no matter of digits.
            if gradient is not None:
                yield name, float(gradient)

    def graph(self, at: Mapping[str, float]) -> Graph:
        """Return the call alone at a point."""
        leaves = [Leaf(primal) for primal in self._primals(at)]
        args = dict(self._call.args)
        for name, arg in args.items():
            if name in self.inputs:
                args[name] = Ref(self.inputs.index(name))
            elif isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
                args[name] = np.asarray(self.point[name]).astype(self._numpy)
        return Graph((*leaves, Call(self._call.op, args)), (Ref(len(leaves)),))

    def _primals(self, at: Mapping[str, float]) -> list[Array]:
        return [np.asarray(at[name]).astype(self._numpy) for name in self.inputs]

    def _compare(
        self, orders: Mapping[str, int], analytic: float, at: Mapping[str, float]
    ) -> Outcome:
        right = self._exactly(orders, at)
        if right is None or not self.format.least <= abs(right) <= self.format.largest:
            return AGREED
        error = float(abs(analytic - right) / abs(right)) if np.isfinite(analytic) else np.inf
        if error <= UNITS * self.format.epsilon or error <= self._allowed(orders, at, right):
            return AGREED
        return self._faulty(orders, analytic, float(right), error, at)

    def _exactly(self, orders: Mapping[str, int], at: Mapping[str, float]) -> Any:
        return derivative(self._exact.function, orders, at, self.subject.deadline)

    def _allowed(self, orders: Mapping[str, int], at: Mapping[str, float], right: Any) -> float:
        """Return the relative error that rounding the inputs explains, infinite if unknown.

        The point is moved, not differentiated once more: at a point where the next derivative
        happens to be 0 the digits are lost all the same.
        """
        spread = 0.0
        for name in self.inputs:
            for units in (-MOVED, MOVED):
                near = dict(at) | {name: at[name] * (1 + units * self.format.epsilon)}
                moved = self._exactly(orders, near)
                if moved is None:
                    return np.inf
                spread = max(spread, float(abs((moved - right) / right)))
        return float(UNITS * (self.format.epsilon + spread) + self.format.epsilon**POWER)

    def _faulty(
        self,
        orders: Mapping[str, int],
        analytic: float,
        right: float,
        error: float,
        at: Mapping[str, float],
    ) -> Outcome:
        message = (
            f"{self.derivative(orders, at)}: {analytic:.9g}, should be {right:.9g}: "
            f"off by {error / self.format.epsilon:.3g} units of the last place"
        )
        leaf = self._leaf(orders)
        place = self._place(leaf, orders)
        evidence = Evidence(message, leaf, *place, analytic=analytic, low=right, high=right)
        kind = "value" if np.isfinite(analytic) else "non-finite"
        name = self.format.dtype.name
        path = name if sum(orders.values()) == 1 else f"{name}-second"
        return faulty(kind, evidence, path)

    def derivative(self, orders: Mapping[str, int], at: Mapping[str, float]) -> str:
        """Name a derivative, as messages begin: "float64: d2/dx^2 at x=20"."""
        by = " ".join(f"d{n}" + (f"^{k}" if k > 1 else "") for n, k in orders.items())
        point = ", ".join(f"{n}={value:.9g}" for n, value in at.items())
        return f"{self.format.dtype.name}: d{sum(orders.values())}/{by} at {point}"

    def _leaf(self, orders: Mapping[str, int]) -> int | None:
        """Return which leaf the derivative is by, None where it is by another call's output."""
        graph = self.subject.computation.graph
        node = self._call.args[next(iter(orders))].node
        return graph.leaves.index(node) if isinstance(graph.nodes[node], Leaf) else None

    def _place(self, leaf: int | None, orders: Mapping[str, int]) -> tuple[int | None, int | None]:
        """Return the element and the output where the derivative is one of the graph's Jacobian."""
        graph = self.subject.computation.graph
        is_output = graph.outputs == (Ref(self.index),) and sum(orders.values()) == 1
        if leaf is None or not is_output:
            return None, None
        if self.subject.primals[leaf].size != self.subject.outputs.size:
            return None, None
        return self.row, self.row


def _is_seen(subject: Subject, fault: Fault) -> bool:
    """Return whether an oracle that needs no exact value sees a fault in float64, too."""
    order = second if fault.path.endswith("second") else numeric
    return fault.path.startswith("float64") and order.examine(subject).fault is not None


def _float32(subject: Subject, at: Place | None) -> Outcome:
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
    ways = Comparison(
        same, FLOAT64, FLOAT32, "float32", coarsest=EPSILON[tf.float32], least=FORMATS[1].least
    )
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
    return _float32(Subject.of(parted), None).fault is None


def _narrow_primals(primals: Sequence[Array]) -> list[Array] | None:
    """Return float64 primals as float32, None where float32 cannot hold one, or is there."""
    if any(x.dtype != np.float64 for x in primals):
        return None
    with np.errstate(over="ignore", under="ignore"):
        found = [x.astype(np.float32) for x in primals]
    for wide, narrow in zip(primals, found, strict=True):
        lost = (np.abs(narrow) < FORMATS[1].least) & (wide != 0)
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
