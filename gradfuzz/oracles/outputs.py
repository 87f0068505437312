"""Whether a graph run in another way has the same outputs, up to rounding."""

import numpy as np

from gradfuzz.finding import Evidence, Outcome, faulty
from gradfuzz.graph import Array
from gradfuzz.noise import Noise
from gradfuzz.numeric.apart import MARGIN, apart, wander
from gradfuzz.registry import is_declared
from gradfuzz.subject import Subject


def compare_outputs(subject: Subject, found: Array, path: str, name: str) -> Outcome | None:
    """Return the fault of outputs, flattened, that are others than in eager mode, or None.

    `name` says how they were had.
    """
    eager, epsilon = subject.outputs, subject.epsilon
    if found.shape != eager.shape:
        message = f"{found.size} outputs {name}, {eager.size} in eager mode"
        return faulty("output", Evidence(message), path)
    differ = apart(eager, found, 0.0, epsilon)
    if not differ.any():
        return None
    moved = np.maximum(wander(eager, lambda noise: _under(noise, subject)), _inside(subject))
    with np.errstate(invalid="ignore"):
        differ &= ~(np.abs(found - eager) <= MARGIN * moved)
    for row in np.flatnonzero(differ).tolist():
        message = f"output {found[row]:.10g} {name}, {eager[row]:.10g} in eager mode"
        return faulty("output", Evidence(message, output=row), path)
    return None


def _inside(subject: Subject) -> float:
    """Return what rounding of numbers of the inputs' size may come to inside of functions."""
    graph = subject.computation.graph if subject.has_graph else None
    steps = graph is not None and any(is_declared(call.op) for _, call in graph.calls)
    if not (steps or subject.program.is_composed):
        return 0.0
    largest = max((float(np.abs(x).max(initial=0.0)) for x in subject.primals), default=0.0)
    return subject.epsilon * largest


def _under(noise: Noise, subject: Subject) -> Array:
    return subject.derived(subject.program.noisy(noise)).outputs
