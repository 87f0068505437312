"""Control flow inside a traced function: branches and loops whose bodies are named.

A body is a list of steps, applied one after the other to `x`; some of them read `y`, which the
body then captures.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

Tensor = Any  # tf.Tensor: TensorFlow ships no types
Body = Callable[[Tensor, Tensor], Tensor]

STEPS: dict[str, Body] = {
    "neg": lambda x, y: -x,
    "sin": lambda x, y: tf.sin(x),
    "tanh": lambda x, y: tf.tanh(x),
    "square": lambda x, y: x * x,
    "times y": lambda x, y: x * y,
    "plus y": lambda x, y: x + y,
    "y": lambda x, y: tf.identity(y),
}

# Traced functions are kept, each for one choice of bodies.
MOST_FUNCTIONS = 256


def body_of(steps: Sequence[str], *, stateful: bool = False) -> Body:
    """Return the function of some steps; a stateful one makes TensorFlow take the stateful op."""

    def body(x: Tensor, y: Tensor) -> Tensor:
        if stateful:
            tf.debugging.Assert(tf.size(x) >= 0, [x])
        for step in steps:
            x = STEPS[step](x, y)
        return x

    return body


@lru_cache(MOST_FUNCTIONS)
def _cond(then: tuple[str, ...], other: tuple[str, ...], *, stateful: bool) -> Any:
    bodies = body_of(then, stateful=stateful), body_of(other, stateful=stateful)

    def function(pred: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return tf.cond(pred, lambda: bodies[0](x, y), lambda: bodies[1](x, y))

    return tf.function(function, autograph=False)


@lru_cache(MOST_FUNCTIONS)
def _case(branches: tuple[tuple[str, ...], ...], *, stateful: bool) -> Any:
    bodies = [body_of(steps, stateful=stateful) for steps in branches]

    def function(index: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return tf.switch_case(index, [lambda body=body: body(x, y) for body in bodies])

    return tf.function(function, autograph=False)


@lru_cache(MOST_FUNCTIONS)
def _loop(steps: tuple[str, ...], most: int | None, *, stateful: bool) -> Any:
    body = body_of(steps, stateful=stateful)

    def function(times: Tensor, x: Tensor, y: Tensor) -> Tensor:
        _, found = tf.while_loop(
            lambda i, x: i < times,
            lambda i, x: (i + 1, tf.ensure_shape(body(x, y), x.shape)),
            (tf.constant(0), x),
            maximum_iterations=most,
        )
        return found

    return tf.function(function, autograph=False)


@lru_cache(MOST_FUNCTIONS)
def _call(steps: tuple[str, ...], *, stateful: bool) -> Any:
    return tf.function(body_of(steps, stateful=stateful), autograph=False)


def cond(pred: Tensor, x: Tensor, y: Tensor, then: list[str], other: list[str]) -> Tensor:
    """Take one of two branches."""
    return _cond(tuple(then), tuple(other), stateful=False)(pred, x, y)


def stateful_cond(pred: Tensor, x: Tensor, y: Tensor, then: list[str], other: list[str]) -> Tensor:
    """Take one of two branches that have a side effect."""
    return _cond(tuple(then), tuple(other), stateful=True)(pred, x, y)


def case(index: Tensor, x: Tensor, y: Tensor, branches: list[list[str]]) -> Tensor:
    """Take one of several branches, the last one for any index beyond."""
    return _case(tuple(map(tuple, branches)), stateful=False)(index, x, y)


def stateful_case(index: Tensor, x: Tensor, y: Tensor, branches: list[list[str]]) -> Tensor:
    """Take one of several branches that have a side effect."""
    return _case(tuple(map(tuple, branches)), stateful=True)(index, x, y)


def loop(times: Tensor, x: Tensor, y: Tensor, body: list[str], most: int | None) -> Tensor:
    """Apply a body so many times, and no more than `most`."""
    return _loop(tuple(body), most, stateful=False)(times, x, y)


def stateful_loop(times: Tensor, x: Tensor, y: Tensor, body: list[str], most: int | None) -> Tensor:
    """Apply a body that has a side effect so many times, and no more than `most`."""
    return _loop(tuple(body), most, stateful=True)(times, x, y)


def called(x: Tensor, y: Tensor, body: list[str]) -> Tensor:
    """Call a traced function."""
    return _call(tuple(body), stateful=False)(x, y)


def stateful_called(x: Tensor, y: Tensor, body: list[str]) -> Tensor:
    """Call a traced function that has a side effect."""
    return _call(tuple(body), stateful=True)(x, y)


RECIPES = {
    "recipe.StatelessIf": Recipe(cond, "StatelessIf"),
    "recipe.If": Recipe(stateful_cond, "If"),
    "recipe.StatelessCase": Recipe(case, "StatelessCase"),
    "recipe.Case": Recipe(stateful_case, "Case"),
    "recipe.StatelessWhile": Recipe(loop, "StatelessWhile"),
    "recipe.While": Recipe(stateful_loop, "While"),
    # Their gradients are functions that are traced with them, and are in no registry.
    "recipe.PartitionedCall": Recipe(called),
    "recipe.StatefulPartitionedCall": Recipe(stateful_called),
}
