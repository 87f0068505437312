"""Write graphs by hand, briefly."""

from typing import Any

import numpy as np

from gradfuzz.graph import Array, Call, Graph, Leaf, Ref


def ints(*values: int) -> Any:
    """Return an int32 vector."""
    return np.array(values, np.int32)


def primal(value: Any) -> Array:
    """Return a float64 array, or a complex128 one where the value is complex."""
    found = np.asarray(value)
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


def one_call(op: str, *leaves: Any, outputs: tuple[int, ...] = (0,), **args: Any) -> Graph:
    """Return a graph of one call; its arguments read the leaves as Ref(0), Ref(1), …"""
    nodes = [Leaf(primal(leaf)) for leaf in leaves]
    call = Call(op, args)
    return Graph((*nodes, call), tuple(Ref(len(nodes), output) for output in outputs))


def chain(leaf: Any, *calls: Call, outputs: tuple[Ref, ...] | None = None) -> Graph:
    """Return a graph of one leaf and calls, which read each other as Ref(1), Ref(2), …"""
    nodes = (Leaf(primal(leaf)), *calls)
    return Graph(nodes, outputs or (Ref(len(calls)),))
