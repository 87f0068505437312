"""A graph and its gradient as one function of TensorFlow's, traced once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradfuzz.analytic import GradientError, Gradients
from gradfuzz.derived import seeds_of
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Runnable, Tensor, feed, first_line
from gradfuzz.graph import Array
from gradfuzz.runtime import tf

# Returns what is told of the shape of a tensor when it is traced.
Signature = Callable[[tuple[int, ...]], Any]


def static(shape: tuple[int, ...]) -> Any:
    """Tell all of the shape."""
    return shape


def rank_only(shape: tuple[int, ...]) -> Any:
    """Tell the rank alone."""
    return [None] * len(shape)


def nothing(shape: tuple[int, ...]) -> Any:
    """Tell not even the rank."""
    del shape
    return None


@dataclass(frozen=True, eq=False)
class Traced:
    """The outputs of a program and the gradients of each leaf, in one graph of TensorFlow's.

    `outputs` are tensors like those it returns; `connected` says of which leaves there is a
    gradient.
    """

    program: Runnable
    function: Any
    outputs: Sequence[Tensor]
    connected: Sequence[bool]

    @classmethod
    def of(
        cls,
        program: Runnable,
        primals: Sequence[Array],
        outputs: Sequence[Tensor],
        signature: Signature,
        *,
        jit: bool = False,
    ) -> "Traced":
        """Trace `program` for primals like these, and cotangents like its `outputs`.

        `jit` compiles it by XLA.  Raises `ForwardError` where it cannot be traced without its
        gradient either, `GradientError` where its gradient cannot.
        """
        connected: list[bool] = []

        def run(sources: Sequence[Tensor], cotangents: Sequence[Tensor]) -> list[Tensor]:
            values, gradients = _differentiate(program, list(sources), list(cotangents))
            connected[:] = [g is not None for g in gradients]
            return [*values, *(g for g in gradients if g is not None)]

        function = tf.function(run, autograph=False, jit_compile=jit)
        concrete = function.get_concrete_function(
            _specs(feed(program, primals), signature), _specs(outputs, signature)
        )
        return cls(program, concrete, outputs, tuple(connected))

    def __call__(
        self, primals: Sequence[Array], cotangents: Sequence[Array]
    ) -> tuple[list[Array], Gradients]:
        """Return the outputs, and the gradients that `cotangents` make.

        Raises whatever TensorFlow raises.
        """
        found = self.function(feed(self.program, primals), seeds_of(cotangents, self.outputs))
        count = len(self.outputs)
        values, rest = [tensor.numpy() for tensor in found[:count]], iter(found[count:])
        return values, [next(rest).numpy() if yes else None for yes in self.connected]


def _differentiate(
    program: Runnable, sources: list[Tensor], cotangents: list[Tensor]
) -> tuple[Sequence[Tensor], list[Any]]:
    with tf.GradientTape() as tape:
        tape.watch(sources)
        values = program.run(sources)
    # A gradient function is code under test: whatever it raises is the finding.
    try:
        found = tape.gradient(values, sources, output_gradients=cotangents)
        return values, [None if g is None else tf.convert_to_tensor(g) for g in found]
    except Exception as raised:
        raise GradientError(type(raised).__name__) from raised


def _specs(like: Sequence[Tensor], signature: Signature) -> list[Any]:
    return [tf.TensorSpec(signature(tuple(tensor.shape)), tensor.dtype) for tensor in like]


def require_outputs(
    program: Runnable, primals: Sequence[Array], signature: Signature, *, jit: bool
) -> None:
    """Raise `ForwardError` where the outputs alone cannot be had of a graph of TensorFlow's."""
    sources = feed(program, primals)

    def run(sources: Sequence[Tensor]) -> list[Tensor]:
        return list(program.run(list(sources)))

    function = tf.function(run, autograph=False, jit_compile=jit)
    # As above: it may raise anything.
    try:
        function.get_concrete_function(_specs(sources, signature))(sources)
    except Exception as raised:
        raise ForwardError(first_line(raised)) from raised
