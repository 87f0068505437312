"""Arrays, attrs and calls as Python source that needs TensorFlow and NumPy alone."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradfuzz.arrayjson import shortest
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.registry import is_declared
from gradfuzz.repro.layer import is_layer, layer_source
from gradfuzz.repro.recipe import is_recipe, recipe_name, reference_name

Name = Callable[[Ref], str]


def call_source(call: Call, name: Name) -> str:
    """Return a call as source: `tf.raw_ops.Log(x=v0)`; `name` names what an edge reads."""
    return _applied(_function_name(call.op), call, name)


def reference_source(call: Call, name: Name) -> str:
    """Return a call of the function whose derivative its gradient is declared to be."""
    function = reference_name(call.op) if is_declared(call.op) else _function_name(call.op)
    return _applied(function, call, name)


def _function_name(op: str) -> str:
    if is_recipe(op):
        return recipe_name(op)
    if "." not in op:
        return f"tf.raw_ops.{op}"
    return f"tf.{op}" if op.startswith("keras.") else op


def _applied(function: str, call: Call, name: Name) -> str:
    if is_layer(call.op):
        return layer_source(call, lambda arg: arg_source(arg, name))
    args = ", ".join(f"{key}={arg_source(arg, name)}" for key, arg in call.args.items())
    return f"{function}({args})"


def modules_of(op: str) -> set[str]:
    """Return the modules that a call needs beside TensorFlow: those of a function of one's own."""
    root, _, rest = op.partition(".")
    is_own = rest and root not in ("tf", "keras") and not is_recipe(op)
    return {op.rpartition(".")[0]} if is_own else set()


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


def arrays_source(arrays: Sequence[Array]) -> str:
    """Return arrays as source, with commas between."""
    return ", ".join(map(array_source, arrays))


def tensors_source(arrays: str, graph: Graph) -> str:
    """Return as source what the function of a graph takes, of the `arrays` of that name."""
    leaves = [node for node in graph.nodes if isinstance(node, Leaf)]
    variables = [number for number, leaf in enumerate(leaves) if leaf.variable]
    if not variables:
        return f"[tf.constant(x) for x in {arrays}]"
    return (
        f"[tf.Variable(x).handle if i in {variables} else tf.constant(x)\n"
        f"          for i, x in enumerate({arrays})]"
    )


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
