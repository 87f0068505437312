"""Elementwise calls that mpmath can express, against their derivatives to 50 digits.

Single elements are looked at, in every float dtype.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.analytic import GradientError, linearise
from gradfuzz.derived import GradientOf
from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Program, feed
from gradfuzz.exact import Exact, derivative, exact_functions
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.numeric.line import flatten
from gradfuzz.oracles.figures import told_apart
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject


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


def sharps(subject: Subject) -> Iterator["Sharp"]:
    """Yield the elements of calls that are compared with exact derivatives, in every dtype."""
    for index, call in subject.computation.graph.calls:
        if is_exact(subject, call):
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


def is_exact(subject: Subject, call: Call) -> bool:
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
        is_, should = told_apart(analytic, right, 9)
        message = (
            f"{self.derivative(orders, at)}: {is_}, should be {should}: "
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
