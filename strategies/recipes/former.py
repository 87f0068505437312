"""Ops that TensorFlow refuses since an early version of its graphs, in graphs older than that.

A graph definition says which version it is of, and is imported as such.
"""

from functools import lru_cache
from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf
from gradfuzz.strategies.recipes.legacy import Build, run

Tensor = Any  # tf.Tensor: TensorFlow ships no types

# The last version of graphs in which each is taken.
VERSIONS = {"BatchNormWithGlobalNormalization": 8, "QuantizeAndDequantize": 21}
MOST_BUILDS = 64


@lru_cache(MOST_BUILDS)
def _imported(op: str, attrs: tuple[tuple[str, Any], ...]) -> Build:
    """Return what builds a call of `op` by the import of a graph that holds nothing else."""

    def build(*inputs: Tensor) -> Tensor:
        names = [f"input{number}" for number in range(len(inputs))]
        definition = tf.compat.v1.GraphDef()
        definition.versions.producer = VERSIONS[op]
        for name, tensor in zip(names, inputs, strict=True):
            place = definition.node.add(name=name, op="Placeholder")
            place.attr["dtype"].type = tensor.dtype.as_datatype_enum
        node = definition.node.add(name="op", op=op, input=names)
        node.attr["T"].type = inputs[0].dtype.as_datatype_enum
        for name, value in attrs:
            _set(node.attr[name], value)
        return tf.import_graph_def(definition, dict(zip(names, inputs, strict=True)), ["op:0"])

    return build


def _set(attr: Any, value: Any) -> None:
    """Set an attr of a node definition to a flag, a whole number or another number."""
    if isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    else:
        attr.f = value


def _run(op: str, *inputs: Tensor, **attrs: Any) -> Tensor:
    [output] = run(_imported(op, tuple(attrs.items())), *inputs)
    return output


def batch_norm(
    t: Tensor,
    m: Tensor,
    v: Tensor,
    beta: Tensor,
    gamma: Tensor,
    variance_epsilon: float,
    *,
    scale_after_normalization: bool,
) -> Tensor:
    """Normalise by given means and variances."""
    return _run(
        "BatchNormWithGlobalNormalization",
        *(t, m, v, beta, gamma),
        variance_epsilon=variance_epsilon,
        scale_after_normalization=scale_after_normalization,
    )


def quantize(input: Tensor, num_bits: int) -> Tensor:
    """Round to so many bits."""
    return _run("QuantizeAndDequantize", input, num_bits=num_bits)


def identity(input: Tensor, num_bits: int) -> Tensor:
    """Return the input as it is."""
    return tf.identity(input)


RECIPES = {
    "recipe.BatchNormWithGlobalNormalization": Recipe(
        batch_norm, "BatchNormWithGlobalNormalization", reverse_only=True
    ),
    "recipe.QuantizeAndDequantize": Recipe(
        quantize, "QuantizeAndDequantize", identity, reverse_only=True
    ),
}
