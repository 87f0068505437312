"""Derivatives of a graph, or a function, as functions of its leaves, to be differentiated again.

So second order needs nothing of its own: it is the first order of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import Feed, Outputs, Program, Runnable, Tensor
from gradfuzz.graph import Array, Graph
from gradfuzz.noise import Noise
from gradfuzz.realview import from_real_view
from gradfuzz.runtime import constant, tf


@dataclass(frozen=True, eq=False)
class Derived:
    """What a derivative of `program` has in common with it: its leaves."""

    program: Runnable

    def reference(self, values: Sequence[Outputs]) -> Self:
        declared = self.program.reference(values[:-1])
        return self if declared is self.program else replace(self, program=declared)

    @property
    def graph(self) -> Graph:
        assert isinstance(self.program, Program | Derived)
        return self.program.graph

    @property
    def noise(self) -> Noise | None:
        return self.program.noise

    @property
    def epsilon(self) -> float:
        return self.program.epsilon

    @property
    def is_composed(self) -> bool:
        return self.program.is_composed

    @property
    def feeds(self) -> Sequence[Feed]:
        return self.program.feeds

    def is_complex(self, leaf: int) -> bool:
        return self.program.is_complex(leaf)

    def leaf_name(self, leaf: int) -> str:
        return self.program.leaf_name(leaf)

    def tape(self, *, persistent: bool) -> Any:
        return self.program.tape(persistent=persistent)

    def outputs(self, values: Sequence[Outputs]) -> list[Tensor]:
        return list(values[-1])


@dataclass(frozen=True, eq=False)
class GradientOf(Derived):
    """The gradients of ⟨cotangents, y⟩ + ⟨curvature, y²⟩/2 for the outputs y: one per leaf.

    A gradient that is None is zero.
    """

    cotangents: Sequence[Array]
    curvature: Sequence[Array] | None = None

    def run(self, primals: Sequence[Tensor]) -> list[Tensor]:
        """Return the gradients at `primals`."""
        return self.outputs(self.run_all(primals))

    def run_all(self, primals: Sequence[Tensor]) -> list[Outputs]:
        """Return the outputs of every node, then the gradients.

        Raises `ForwardError` also where the gradient raises.
        """
        sources = list(primals)
        with tf.GradientTape() as tape:
            tape.watch(sources)
            values = self.program.run_all(sources)
            outputs = self.program.outputs(values)
        seeds = self._seeds(outputs)
        # A gradient function is code under test and may raise anything; that it does is found at
        # first order.
        try:
            found = tape.gradient(outputs, sources, output_gradients=seeds)
        except Exception as raised:
            raise ForwardError(f"the gradient raised {type(raised).__name__}") from raised
        return [*values, tuple(map(_or_zeros, found, sources))]

    def _seeds(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        seeds = seeds_of(self.cotangents, outputs)
        if self.curvature is None:
            return seeds
        bends = zip(seeds, outputs, seeds_of(self.curvature, outputs), strict=True)
        return [seed + _times(y, bend) for seed, y, bend in bends]

    def noisy(self, noise: Noise) -> "GradientOf":
        """Return the same with every tensor moved by a few rounding units, the seeds included."""
        return replace(
            self,
            program=self.program.noisy(noise),
            cotangents=noise.moved(self.cotangents),
            curvature=None if self.curvature is None else noise.moved(self.curvature),
        )


@dataclass(frozen=True, eq=False)
class TangentOf(Derived):
    """The JVP of `program` along `tangents`: one output per output.  One that is None is zero."""

    tangents: Sequence[Array]

    def run(self, primals: Sequence[Tensor]) -> list[Tensor]:
        """Return the JVP at `primals`."""
        return self.outputs(self.run_all(primals))

    def run_all(self, primals: Sequence[Tensor]) -> list[Outputs]:
        """Return the outputs of every node, then the JVP.

        Raises `ForwardError` also where forward mode raises.
        """
        sources = list(primals)
        pushed = seeds_of(self.tangents, sources)
        # As above: what raises here is found at first order.
        try:
            with tf.autodiff.ForwardAccumulator(sources, pushed) as accumulator:
                values = self.program.run_all(sources)
                outputs = self.program.outputs(values)
            found = [accumulator.jvp(output) for output in outputs]
        except Exception as raised:
            raise ForwardError(f"forward mode raised {type(raised).__name__}") from raised
        return [*values, tuple(map(_or_zeros, found, outputs))]

    def noisy(self, noise: Noise) -> "TangentOf":
        """Return the same with every tensor moved by a few rounding units, the seeds included."""
        return replace(self, program=self.program.noisy(noise), tangents=noise.moved(self.tangents))


def seeds_of(arrays: Sequence[Array], like: Sequence[Tensor]) -> list[Tensor]:
    """Return cotangents or tangents, or their real views, as tensors of the dtypes of `like`."""
    return [_seed(array, tensor.dtype) for array, tensor in zip(arrays, like, strict=True)]


def _seed(array: Array, dtype: Any) -> Tensor:
    is_view = dtype.is_complex and array.dtype.kind != "c"
    whole = from_real_view(array) if is_view else array
    return constant(whole.astype(dtype.as_numpy_dtype, copy=False))


def _times(tensor: Tensor, bend: Tensor) -> Tensor:
    """Return the product of each part of each element; 0 times infinity is 0."""
    if not tensor.dtype.is_complex:
        return tf.math.multiply_no_nan(tensor, bend)
    parts = ((part(tensor), part(bend)) for part in (tf.math.real, tf.math.imag))
    return tf.complex(*(tf.math.multiply_no_nan(y, c) for y, c in parts))


def _or_zeros(derivative: Any, like: Tensor) -> Tensor:
    return tf.zeros_like(like) if derivative is None else tf.convert_to_tensor(derivative)
