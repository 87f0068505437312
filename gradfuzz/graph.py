"""The graph under test: plain data, made of leaves and calls.

A node is a leaf (the array to differentiate at) or a call (an op and its keyword
arguments).  A node reads earlier nodes through `Ref`, so a graph is in topological order
by construction.  Nothing here imports TensorFlow or Hypothesis: a saved graph outlives both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Args = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Ref:
    """An edge: output number `output` of node number `node`."""

    node: int
    output: int = 0

    def __str__(self) -> str:
        return f"%{self.node}:{self.output}" if self.output else f"%{self.node}"


@dataclass(frozen=True, eq=False)
class Leaf:
    """A primal: the value a derivative is taken at.  Its dtype is real or complex.

    A call that reads a `variable` leaf gets the handle of a resource variable with that value.
    """

    value: Array
    variable: bool = False

    def __post_init__(self) -> None:
        # NumPy's arithmetic makes scalars of arrays of rank 0.
        object.__setattr__(self, "value", np.asarray(self.value))


@dataclass(frozen=True, eq=False)
class Call:
    """One op and all its keyword arguments.

    A `Ref`, alone or inside lists, is an input; anything else is an attr or a constant array.
    """

    op: str
    args: Args

    @property
    def inputs(self) -> list[Ref]:
        """The edges this call reads, in argument order."""
        return [ref for arg in self.args.values() for ref in refs_in(arg)]

    def input_names(self) -> list[tuple[str, Ref]]:
        """Return each edge with the argument it stands in: ("x", …), or ("values[1]", …)."""
        return [
            (name if isinstance(arg, Ref) else f"{name}[{position}]", ref)
            for name, arg in self.args.items()
            for position, ref in enumerate(refs_in(arg))
        ]


Node = Leaf | Call


def refs_in(arg: Any) -> Iterator[Ref]:
    """Yield every `Ref` of an argument, however deep in lists."""
    if isinstance(arg, Ref):
        yield arg
    elif isinstance(arg, list):
        for item in arg:
            yield from refs_in(item)


def replace_refs(arg: Any, replacement: Callable[[Ref], Any]) -> Any:
    """Return an argument with every `Ref` in it replaced."""
    if isinstance(arg, Ref):
        return replacement(arg)
    return [replace_refs(item, replacement) for item in arg] if isinstance(arg, list) else arg


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in topological order, and the edges that leave the graph.

    Prints as numbered assignments.  Raises `ValueError` where an edge points at no earlier
    node or where there is no output.
    """

    nodes: tuple[Node, ...]
    outputs: tuple[Ref, ...]

    def __post_init__(self) -> None:
        for index, node in enumerate(self.nodes):
            _require_earlier(node.inputs if isinstance(node, Call) else (), index, f"node {index}")
        if not self.outputs:
            raise ValueError("outputs: none, should be at least one")
        _require_earlier(self.outputs, len(self.nodes), "outputs")

    @property
    def leaves(self) -> list[int]:
        """The numbers of the leaves."""
        return [i for i, node in enumerate(self.nodes) if isinstance(node, Leaf)]

    @property
    def primals(self) -> list[Array]:
        """The value of each leaf, in node order."""
        return [node.value for node in self.nodes if isinstance(node, Leaf)]

    @property
    def calls(self) -> list[tuple[int, Call]]:
        """Each call with its number."""
        return [(i, node) for i, node in enumerate(self.nodes) if isinstance(node, Call)]

    @property
    def is_composed(self) -> bool:
        """Whether a call is of a function that may be built of several ops: its name has a dot."""
        return any("." in call.op for _, call in self.calls)

    def parted(self) -> "Graph":
        """Return the graph in which each read of a leaf is a leaf of its own."""
        nodes: list[Leaf | Call] = []
        places: dict[int, int] = {}

        def own(ref: Ref) -> Ref:
            read = self.nodes[ref.node]
            if isinstance(read, Call):
                return Ref(places[ref.node], ref.output)
            nodes.append(read)
            return Ref(len(nodes) - 1)

        for index, call in self.calls:
            args = {name: replace_refs(arg, own) for name, arg in call.args.items()}
            places[index] = len(nodes)
            nodes.append(Call(call.op, args))
        return Graph(tuple(nodes), tuple(map(own, self.outputs)))

    def at(self, primals: Sequence[Array]) -> "Graph":
        """Return the same graph with other values in its leaves."""
        feed = iter(primals)
        nodes = (replace(n, value=next(feed)) if isinstance(n, Leaf) else n for n in self.nodes)
        return Graph(tuple(nodes), self.outputs)

    def cut(self, outputs: Iterable[Ref]) -> "Graph":
        """Return what `outputs` depend on, renumbered, with them as its outputs."""
        outputs = tuple(outputs)
        live = self.live(outputs)
        place = {old: new for new, old in enumerate(live)}

        def move(ref: Ref) -> Ref:
            return Ref(place[ref.node], ref.output)

        nodes = tuple(_with_refs(self.nodes[i], move) for i in live)
        return Graph(nodes, tuple(move(ref) for ref in outputs))

    def live(self, outputs: Iterable[Ref]) -> list[int]:
        """Return the numbers of the nodes that `outputs` depend on, as `cut` keeps them."""
        live = {ref.node for ref in outputs}
        for index in range(max(live), -1, -1):
            node = self.nodes[index]
            if index in live and isinstance(node, Call):
                live.update(ref.node for ref in node.inputs)
        return sorted(live)

    def with_call(self, index: int, call: Call) -> "Graph":
        """Return the graph with another call at `index`."""
        return Graph((*self.nodes[:index], call, *self.nodes[index + 1 :]), self.outputs)

    @property
    def complexity(self) -> tuple[int, int, int, float]:
        """What a reader pays: calls, elements, digits, and size of the values."""
        constants = _arrays([arg for _, call in self.calls for arg in call.args.values()])
        arrays = [*self.primals, *constants]
        digits = sum(len(repr(x)) for array in arrays for x in array.ravel()[:64].tolist())
        finite = [np.abs(a[np.isfinite(a)]).sum() for a in self.primals]
        return len(self.calls), sum(a.size for a in arrays), digits, float(sum(finite))

    def __str__(self) -> str:
        rows = [f"%{i} = {_format_node(node)}" for i, node in enumerate(self.nodes)]
        if self.outputs != (Ref(len(self.nodes) - 1),):
            rows.append(f"return {', '.join(map(str, self.outputs))}")
        return "\n".join(rows)


def _require_earlier(refs: Iterable[Ref], index: int, place: str) -> None:
    for ref in refs:
        if not (0 <= ref.node < index and ref.output >= 0):
            raise ValueError(f"{place}: reads {ref}, should read an earlier node")


def _with_refs(node: Node, move: Callable[[Ref], Any]) -> Node:
    if isinstance(node, Leaf):
        return node
    return Call(node.op, {name: replace_refs(arg, move) for name, arg in node.args.items()})


def _arrays(arg: Any) -> Iterator[Array]:
    if isinstance(arg, np.ndarray):
        yield arg
    elif isinstance(arg, list):
        for item in arg:
            yield from _arrays(item)


def _format_node(node: Node) -> str:
    if isinstance(node, Leaf):
        return f"{'variable' if node.variable else 'leaf'} {format_array(node.value)}"
    args = ", ".join(f"{name}={_format_arg(arg)}" for name, arg in node.args.items())
    return f"{node.op}({args})"


def format_array(array: Array) -> str:
    """Return dtype, shape and, where they are few, values: `float64[2] [0.0, 1.0]`."""
    head = f"{array.dtype}{list(array.shape)}"
    return f"{head} {array.tolist()}" if 0 < array.size <= 8 else head


def _format_arg(arg: Any) -> str:
    match arg:
        case Ref():
            return str(arg)
        case list():
            return f"[{', '.join(map(_format_arg, arg))}]"
        case np.ndarray():
            return format_array(arg)
    return repr(arg)
