"""Which ops a graph may call, and what TensorFlow knows of them.

A case file comes from anywhere, so an op is called only where it is in TensorFlow's gradient
registry without being stateful, or in a catalogue that the user installed or loaded.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from inspect import isclass
from typing import Any

from gradfuzz.errors import UsageError
from gradfuzz.layers import as_function
from gradfuzz.runtime import op_def_registry, ops, tf


def registered_gradients() -> list[str]:
    """Return the op types that have a gradient function, sorted.

    Source: `RegisterGradient` and `NotDifferentiable` in tensorflow/python/framework/ops.py;
    the latter registers None.
    """
    registry = ops.gradient_registry
    return sorted(op for op in registry.list() if registry.lookup(op) is not None)


@cache
def _safe_by_registry() -> frozenset[str]:
    """The op types with a gradient that only compute: no files, Python callbacks or state."""
    definitions = ((op, op_def_registry.get(op)) for op in registered_gradients())
    return frozenset(op for op, known in definitions if known is not None and not known.is_stateful)


def require_allowed(op: str, catalogue: Collection[str]) -> None:
    """Raise `UsageError` unless a graph may call `op`, with the nearest name for one unknown."""
    if op in catalogue or op in _safe_by_registry():
        return
    hint = "" if is_available(op) else suggestion(op, {*catalogue, *_safe_by_registry()})
    raise UsageError(f"op {op!r}: neither in the catalogue nor a pure op with a registered "
                     f"gradient{hint}")  # fmt: skip


def suggestion(op: str, known: Iterable[str]) -> str:
    """Return "; did you mean …?" with the name in `known` nearest to `op`, "" if none is near."""
    folded = {name.lower(): name for name in sorted(known)}
    near = get_close_matches(op.lower(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def is_available(op: str) -> bool:
    """Return whether this TensorFlow has `op`."""
    try:
        function(op)
    except UsageError:
        return False
    return True


# The functions that the user loaded on purpose, by the names that graphs call them by.
_LOADED: dict[str, Callable[..., Any]] = {}


def register(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Let graphs call functions that are not TensorFlow's."""
    _LOADED.update(functions)


def function(op: str) -> Callable[..., Any]:
    """Return what computes `op`: a function of `tf.raw_ops`, or the public one of a dotted name.

    A class of `keras.layers` stands for the function of `layers.as_function`; a name that was
    registered for that function.  Raises `UsageError` where this TensorFlow has none.
    """
    return _LOADED.get(op) or _of_tensorflow(op)


@cache
def _of_tensorflow(op: str) -> Callable[..., Any]:
    root, _, path = op.rpartition(".")[0].partition(".")
    found: Any = {"tf": tf, "keras": tf.keras, "": tf.raw_ops}.get(root)
    for part in (*filter(None, path.split(".")), op.rpartition(".")[2]):
        found = getattr(found, part, None)
    if op.startswith("keras.layers.") and hasattr(found, "stateless_call"):
        return as_function(found)
    if not callable(found) or isclass(found):
        raise UsageError(f"op {op!r}: TensorFlow {tf.__version__} has none of that name")
    return found  # type: ignore[no-any-return]  # TensorFlow ships no types
