"""Arrays, attrs and calls as Python source that needs TensorFlow and NumPy alone."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradfuzz.arrayjson import shortest
from gradfuzz.graph import Array, Call, Ref

Name = Callable[[Ref], str]


def call_source(call: Call, name: Name) -> str:
    """Return a call as source: `tf.raw_ops.Log(x=v0)`; `name` names what an edge reads."""
    function = call.op if "." in call.op else f"tf.raw_ops.{call.op}"
    function = f"tf.{function}" if function.startswith("keras.") else function
    args = ", ".join(f"{key}={arg_source(arg, name)}" for key, arg in call.args.items())
    return f"{function}({args})"


def modules_of(op: str) -> set[str]:
    """Return the modules that a call needs beside TensorFlow: those of a function of one's own."""
    root, _, rest = op.partition(".")
    return {op.rpartition(".")[0]} if rest and root not in ("tf", "keras") else set()


def arg_source(arg: Any, name: Name) -> str:
    """Return an argument as source."""
    match arg:
        case Ref():
            return name(arg)
        case list():
            return f"[{', '.join(arg_source(item, name) for item in arg)}]"
        case np.ndarray() | np.generic():
            return f"tf.constant({array_source(np.asarray(arg))})"
        case float():
            return number_source(arg)
    return repr(arg)


def array_source(array: Array) -> str:
    """Return an array as source, exactly: `np.array([0.5, np.nan], "float64")`."""
    shape = "" if array.size else f".reshape({array.shape})"
    return f'np.array({_elements(array)}, "{array.dtype.name}"){shape}'


def _elements(array: Array) -> str:
    if array.ndim and array.size:
        return f"[{', '.join(_elements(part) for part in array)}]"
    return _scalar(array[()]) if array.size else "[]"


def _scalar(element: Any) -> str:
    match element.dtype.kind:
        case "f":
            return number_source(shortest(element))
        case "c":
            parts = (number_source(shortest(part)) for part in (element.real, element.imag))
            return f"complex({', '.join(parts)})"
    return repr(element.item())


def number_source(value: float) -> str:
    """Return a float as source."""
    if math.isfinite(value):
        return repr(value)
    return "np.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}np.inf"
