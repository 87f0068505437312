"""How difference quotients of one derivative converge as the step shrinks, for a person to see.

Nothing is judged here: the table shows what the verdict was made of.
"""

from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError, row_of_jacobian
from gradfuzz.derived import GradientOf, TangentOf
from gradfuzz.errors import CaseFileError
from gradfuzz.finding import Bucket, Evidence
from gradfuzz.graph import Array, Graph
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.screen import scale_of
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.numeric import Direction
from gradfuzz.oracles.place import along
from gradfuzz.subject import Subject
from gradfuzz.vote import examined

# The steps go from 2**-2, in units of the element, to the square root of the rounding unit, below
# which a quotient has lost more than half of its digits.
COUNT = 9
FIRST = 2.0


@dataclass(frozen=True, eq=False)
class Convergence:
    """Difference quotients on shrinking steps, beside the analytic value.

    `steps`, `forward`, `backward` and `central` have shape (n,).  `analytic` is None where
    TensorFlow gave no number, and `problem` then says why.  `place` says what is differentiated.
    """

    place: str
    steps: Array
    forward: Array
    backward: Array
    central: Array
    analytic: float | None
    problem: str = ""

    @property
    def differences(self) -> Array:
        """The central quotients minus the analytic value; None counts as 0."""
        with np.errstate(invalid="ignore"):
            difference: Array = self.central - (self.analytic or 0.0)
        return difference


def convergence(graph: Graph, evidence: Evidence, bucket: Bucket | None = None) -> Convergence:
    """Return the quotients for the element of the Jacobian that `evidence` names.

    `bucket` tells what is differentiated: at second order, the gradient.  Where no element is
    named, all outputs are weighted and summed up along a random direction.
    Raises `ForwardError` where the graph does not run, and `CaseFileError` for an element that
    it does not have.
    """
    subject = Subject.of(graph) if bucket is None else examined(graph, bucket)
    leaf, element, output = evidence.leaf, evidence.element, evidence.output
    if leaf is None or element is None or output is None:
        return _along_a_direction(subject, _whose(subject))
    _require_below(leaf, len(subject.primals), "leaf")
    _require_below(element, subject.primals[leaf].size, "element")
    _require_below(output, subject.outputs.size, "output")
    place = subject.place(leaf, element, output) + _whose(subject)
    return _of_an_element(subject, leaf, element, output, place)


def _whose(subject: Subject) -> str:
    """Return of what the outputs are that are differentiated, "" for the graph itself."""
    match subject.program:
        case GradientOf():
            return ", of the gradient"
        case TangentOf():
            return ", of the JVP"
    return ""


def _require_below(index: int, count: int, name: str) -> None:
    if index >= count:
        wanted = f"below {count}" if count else "null: there is none"
        raise CaseFileError(f"evidence.{name}: {index}, should be {wanted}")


def _of_an_element(
    subject: Subject, leaf: int, element: int, output: int, place: str
) -> Convergence:
    unit = float(scale_of(subject.primals[leaf]).flat[element])
    line = subject.line(
        along(subject.primals, (leaf, element), unit), np.arange(subject.outputs.size) == output
    )
    try:
        row = row_of_jacobian(subject.linearisation, output, subject.outputs.size)[leaf]
        problem = "TensorFlow returned None: no connection" if row is None else ""
        analytic = None if row is None else float(row.flat[element])
    except GradientError as error:
        problem, analytic = fault_of_raising(error).evidence.message, None
    except IndexError:
        problem, analytic = "the gradient has another shape than its leaf", None
    return _measure(line, unit, subject.epsilon, place, analytic, problem)


def _along_a_direction(subject: Subject, whose: str) -> Convergence:
    analytic, problem = _along_analytic(subject)
    kept = subject.kept
    line = subject.line(subject.tangents, kept, subject.weights[kept])
    place = f"a random sum of all outputs along a random direction{whose}"
    return _measure(line, 1.0, subject.epsilon, place, analytic, problem)


def _along_analytic(subject: Subject) -> tuple[float | None, str]:
    try:
        pairs = list(zip(subject.gradients, subject.primals, strict=True))
    except GradientError as error:
        return None, fault_of_raising(error).evidence.message
    if any(g is not None and g.shape != x.shape for g, x in pairs):
        return None, "the gradient has another shape than its leaf"
    return Direction.of(subject, subject.tangents).analytic, ""


def _measure(
    line: Line, unit: float, epsilon: float, place: str, analytic: float | None, problem: str
) -> Convergence:
    """Return the quotients of `line`, which has one output, in steps of `unit`."""
    steps = _steps(epsilon)
    with np.errstate(all="ignore"):
        base = line.at(0.0)[0]
        ahead, behind = line.sample(steps)[:, 0], line.sample(-steps)[:, 0]
        forward = (ahead - base) / steps / unit
        backward = (base - behind) / steps / unit
        central = (ahead - behind) / (2 * steps) / unit
        return Convergence(place, steps * unit, forward, backward, central, analytic, problem)


def _steps(epsilon: float) -> Array:
    exponents = np.linspace(FIRST, -np.log2(epsilon) / 2, COUNT)
    steps: Array = 2.0 ** -np.unique(np.round(exponents))
    return steps
