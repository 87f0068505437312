"""In what precision a function computes, as seen from the ops that it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradfuzz.dtypes import EPSILON
from gradfuzz.rounding import watching
from gradfuzz.runtime import tf

# Complex numbers round like their parts.
_PARTS = {tf.complex64: tf.float32, tf.complex128: tf.float64}

Seen = dict[Any, str]


@contextmanager
def ops_seen() -> Iterator[Seen]:
    """Yield a dict that holds, behind the block, each real dtype in it with the first op of it."""
    seen: Seen = {}
    with watching() as ran:
        yield seen
    for op in ran:
        for dtype, name in op.by_dtype():
            real = _PARTS.get(dtype, dtype)
            if real in EPSILON:
                seen.setdefault(real, name)
