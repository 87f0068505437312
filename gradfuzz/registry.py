"""Which ops a graph may call, and what TensorFlow knows of them.

A case file comes from anywhere, so an op is called only where it is in TensorFlow's gradient
registry without being stateful, or in a catalogue that the user installed or loaded.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from inspect import isclass
from typing import Any

from gradfuzz.errors import UsageError
from gradfuzz.layers import as_function
from gradfuzz.runtime import keras, op_def_registry, ops, tf

# Packages offer recipes, name by name, under this group of entry points.
GROUP = "gradfuzz.recipes"

Function = Callable[..., Any]


@dataclass(frozen=True)
class Recipe:
    """What a call of that name computes, beside what TensorFlow has under it.

    `function` may be several ops with a handle between them.  `runs` are the op types whose
    gradients it runs, with spaces between.  `reference`, of the same arguments, is the function
    whose derivative the gradient is declared to be, where that is not `function` itself: an op
    that rounds says that its derivative is that of no rounding.  One that is `reverse_only` has a
    first derivative in reverse mode, and neither others nor a traced form.
    """

    function: Function
    runs: str = ""
    reference: Function | None = None
    reverse_only: bool = False


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return the recipes of all installed packages; of one name, the built-in one."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name == "builtin")
    return {name: recipe for point in points for name, recipe in point.load().items()}


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
    hint = ""
    if not is_available(op):
        near = suggestion(op, {*catalogue, *_safe_by_registry()})
        hint = near or "; one of your own comes with --ops-from FILE.py"
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
_LOADED: dict[str, Function] = {}


def register(functions: Mapping[str, Function]) -> None:
    """Let graphs call functions that are not TensorFlow's."""
    _LOADED.update(functions)


def runs(op: str) -> set[str]:
    """Return the op types whose gradient functions a call of `op` is known to run."""
    recipe = recipes().get(op)
    return {op, *(recipe.runs.split() if recipe else ())} & set(registered_gradients())


def is_reverse_only(op: str) -> bool:
    """Return whether a call of `op` has a first derivative in reverse mode alone."""
    recipe = recipes().get(op)
    return recipe is not None and recipe.reverse_only


def reference(op: str) -> Function:
    """Return the function whose derivative the gradient of `op` is declared to be."""
    recipe = recipes().get(op)
    return function(op) if recipe is None or recipe.reference is None else recipe.reference


def is_declared(op: str) -> bool:
    """Return whether the gradient of `op` is declared to be that of another function."""
    return op in recipes() and recipes()[op].reference is not None


def is_random(op: str) -> bool:
    """Return whether a call draws random numbers, so that it returns others when repeated."""
    definitions = map(op_def_registry.get, {op, *runs(op)})
    return any(attr.name == "seed" for each in definitions if each for attr in each.attr)


def function(op: str) -> Function:
    """Return what computes `op`: a recipe, a function of `tf.raw_ops` or one with a dotted name.

    A class of `keras.layers` stands for the function of `layers.as_function`; a name that was
    registered for that function.  Raises `UsageError` where this TensorFlow has none.
    """
    if op in recipes():
        return recipes()[op].function
    return _LOADED.get(op) or _of_tensorflow(op)


@cache
def _of_tensorflow(op: str) -> Function:
    root, _, path = op.rpartition(".")[0].partition(".")
    found: Any = keras() if root == "keras" else {"tf": tf, "": tf.raw_ops}.get(root)
    for part in (*filter(None, path.split(".")), op.rpartition(".")[2]):
        found = getattr(found, part, None)
    if op.startswith("keras.layers.") and hasattr(found, "stateless_call"):
        return as_function(found)
    if not callable(found) or isclass(found):
        raise UsageError(f"op {op!r}: TensorFlow {tf.__version__} has none of that name")
    return found  # type: ignore[no-any-return]  # TensorFlow ships no types
