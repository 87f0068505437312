"""The rounding unit of a computation: that of the least precise tensor on its way.

A function that is built of many ops may pass through a lower precision than it takes and
returns: `tf.image.adjust_saturation` of float64 computes in float32.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gradfuzz.dtypes import EPSILON
from gradfuzz.evaluate import Outputs, Runnable, Tensor
from gradfuzz.runtime import context, op_callbacks, tf


def coarsest(dtypes: Iterable[Any]) -> Any:
    """Return the least precise of some dtypes, float64 where none is of numbers."""
    return max((d for d in dtypes if d in EPSILON), key=lambda d: EPSILON[d], default=tf.float64)


def epsilon(values: Sequence[Outputs]) -> float:
    """Return the rounding unit of the least precise tensor of numbers in a forward pass."""
    return EPSILON[coarsest({tensor.dtype for outputs in values for tensor in outputs})]


def epsilon_within(program: Runnable, sources: Sequence[Tensor]) -> float:
    """Return the rounding unit of the least precise tensor that depends on `sources`.

    Runs `program` once and sees every op on the way, those inside its functions included.
    """
    depending = {_key(source) for source in sources}
    dtypes = {source.dtype for source in sources}
    with watching() as ran:
        program.run(sources)
    for op in ran:
        # What goes into a function that is being traced is a tensor of its own.
        if op.traced or any(_key(tensor) in depending for tensor in op.inputs):
            depending.update(map(_key, op.outputs))
            dtypes.update(op.dtypes())
    return EPSILON[coarsest(dtypes)]


@dataclass(frozen=True)
class Ran:
    """An op that ran, or was traced into a function: its type, what it read and returned."""

    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    traced: bool

    def dtypes(self) -> set[Any]:
        """Return the dtypes of its outputs and, for a `tf.function`, of every op in it."""
        return {tensor.dtype for tensor in self.outputs} | {d for d, _ in _inside(self.name)}

    def by_dtype(self) -> Iterator[tuple[Any, str]]:
        """Yield each dtype of `dtypes` with the type of an op that has it."""
        yield from ((tensor.dtype, self.name) for tensor in self.outputs)
        yield from _inside(self.name)


@contextmanager
def watching() -> Iterator[list[Ran]]:
    """Yield a list to which every op is added that runs in the block."""
    ran: list[Ran] = []

    def note(
        op: Any, inputs: Any, _attrs: Any, outputs: Any, _name: Any = None, graph: Any = None
    ) -> None:
        name = op.decode() if isinstance(op, bytes) else op
        ran.append(Ran(name, tuple(inputs), tuple(outputs), graph is not None))

    op_callbacks.add_op_callback(note)
    try:
        yield ran
    finally:
        op_callbacks.remove_op_callback(note)


def _inside(function: str) -> Iterator[tuple[Any, str]]:
    """Yield the dtypes in a `tf.function`, which runs as one op under a name of its own."""
    if not context.context().has_function(function):
        return
    for node in context.context().get_function_def(function).node_def:
        for attr in node.attr.values():
            if attr.type:
                yield tf.as_dtype(attr.type), node.op
            if attr.func.name:
                yield from _inside(attr.func.name)


def _key(tensor: Tensor) -> int:
    # The one name of a tensor that stays when Python wraps it anew.
    return int(tensor._id)
