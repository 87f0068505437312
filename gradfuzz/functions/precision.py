"""In what precision a function computes, as seen from the ops that it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradfuzz.analytic import EPSILON
from gradfuzz.runtime import context, op_callbacks, tf

# Complex numbers round like their parts.
_PARTS = {tf.complex64: tf.float32, tf.complex128: tf.float64}

Seen = dict[Any, str]


@contextmanager
def ops_seen() -> Iterator[Seen]:
    """Yield a record of the real dtypes that ops return in the block, each with its first op."""
    seen: Seen = {}

    def look(
        op_type: Any, _inputs: Any, _attrs: Any, outputs: Any, _name: Any = None, _graph: Any = None
    ) -> None:
        op = op_type.decode() if isinstance(op_type, bytes) else op_type
        for output in outputs:
            _see(seen, output.dtype, op)
        _look_inside(seen, op)

    op_callbacks.add_op_callback(look)
    try:
        yield seen
    finally:
        op_callbacks.remove_op_callback(look)


def _see(seen: Seen, dtype: Any, op: str) -> None:
    real = _PARTS.get(dtype, dtype)
    if real in EPSILON:
        seen.setdefault(real, op)


def _look_inside(seen: Seen, op: str) -> None:
    """See the ops of a `tf.function`, which runs as one op under the function's own name."""
    if not context.context().has_function(op):
        return
    for node in context.context().get_function_def(op).node_def:
        for attr in node.attr.values():
            if attr.type:
                _see(seen, tf.as_dtype(attr.type), node.op)
            if attr.func.name:
                _look_inside(seen, attr.func.name)


def coarsest(seen: Seen) -> Any:
    """Return the least precise dtype seen, float64 for none."""
    return max(seen, key=lambda dtype: EPSILON[dtype], default=tf.float64)
