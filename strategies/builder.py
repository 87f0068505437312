"""A graph under construction."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradfuzz.graph import Args, Array, Call, Graph, Leaf, Node, Ref
from gradfuzz.strategies.shapes import Shape

Run = Callable[[str, Args, Sequence[tuple[Any, ...]]], tuple[Any, ...]]

DIFFERENTIABLE = frozenset({"float64", "float32", "complex128", "complex64"})


class Builder:
    """Appends nodes; runs each call as it is added, to learn what comes out.

    `run` takes an op, its arguments and the outputs of all earlier nodes and returns the
    op's outputs.  It is handed in, so that the catalogue needs no TensorFlow.  The output of a
    variable is its `Leaf`.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._nodes: list[Node] = []
        self._values: list[tuple[Any, ...]] = []
        self._sinks: dict[int, tuple[Ref, ...]] = {}
        self._taken: set[Ref] = set()

    def earlier(self, dtype: str) -> list[Ref]:
        """Return every tensor so far that an input of `dtype` could read, after a cast at most.

        These are leaves and differentiable outputs, real ones or complex ones.
        """
        leaves = [
            Ref(i)
            for i, node in enumerate(self._nodes)
            if isinstance(node, Leaf) and not node.variable
        ]
        outputs = [ref for sinks in self._sinks.values() for ref in sinks]
        kind = np.dtype(dtype).kind
        return [ref for ref in [*leaves, *outputs] if np.dtype(self.dtype(ref)).kind == kind]

    def variables(self, dtype: str) -> list[Ref]:
        """Return every variable of `dtype` so far."""
        return [
            Ref(i)
            for i, node in enumerate(self._nodes)
            if isinstance(node, Leaf) and node.variable and self.dtype(Ref(i)) == dtype
        ]

    def take(self, ref: Ref) -> None:
        """Note that a call, if only the one that is being drawn, reads this tensor."""
        self._taken.add(ref)

    def is_taken(self, ref: Ref) -> bool:
        """Return whether something reads this tensor already."""
        return ref in self._taken

    def is_leaf(self, ref: Ref) -> bool:
        """Return whether this is a primal."""
        return isinstance(self._nodes[ref.node], Leaf)

    def shape(self, ref: Ref) -> Shape:
        """Return the shape of a tensor."""
        return tuple(self._value(ref).shape)

    def dtype(self, ref: Ref) -> str:
        """Return the name of a tensor's dtype."""
        return str(np.dtype(_numpy_dtype(self._value(ref).dtype)).name)

    def value(self, ref: Ref) -> Array:
        """Return the value of a tensor."""
        return np.asarray(self._value(ref))

    def leaf(self, value: Array, *, variable: bool = False) -> Ref:
        """Add a primal, which may be a variable."""
        leaf = Leaf(value, variable)
        return self._append(leaf, (leaf if variable else value,))

    def call(self, op: str, **args: Any) -> Ref:
        """Add one call of `op` and return its first output.

        A tuple in its arguments becomes a list, which is what a case file has.
        """
        args = {name: _listed(arg) for name, arg in args.items()}
        call = Call(op, args)
        return self._append(call, self._run(op, args, self._values))

    def differentiate(self, ref: Ref, outputs: Sequence[int] | None) -> None:
        """Say that the outputs of this call (for None all that can be) are to be differentiated."""
        count = len(self._values[ref.node])
        refs = [Ref(ref.node, i) for i in (range(count) if outputs is None else outputs)]
        found = tuple(r for r in refs if r.output < count and self.dtype(r) in DIFFERENTIABLE)
        if found:
            self._sinks[ref.node] = found

    def build(self) -> Graph | None:
        """Return the graph of all that nothing reads, or None where nothing comes out."""
        read = {ref for node in self._nodes if isinstance(node, Call) for ref in node.inputs}
        outputs = [ref for refs in self._sinks.values() for ref in refs if ref not in read]
        if not outputs:
            return None
        return Graph(tuple(self._nodes), tuple(outputs)).cut(outputs)

    def _append(self, node: Node, outputs: tuple[Any, ...]) -> Ref:
        self._nodes.append(node)
        self._values.append(outputs)
        return Ref(len(self._nodes) - 1)

    def _value(self, ref: Ref) -> Any:
        value = self._values[ref.node][ref.output]
        return value.value if isinstance(value, Leaf) else value


def _numpy_dtype(dtype: Any) -> Any:
    return getattr(dtype, "as_numpy_dtype", dtype)


def _listed(arg: Any) -> Any:
    return [_listed(item) for item in arg] if isinstance(arg, list | tuple) else arg
