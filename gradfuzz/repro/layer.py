"""A call of a Keras layer as source, with its weights given as tensors."""

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

from gradfuzz.graph import Call
from gradfuzz.runtime import tf

LAYERS = "keras.layers."

LAYER = '''def layer(layer_class, config, inputs, weights=()):
    """Return what a Keras layer with these trainable weights makes of its inputs."""
    tensors = [x for x in tf.nest.flatten(inputs) if tf.is_tensor(x)]
    dtypes = [x.dtype.name for x in tensors if x.dtype.is_floating]
    with tf.init_scope():  # neither a tape nor a graph sees it being built
        made = layer_class(**config, dtype=(dtypes or ["float64"])[0])
        made(**tf.nest.map_structure(
            lambda x: tf.zeros(x.shape, x.dtype) if tf.is_tensor(x) else x, inputs))
    others = [variable.value for variable in made.non_trainable_variables]
    return made.stateless_call(list(weights), others, **inputs)[0]


'''


def is_layer(op: str) -> bool:
    """Return whether a call is of a class of Keras layers."""
    return op.startswith(LAYERS)


def layers_source(ops: Iterable[str]) -> str:
    """Return the source of what calls layers, "" where none of the ops is one."""
    return LAYER if any(map(is_layer, ops)) else ""


def layer_source(call: Call, source: Callable[[Any], str]) -> str:
    """Return the call of a layer; `source` writes an argument."""
    layer_class = getattr(tf.keras.layers, call.op.removeprefix(LAYERS))
    called_with = signature(layer_class.call).parameters
    args = {name: source(arg) for name, arg in call.args.items()}
    weights = args.pop("weights", "[]")
    inputs = {name: arg for name, arg in args.items() if name in called_with}
    config = {name: arg for name, arg in args.items() if name not in called_with}
    return f"layer(tf.{call.op}, {_dict(config)}, {_dict(inputs)}, {weights})"


def _dict(args: Mapping[str, str]) -> str:
    return f"dict({', '.join(f'{name}={arg}' for name, arg in args.items())})" if args else "{}"
