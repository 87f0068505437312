"""What is under examination: its program, its values at the point, and its random directions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from gradfuzz.analytic import Gradients, Linearisation, linearise, push, real_views
from gradfuzz.derived import Derived
from gradfuzz.evaluate import Computation, Program, Runnable
from gradfuzz.graph import Array, Graph, Ref
from gradfuzz.numeric.line import Line, flatten, regular
from gradfuzz.numeric.screen import cotangent, tangents
from gradfuzz.realview import element_name, real_view
from gradfuzz.rounding import epsilon, epsilon_within
from gradfuzz.runtime import tf

# An examination takes a fraction of a second, but for a few functions that loop in Python.  CPU
# seconds: on a busy machine a graph gets the same verdict.
SECONDS = 4.0
# A derivative takes so many times longer to evaluate than its function.
DERIVED = 5.0

DIFFERENTIABLE = (tf.float64, tf.float32, tf.complex128, tf.complex64)


@dataclass(frozen=True, eq=False)
class Subject:
    """One graph, or one function of the user's, at its point.

    `primals` are the real views of the leaves, `outputs` those of all outputs, flattened, of shape
    (m,); `kept` says which can be differentiated.  `digest` is a number that depends on the ops and
    the values of the leaves and seeds every random choice, so that the same graph gets the same
    verdict.  An examination has so many `seconds` of CPU time, and ends at `deadline`.
    """

    program: Runnable
    primals: Sequence[Array]
    linearisation: Linearisation
    outputs: Array
    kept: Array
    digest: int
    seconds: float
    deadline: float

    @classmethod
    def of(cls, graph: Graph, seconds: float = SECONDS) -> "Subject":
        """Run `graph` forward once, and give its examination so many CPU seconds.

        Raises `ForwardError` where it does not run.
        """
        ops = "".join(call.op for _, call in graph.calls)
        primals = [real_view(primal) for primal in graph.primals]
        return cls.at(Program.of(graph), primals, ops, seconds)

    @classmethod
    def at(
        cls, program: Runnable, primals: Sequence[Array], name: str, seconds: float = SECONDS
    ) -> "Subject":
        """Run `program` forward once at `primals`, and give its examination so many CPU seconds.

        `name` goes into the digest.  Raises `ForwardError` where it does not run.
        """
        digest = crc32(name.encode() + b"".join(primal.tobytes() for primal in primals))
        return cls._of(program, primals, digest, seconds)

    @classmethod
    def _of(
        cls, program: Runnable, primals: Sequence[Array], digest: int, seconds: float
    ) -> "Subject":
        linearisation = linearise(program, primals)
        outputs = flatten(linearisation.outputs)
        deadline = time.process_time() + seconds
        kept = regular(outputs)
        return cls(program, primals, linearisation, outputs, kept, digest, seconds, deadline)

    def derived(self, program: Runnable) -> "Subject":
        """Return a derivative of this one at the same point, with time of its own.

        Raises `ForwardError` where it does not run.
        """
        return self._of(program, self.primals, self.digest, DERIVED * self.seconds)

    def renewed(self) -> "Subject":
        """Return the same, with all of the time that a subject has."""
        return self.moved(self.primals)

    def moved(self, primals: Sequence[Array]) -> "Subject":
        """Return the same at another point, with the random directions of this one.

        Raises `ForwardError` where it does not run.
        """
        return self._of(self.program, primals, self.digest, self.seconds)

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
        return real_views(self.returned)

    @cached_property
    def pullback(self) -> Linearisation:
        """Another forward pass, from which any number of VJPs can be taken."""
        return linearise(self.program, self.primals, many=True)

    def pushed(self, tangents: Sequence[Array], *, traced: bool = False) -> tuple[Array, Array]:
        """Return the JVP along `tangents`, flattened, and where forward mode has none.

        Both have shape (m,); what forward mode has none of is zero.  `traced` runs it in a graph
        of TensorFlow's.  Raises `GradientError`.
        """
        found = push(self.program, self.primals, tangents, traced=traced)
        none = self.linearisation.split(np.zeros(self.outputs.shape))
        pairs = list(zip(found, none, strict=True))
        lost = [np.full(real_view(zeros).shape, jvp is None) for jvp, zeros in pairs]
        return flatten([zeros if jvp is None else jvp for jvp, zeros in pairs]), (
            flatten(lost).astype(bool)
        )

    @property
    def has_graph(self) -> bool:
        """Whether this is a graph, or a derivative of one, rather than a function of the user's."""
        program = self.program
        while isinstance(program, Derived):
            program = program.program
        return isinstance(program, Program)

    @property
    def computation(self) -> Computation:
        """The program, which is that of a graph or a derivative of one."""
        assert isinstance(self.program, Program | Derived)
        return self.program

    @property
    def has_variables(self) -> bool:
        """Whether a leaf is a variable, which may be known by its handle alone."""
        sources = self.linearisation.sources
        return any(isinstance(s, tf.Variable) or s.dtype == tf.resource for s in sources)

    @property
    def has_complex(self) -> bool:
        """Whether a leaf or an output is complex."""
        tensors = (*self.linearisation.sources, *self.linearisation.outputs)
        return any(tensor.dtype.is_complex for tensor in tensors)

    def value(self, ref: Ref) -> Array:
        """Return the tensor at an edge."""
        return np.asarray(self.linearisation.values[ref.node][ref.output].numpy())

    def is_differentiable(self, ref: Ref) -> bool:
        """Return whether the tensor at an edge is one that can be differentiated."""
        return self.linearisation.values[ref.node][ref.output].dtype in DIFFERENTIABLE

    def line(self, tangents: Sequence[Array], kept: Array, weights: Array | None = None) -> Line:
        """Return the kept outputs along `tangents`, or their weighted sum."""
        return Line(self._reference, self.primals, tangents, kept, weights, self.deadline)

    @cached_property
    def _reference(self) -> Runnable:
        return self.program.reference(self.linearisation.values)

    def place(self, leaf: int, element: int, output: int) -> str:
        """Name one element of the Jacobian."""
        by = element_name(element, is_complex=self.program.is_complex(leaf))
        return f"{self._output_name(output)} by {by} of {self.program.leaf_name(leaf)}"

    def complex_place(self, leaf: int, element: int, output: int) -> str:
        """Name one element of the Jacobian where complex numbers have a part in it, else ""."""
        is_complex = [tensor.dtype.is_complex for tensor in self.linearisation.outputs]
        has_complex = self.program.is_complex(leaf) or any(is_complex)
        return self.place(leaf, element, output) if has_complex else ""

    def is_imaginary(self, leaf: int, element: int, output: int) -> bool:
        """Return whether an element of the Jacobian is of or by an imaginary part."""
        by_imaginary = self.program.is_complex(leaf) and element % 2 == 1
        position, part = self._part(output)
        is_complex = self.linearisation.outputs[position].dtype.is_complex
        return by_imaginary or (is_complex and part % 2 == 1)

    def other_part(self, output: int) -> int:
        """Return the other part of the complex number of which one is `output`, or itself."""
        position, part = self._part(output)
        is_complex = self.linearisation.outputs[position].dtype.is_complex
        return output - part + (part ^ 1) if is_complex else output

    def _output_name(self, number: int) -> str:
        position, part = self._part(number)
        if not self.linearisation.outputs[position].dtype.is_complex:
            return f"output {number}"
        return f"{element_name(part, is_complex=True)} of output {position}"

    def _part(self, number: int) -> tuple[int, int]:
        """Return which output an element of all outputs is in, and where in its real view."""
        for position, output in enumerate(self.linearisation.outputs):
            size = int(np.prod(output.shape, dtype=int)) * (2 if output.dtype.is_complex else 1)
            if number < size:
                return position, number
            number -= size
        raise IndexError(number)
