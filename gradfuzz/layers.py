"""A Keras layer as a function: of its inputs, its weights and what it is configured with.

So a layer is an op like any other, and its weights are inputs to differentiate by.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from inspect import Parameter, Signature, signature
from typing import Any

from gradfuzz.runtime import tf

# Layers are built once for each configuration and shape of inputs; so many are kept.
MOST_LAYERS = 64


def as_function(layer_class: Any) -> Callable[..., Any]:
    """Return the function of a layer class.

    It takes, by name, what the layer is called with, what it is configured with, and `weights`:
    a tensor for each trainable variable, in the layer's order.  Other variables keep the values
    they start with.  The layer computes in the dtype of its inputs.
    """
    function = partial(_call, layer_class)
    function.__signature__ = _signature(layer_class)  # type: ignore[attr-defined]  # of `inspect`
    return function


def _signature(layer_class: Any) -> Signature:
    taken = {
        name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for method in (layer_class.call, layer_class.__init__)
        for name, parameter in signature(method).parameters.items()
        if name != "self" and parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    }
    weights = Parameter("weights", Parameter.KEYWORD_ONLY, default=())
    return Signature(list((taken | {"weights": weights}).values()))


def _call(layer_class: Any, *, weights: Sequence[Any] = (), **args: Any) -> Any:
    names = signature(layer_class.call).parameters
    inputs = {name: arg for name, arg in args.items() if name in names}
    config = {name: arg for name, arg in args.items() if name not in names}
    layer = _build(layer_class, config, inputs)
    if len(weights) != len(layer.trainable_variables):
        count = len(layer.trainable_variables)
        raise ValueError(f"weights: {len(weights)}, should be {count}")
    others = [variable.value for variable in layer.non_trainable_variables]
    outputs, _ = layer.stateless_call(list(weights), others, **inputs)
    return outputs


def _build(layer_class: Any, config: Mapping[str, Any], inputs: Mapping[str, Any]) -> Any:
    forms = tuple((name, _form(arg)) for name, arg in inputs.items())
    return _built(layer_class, _Config(config), forms)


class _Config(dict[str, Any]):
    """What a layer is configured with, told apart by its text: it may hold lists."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has no hash; this one is not changed
        return hash(repr(self))


@lru_cache(MOST_LAYERS)
def _built(layer_class: Any, config: _Config, forms: tuple[tuple[str, Any], ...]) -> Any:
    # Outside of any function that is being traced, and of any tape.
    with tf.init_scope(), _same_random_state():
        layer = layer_class(**config, dtype=_dtype(forms))
        layer(**{name: _example(form) for name, form in forms})
    return layer


@contextmanager
def _same_random_state() -> Iterator[None]:
    """Leave Python's random numbers as they are: Keras takes the seeds of initial weights there."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def _form(arg: Any) -> Any:
    """Return shape and dtype of a tensor, or of each of a list; anything else as it is."""
    if isinstance(arg, list):
        return tuple(map(_form, arg))
    return tf.TensorSpec(arg.shape, arg.dtype) if isinstance(arg, tf.Tensor) else arg


def _example(form: Any) -> Any:
    if isinstance(form, tuple):
        return [_example(each) for each in form]
    return tf.zeros(form.shape, form.dtype) if isinstance(form, tf.TensorSpec) else form


def _dtype(forms: tuple[tuple[str, Any], ...]) -> str:
    """Return the dtype of the first inputs of floats: that of the weights for one of integers."""
    specs = [spec for _, form in forms for spec in (form if isinstance(form, tuple) else (form,))]
    floats = (s.dtype.name for s in specs if isinstance(s, tf.TensorSpec) and s.dtype.is_floating)
    return str(next(floats, "float64"))
