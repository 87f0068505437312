"""Second order: reverse and forward mode over each other, and over differences.

Second order is the first order of the gradient (`derived.GradientOf`), and of the JVP
(`derived.TangentOf`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.derived import GradientOf, TangentOf
from gradfuzz.errors import ForwardError
from gradfuzz.finding import AGREED, Evidence, Outcome, faulty, gap, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.screen import cotangent
from gradfuzz.oracles import always, numeric
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.place import Place, flat, unflatten
from gradfuzz.oracles.ways import FORWARD, REVERSE, Answer, Product, Way, inner
from gradfuzz.runtime import restart_forward_mode
from gradfuzz.subject import Subject

NAME = "second"

# What is to blame where forward mode over forward mode is wrong eagerly and right in a graph:
# not the op, but what pushes tangents of tangents (tensorflow/tensorflow#127753).
FORWARD_CORE = "tf.autodiff.ForwardAccumulator"


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare every second derivative with the others, at one element of one leaf if given.

    The gradient must not raise.  A gradient of a gradient that is not registered is a gap.
    """
    try:
        gradient = gradient_of(subject)
    except ForwardError:
        return inconclusive("the gradient cannot be taken again")
    form = _form(gradient)
    if form is not AGREED:
        return form
    first: Outcome = AGREED
    for ask in _questions(subject, gradient, at):
        outcome = ask()
        if outcome.fault is not None and outcome.fault.full_kind == "non-finite":
            # The gradient of an infinite output is that of a weight of 0: 0 times infinity.
            outcome = outcome if subject.kept.all() else inconclusive("0 times infinity")
        if outcome.fault is not None:
            return outcome
        first = outcome if first is AGREED else first
    return first


def gradient_of(subject: Subject) -> Subject:
    """Return the gradient of the subject's outputs, summed up, to be differentiated."""
    return subject.derived(gradient_program(subject))


def gradient_program(subject: Subject) -> GradientOf:
    """Return what computes that gradient.

    Their squares are summed up too: the gradient of a linear op does not depend on its input, but
    its cotangent then does.
    """
    bends = np.random.default_rng([subject.digest, 4])
    curvature = cotangent(subject.outputs, subject.kept, bends)
    with np.errstate(invalid="ignore"):
        curvature = np.where(
            subject.kept, curvature / np.maximum(1.0, np.abs(subject.outputs)), 0.0
        )
    weights = subject.linearisation.split(subject.weights)
    return GradientOf(subject.program, weights, subject.linearisation.split(curvature))


def tangent_of(subject: Subject) -> Subject:
    """Return the JVP along the subject's tangents, to be differentiated."""
    return subject.derived(TangentOf(subject.program, subject.tangents))


def _questions(
    subject: Subject, gradient: Subject, at: Place | None
) -> Iterator[Callable[[], Outcome]]:
    """Yield what is asked, the cheapest first."""
    yield partial(_numeric, gradient, at)
    yield partial(_forward_over, gradient, REVERSE, "fwd-rev", at)
    yield partial(_symmetry, subject, gradient, at)
    try:
        tangent = tangent_of(subject)
    except ForwardError:
        # Which is for the oracle `forward` to say.
        yield lambda: inconclusive("forward mode raised at first order")
        return
    yield partial(_reverse_over, tangent, at)
    yield partial(_forward_over, tangent, REVERSE_REVERSE, "fwd-fwd", at)


def _form(gradient: Subject) -> Outcome:
    """Return what is wrong with the gradient's gradient apart from its value."""
    try:
        _ = gradient.gradients
    except GradientError as error:
        fault = fault_of_raising(error)
        if fault.kind == "missing":
            return gap(f"second order: {fault.evidence.message}")
        return always.raised(gradient, error)
    return always.examine(gradient, repeat=False)


def _numeric(gradient: Subject, at: Place | None) -> Outcome:
    """Compare reverse mode over reverse mode with differences of the gradient."""
    outcome = numeric.examine(gradient, at=at)
    fault = outcome.fault
    if fault is None or not fault.kind.endswith("none"):
        return outcome
    return replace(outcome, fault=replace(fault, kind=fault.kind.removesuffix("none") + "lost"))


def _symmetry(subject: Subject, gradient: Subject, at: Place | None) -> Outcome:
    outcome = Comparison(gradient, REVERSE, TRANSPOSED, "transposed").examine(at)
    if outcome.fault is not None and numeric.examine(subject) is not AGREED:
        return inconclusive("the gradient is not sure to be one")
    return outcome


def _reverse_over(tangent: Subject, at: Place | None) -> Outcome:
    """Compare reverse mode over a JVP with reverse mode over reverse mode, or with differences.

    The latter where there is no number to compare.
    """
    try:
        is_number = all(np.isfinite(x).all() for x in tangent.gradients if x is not None)
    except GradientError:
        is_number = True
    if is_number:
        return Comparison(tangent, REVERSE_REVERSE, REVERSE, "rev-fwd").examine(at)
    outcome = numeric.examine(tangent, at=at)
    fault = outcome.fault
    if fault is None:
        return outcome
    if fault.evidence.kink:
        return inconclusive("the derivative has a kink or a jump")
    return replace(outcome, fault=replace(fault, path="rev-fwd"))


def _forward_over(subject: Subject, reference: Way, path: str, at: Place | None) -> Outcome:
    """Compare eager forward mode over a derivative with reverse mode over reverse mode.

    If the same is right in a graph of TensorFlow's, it is no op's fault.
    """
    eager = Comparison(subject, reference, FORWARD, path)
    if not eager.suspicious(at):
        return AGREED
    # What was traced for other graphs must not decide.
    restart_forward_mode(forget=True)
    if Comparison(subject, reference, TRACED_FORWARD).suspicious(at):
        return eager.examine(at)
    return _core_fault(eager, at)


def _core_fault(eager: Comparison, at: Place | None) -> Outcome:
    try:
        first, second = eager.answers(*eager.direction(at))
    except GradientError as error:
        fault = fault_of_raising(error)
        if fault.kind == "missing":
            return gap(f"second order: {fault.evidence.message}")
        return faulty(fault.kind, fault.evidence, eager.path, FORWARD_CORE)
    size = max(first.size, second.size)
    if abs(first.value - second.value) <= np.sqrt(eager.subject.epsilon) * size:
        return inconclusive("rounding hides the difference")
    message = (
        f"{eager.path} {second.value:.10g}, in a graph of TensorFlow's and in reverse over reverse "
        f"{first.value:.10g}, along a random direction"
    )
    evidence = Evidence(message, analytic=second.value)
    return faulty("value", evidence, eager.path, FORWARD_CORE)


def _transposed(subject: Subject) -> Product:
    """Return the product with the roles of both vectors changed: the same, if symmetric."""
    ahead = REVERSE.at(subject)

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        return ahead(unflatten(weights, subject.primals), flat(tangents))

    return product


def _reverse_reverse(subject: Subject) -> Product:
    """Return the derivative of a JVP by reverse mode over reverse mode alone."""
    tangent = subject.program
    assert isinstance(tangent, TangentOf)

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        program = GradientOf(tangent.program, subject.linearisation.split(weights))
        gradient = subject.derived(program)
        return inner(tangents, gradient.linearisation.pull(flat(tangent.tangents)))

    return product


def _traced_forward(subject: Subject) -> Product:
    """Return the product by forward mode, all of it in a graph of TensorFlow's."""

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        pushed, _ = subject.pushed(tangents, traced=True)
        return inner([weights], [pushed])

    return product


REVERSE_REVERSE = Way("reverse over reverse", _reverse_reverse)
TRANSPOSED = Way("transposed", _transposed)
TRACED_FORWARD = Way("forward in a graph", _traced_forward)


def examined(subject: Subject, kind: str) -> Subject:
    """Return the derivative that a fault of that full kind is of."""
    return tangent_of(subject) if is_of_tangent(kind) else gradient_of(subject)


def ways(kind: str) -> tuple[Way, ...]:
    """Return the ways to differentiate what a fault of that full kind is of."""
    if is_of_tangent(kind):
        return (
            REVERSE_REVERSE,
            replace(REVERSE, name="reverse over forward"),
            replace(FORWARD, name="forward over forward"),
            replace(TRACED_FORWARD, name="forward over forward in a graph"),
        )
    return (
        replace(REVERSE, name="reverse over reverse"),
        replace(FORWARD, name="forward over reverse"),
        TRANSPOSED,
    )


def is_of_tangent(kind: str) -> bool:
    """Return whether a fault of that full kind is of the derivative of a JVP."""
    return kind.startswith(("rev-fwd", "fwd-fwd"))
