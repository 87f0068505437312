"""Arguments that bind sizes for the arguments behind them, and arguments read off the axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import Argument, Drawn, FromSizes, Scope
from gradfuzz.strategies.shapes import Dims


@dataclass(frozen=True)
class EitherInt:
    """An integer argument as int32 or as int64.  Shrinks towards int32."""

    argument: Argument

    def draw(self, scope: Scope) -> Array:
        dtype = scope.choose(st.sampled_from(("int32", "int64")))
        return np.asarray(self.argument.draw(scope)).astype(dtype)


@dataclass(frozen=True)
class Bind:
    """An argument whose value is bound as well: a number as the axis `name`, a list as that run."""

    name: str
    argument: Argument

    def draw(self, scope: Scope) -> Any:
        value = self.argument.draw(scope)
        if np.ndim(value):
            scope.dims.runs[self.name] = tuple(int(item) for item in value)
        else:
            scope.dims.axes[self.name] = int(value)
        return value


@dataclass(frozen=True)
class WithSize:
    """An argument behind which the axis `name` is bound to what the sizes so far imply."""

    argument: Argument
    name: str
    size: Callable[[Dims], int]

    def draw(self, scope: Scope) -> Any:
        value = self.argument.draw(scope)
        scope.dims.axes[self.name] = self.size(scope.dims)
        return value


@dataclass(frozen=True)
class NewShape:
    """The shape of a pattern as an integer vector; its names are bound here if not before."""

    pattern: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        return np.array(scope.shape(self.pattern), self.dtype)


@dataclass(frozen=True)
class NewSize:
    """The size of the axis `name` as an integer scalar; it is bound here if not before."""

    name: str
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        return np.array(scope.shape(self.name)[0], self.dtype)


@dataclass(frozen=True)
class Below:
    """A number in [least, size of the new axis `of`), or up to that size where `inclusive`.

    The axis is bound here, so that it is long enough.  Shrinks towards `least` and the
    shortest axis.
    """

    of: str
    least: int = 0
    inclusive: bool = False
    array: bool = False

    def draw(self, scope: Scope) -> Any:
        value = scope.choose(st.integers(self.least, self.least + 2))
        spare = scope.choose(st.integers(0, 2))
        scope.dims.axes[self.of] = value + spare + (0 if self.inclusive else 1)
        return np.array(value, np.int32) if self.array else value


@dataclass(frozen=True)
class Factor:
    """An attr that divides axes: each axis of the pattern `of` is bound to a multiple of it.

    The number itself is bound as `name`.  Axes are multiples of its power `power`.  Shrinks
    towards 2.
    """

    name: str
    of: str
    power: int = 1

    def draw(self, scope: Scope) -> int:
        factor = scope.choose(st.sampled_from((2, 2, 3)))
        scope.dims.axes[self.name] = factor
        for axis in self.of.split():
            scope.dims.axes[axis] = min(scope.shape("_")[0], 2) * factor**self.power
        return int(factor)


@dataclass(frozen=True)
class EachAxis:
    """A vector with one of `values` for each axis of a pattern whose names are bound.

    Shrinks towards the first of `values` everywhere.
    """

    of: str
    values: Sequence[int | bool]
    dtype: str = "int32"

    def draw(self, scope: Scope) -> Array:
        value = st.sampled_from(self.values)
        return np.array([scope.choose(value) for _ in scope.dims.shape(self.of)], self.dtype)


@dataclass(frozen=True)
class SomeAxes:
    """Axes of a pattern whose names are bound, in any order, as an int32 vector.

    No axis comes twice; some are counted from the end.  Shrinks towards none, then towards
    ascending order.
    """

    of: str

    def draw(self, scope: Scope) -> Array:
        rank = len(scope.dims.shape(self.of))
        kept = [axis for axis in range(rank) if scope.choose(st.booleans())]
        return signed_axes(scope, scope.choose(st.permutations(kept)), rank)


@dataclass(frozen=True)
class EveryAxis:
    """An order of all axes of a pattern whose names are bound, as an int32 vector.

    Some axes are counted from the end.  Shrinks towards ascending order.
    """

    of: str

    def draw(self, scope: Scope) -> Array:
        rank = len(scope.dims.shape(self.of))
        return signed_axes(scope, scope.choose(st.permutations(range(rank))), rank)


def signed_axes(scope: Scope, axes: Sequence[int], rank: int) -> Array:
    """Count some of `axes` from the end.  Shrinks towards counting from the start."""
    return np.array([a - rank if scope.choose(st.booleans()) else a for a in axes], np.int32)


@dataclass(frozen=True)
class RepeatableAxes:
    """An int32 tensor of axes of a pattern whose names are bound; one axis may come twice.

    Shrinks towards axis 0.
    """

    pattern: str
    of: str

    def draw(self, scope: Scope) -> Array:
        rank = len(scope.dims.shape(self.of))
        return scope.integers(self.pattern, -rank, rank - 1, "int32")


def axis_between(before: str, behind: str, dtype: str = "int32") -> Drawn:
    """Describe a scalar: the axis between two patterns whose names are bound."""

    def axes(dims: Dims) -> st.SearchStrategy[Array]:
        first, last = len(dims.shape(before)), -1 - len(dims.shape(behind))
        return st.sampled_from((first, last)).map(lambda axis: np.array(axis, dtype))

    return Drawn(axes)


def up_to(name: str, least: int = 0, dtype: str = "int32") -> Drawn:
    """Describe a scalar in [least, size of the bound axis `name`]."""
    return Drawn(lambda dims: st.integers(least, dims.size(name)).map(lambda n: np.array(n, dtype)))


def bound(name: str) -> FromSizes:
    """Describe an attr: the number bound as the axis `name`."""
    return FromSizes(lambda dims: dims.size(name))


def bound_vector(name: str, dtype: str = "int32") -> FromSizes:
    """Describe an integer vector: the run `name`."""
    return FromSizes(lambda dims: np.array(dims.runs[name], dtype))


def divisor_of(name: str) -> Drawn:
    """Describe an attr that divides the bound axis `name`; any small one divides 0."""

    def divisors(dims: Dims) -> st.SearchStrategy[int]:
        size = dims.size(name)
        return st.sampled_from([n for n in range(1, (size or 3) + 1) if size % n == 0])

    return Drawn(divisors)
