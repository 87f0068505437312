"""The rounding unit of a computation: that of the least precise tensor on its way.

A function that is built of many ops may pass through a lower precision than it takes and
returns: `tf.image.adjust_saturation` of float64 computes in float32.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradfuzz.evaluate import Outputs, Program, Tensor
from gradfuzz.runtime import op_callbacks, tf

_UNITS = {
    tf.float64: 2.0**-52,
    tf.complex128: 2.0**-52,
    tf.float32: 2.0**-23,
    tf.complex64: 2.0**-23,
    tf.float16: 2.0**-10,
    tf.bfloat16: 2.0**-7,
}
FINEST = _UNITS[tf.float64]


def epsilon(values: Sequence[Outputs]) -> float:
    """Return the rounding unit of the least precise tensor of numbers in a forward pass."""
    return coarsest({tensor.dtype for outputs in values for tensor in outputs})


def coarsest(dtypes: Iterable[Any]) -> float:
    """Return the largest rounding unit of some dtypes, float64's where none is of floats."""
    return max((_UNITS[dtype] for dtype in dtypes if dtype in _UNITS), default=FINEST)


def epsilon_within(program: Program, sources: Sequence[Tensor]) -> float:
    """Return the rounding unit of the least precise tensor that depends on `sources`.

    Runs `program` once and sees every op on the way, those inside its functions included.
    """
    depending = {_key(source) for source in sources}
    dtypes = {source.dtype for source in sources}
    with _watching() as seen:
        program.run(sources)
    for inputs, outputs, traced in seen:
        # What goes into a function that is being traced is a tensor of its own.
        if traced or any(_key(tensor) in depending for tensor in inputs):
            depending.update(map(_key, outputs))
            dtypes.update(tensor.dtype for tensor in outputs)
    return coarsest(dtypes)


@contextmanager
def _watching() -> Iterator[list[tuple[Sequence[Tensor], Sequence[Tensor], bool]]]:
    """Yield a list to which every op that runs adds its inputs, its outputs and if it is traced."""
    seen: list[tuple[Sequence[Tensor], Sequence[Tensor], bool]] = []

    def note(
        _op: str, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        seen.append((tuple(inputs), tuple(outputs), graph is not None))

    op_callbacks.add_op_callback(note)
    try:
        yield seen
    finally:
        op_callbacks.remove_op_callback(note)


def _key(tensor: Tensor) -> int:
    # The one name of a tensor that stays when Python wraps it anew.
    return int(tensor._id)
