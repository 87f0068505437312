"""Look into a graph that ended a process: does it again, of which op, and how little will do.

Each question may be the end of whoever answers it, so questions are yielded and answers sent:
a campaign puts them to a worker between two rounds, and does its other work meanwhile.
"""

import time
from collections.abc import Container, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradfuzz.clock import Clock
from gradfuzz.fatal import fatal
from gradfuzz.finding import Bucket, Finding
from gradfuzz.graph import Array, Call, Graph, Leaf, Node
from gradfuzz.oracles import numeric
from gradfuzz.order import Answer, Death, Isolation, Question, Request

# The elements of an array of so many are set to 0 one by one.
FEW = 8
# So often is a graph run that ended one process, before it is said not to do it again.
TRIES = 3

Inquiry = Generator[Request, Answer, "Finding | None"]


@dataclass(frozen=True, eq=False)
class Autopsy:
    """A graph that ended a process in the way of `kind`, and how it is looked into.

    It was asked about by `oracles`; if a plain gradient does it, too, they are not to blame.
    It is made smaller for so many `seconds`, and not at all in a `known` bucket.
    """

    kind: str
    graph: Graph
    known: Container[Bucket]
    seconds: float
    oracles: tuple[str, ...] = (numeric.NAME,)
    clock: Clock = time.monotonic

    def inquire(self) -> Inquiry:
        """Return the finding, as small as time allowed; None where it does not happen again."""
        for oracles in dict.fromkeys([(numeric.NAME,), self.oracles]):
            again = yield from self._again(oracles)
            if again is not None:
                return (yield from replace(self, oracles=oracles)._look_into(again))
        return None

    def _again(self, oracles: tuple[str, ...]) -> Generator[Request, Answer, Death | None]:
        for _ in range(TRIES):
            answer = yield Question(self.graph, self.kind, oracles=oracles)
            if isinstance(answer, Death):
                return answer
        return None

    def _look_into(self, again: Death) -> Inquiry:
        """Return the finding of a graph that ends a process again."""
        name = self.oracles[0]
        graph, death = (yield from self._first_cut(self.graph, again)) or (self.graph, again)
        if fatal(graph, death, name).bucket in self.known:
            return fatal(graph, death, name)
        single = yield from self._alone(graph, death)
        graph = yield from self._smaller(single or graph, death)
        return fatal(graph, death, name)

    def _first_cut(
        self, graph: Graph, death: Death
    ) -> Generator[Request, Answer, tuple[Graph, Death] | None]:
        """Return the shortest beginning of the graph that ends a process, and how."""
        used = {ref for _, call in graph.calls for ref in call.inputs} | set(graph.outputs)
        for index, _ in graph.calls:
            outputs = sorted(ref for ref in used if ref.node == index)
            # The whole graph is known to do it.
            if not outputs or outputs == sorted(graph.outputs):
                continue
            answer = yield Question(graph.cut(outputs), death.kind, oracles=self.oracles)
            if isinstance(answer, Death):
                return graph.cut(outputs), answer
        return None

    def _alone(self, graph: Graph, death: Death) -> Generator[Request, Answer, Graph | None]:
        """Return the last call by itself if that does it, too."""
        if len(graph.calls) == 1:
            return None
        single = yield Isolation(graph)
        if not isinstance(single, Graph):
            return None
        return single if (yield from self._does_it(single, death)) else None

    def _smaller(self, graph: Graph, death: Death) -> Generator[Request, Answer, Graph]:
        """Return the graph with fewer and simpler elements, as far as time allows."""
        end = self.clock() + self.seconds
        candidates = simpler(graph)
        while self.clock() < end and (smaller := next(candidates, None)) is not None:
            if (yield from self._does_it(smaller, death)):
                graph, candidates = smaller, simpler(smaller)
        return graph

    def _does_it(self, graph: Graph, death: Death) -> Generator[Request, Answer, bool]:
        answer = yield Question(graph, death.kind, oracles=self.oracles)
        return isinstance(answer, Death) and answer.kind == death.kind


def simpler(graph: Graph) -> Iterator[Graph]:
    """Yield graphs that are a step simpler: an axis shorter, in one array or two; all zeros.

    The arrays of a call have axes in common, so two that are of one size are cut together, too.
    """
    arrays = [array for node in graph.nodes for array in _arrays(node)]
    for places in _axes(arrays):
        index, axis = places[0]
        size = arrays[index].shape[axis]
        for kept in _shorter(size):
            yield _with(graph, _cut(arrays, places, kept))
    for index, array in enumerate(arrays):
        for plainer in _plainer(array):
            yield _with(graph, [*arrays[:index], plainer, *arrays[index + 1 :]])


def _axes(arrays: list[Array]) -> list[list[tuple[int, int]]]:
    """Return each axis of each array, and each two of one size in two arrays."""
    axes = [(index, axis) for index, array in enumerate(arrays) for axis in range(array.ndim)]
    pairs = [
        [(i, a), (j, b)]
        for i, a in axes
        for j, b in axes
        if i < j and arrays[i].shape[a] == arrays[j].shape[b]
    ]
    return [[place] for place in axes] + pairs


def _shorter(size: int) -> list[range]:
    """Return what may be kept of an axis: one element or all but one, of the start or the end."""
    kept = [range(1), range(size - 1, size), range(size - 1), range(1, size)]
    return list(dict.fromkeys(each for each in kept if 0 < len(each) < size))


def _cut(arrays: list[Array], places: list[tuple[int, int]], kept: range) -> list[Array]:
    found = list(arrays)
    for index, axis in places:
        found[index] = found[index].take(kept, axis=axis)
    return found


def _plainer(array: Array) -> Iterator[Array]:
    """Yield zeros in the place of an array, then in that of each element of a short one."""
    if not array.any() or array.dtype.kind not in "fiub":
        return
    yield np.zeros_like(array)
    if 1 < array.size <= FEW:
        for position in np.flatnonzero(array):
            plainer = array.copy()
            plainer.flat[position] = 0
            yield plainer


def _arrays(arg: Any) -> Iterator[Array]:
    """Yield the arrays of a node, or of an argument: values that are not said by an edge."""
    match arg:
        case Leaf():
            yield arg.value
        case Call():
            for each in arg.args.values():
                yield from _arrays(each)
        case list():
            for each in arg:
                yield from _arrays(each)
        case np.ndarray():
            yield arg


def _with(graph: Graph, arrays: list[Array]) -> Graph:
    """Return the graph with other arrays in the place of its own, in their order."""
    feed = iter(arrays)

    def put(arg: Any) -> Any:
        if isinstance(arg, list):
            return [put(each) for each in arg]
        return next(feed) if isinstance(arg, np.ndarray) else arg

    def node(old: Node) -> Node:
        if isinstance(old, Leaf):
            return Leaf(next(feed), old.variable)
        return Call(old.op, {name: put(arg) for name, arg in old.args.items()})

    return Graph(tuple(map(node, graph.nodes)), graph.outputs)
