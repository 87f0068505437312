"""Whether a function returns the same when it is called again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradfuzz.errors import ForwardError, FunctionError
from gradfuzz.evaluate import feed
from gradfuzz.graph import Array
from gradfuzz.numeric.screen import scale_of

if TYPE_CHECKING:
    from gradfuzz.functions.function import Function
    from gradfuzz.functions.prepare import Prepared

# A point is near where each element is moved by this part of itself.
NEARBY = 2.0**-6

Outputs = Sequence[tuple[str, Array]]


def moved(primal: Array) -> Array:
    """Return a primal with each element a little larger."""
    return (primal + NEARBY * scale_of(primal)).astype(primal.dtype)


def require_repeats_nearby(prepared: "Prepared") -> None:
    """Raise `FunctionError` where two calls at a point nearby differ.

    At the point itself a zero may hide that: 0 times a random number is 0.
    """
    function, places = prepared.function, [name for name, _ in prepared.outputs]
    try:
        first, again = _nearby(function), _nearby(function)
    except ForwardError:
        return
    pairs = [list(zip(places, values, strict=False)) for values in (first, again)]
    require_repeats(prepared.name, pairs[0], pairs[1], prepared.nondet_tol)


def _nearby(function: "Function") -> list[Array]:
    primals = [moved(primal) for primal in function.primals]
    return [tensor.numpy() for tensor in function.run(feed(function, primals))]


def require_repeats(name: str, outputs: Outputs, again: Outputs, nondet_tol: float) -> None:
    """Raise `FunctionError` where the outputs of two calls differ."""
    differing = (
        _difference(place, first, second, nondet_tol)
        for (place, first), (_, second) in zip(outputs, again, strict=True)
    )
    for found in filter(None, differing):
        raise FunctionError(f"{name}: {found}")


def _difference(place: str, first: Array, second: Array, nondet_tol: float) -> str:
    """Return in what one output differs from itself, "" for nothing."""
    if first.shape != second.shape:
        return f"{place} has shape {first.shape}, then {second.shape}, should be the same each time"
    if np.allclose(first, second, rtol=0, atol=nondet_tol, equal_nan=True):
        return ""
    with np.errstate(invalid="ignore"):
        gap = float(np.nanmax(np.abs(first.astype(np.float64) - second)))
    return (
        f"not deterministic: two calls at the same inputs differ by {gap:.3g} in {place}, "
        "should be the same (fix a seed, pass training=False, or nondet_tol=)"
    )
