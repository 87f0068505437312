"""Which gradient functions of TensorFlow ran: what a campaign has covered, and what it has not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gradfuzz.runtime import ops


@contextmanager
def recording() -> Iterator[set[str]]:
    """Within the block, add each op type whose gradient function is called to the set yielded.

    Looking a function up is not running it.  Blocks may be nested.

    Source: `_gradient_function` in tensorflow/python/eager/backprop.py and
    `get_gradient_function` in tensorflow/python/framework/ops.py, for eager mode and graphs.
    """
    seen: set[str] = set()
    registry = ops.gradient_registry
    before = type(registry)

    class Recording(before):  # type: ignore[misc, valid-type]  # TensorFlow ships no types
        __slots__ = ()  # the layout of the object, whose class is changed, must stay the same

        def lookup(self, name: str) -> Any:
            found = super().lookup(name)
            return None if found is None else partial(_called, seen, str(name), found)

    registry.__class__ = Recording
    try:
        yield seen
    finally:
        registry.__class__ = before


def _called(seen: set[str], name: str, gradient: Callable[..., Any], *args: Any) -> Any:
    seen.add(name)
    return gradient(*args)
