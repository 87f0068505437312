"""What a check leaves behind: every variable as it was.

A call may assign to variables that nobody named: the moving means of a BatchNormalization, the
state of a random generator.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import ref

from gradfuzz.runtime import ResourceVariable, tf

# The variables that there are, where that is known.
_KNOWN: ContextVar[Sequence[Any] | None] = ContextVar("known variables", default=None)


@contextmanager
def kept_values() -> Iterator[None]:
    """Give every variable that there is the value back that it had before the block."""
    known = _KNOWN.get()
    # A value that is read shares its memory with the variable until that is assigned to.
    kept = [(each, each.read_value()) for each in (_variables() if known is None else known)]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


class Variables:
    """The variables that there are, for many checks of one function.

    To look for them takes as long as a small check, so that it is done twice: a function may make
    variables when it is called first.
    """

    def __init__(self) -> None:
        self._found: list[ref[Any]] = []
        self._looks = 0

    @contextmanager
    def known(self) -> Iterator[None]:
        """Let `kept_values` take them for all."""
        if self._looks < 2:
            self._looks += 1
            self._found = [ref(variable) for variable in _variables()]
        token = _KNOWN.set(
            [each for each in (found() for found in self._found) if each is not None]
        )
        try:
            yield
        finally:
            _KNOWN.reset(token)


def _variables() -> list[Any]:
    """Return the variables outside of graphs that have a value."""
    found = gc.get_referrers(ResourceVariable)
    return [each for each in found if type(each) is ResourceVariable and _has_value(each)]


def _has_value(variable: Any) -> bool:
    # One that is being made, or was given up, has no handle.
    handle = getattr(variable, "_handle", None)
    return tf.is_tensor(handle) and hasattr(handle, "numpy") and bool(variable.is_initialized())
