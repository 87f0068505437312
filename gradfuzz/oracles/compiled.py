"""Eager mode against graphs of TensorFlow's, traced for more and less known shapes, and XLA.

Grappler and XLA rewrite what they are given, and many gradient functions take another branch
where a shape is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gradfuzz.analytic import GradientError, Gradients, real_views
from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import first_line
from gradfuzz.finding import AGREED, Outcome, faulty, gap
from gradfuzz.graph import Array
from gradfuzz.numeric.line import flatten
from gradfuzz.oracles import always
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.outputs import compare_outputs
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way, inner
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject
from gradfuzz.traced import Signature, Traced, nothing, rank_only, require_outputs, static

NAME = "compiled"


@dataclass(frozen=True)
class Mode:
    """A way to compile: `path` in buckets, and what it is called in messages."""

    path: str
    name: str
    signature: Signature
    jit: bool = False


MODES = (
    Mode("graph", "in a graph", static),
    Mode("unknown-dims", "with unknown dimensions", rank_only),
    Mode("unknown-rank", "with unknown rank", nothing),
    Mode("xla", "by XLA", static, jit=True),
)

# What XLA answers when it does not support an op, or not with these shapes or constants.
UNSUPPORTED = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError)


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare outputs and gradients with each way to compile the graph, in turn.

    What cannot be compiled even without its gradient, or not by XLA, is a gap.
    """
    first: Outcome = AGREED
    for mode in MODES:
        outcome = Compilation(subject.renewed(), mode).examine(at)
        if outcome.fault is not None:
            return outcome
        first = outcome if first is AGREED else first
    return first


@dataclass(frozen=True, eq=False)
class Compilation:
    """The subject compiled in one way."""

    subject: Subject
    mode: Mode

    def examine(self, at: Place | None = None) -> Outcome:
        """Compare the outputs, then the gradients."""
        try:
            outputs, gradients = self.run(self.subject.primals, self.subject.weights)
        except GradientError as error:
            return self._raised(error)
        except ForwardError as error:
            return gap(f"{self.mode.name}: {error}")
        fault = compare_outputs(
            self.subject, flatten(outputs), self.mode.path, self.mode.name
        ) or self._form(gradients)
        return fault or Comparison(self.subject, REVERSE, self.way, self.mode.path).examine(at)

    @property
    def way(self) -> Way:
        """The gradient so compiled, which is not traced again at other points."""

        def at(subject: Subject) -> Product:
            def product(tangents: Sequence[Array], weights: Array) -> Answer:
                return inner(tangents, real_views(self.run(subject.primals, weights)[1]))

            return product

        return Way(f"reverse {self.mode.name}", at)

    def run(self, primals: Sequence[Array], weights: Array) -> tuple[list[Array], Gradients]:
        """Return the outputs and gradients.

        Raises `GradientError`, or `ForwardError` where the outputs alone cannot be had either.
        """
        cotangents = self.subject.linearisation.split(weights)
        try:
            return self._traced(primals, cotangents)
        except (GradientError, ForwardError):
            raise
        # What is compiled is code under test: whatever it raises is the finding.
        except Exception as raised:
            if self.mode.jit and isinstance(raised, UNSUPPORTED):
                raise ForwardError(first_line(raised)) from raised
            require_outputs(self.subject.program, primals, self.mode.signature, jit=self.mode.jit)
            raise GradientError(type(raised).__name__) from raised

    @cached_property
    def _traced(self) -> Traced:
        outputs = self.subject.linearisation.outputs
        return Traced.of(self.subject.program, self.subject.primals, outputs,
                         self.mode.signature, jit=self.mode.jit)  # fmt: skip

    def _raised(self, error: GradientError) -> Outcome:
        return always.raised(self.subject, error, self.mode.path)

    def _form(self, gradients: Gradients) -> Outcome | None:
        fault = always.form(self.subject, gradients)
        return None if fault is None else faulty(fault.kind, fault.evidence, self.mode.path)
