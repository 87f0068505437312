"""Run a graph on TensorFlow."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError
from gradfuzz.graph import Args, Array, Graph, Leaf, Ref, refs_in, replace_refs
from gradfuzz.noise import Noise
from gradfuzz.realview import from_real_view
from gradfuzz.registry import Function, function, reference
from gradfuzz.runtime import constant, tf

Tensor = Any  # tf.Tensor: TensorFlow ships no types
Outputs = tuple[Tensor, ...]
Feed = Callable[[Array], Tensor]
Run = Callable[[str, Args, Sequence[Outputs]], Outputs]

# What TensorFlow raises when an op refuses its arguments: its kernels the first, its Python
# side any of the others.
REFUSALS = (tf.errors.OpError, ValueError, TypeError, NotImplementedError, IndexError)


def call(op: str, args: Args, values: Sequence[Outputs]) -> Outputs:
    """Call one op, reading each `Ref` from `values`, the outputs of every earlier node.

    The output of a leaf that is a variable is the `Leaf` itself.

    Raises `ForwardError` where the op refuses its arguments.
    """
    return Step.of(op, args).run([tuple(map(_tensor, outputs)) for outputs in values])


def _tensor(value: Any) -> Tensor:
    if isinstance(value, Leaf):
        return variable(value.value)
    return value if isinstance(value, tf.Tensor) else constant(value)


@dataclass(frozen=True)
class Step:
    """A call made ready to run many times: its function looked up, its constants made tensors.

    `refs` are the arguments that are one edge, `lists` those with edges in a list.
    """

    op: str
    function: Function
    fixed: Args
    refs: tuple[tuple[str, Ref], ...]
    lists: tuple[tuple[str, list[Any]], ...]

    @classmethod
    def of(cls, op: str, args: Args) -> "Step":
        """Prepare a call.  Raises `UsageError` for an op that this TensorFlow lacks."""
        refs = {name: arg for name, arg in args.items() if isinstance(arg, Ref)}
        others = {name: _constant(arg) for name, arg in args.items() if name not in refs}
        lists = {name: arg for name, arg in others.items() if any(True for _ in refs_in(arg))}
        fixed = {name: arg for name, arg in others.items() if name not in lists}
        return cls(op, function(op), fixed, tuple(refs.items()), tuple(lists.items()))

    def run(self, values: Sequence[Outputs]) -> Outputs:
        """Return the outputs, reading edges from `values`.  Raises `ForwardError`."""

        def read(ref: Ref) -> Tensor:
            return values[ref.node][ref.output]

        args = dict(self.fixed)
        for name, ref in self.refs:
            args[name] = values[ref.node][ref.output]
        for name, items in self.lists:
            args[name] = replace_refs(items, read)
        try:
            outputs = self.function(**args)
            return (outputs,) if isinstance(outputs, tf.Tensor) else tuple(_flat(outputs))
        except REFUSALS as refusal:
            raise ForwardError(f"{self.op}: {first_line(refusal)}") from refusal


@dataclass(frozen=True)
class Declared:
    """What the gradient of a step is declared to be the derivative of, and equal to it at a point.

    What quantises is off by a part of its step, and what reads it has its derivative there.
    """

    step: Step
    offsets: tuple[Tensor | None, ...]

    @classmethod
    def of(cls, step: Step, values: Sequence[Outputs], outputs: Outputs) -> "Declared":
        """Return the declared function of `step`, which had these `outputs` at those `values`."""
        declared = replace(step, function=reference(step.op))
        found = declared.run(values)
        return cls(declared, tuple(map(_offset, outputs, found)))

    def run(self, values: Sequence[Outputs]) -> Outputs:
        """Return the outputs, reading edges from `values`.  Raises `ForwardError`."""
        outputs = zip(self.step.run(values), self.offsets, strict=True)
        return tuple(y if offset is None else y + offset for y, offset in outputs)


def _offset(output: Tensor, declared: Tensor) -> Tensor | None:
    """Return by how much an output is above the declared one, None where it is no number."""
    if declared.dtype != output.dtype or declared.shape != output.shape:
        return None
    if not (declared.dtype.is_floating or declared.dtype.is_complex):
        return None
    offset = output.numpy() - declared.numpy()
    return tf.constant(np.where(np.isfinite(offset), offset, 0).astype(offset.dtype))


def _constant(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_constant(item) for item in arg]
    if not isinstance(arg, np.ndarray | np.generic):
        return arg
    # In a graph of TensorFlow's, a constant of that graph: shape inference reads it.
    return constant(np.asarray(arg)) if tf.executing_eagerly() else tf.constant(arg)


def _flat(outputs: Any) -> Iterator[Tensor]:
    if isinstance(outputs, list | tuple):
        for output in outputs:
            yield from _flat(output)
    elif outputs is not None:
        yield tf.convert_to_tensor(outputs)


# What comes before a list of places in Python.
_ELSEWHERE = ("in user code", "Graph execution error")
# What comes behind the message of an error in a session, and before more of these places.
_BEHIND = "\nOriginal stack trace for "

# What TensorFlow's executor, and XLA, wrap around the message of a kernel.
_WRAPPING = re.compile(r"\{\{[^}]*\}\}\s*|\s*\[Op:\w+\].*$| graph __inference\S+ on \w+(?=:)")


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's message, without the executor's wrapping.

    Of what was raised in a graph it is the last that is no node: the lines above say where.
    """
    lines = str(error).partition(_BEHIND)[0].strip().splitlines() or [type(error).__name__]
    if lines[0].startswith(_ELSEWHERE):
        lines = [line for line in lines[::-1] if line.strip() and "[[" not in line] or lines
    return _WRAPPING.sub("", lines[0].strip())[:200]


class Runnable(Protocol):
    """What can be examined, as a function of its leaves: a graph, or a function of the user's.

    `epsilon` is the rounding unit of what it computes with out of sight of `run_all`, unless it
    `is_composed`: then nobody has looked.
    """

    def reference(self, values: Sequence[Outputs]) -> "Runnable":
        """Return what its gradients are declared to be the derivatives of: as a rule, itself.

        `values` is what `run_all` returned at the point where they are taken.
        """

    @property
    def epsilon(self) -> float:
        """The rounding unit inside."""

    @property
    def is_composed(self) -> bool:
        """Whether a function of several ops hides in it, of a precision that is not known."""

    @property
    def feeds(self) -> Sequence[Feed]:
        """What makes, of the real view of a primal, what `run` takes and a tape can watch."""

    def is_complex(self, leaf: int) -> bool:
        """Return whether the primals of a leaf are complex numbers, seen as their parts."""

    def leaf_name(self, leaf: int) -> str:
        """Return what a leaf is called in messages."""

    def tape(self, *, persistent: bool) -> Any:
        """Return a new tape; a persistent one gives more than one gradient."""

    def run(self, sources: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the outputs.  Raises `ForwardError` where there are none."""

    def run_all(self, sources: Sequence[Tensor]) -> Sequence[Outputs]:
        """Return every tensor on the way that is known, the outputs among them."""

    def outputs(self, values: Sequence[Outputs]) -> Sequence[Tensor]:
        """Return the outputs among all tensors."""

    @property
    def noise(self) -> Noise | None:
        """The noise that moves every tensor, if any does."""

    def noisy(self, noise: Noise) -> "Runnable":
        """Return the same with every tensor that is in sight moved by a few rounding units."""


class Computation(Runnable, Protocol):
    """What comes of a graph: itself, or a derivative of it (`derived`)."""

    def reference(self, values: Sequence[Outputs]) -> "Computation":
        """Return what its gradients are declared to be the derivatives of: as a rule, itself."""

    @property
    def graph(self) -> Graph:
        """The graph it comes from."""


@dataclass(frozen=True)
class Program:
    """A graph made ready to run many times.  The step of a leaf is None.

    `feeds` has, for each leaf, what makes the tensor to run with from the real view of a primal.
    """

    graph: Graph
    steps: tuple[Step | Declared | None, ...]
    feeds: tuple[Feed, ...]
    noise: Noise | None = None

    @classmethod
    def of(cls, graph: Graph) -> "Program":
        """Prepare `graph`.  Raises `UsageError` for an op that this TensorFlow lacks."""
        steps = (
            None if isinstance(node, Leaf) else Step.of(node.op, node.args) for node in graph.nodes
        )
        feeds = (feed_of(node) for node in graph.nodes if isinstance(node, Leaf))
        return cls(graph, tuple(steps), tuple(feeds))

    def reference(self, values: Sequence[Outputs]) -> "Program":
        steps = [
            Declared.of(step, values, values[index])
            if isinstance(step, Step) and reference(step.op) is not step.function else step
            for index, step in enumerate(self.steps)
        ]  # fmt: skip
        return self if steps == list(self.steps) else replace(self, steps=tuple(steps))

    @property
    def epsilon(self) -> float:
        return EPSILON[tf.float64]

    @property
    def is_composed(self) -> bool:
        return self.graph.is_composed

    def is_complex(self, leaf: int) -> bool:
        return self.graph.primals[leaf].dtype.kind == "c"

    def leaf_name(self, leaf: int) -> str:
        return f"leaf {leaf} (%{self.graph.leaves[leaf]})"

    def tape(self, *, persistent: bool) -> Any:
        return tf.GradientTape(persistent=persistent)

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
        read = values if self.noise is None else self.noise.on(values)
        for step in self.steps:
            values.append((next(feed),) if step is None else step.run(read))
        return values

    def noisy(self, noise: Noise) -> "Program":
        """Return the same with every tensor moved by a few rounding units."""
        return replace(self, noise=noise)


def _output(values: Sequence[Outputs], ref: Ref) -> Tensor:
    if ref.output >= len(values[ref.node]):
        count = len(values[ref.node])
        raise ForwardError(f"output {ref}: node {ref.node} has {count} outputs")
    return values[ref.node][ref.output]


def feed(program: Runnable, views: Sequence[Array]) -> list[Tensor]:
    """Return what to run with at primals of these real views, one per leaf.

    Each tensor has memory of its own, so that it cannot change.
    """
    return [feed(view) for feed, view in zip(program.feeds, views, strict=True)]


def feed_of(leaf: Leaf) -> Feed:
    """Return what makes a tensor, or the handle of a variable, from the real view of a primal."""
    if leaf.value.dtype.kind != "c":
        return variable if leaf.variable else constant
    return _complex_variable if leaf.variable else _complex_constant


def variable(value: Array) -> Tensor:
    """Return the handle of a new variable, which lives as long as the handle does."""
    return tf.Variable(value).handle


def _complex_constant(view: Array) -> Tensor:
    return constant(from_real_view(view))


def _complex_variable(view: Array) -> Tensor:
    return variable(from_real_view(view))
