"""A function of the user's, made ready to run many times: what a `Program` is to a graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradfuzz.errors import ForwardError, FunctionError
from gradfuzz.evaluate import Feed, Outputs, Tensor, feed
from gradfuzz.functions.inputs import Arguments, Input, described, subscripted
from gradfuzz.functions.said import said
from gradfuzz.graph import Array
from gradfuzz.noise import Noise
from gradfuzz.runtime import nest, tf


@dataclass(frozen=True, eq=False)
class Function:
    """A callable, its arguments, and which of their parts are differentiated.

    `moved` are the numbers of the inputs that are primals; the others keep their value.
    `epsilon` is the rounding unit of the least precise tensor inside.  Of its tensors only the
    moved inputs are in sight, to have `noise`.
    """

    call: Callable[..., Any]
    arguments: Arguments
    inputs: tuple[Input, ...]
    moved: tuple[int, ...]
    epsilon: float = 2.0**-52
    # Its ops were all seen when `epsilon` was found out.
    is_composed: bool = False
    noise: Noise | None = None

    @classmethod
    def of(
        cls, call: Callable[..., Any], arguments: Arguments, inputs: Sequence[Input]
    ) -> "Function":
        """Return the function of all of `inputs`."""
        return cls(call, arguments, tuple(inputs), tuple(range(len(inputs))))

    @property
    def primals(self) -> list[Array]:
        """The value of each moved input, as a real array."""
        return [self.inputs[i].primal for i in self.moved]

    def only(self, number: int) -> "Function":
        """Return the function of one input alone."""
        return replace(self, moved=(number,))

    @property
    def feeds(self) -> list[Feed]:
        return [self.inputs[i].source for i in self.moved]

    def reference(self, values: Sequence[Outputs]) -> "Function":
        return self

    def is_complex(self, leaf: int) -> bool:
        # Complex inputs are made of real ones inside the function.
        return False

    def leaf_name(self, leaf: int) -> str:
        return self.inputs[self.moved[leaf]].name

    def tape(self, *, persistent: bool) -> Any:
        # Only what is watched: a persistent tape would keep every variable alive.
        return tf.GradientTape(persistent=persistent, watch_accessed_variables=False)

    def run(self, sources: Sequence[Tensor]) -> list[Tensor]:
        try:
            found = [tensor for _, tensor in real_outputs(self.raw(sources))]
        # It is the user's: whatever it raises at another point says that it is not defined there.
        except (Exception, SystemExit) as raised:
            raise ForwardError(said(raised)) from raised
        return found

    def noisy(self, noise: Noise) -> "Function":
        return replace(self, noise=noise)

    def run_all(self, sources: Sequence[Tensor]) -> list[Outputs]:
        return [tuple(self.run(sources))]

    def outputs(self, values: Sequence[Outputs]) -> list[Tensor]:
        return list(values[0])

    def result(self) -> list[tuple[str, Array]]:
        """Return each real output at the point itself, with its place.

        Raises `FunctionError`, and whatever the function raises.
        """
        outputs = real_outputs(self.raw(feed(self, self.primals)))
        return [(name, tensor.numpy()) for name, tensor in outputs]

    def raw(self, sources: Sequence[Tensor]) -> Any:
        """Return what the function returns, whatever that is.  Raises what it raises."""
        if self.noise is not None:
            moved = self.noise.on([(source,) for source in sources])
            sources = [source for (source,) in moved]
        given = dict(zip(self.moved, sources, strict=True))
        flat = list(self.arguments.flat)
        for number, each in enumerate(self.inputs):
            source = given.get(number)
            argument = each.argument(each.source(each.primal) if source is None else source)
            if each.slot is not None:
                flat[each.slot] = argument
        return self.call(*self.arguments.pack(flat))


def real_outputs(result: Any) -> list[tuple[str, Tensor]]:
    """Return the real tensors that a function returned, each with its place in the result.

    A complex one is given by its parts, on a new last axis.  Raises `FunctionError` where there
    is none.
    """
    found, others = [], []
    for path, part in nest.flatten_with_tuple_paths(result, expand_composites=True):
        name = "output" + "".join(f"[{each!r}]" for each in path)
        tensor = _tensor(part, name)
        if tensor is not None and tensor.dtype.is_complex:
            parts = tf.stack([tf.math.real(tensor), tf.math.imag(tensor)], -1)
            found.append((name, parts))
        elif tensor is not None and tensor.dtype.is_floating:
            found.append((name, tensor))
        else:
            others.append(f"{name}: {described(part)}")
    if not found:
        what = ", ".join(others[:3]) or "nothing"
        raise FunctionError(f"function: returns {what}, should return a real tensor")
    return found


def _tensor(part: Any, name: str) -> Tensor | None:
    if part is None:
        return None
    try:
        return tf.convert_to_tensor(part)
    except (TypeError, ValueError):
        raise FunctionError(f"function: {name} is a {type(part).__name__}, "
                            "should be a tensor") from None  # fmt: skip


def output_place(outputs: Sequence[tuple[str, Array]], position: int) -> str:
    """Return an element of all outputs, flattened, as one writes it: `output['loss'][2]`."""
    for name, value in outputs:
        if position < value.size:
            return subscripted(name, np.unravel_index(position, value.shape))
        position -= value.size
    return "output"
