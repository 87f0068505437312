"""What every path to the derivative says of one finding, so that one sees which is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.finding import Bucket, Evidence, Finding, Vote
from gradfuzz.graph import Array, Graph
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles import second
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.batched import JACOBIAN, MAPPED
from gradfuzz.oracles.compiled import MODES, Compilation
from gradfuzz.oracles.place import along
from gradfuzz.oracles.single import FLOAT32
from gradfuzz.oracles.ways import FORWARD, REVERSE, Way
from gradfuzz.subject import Subject


def vote(finding: Finding) -> tuple[Vote, ...]:
    """Return the votes on the element that the finding names.

    Where it names none, on all outputs summed up by random weights, along a random direction.
    Raises `ForwardError` where the graph does not run.
    """
    subject = examined(finding.graph, finding.bucket)
    question = Question.of(subject, finding.evidence)
    votes = [question.ask(way) for way in _ways(subject, finding.bucket)]
    return (*votes, question.numeric())


def examined(graph: Graph, bucket: Bucket) -> Subject:
    """Return the subject that a fault is of: the graph, its gradient or its JVP.

    Raises `ForwardError` where that does not run.
    """
    subject = Subject.of(graph)
    if bucket.oracle != second.NAME:
        return subject
    return second.examined(subject, bucket.kind)


def _ways(subject: Subject, bucket: Bucket) -> Iterator[Way]:
    if bucket.oracle == second.NAME:
        yield from second.ways(bucket.kind)
        return
    yield REVERSE
    if subject.has_variables:
        return
    yield FORWARD
    for mode in MODES:
        yield Compilation(subject.renewed(), mode).way
    if not subject.has_complex:
        yield JACOBIAN
    yield MAPPED
    yield FLOAT32


@dataclass(frozen=True, eq=False)
class Question:
    """One element of the Jacobian of `subject`, or a random sum of all."""

    subject: Subject
    tangents: Sequence[Array]
    weights: Array

    @classmethod
    def of(cls, subject: Subject, evidence: Evidence) -> "Question":
        """Return the question that `evidence` is about."""
        leaf, element, output = evidence.leaf, evidence.element, evidence.output
        if leaf is None or element is None or output is None:
            return cls(subject, subject.tangents, subject.weights)
        weights = (np.arange(subject.outputs.size) == output).astype(np.float64)
        return cls(subject, along(subject.primals, (leaf, element), 1.0), weights)

    def ask(self, way: Way) -> Vote:
        """Return what `way` says."""
        try:
            answer = way.at(self.subject)(self.tangents, self.weights)
        except GradientError as error:
            return Vote(way.name, None, note=fault_of_raising(error).kind)
        except (ForwardError, SlowError) as error:
            return Vote(way.name, None, note=str(error)[:80])
        if answer.none:
            return Vote(way.name, None, note="None")
        return Vote(way.name, answer.value)

    def numeric(self) -> Vote:
        """Return what differences say, with their bound."""
        kept = self.weights != 0
        subject = self.subject.renewed()
        try:
            measured = slopes(
                subject.line(self.tangents, kept, self.weights[kept]), subject.epsilon
            )
        except SlowError as error:
            return Vote("numeric", None, note=str(error)[:80])
        if measured.conclusive(measured.centre, subject.epsilon)[0]:
            return Vote("numeric", float(measured.centre.value[0]), float(measured.centre.error[0]))
        left, right = float(measured.left.value[0]), float(measured.right.value[0])
        sides = measured.conclusive(measured.left, subject.epsilon)[0]
        sides &= measured.conclusive(measured.right, subject.epsilon)[0]
        note = f"{left:.10g} on the left, {right:.10g} on the right" if sides else "not told"
        return Vote("numeric", None, note=note)
