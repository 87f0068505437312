"""Inputs for a function of one's own: arrays that share their sizes, drawn as for an op."""

from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from gradfuzz.errors import UsageError
from gradfuzz.graph import Args, Array, Ref
from gradfuzz.strategies.arguments import Argument, Index, Real, Scope
from gradfuzz.strategies.builder import Builder
from gradfuzz.strategies.domains import Domain
from gradfuzz.strategies.modes import MODES, Mode
from gradfuzz.strategies.shapes import Dims, require_pattern

DTYPES = ("float64", "float32", "float16")


def inputs(
    *arguments: str | Argument, modes: st.SearchStrategy[Mode] = MODES
) -> st.SearchStrategy[tuple[Any, ...]]:
    """Tuples of arrays, one for each of `arguments`: "*b n", or a description of the catalogue.

    A name stands for one size in all of them.  Half of the tuples stand on the edges of their
    domain.  Shrinks towards few axes of size 1 that hold 0.  Raises `UsageError` for what is no
    pattern.
    """
    if not arguments:
        raise UsageError('inputs: none, should be patterns, such as "*b n"')
    described = [Real(each) if isinstance(each, str) else each for each in arguments]
    for number, argument in enumerate(described):
        if not hasattr(argument, "draw"):
            raise UsageError(f"inputs[{number}]: a {type(argument).__name__}, should be a pattern, "
                             'such as "*b n", or a description, such as Real("n")')  # fmt: skip
        if isinstance(argument, Real):
            _require_real(f"inputs[{number}]", argument)
    return _inputs(described, modes)


def _require_real(place: str, argument: Real) -> None:
    """Raise `UsageError` for a description that cannot be drawn from."""
    if not isinstance(argument.pattern, str):
        raise UsageError(f"{place}: pattern {argument.pattern!r}, should be one, such as '*b n'")
    require_pattern(argument.pattern)
    if not isinstance(argument.domain, Domain):
        raise UsageError(f"{place}: domain {argument.domain!r}, should be one of "
                         "gradfuzz.strategies, such as POSITIVE")  # fmt: skip
    if argument.dtype not in DTYPES:
        raise UsageError(f"{place}: dtype {argument.dtype!r}, should be {' or '.join(DTYPES)}")
    if argument.domain.thin:
        raise UsageError(f"{place}: domain {argument.domain}, should be one that "
                         "no step leaves (make such a tensor in the function)")  # fmt: skip


@st.composite
def _inputs(
    draw: st.DrawFn, arguments: list[Argument], modes: st.SearchStrategy[Mode]
) -> tuple[Any, ...]:
    leaves = _Leaves(_no_op)
    scope = Scope(draw, Dims(), leaves, draw(modes))
    drawn = [argument.draw(scope) for argument in arguments]
    for argument, value in zip(arguments, drawn, strict=True):
        if isinstance(argument, Index) and value.size and not scope.dims.size(argument.below):
            # There is no position on an axis of size 0.
            reject()
    return tuple(leaves.values_of(each) for each in drawn)


class _Leaves(Builder):
    """A graph of leaves, none of which is read again."""

    @property
    def reals(self) -> list[Ref]:
        return []

    def values_of(self, drawn: Any) -> Any:
        """Return what was drawn, with the values of leaves for references to them."""
        if isinstance(drawn, list):
            return [self.values_of(each) for each in drawn]
        return self.value(drawn) if isinstance(drawn, Ref) else drawn

    def value(self, ref: Ref) -> Array:
        """Return the value of a leaf."""
        found: Array = self._value(ref)
        return found


def _no_op(op: str, _args: Args, _values: object) -> Any:
    raise UsageError(f"inputs: need the op {op}, should be arrays alone")
