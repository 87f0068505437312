"""What only graphs of TensorFlow 1 have: tensor arrays, loops made of switches, and references.

Each recipe builds a graph of its own, with gradients by `tf.compat.v1.gradients`, and runs it in a
session.  So it runs eagerly only, and has a first derivative in reverse mode and no others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from tensorflow.python.ops import control_flow_util

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf
from gradfuzz.strategies.recipes.control_flow import body_of
from gradfuzz.strategies.recipes.private import private

raw: Any = tf.raw_ops
v1: Any = tf.compat.v1
Tensor = Any  # tf.Tensor: TensorFlow ships no types
# What builds the outputs in the graph from its inputs.
Build = Callable[..., Tensor]

# Sessions are kept, each for one graph.
MOST_SESSIONS = 64


class Session:
    """A graph of TensorFlow 1 with the gradients of its outputs, ready to run.

    Numbers come in as references where they are to be `held`.
    """

    def __init__(
        self, build: Build, inputs: Sequence[tuple[str, tuple[int, ...]]], *, held: bool
    ) -> None:
        with tf.Graph().as_default() as graph, _switches():
            self._inputs = [v1.placeholder(dtype, shape) for dtype, shape in inputs]
            self._sources = [_reference(x) if held else x for x in self._inputs]
            outputs = build(*self._sources)
            self._outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
            self._seeds = [v1.placeholder(y.dtype, y.shape) for y in self._outputs]
            self._gradients = self._build_gradients()
        self._session = v1.Session(graph=graph)

    def _build_gradients(self) -> list[Tensor | None] | Exception:
        try:
            found = v1.gradients(self._outputs, self._sources, self._seeds)
            return [None if g is None else tf.convert_to_tensor(g) for g in found]
        # A gradient function is code under test, and raises where it is asked for.
        except Exception as raised:  # noqa: BLE001
            return raised

    def outputs(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Return the outputs at `inputs`."""
        return self._run(self._outputs, inputs)

    def gradients(self, inputs: Sequence[Tensor], seeds: Sequence[Tensor]) -> list[Tensor | None]:
        """Return the gradients at `inputs` for cotangents of the outputs, None for no connection.

        Raises what building them raised.
        """
        if isinstance(self._gradients, Exception):
            raise self._gradients
        wanted = [g for g in self._gradients if g is not None]
        found = iter(self._run(wanted, [*inputs, *seeds]))
        return [None if g is None else next(found) for g in self._gradients]

    def _run(self, wanted: Sequence[Tensor], fed: Sequence[Tensor]) -> list[Tensor]:
        places = [*self._inputs, *self._seeds][: len(fed)]
        feeds = {place: np.asarray(value) for place, value in zip(places, fed, strict=True)}
        return [tf.constant(value) for value in self._session.run(list(wanted), feeds)]


def _reference(value: Tensor) -> Tensor:
    """Return a reference to a variable that was just set to a value, if that is of numbers."""
    if not value.dtype.is_floating:
        return value
    zeros = np.zeros(value.shape, value.dtype.as_numpy_dtype)
    return v1.assign(v1.Variable(zeros, use_resource=False), value)


@contextmanager
def _switches() -> Iterator[None]:
    """Within the block, branches and loops are made of switches and merges."""
    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
    try:
        yield
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = before


@lru_cache(MOST_SESSIONS)
def _session(
    build: Build, inputs: tuple[tuple[str, tuple[int, ...]], ...], *, held: bool
) -> Session:
    return Session(build, inputs, held=held)


def run(build: Build, *inputs: Tensor, held: bool = False) -> Any:
    """Return the outputs of `build` at `inputs`, with its gradients; `held` as a session has it.

    Raises `NotImplementedError` where the inputs have no values yet.
    """
    if not tf.executing_eagerly():
        raise NotImplementedError("runs in a session of its own, so eagerly only")

    def function(*inputs: Tensor) -> Any:
        of_inputs = tuple((x.dtype.name, tuple(x.shape)) for x in inputs)
        session = _session(build, of_inputs, held=held)

        def gradient(*seeds: Tensor) -> list[Tensor | None]:
            return session.gradients(inputs, seeds)

        return session.outputs(inputs), gradient

    return tf.custom_gradient(function)(*inputs)


# Tensor arrays: a tensor is written to one, and what it holds is read again.


def _array(size: Tensor, like: Tensor) -> Any:
    return raw.TensorArrayV3(size=size, dtype=like.dtype, clear_after_read=False)


def _gathered(indices: Tensor, tensor: Tensor) -> Tensor:
    count = tf.shape(tensor)[0]
    handle, flow = _array(count, tensor)
    flow = raw.TensorArrayScatterV3(
        handle=handle, indices=tf.range(count), value=tensor, flow_in=flow
    )
    return raw.TensorArrayGatherV3(handle=handle, indices=indices, flow_in=flow, dtype=tensor.dtype)


def _written(tensor: Tensor) -> list[Tensor]:
    count = tensor.shape[0]
    handle, flow = _array(count, tensor)
    for index, item in enumerate(tf.unstack(tensor)):
        flow = raw.TensorArrayWriteV3(handle=handle, index=index, value=item, flow_in=flow)
    return [
        raw.TensorArrayReadV3(handle=handle, index=i, flow_in=flow, dtype=tensor.dtype)
        for i in range(count)
    ]


def _joined(lengths: Tensor, tensor: Tensor) -> Tensor:
    handle, flow = _array(tf.size(lengths), tensor)
    flow = raw.TensorArraySplitV3(handle=handle, value=tensor, lengths=lengths, flow_in=flow)
    joined, _ = raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tensor.dtype)
    return joined


def _loop(times: Tensor, x: Tensor, y: Tensor) -> Tensor:
    def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, tf.sin(x) * y

    _, found = v1.while_loop(lambda i, _: i < times, body, [0, x])
    return found


def _cond(pred: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return v1.cond(pred, lambda: x * y, lambda: tf.sin(x))


def _nested(times: Tensor, x: Tensor, y: Tensor) -> Tensor:
    def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, v1.cond(i % 2 < 1, lambda: tf.sin(x) * y, lambda: x * x)

    _, found = v1.while_loop(lambda i, _: i < times, body, [0, x])
    return found


def _bare(pred: Tensor, x: Tensor) -> Tensor:
    no, yes = raw.Switch(data=x, pred=pred)
    return raw.Merge(inputs=[tf.sin(no), yes * yes])[0]


def _rows(times: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    def body(i: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, tf.sin(total) + tf.gather(x, indices)

    _, found = v1.while_loop(lambda i, _: i < times, body, [0, tf.gather(x, indices)])
    return found


def _read(times: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    _, found = v1.while_loop(lambda i, _: i < times, lambda i, x: (i + 1, tf.identity(x)), [0, x])
    return tf.gather(found, indices)


@lru_cache(MOST_SESSIONS)
def _calling(body: tuple[str, ...]) -> Build:
    """Return a function that calls one whose gradient TensorFlow's C++ side makes."""

    def build(x: Tensor, y: Tensor) -> Tensor:
        def called(x: Tensor, y: Tensor) -> Tensor:
            return body_of(body)(x, y)

        define = private("tensorflow.python.framework.function").Defun
        return define(x.dtype, y.dtype)(called)(x, y)

    return build


def gather(tensor: Tensor, indices: Tensor) -> Tensor:
    """Scatter slices, and gather some of them."""
    return run(_gathered, indices, tensor)


def write(tensor: Tensor) -> Tensor:
    """Write each slice, and read it."""
    return run(_written, tensor)


def split(tensor: Tensor, lengths: Tensor) -> Tensor:
    """Split a tensor, and join its parts."""
    return run(_joined, lengths, tensor)


def loop(times: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Apply a body so many times."""
    return run(_loop, times, x, y)


def cond(pred: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Take one of two branches."""
    return run(_cond, pred, x, y)


def nested(times: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Apply a body with a branch in it so many times."""
    return run(_nested, times, x, y)


def bare(pred: Tensor, x: Tensor) -> Tensor:
    """Send a tensor one of two ways."""
    return run(_bare, pred, x)


def rows(times: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Read slices of one tensor in each turn of a loop."""
    return run(_rows, times, x, indices)


def read(times: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Read slices of what a loop hands on."""
    return run(_read, times, x, indices)


def call(x: Tensor, y: Tensor, body: list[str]) -> Tensor:
    """Call a function of the graph."""
    return run(_calling(tuple(body)), x, y)


RECIPES = {
    "recipe.TensorArrayGatherV3": Recipe(
        gather, "TensorArrayScatterV3 TensorArrayGatherV3", reverse_only=True
    ),
    "recipe.TensorArrayWriteV3": Recipe(
        write, "TensorArrayWriteV3 TensorArrayReadV3", reverse_only=True
    ),
    "recipe.TensorArraySplitV3": Recipe(
        split, "TensorArraySplitV3 TensorArrayConcatV3", reverse_only=True
    ),
    "recipe.Enter": Recipe(loop, "Enter Exit Merge NextIteration Switch", reverse_only=True),
    "recipe.Switch": Recipe(cond, "Switch Merge", reverse_only=True),
    "recipe.nested.Enter": Recipe(
        nested, "Enter Exit Merge NextIteration Switch", reverse_only=True
    ),
    "recipe.bare.Switch": Recipe(bare, "Switch Merge", reverse_only=True),
    "recipe.gathered.Enter": Recipe(
        rows, "Enter Exit Merge NextIteration Switch GatherV2", reverse_only=True
    ),
    "recipe.gathered.Exit": Recipe(
        read, "Enter Exit Merge NextIteration Switch GatherV2", reverse_only=True
    ),
    # Its gradient is made of those that TensorFlow registers in C++, in a registry of its own.
    "recipe.SymbolicGradient": Recipe(call, reverse_only=True),
}
