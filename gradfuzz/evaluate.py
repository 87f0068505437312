"""Run a graph on TensorFlow."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.errors import ForwardError
from gradfuzz.graph import Args, Array, Call, Graph, Leaf, Ref, replace_refs
from gradfuzz.registry import function
from gradfuzz.runtime import constant, tf

Tensor = Any  # tf.Tensor: TensorFlow ships no types
Outputs = tuple[Tensor, ...]
Run = Callable[[str, Args, Sequence[Outputs]], Outputs]

# What TensorFlow raises when an op refuses its arguments: its kernels the first, its Python
# side any of the others.
REFUSALS = (tf.errors.OpError, ValueError, TypeError, NotImplementedError, IndexError)


def call(op: str, args: Args, values: Sequence[Outputs]) -> Outputs:
    """Call one op, reading each `Ref` from `values`, the outputs of every earlier node.

    Raises `ForwardError` where the op refuses its arguments.
    """
    ready = [tuple(map(_tensor, outputs)) for outputs in values]
    return _call(op, function(op), args, ready)


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, tf.Tensor) else constant(value)


def _call(
    op: str, run: Callable[..., Any], args: Args, values: Sequence[Sequence[Tensor]]
) -> Outputs:
    def read(ref: Ref) -> Tensor:
        return values[ref.node][ref.output]

    try:
        return tuple(_flat(run(**{name: replace_refs(arg, read) for name, arg in args.items()})))
    except REFUSALS as refusal:
        raise ForwardError(f"{op}: {first_line(refusal)}") from refusal


def _flat(outputs: Any) -> Iterator[Tensor]:
    if isinstance(outputs, list | tuple):
        for output in outputs:
            yield from _flat(output)
    elif isinstance(outputs, tf.Tensor):
        yield outputs
    elif outputs is not None:
        yield tf.convert_to_tensor(outputs)


# What TensorFlow's executor wraps around the message of a kernel.
_WRAPPING = re.compile(r"\{\{[^}]*\}\}\s*|\s*\[Op:\w+\].*$")


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's message, without the executor's wrapping."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return _WRAPPING.sub("", lines[0])[:200]


@dataclass(frozen=True)
class Program:
    """A graph made ready to run many times: functions looked up, constants made tensors."""

    graph: Graph
    steps: tuple[tuple[str, Callable[..., Any], Args] | None, ...]

    @classmethod
    def of(cls, graph: Graph) -> "Program":
        """Prepare `graph`.  Raises `UsageError` for an op that this TensorFlow lacks."""
        return cls(graph, tuple(_step(node) for node in graph.nodes))

    def run(self, primals: Sequence[Tensor]) -> list[Tensor]:
        """Return the tensors of `graph.outputs` at `primals`, one per leaf, in node order."""
        return self.outputs(self.run_all(primals))

    def outputs(self, values: Sequence[Outputs]) -> list[Tensor]:
        """Return the tensors of `graph.outputs` among the outputs of every node."""
        return [_output(values, ref) for ref in self.graph.outputs]

    def run_all(self, primals: Sequence[Tensor]) -> list[Outputs]:
        """Return the outputs of every node at `primals`."""
        values: list[Outputs] = []
        feed = iter(primals)
        for step in self.steps:
            values.append((next(feed),) if step is None else _call(*step, values))
        return values


def _step(node: Leaf | Call) -> tuple[str, Callable[..., Any], Args] | None:
    if isinstance(node, Leaf):
        return None
    return node.op, function(node.op), {name: _constant(arg) for name, arg in node.args.items()}


def _constant(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_constant(item) for item in arg]
    return tf.constant(arg) if isinstance(arg, np.ndarray) else arg


def _output(values: Sequence[Outputs], ref: Ref) -> Tensor:
    if ref.output >= len(values[ref.node]):
        count = len(values[ref.node])
        raise ForwardError(f"output {ref}: node {ref.node} has {count} outputs")
    return values[ref.node][ref.output]


def tensors(primals: Sequence[Array]) -> list[Tensor]:
    """Return a tensor of each primal; each has memory of its own, so that it cannot change."""
    return [constant(primal) for primal in primals]
