"""What may stand in one argument of a call.

Each description is a frozen value with one method, `draw`, which returns what to pass: a
`Ref` into the graph, an array or a Python value.  Arguments are drawn in the order of the
entry, so that a later one may use the sizes that an earlier one bound.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array, Ref
from gradfuzz.strategies.builder import Builder
from gradfuzz.strategies.domains import ANY, Domain
from gradfuzz.strategies.modes import Elements, Mode
from gradfuzz.strategies.shapes import Dims, Shape, draw_shape, matches

# What a new leaf is made of.  It is one choice, the same in each mode, which shrinks best.
NEW = (
    Elements.INSIDE,
    Elements.MIXED,
    Elements.SAME,
    Elements.MIXED,
    Elements.SAME,
    Elements.MIXED,
    Elements.SAME,
    Elements.INSIDE,
)
# Half of the primals are earlier tensors, where some fit.
NEW_OR_EARLIER = (*NEW, *[None] * len(NEW))
# An output of a call stands twice among the tensors to read, and so often once it is read:
# chains and diamonds are made of those.
FRESH, AGAIN = 2, 8


@dataclass(frozen=True)
class Scope:
    """What one call is being drawn from: the choices, its sizes, the graph and the mode.

    `args` are the arguments drawn so far.
    """

    choose: st.DrawFn
    dims: Dims
    graph: Builder
    mode: Mode
    args: dict[str, Any] = field(default_factory=dict)

    def shape(self, pattern: str) -> Shape:
        """Draw a shape for `pattern`, or complete one whose names are bound."""
        return draw_shape(self.choose, pattern, self.dims, self.mode.sides)

    def integers(self, pattern: str, low: int, high: int, dtype: str) -> Array:
        """Draw an integer tensor with elements in [low, high].  Shrinks towards `low`."""
        shape = self.shape(pattern)
        size = int(np.prod(shape, dtype=int))
        element = st.integers(low, max(low, high))
        return np.array([self.choose(element) for _ in range(size)], dtype).reshape(shape)


class Argument(Protocol):
    """What may stand in one argument."""

    def draw(self, scope: Scope) -> Any:
        """Draw the argument, binding sizes and adding nodes as needed."""


@dataclass(frozen=True)
class Real:
    """A primal: an earlier tensor that fits the pattern, or a new leaf.

    Shrinks towards a new leaf inside the domain.  An op that has no float64 kernel asks for
    another `dtype`; an earlier tensor is then cast, in the graph.  `strict` says that the op
    is defined inside its domain only: no edges, and no earlier tensor that is not lifted there.
    """

    pattern: str
    domain: Domain = ANY
    dtype: str = "float64"
    strict: bool = False

    def draw(self, scope: Scope) -> Ref:
        fits = self._earlier(scope)
        elements = scope.choose(st.sampled_from(NEW_OR_EARLIER if fits else NEW))
        if elements is not None:
            return self._new(scope, elements)
        return self._fit(scope, *scope.choose(st.sampled_from(fits)))

    def _earlier(self, scope: Scope) -> list[tuple[Ref, Dims]]:
        """Return the tensors that fit, each with the sizes it implies and as often as it weighs."""
        if self.strict and self.domain.inside and not self.domain.lift:
            return []
        return [
            (ref, found)
            for ref in scope.graph.earlier(self.dtype)
            for found in matches(self.pattern, scope.graph.shape(ref), scope.dims)
            for _ in range(_weight(scope.graph, ref))
        ]

    def _fit(self, scope: Scope, ref: Ref, found: Dims) -> Ref:
        scope.dims.adopt(found)
        scope.graph.take(ref)
        if scope.graph.dtype(ref) != self.dtype:
            ref = scope.graph.call("Cast", x=ref, DstT=self.dtype)
        return self.domain.lift(scope.graph, ref) if self.domain.lift else ref

    def _new(self, scope: Scope, elements: Elements) -> Ref:
        shape = scope.shape(self.pattern)
        # A complex matrix of one element is Hermitian only where that is real.
        thin = self.domain.thin and (shape[-1] != 1 or np.dtype(self.dtype).kind == "c")
        leaf = scope.graph.leaf(self._value(scope, shape, elements, thin=thin).astype(self.dtype))
        return self.domain.lift(scope.graph, leaf) if thin and self.domain.lift else leaf

    def _value(self, scope: Scope, shape: Shape, elements: Elements, *, thin: bool) -> Array:
        if thin:
            return scope.mode.array(scope.choose, shape, self.dtype)
        on_edges = scope.mode.edges and not self.strict and not self.domain.thin
        if on_edges and elements is not Elements.INSIDE:
            edges = self.domain.edges
            return scope.mode.edge_array(scope.choose, shape, edges, elements, self.dtype)
        value = scope.mode.array(scope.choose, shape, self.dtype)
        return self.domain.inside(value) if self.domain.inside else value


def _weight(graph: Builder, ref: Ref) -> int:
    if graph.is_leaf(ref):
        return 1
    return AGAIN if graph.is_taken(ref) else FRESH


@dataclass(frozen=True)
class Complex(Real):
    """A complex primal, likewise."""

    dtype: str = "complex128"


@dataclass(frozen=True)
class Variable:
    """The handle of a resource variable, whose value is a primal.

    Shrinks towards a new variable.
    """

    pattern: str
    dtype: str = "float64"

    def draw(self, scope: Scope) -> Ref:
        fits = [
            (ref, found)
            for ref in scope.graph.variables(self.dtype)
            for found in matches(self.pattern, scope.graph.shape(ref), scope.dims)
        ]
        again: bool = bool(fits) and scope.choose(st.booleans())
        if again:
            ref, found = scope.choose(st.sampled_from(fits))
            scope.dims.adopt(found)
            return ref
        value = scope.mode.array(scope.choose, scope.shape(self.pattern), self.dtype)
        return scope.graph.leaf(value, variable=True)


@dataclass(frozen=True)
class Reals:
    """A list of primals of one pattern, from `least` to `most` of them."""

    pattern: str
    least: int = 1
    most: int = 3
    dtype: str = "float64"

    def draw(self, scope: Scope) -> list[Ref]:
        real = Real(self.pattern, dtype=self.dtype)
        refs = [real.draw(scope) for _ in range(self.least)]
        while len(refs) < self.most and scope.choose(st.booleans()):
            refs.append(real.draw(scope))
        return refs


@dataclass(frozen=True)
class Index:
    """An integer tensor of positions on the axis `below`.  Shrinks towards 0; repeats happen.

    `below` may be a run, "*s": then the positions are into the flattened run.
    """

    pattern: str
    below: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        if not self.below.startswith("*") and self.below not in scope.dims.axes:
            scope.shape(self.below)
        return scope.integers(self.pattern, 0, scope.dims.size(self.below) - 1, self.dtype)


@dataclass(frozen=True)
class SortedIds:
    """An integer vector of segment ids: sorted, with gaps."""

    pattern: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        return scope.integers(self.pattern, 0, 2, self.dtype).cumsum(dtype=self.dtype)


@dataclass(frozen=True)
class Integers:
    """An integer tensor with elements in [low, high].  Shrinks towards `low`."""

    pattern: str
    low: int
    high: int
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        return scope.integers(self.pattern, self.low, self.high, self.dtype)


@dataclass(frozen=True)
class Constant:
    """A tensor of floats that is not differentiated: thirds, which are seldom exact.

    Shrinks towards -2/3.
    """

    pattern: str
    dtype: str = "float64"

    def draw(self, scope: Scope) -> Array:
        return np.asarray(scope.integers(self.pattern, -2, 4, self.dtype) / 3, self.dtype)


@dataclass(frozen=True)
class Mask:
    """A bool tensor.  Shrinks towards False."""

    pattern: str

    def draw(self, scope: Scope) -> Array:
        return scope.integers(self.pattern, 0, 1, "bool")


@dataclass(frozen=True)
class Axes:
    """A set of axes of the run `of`, some counted from the end, as an int32 vector.

    Shrinks towards none.
    """

    of: str

    def draw(self, scope: Scope) -> Array:
        rank = len(scope.dims.runs[self.of])
        kept = [axis for axis in range(rank) if scope.choose(st.booleans())]
        signed = [axis - rank if scope.choose(st.booleans()) else axis for axis in kept]
        return np.array(signed, np.int32)


@dataclass(frozen=True)
class AxisAfter:
    """The axis that follows the run `of`; from the end where `before` names the run behind it.

    Shrinks towards counting from the start.
    """

    of: str
    before: str | None = None
    array: bool = False

    def draw(self, scope: Scope) -> Any:
        axis = len(scope.dims.runs[self.of])
        if self.before is not None and scope.choose(st.booleans()):
            axis = -1 - len(scope.dims.runs[self.before])
        return np.array(axis, np.int32) if self.array else axis


@dataclass(frozen=True)
class Permutation:
    """An order of the axes of a pattern whose names are bound.  Shrinks towards their own."""

    of: str

    def draw(self, scope: Scope) -> Array:
        rank = len(scope.dims.shape(self.of))
        return np.array(scope.choose(st.permutations(range(rank))), np.int32)


@dataclass(frozen=True)
class OneOf:
    """An attr: one of `values`, simplest first."""

    values: tuple[Any, ...]

    def draw(self, scope: Scope) -> Any:
        return scope.choose(st.sampled_from(self.values))


@dataclass(frozen=True)
class Window:
    """An attr [1, a, b, 1], a value for height and one for width.  Shrinks towards `low`."""

    low: int
    high: int

    def draw(self, scope: Scope) -> list[int]:
        side = st.integers(self.low, self.high)
        return [1, scope.choose(side), scope.choose(side), 1]


@dataclass(frozen=True)
class ValueOf:
    """A constant: the value that the tensor of an argument drawn before has at the point."""

    argument: str

    def draw(self, scope: Scope) -> Array:
        return scope.graph.value(scope.args[self.argument])


@dataclass(frozen=True)
class ValuesOf:
    """A list of constants, likewise."""

    arguments: str

    def draw(self, scope: Scope) -> list[Array]:
        return [ValueOf(name).draw(scope) for name in self.arguments.split()]


@dataclass(frozen=True)
class FromSizes:
    """An attr or constant computed from the sizes bound so far."""

    value: Callable[[Dims], Any]

    def draw(self, scope: Scope) -> Any:
        return self.value(scope.dims)


@dataclass(frozen=True)
class Drawn:
    """An attr or constant drawn from a strategy that depends on the sizes bound so far."""

    strategy: Callable[[Dims], st.SearchStrategy[Any]]

    def draw(self, scope: Scope) -> Any:
        return scope.choose(self.strategy(scope.dims))


def const(value: Any) -> OneOf:
    """Describe an argument that is always `value`."""
    return OneOf((value,))


def size_of(name: str) -> FromSizes:
    """Describe an int32 scalar: the size of the axis `name`."""
    return FromSizes(lambda dims: np.array(dims.size(name), np.int32))


def shape_of(pattern: str) -> FromSizes:
    """Describe an int32 vector: the shape of a pattern whose names are bound."""
    return FromSizes(lambda dims: np.array(dims.shape(pattern), np.int32))


FLAG = OneOf((False, True))
TRUE = OneOf((True,))
FALSE = OneOf((False,))
