"""A copy of a Keras layer or model that computes in float64."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradfuzz.runtime import tf

# The copy must return what the layer returns, to this part of the largest output.
LIKENESS = 1e-3


def is_keras_layer(function: Callable[..., Any]) -> bool:
    """Return whether a function is a layer or model of Keras, without importing Keras."""
    return _is_of_keras(function, "Layer")


def is_keras_metric(function: Callable[..., Any]) -> bool:
    """Return whether a function is a metric of Keras, which adds up what it is called with."""
    return _is_of_keras(function, "Metric")


def _is_of_keras(function: Callable[..., Any], name: str) -> bool:
    return any(
        base.__name__ == name and base.__module__.partition(".")[0] in ("keras", "tf_keras")
        for base in type(function).__mro__
    )


def float64_twin(layer: Any, arguments: Sequence[Any]) -> Any | None:
    """Return a copy of a built layer in float64, None where none can be made.

    `arguments` are what it is called with, in float64.  The layer itself is not touched.
    """
    try:
        with _float64_by_default():
            twin = type(layer).from_config(_in_float64(layer.get_config()))
            twin(*arguments)
            twin.set_weights(layer.get_weights())
            return twin if _alike(twin(*arguments), layer(*arguments)) else None
    # What a layer of the user's raises when it is asked for its config, or made from it, is
    # anyone's guess; it is then checked in its own dtype.
    except Exception:  # noqa: BLE001
        return None


@contextmanager
def _float64_by_default() -> Iterator[None]:
    """Let layers that are made in the block compute in float64, unless told otherwise."""
    backend = tf.keras.backend
    before = backend.floatx()
    backend.set_floatx("float64")
    try:
        yield
    finally:
        backend.set_floatx(before)


def _in_float64(config: Any) -> Any:
    """Return a config with each lower precision in it, however a policy is written, replaced."""
    match config:
        case dict():
            return {name: _in_float64(part) for name, part in config.items()}
        case list() | tuple():
            return type(config)(_in_float64(part) for part in config)
        case str() if config.removeprefix("mixed_") in ("float32", "float16", "bfloat16"):
            return "float64"
    return config


def _alike(twin: Any, layer: Any) -> bool:
    pairs = zip(tf.nest.flatten(twin), tf.nest.flatten(layer), strict=True)
    return all(_close(np.asarray(new, np.float64), np.asarray(old)) for new, old in pairs)


def _close(new: Any, old: Any) -> bool:
    bound = LIKENESS * np.abs(old[np.isfinite(old)]).max(initial=0.0)
    return new.shape == old.shape and bool(np.allclose(new, old, LIKENESS, bound, equal_nan=True))
