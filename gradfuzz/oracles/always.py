"""What must hold of every gradient, whatever its value.

It exists and does not raise; it has the shape and dtype of its leaf; taking it changes no
input; and it is the same when taken again.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradfuzz.analytic import GradientError, Gradients, IndicesError, ShapeError, linearise
from gradfuzz.evaluate import first_line
from gradfuzz.finding import AGREED, Evidence, Fault, Outcome, Verdict, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.slopes import slopes
from gradfuzz.realview import from_real_view
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

NAME = "always"

# Every so many cases the gradient is taken twice: a second VJP on each would double the cost.
REPEAT_EVERY = 16

KINDS: dict[type, str] = {
    LookupError: "missing",
    IndicesError: "indices",
    ShapeError: "shape",
}


def fault_of_raising(error: GradientError) -> Fault:
    """Return the fault of a gradient that raised: one of `KINDS`, or `raises-<exception>`."""
    cause = error.__cause__
    name = type(cause).__name__
    kind = KINDS.get(type(cause), f"raises-{name}")
    return Fault(kind, Evidence(f"the gradient raised {name}: {first_line(cause)}"))


def examine(subject: Subject, *, repeat: bool) -> Outcome:
    """Return what is wrong with the gradient apart from its value.

    `repeat` demands the second VJP that otherwise one case in sixteen gets.
    """
    try:
        gradients = subject.returned
    except GradientError as error:
        return raised(subject, error)
    fault = form(subject, gradients) or _mutation(subject)
    if fault is None and (repeat or subject.digest % REPEAT_EVERY == 0):
        fault = _repetition(subject, gradients)
    return AGREED if fault is None else Outcome(Verdict.DISAGREE, fault)


def raised(subject: Subject, error: GradientError, path: str = "") -> Outcome:
    """Return what it comes to that a way to the derivative raised: a fault if there is one."""
    if not has_derivative(subject):
        return inconclusive("the gradient raised where there may be none")
    return Outcome(Verdict.DISAGREE, replace(fault_of_raising(error), path=path))


def has_derivative(subject: Subject, tangents: Sequence[Array] | None = None) -> bool:
    """Return whether the function is finite, and smooth along `tangents` (random ones for None)."""
    if not np.isfinite(subject.outputs).all():
        return False
    line = subject.line(subject.tangents if tangents is None else tangents, subject.kept)
    measured = slopes(line, subject.epsilon)
    return bool(measured.conclusive(measured.centre, subject.epsilon).all())


def form(subject: Subject, gradients: Gradients) -> Fault | None:
    """Return what is wrong with the shape or dtype of a gradient, if anything is."""
    for leaf, (view, gradient) in enumerate(zip(subject.primals, gradients, strict=True)):
        if gradient is None:
            continue
        primal = from_real_view(view) if subject.program.is_complex(leaf) else view
        if gradient.shape != primal.shape:
            message = f"gradient of leaf {leaf}: shape {gradient.shape}, should be {primal.shape}"
            return Fault("shape", Evidence(message, leaf=leaf))
        if gradient.dtype != primal.dtype:
            message = f"gradient of leaf {leaf}: dtype {gradient.dtype}, should be {primal.dtype}"
            return Fault("dtype", Evidence(message, leaf=leaf))
    return None


def _mutation(subject: Subject) -> Fault | None:
    sources = subject.linearisation.sources
    for leaf, (primal, source) in enumerate(zip(subject.primals, sources, strict=True)):
        if source.dtype != tf.resource and source.numpy().tobytes() != primal.tobytes():
            return Fault("mutated", Evidence(f"leaf {leaf} changed while differentiated", leaf))
    return None


def _repetition(subject: Subject, gradients: Gradients) -> Fault | None:
    for leaf, (first, again) in enumerate(zip(gradients, _again(subject), strict=True)):
        if not _same(first, again, subject.epsilon):
            message = f"gradient of leaf {leaf}: differs when taken twice"
            return Fault("unrepeatable", Evidence(message, leaf=leaf))
    return None


def _again(subject: Subject) -> Gradients:
    """Take the gradient again, on a heap that holds other numbers than before.

    Memory that a kernel forgot to write often still holds what the first call left there.
    """
    sizes = [max(1, primal.size) for primal in subject.primals]
    garbage = [np.full(size, 1e30) for size in sizes for _ in range(8)]
    del garbage
    again = linearise(subject.program, subject.primals)
    return again.vjp(again.split(subject.weights))


def _same(first: Array | None, again: Array | None, epsilon: float) -> bool:
    if first is None or again is None:
        return first is again
    scale = np.abs(first[np.isfinite(first)]).max(initial=0.0)
    return bool(np.allclose(first, again, rtol=0, atol=256 * epsilon * scale, equal_nan=True))
