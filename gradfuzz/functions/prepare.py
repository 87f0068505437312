"""Make a function of the user's ready: find its inputs, its precision, and whether it repeats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import FunctionError
from gradfuzz.functions.function import Function
from gradfuzz.functions.inputs import Arguments, Input, held_variables, named
from gradfuzz.functions.precision import ops_seen
from gradfuzz.functions.repeats import require_repeats
from gradfuzz.functions.said import said
from gradfuzz.functions.twin import float64_twin, is_keras_layer, is_keras_metric
from gradfuzz.graph import Array
from gradfuzz.rounding import coarsest
from gradfuzz.runtime import tf


@dataclass(frozen=True, eq=False)
class Prepared:
    """A function that runs and repeats, and what it returns at the point.

    `precision` says in what it computes, and why in nothing better.  Two calls may differ by
    `nondet_tol`.
    """

    name: str
    function: Function
    outputs: Sequence[tuple[str, Array]]
    precision: str
    nondet_tol: float = 0.0


def prepare(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    variables: Sequence[Any] = (),
    nondet_tol: float = 0.0,
) -> Prepared:
    """Return `function` at `inputs`, in float64 where it allows that.

    Raises `FunctionError`, which names the argument that is at fault.
    """
    if not callable(function):
        raise FunctionError(f"function: a {type(function).__name__}, should be callable")
    if is_keras_metric(function):
        raise FunctionError(
            f"function: {named(function)} is a metric, which adds up all calls, "
            "should be a loss, or another function of its inputs alone"
        )
    name, arguments = named(function), Arguments.of(function, inputs)
    _build(function, inputs, name)
    leaves = [*arguments.inputs(), *held_variables([*variables, *_weights(function)])]
    if not leaves:
        raise FunctionError(f"inputs: {arguments.described() or 'none'}, "
                            "should have a real array, tensor or variable among them")  # fmt: skip
    given = Function.of(function, arguments, _as_given(leaves))
    _require_runs(given, name, inputs)
    return _prepared(name, _precise(given, leaves, variables), given, nondet_tol)


def _as_given(leaves: Sequence[Input]) -> list[Input]:
    """Return the inputs as TensorFlow takes them: a Python number has the dtype of the others."""
    dtypes = {leaf.value.real.dtype for leaf in leaves if not leaf.weak}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.float32)
    return [leaf.weakened(dtype) for leaf in leaves]


def _weights(function: Any) -> Sequence[Any]:
    return getattr(function, "trainable_variables", ())


def _build(function: Any, inputs: Sequence[Any], name: str) -> None:
    """Call a layer once, which makes its weights."""
    if is_keras_layer(function) and not function.built:
        _call(lambda: function(*inputs), name, "")


def _require_runs(given: Function, name: str, inputs: Sequence[Any]) -> None:
    dtypes = {each.name: each.value.dtype.name for each in given.inputs}
    # A layer of Keras casts what it is given.
    mixed = len(set(dtypes.values())) > 1 and not is_keras_layer(given.call)
    stands = ", ".join(f"{leaf} is {dtype}" for leaf, dtype in dtypes.items())
    hint = f"; inputs: {stands}, should be of one dtype" if mixed else _hint_of_lists(inputs)
    _call(given.result, name, hint)


def _hint_of_lists(inputs: Sequence[Any]) -> str:
    """Return what may be wrong with a list of numbers, "" where there is none."""
    for number, each in enumerate(inputs):
        if isinstance(each, list | tuple) and each and all(map(np.isscalar, each)):
            return (f"; inputs[{number}]: a {type(each).__name__} of numbers is passed as one, "
                    "should be an array to be a tensor")  # fmt: skip
    return ""


def _call(run: Callable[[], Any], name: str, hint: str) -> Any:
    try:
        return run()
    except FunctionError as error:
        raise FunctionError(str(error).replace("function:", f"{name}:", 1)) from None
    # It is the user's: it may raise anything, and end Python.
    except (Exception, SystemExit) as raised:
        raise FunctionError(
            f"{name}: raised {said(raised)}, should run at these inputs{hint}"
        ) from raised


def _precise(given: Function, leaves: Sequence[Input], variables: Sequence[Any]) -> Function | str:
    """Return the function in float64, or in one line why there is none."""
    precise = [leaf.precise for leaf in leaves]
    call, flat = given.call, list(given.arguments.flat)
    if is_keras_layer(call) and any(leaf.value.dtype != np.float64 for leaf in leaves):
        for leaf in precise:
            if leaf.slot is not None:
                flat[leaf.slot] = leaf.value
        twin = float64_twin(call, given.arguments.pack(flat))
        if twin is None:
            return "no copy of the layer in float64 could be made"
        own = [leaf for leaf in precise if leaf.slot is not None]
        call, precise = twin, [*own, *held_variables([*variables, *twin.trainable_variables])]
        precise = [replace(new, name=old.name) for new, old in zip(precise, leaves, strict=True)]
    try:
        function = Function.of(call, given.arguments, precise)
        function.result()
    # It is the user's: whatever it raises says that float64 is not for it.
    except (Exception, SystemExit) as raised:  # noqa: BLE001
        return f"in float64 it raises {said(raised)}"
    return function


def _prepared(name: str, precise: Function | str, given: Function, nondet_tol: float) -> Prepared:
    function = given if isinstance(precise, str) else precise
    with ops_seen() as seen:
        outputs = function.result()
    require_repeats(name, outputs, function.result(), nondet_tol)
    held = {tf.as_dtype(each.value.dtype): f"{each.name}" for each in function.inputs}
    dtype = max(coarsest(seen), *map(_real, held), key=lambda each: EPSILON[each])
    why = f" ({precise})" if isinstance(precise, str) else ""
    if not why and dtype != tf.float64:
        why = f" ({seen[dtype]} computes in it)" if dtype in seen else f" ({held[dtype]} is)"
    function = replace(function, epsilon=EPSILON[dtype])
    return Prepared(name, function, outputs, f"{dtype.name}{why}", nondet_tol)


def _real(dtype: Any) -> Any:
    return dtype.real_dtype
