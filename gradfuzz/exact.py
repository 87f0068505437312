"""What ops compute, to any number of digits, and derivatives of that.

The functions come from packages that offer them through the entry-point group
`gradfuzz.exact`: the engine knows no op.
"""

import math
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from mpmath import mp

from gradfuzz.errors import SlowError

GROUP = "gradfuzz.exact"

# Derivatives are taken with ever more digits, until two agree in so many.
DIGITS = (60, 90, 450)
AGREED = 30

Number = Any  # mpmath ships no types


class Exact(Protocol):
    """A function of numbers, called with the arguments of an op by name."""

    @property
    def function(self) -> Callable[..., Number]:
        """The function."""

    @property
    def kinks(self) -> Callable[..., bool] | None:
        """Whether it has a kink or a jump somewhere; None where it has none at all."""


@cache
def exact_functions() -> Mapping[str, Exact]:
    """Return the function of each op that some package offers one of."""
    found: dict[str, Exact] = {}
    for point in entry_points(group=GROUP):
        found = {**point.load(), **found}
    return found


def derivative(
    function: Callable[..., Number],
    orders: Mapping[str, int],
    at: Mapping[str, float],
    deadline: float = math.inf,
) -> Number | None:
    """Return a partial derivative, right in all digits of a float64, or None where there is none.

    `orders` says how often to differentiate by each argument.  A derivative below 1e-400 of
    the function is 0.  Raises `SlowError` past `deadline` in CPU seconds of this process: far out a
    series takes long.
    """
    names = list(orders)

    def by_position(*args: Number) -> Number:
        if time.process_time() > deadline:
            raise SlowError("the exact derivative: takes too long, should be a matter of seconds")
        fixed = {name: mp.mpf(value) for name, value in at.items() if name not in orders}
        return function(**fixed, **dict(zip(names, args, strict=True)))

    last: Number | None = None
    for digits in DIGITS:
        with mp.workdps(digits):
            point = tuple(mp.mpf(at[name]) for name in names)
            try:
                # Differences around a pole would have a value.
                if not mp.isfinite(by_position(*point)):
                    return None
                found = mp.diff(by_position, point, tuple(orders.values()))
            # Out of its domain, or at a pole.
            except (ArithmeticError, ValueError, TypeError, mp.NoConvergence):
                return None
            if not mp.isfinite(found) or mp.im(found) != 0:
                return None
            found = mp.re(found)
            if last is not None and _agree(found, last):
                return found
        last = found
    return last


def _agree(found: Number, last: Number) -> bool:
    """Return whether two numbers, of which the first is not 0, agree in enough digits."""
    return bool(found != 0 and abs(found - last) <= abs(found) * mp.mpf(10) ** -AGREED)
