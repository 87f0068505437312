"""Recipes: functions of several ops, with a handle between them that is no tensor of numbers.

They need TensorFlow and the registry alone, so that a case file replays without Hypothesis.
"""

from collections.abc import Mapping

from gradfuzz.registry import Recipe
from gradfuzz.strategies.recipes import (
    control_flow,
    decompositions,
    former,
    legacy,
    pools,
    quantisation,
    references,
    replaced,
    samplers,
    slices,
    sparse_matrices,
    tensor_arrays,
    tensor_lists,
    variants,
)

RECIPES: Mapping[str, Recipe] = {
    **tensor_arrays.RECIPES,
    **tensor_lists.RECIPES,
    **sparse_matrices.RECIPES,
    **variants.RECIPES,
    **control_flow.RECIPES,
    **decompositions.RECIPES,
    **former.RECIPES,
    **legacy.RECIPES,
    **pools.RECIPES,
    **quantisation.RECIPES,
    **references.RECIPES,
    **replaced.RECIPES,
    **samplers.RECIPES,
    **slices.RECIPES,
}
