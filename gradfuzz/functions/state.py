"""What a check leaves behind: every variable as it was.

A call may assign to variables that nobody named: the moving means of a BatchNormalization, the
state of a random generator.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradfuzz.runtime import ResourceVariable, tf


@contextmanager
def kept_values() -> Iterator[None]:
    """Give every variable that there is the value back that it had before the block."""
    # A value that is read shares its memory with the variable until that is assigned to.
    kept = [(variable, variable.read_value()) for variable in _variables()]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


def _variables() -> list[Any]:
    """Return the variables outside of graphs that have a value."""
    found = gc.get_referrers(ResourceVariable)
    return [each for each in found if type(each) is ResourceVariable and _has_value(each)]


def _has_value(variable: Any) -> bool:
    # One that is being made, or was given up, has no handle.
    handle = getattr(variable, "_handle", None)
    return tf.is_tensor(handle) and hasattr(handle, "numpy") and bool(variable.is_initialized())
