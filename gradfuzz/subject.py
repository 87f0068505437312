"""What is under examination: its program, its values at the point, and its random directions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from gradfuzz.analytic import Gradients, Linearisation, linearise
from gradfuzz.evaluate import Program, Runnable
from gradfuzz.graph import Array, Graph, Ref
from gradfuzz.numeric.line import Line, flatten, regular
from gradfuzz.numeric.screen import cotangent, tangents
from gradfuzz.realview import element_name, real_view
from gradfuzz.rounding import epsilon, epsilon_within
from gradfuzz.runtime import tf

# An examination takes a fraction of a second, but for a few functions that loop in Python.  CPU
# seconds: on a busy machine a graph gets the same verdict.
SECONDS = 4.0

DIFFERENTIABLE = (tf.float64, tf.float32, tf.complex128, tf.complex64)


@dataclass(frozen=True, eq=False)
class Subject:
    """One graph, or one function of the user's, at its point.

    `primals` are the real views of the leaves, `outputs` those of all outputs, flattened, of shape
    (m,); `kept` says which can be differentiated.  `digest` is a number that depends on the ops and
    the values of the leaves and seeds every random choice, so that the same graph gets the same
    verdict.  `deadline` ends the examination, in CPU seconds of this process.
    """

    program: Runnable
    primals: Sequence[Array]
    linearisation: Linearisation
    outputs: Array
    kept: Array
    digest: int
    deadline: float

    @classmethod
    def of(cls, graph: Graph) -> "Subject":
        """Run `graph` forward once.  Raises `ForwardError` where it does not run."""
        ops = "".join(call.op for _, call in graph.calls)
        return cls.at(Program.of(graph), [real_view(primal) for primal in graph.primals], ops)

    @classmethod
    def at(
        cls, program: Runnable, primals: Sequence[Array], name: str, seconds: float = SECONDS
    ) -> "Subject":
        """Run `program` forward once at `primals`, and give its examination so many CPU seconds.

        `name` goes into the digest.  Raises `ForwardError` where it does not run.
        """
        linearisation = linearise(program, primals)
        outputs = flatten(linearisation.outputs)
        digest = crc32(name.encode() + b"".join(primal.tobytes() for primal in primals))
        deadline = time.process_time() + seconds
        kept = regular(outputs)
        return cls(program, primals, linearisation, outputs, kept, digest, deadline)

    @cached_property
    def epsilon(self) -> float:
        """The rounding unit of the least precise tensor on the way."""
        linearisation = self.linearisation
        if self.program.is_composed:
            return epsilon_within(self.program, linearisation.sources)
        return max(self.program.epsilon, epsilon(linearisation.values))

    @cached_property
    def tangents(self) -> list[Array]:
        """A random tangent of each leaf."""
        return tangents(self.primals, np.random.default_rng([self.digest, 0]))

    @cached_property
    def weights(self) -> Array:
        """A random cotangent, flattened, of shape (m,)."""
        return cotangent(self.outputs, self.kept, np.random.default_rng([self.digest, 1]))

    @cached_property
    def returned(self) -> Gradients:
        """The VJP of `weights` as TensorFlow returns it.  Raises `GradientError`."""
        return self.linearisation.vjp(self.linearisation.split(self.weights))

    @cached_property
    def gradients(self) -> Gradients:
        """The VJP of `weights` in real views.  Raises `GradientError`."""
        return [None if gradient is None else real_view(gradient) for gradient in self.returned]

    @cached_property
    def pullback(self) -> Linearisation:
        """Another forward pass, from which any number of VJPs can be taken."""
        return linearise(self.program, self.primals, many=True)

    def value(self, ref: Ref) -> Array:
        """Return the tensor at an edge."""
        return np.asarray(self.linearisation.values[ref.node][ref.output].numpy())

    def is_differentiable(self, ref: Ref) -> bool:
        """Return whether the tensor at an edge is one that can be differentiated."""
        return self.linearisation.values[ref.node][ref.output].dtype in DIFFERENTIABLE

    def line(self, tangents: Sequence[Array], kept: Array, weights: Array | None = None) -> Line:
        """Return the kept outputs along `tangents`, or their weighted sum."""
        return Line(self.program, self.primals, tangents, kept, weights, self.deadline)

    def place(self, leaf: int, element: int, output: int) -> str:
        """Name one element of the Jacobian."""
        by = element_name(element, is_complex=self.program.is_complex(leaf))
        return f"{self._output_name(output)} by {by} of {self.program.leaf_name(leaf)}"

    def complex_place(self, leaf: int, element: int, output: int) -> str:
        """Name one element of the Jacobian where complex numbers have a part in it, else ""."""
        is_complex = [tensor.dtype.is_complex for tensor in self.linearisation.outputs]
        has_complex = self.program.is_complex(leaf) or any(is_complex)
        return self.place(leaf, element, output) if has_complex else ""

    def _output_name(self, number: int) -> str:
        start = 0
        for position, output in enumerate(self.linearisation.outputs):
            is_complex = output.dtype.is_complex
            size = int(np.prod(output.shape, dtype=int)) * (2 if is_complex else 1)
            if is_complex and number < start + size:
                return f"{element_name(number - start, is_complex=True)} of output {position}"
            start += size
        return f"output {number}"
