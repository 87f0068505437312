"""Ops without a kernel that run all the same: a pass over the graph replaces them, or XLA knows
them.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf
from gradfuzz.strategies.recipes.private import private

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types

# Traced functions are kept, each for one choice of attrs.
MOST_FUNCTIONS = 64


def accumulate(inputs: list[Tensor]) -> Tensor:
    """Add tensors up, in a traced function: its graph is rewritten."""
    return _accumulate(*inputs)


@tf.function(autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow ships no types
def _accumulate(*inputs: Tensor) -> Tensor:
    return raw.AccumulateNV2(inputs=list(inputs), shape=inputs[0].shape)


@lru_cache(MOST_FUNCTIONS)
def _compiled(op: str, **attrs: Any) -> Callable[..., Tensor]:
    """Return a call of an op that XLA alone knows, compiled by it."""
    called = getattr(private("tensorflow.compiler.tf2xla.ops.gen_xla_ops"), op)
    return tf.function(lambda *inputs: called(*inputs, **attrs), autograph=False, jit_compile=True)  # type: ignore[no-any-return]  # TensorFlow ships no types


def sharding(input: Tensor) -> Tensor:
    """Say how a tensor is spread over devices: here not at all."""
    return _compiled("xla_sharding")(input)


def full_to_shard(input: Tensor) -> Tensor:
    """Go over to the part of a tensor that one device has: here all."""
    return _compiled("xla_spmd_full_to_shard_shape", manual_sharding="")(input)


def shard_to_full(input: Tensor) -> Tensor:
    """Go over to all of a tensor."""
    shape = tuple(input.shape)
    return _compiled("xla_spmd_shard_to_full_shape", manual_sharding="", full_shape=shape)(input)


def einsum(a: Tensor, b: Tensor, equation: str) -> Tensor:
    """Multiply and add as an equation says."""
    return _compiled("xla_einsum", equation=equation)(a, b)


RECIPES = {
    "recipe.AccumulateNV2": Recipe(accumulate, "AccumulateNV2"),
    "recipe.XlaSharding": Recipe(sharding, "XlaSharding"),
    "recipe.XlaSpmdFullToShardShape": Recipe(full_to_shard, "XlaSpmdFullToShardShape"),
    "recipe.XlaSpmdShardToFullShape": Recipe(shard_to_full, "XlaSpmdShardToFullShape"),
    "recipe.XlaEinsum": Recipe(einsum, "XlaEinsum"),
}
