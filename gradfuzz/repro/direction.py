"""The ending of a script for a fault that is known along a random direction alone."""

from dataclasses import replace

from gradfuzz.errors import CaseFileError
from gradfuzz.finding import Finding
from gradfuzz.repro.expected import allowed, expected
from gradfuzz.repro.literals import arrays_source, number_source, tensors_source
from gradfuzz.repro.shown import Shown
from gradfuzz.repro.ways import FORWARD_MODE, Way
from gradfuzz.vote import Question, examined

REVERSE = """with tf.GradientTape() as tape:
    tape.watch(leaves)
    outputs = function(*leaves)
weights = [tf.constant(u, y.dtype) for u, y in zip(WEIGHTS, outputs)]
found = tape.gradient(outputs, leaves, output_gradients=weights)
observed = sum(np.sum(tf.convert_to_tensor(g).numpy() * t)
               for g, t in zip(found, TANGENTS) if g is not None)
"""

FORWARD = """tangents = [tf.constant(t, x.dtype) for t, x in zip(TANGENTS, LEAVES)]
with tf.autodiff.ForwardAccumulator(leaves, tangents) as accumulator:
    outputs = function(*leaves)
found = [accumulator.jvp(y) for y in outputs]
observed = sum(np.sum(u * t.numpy()) for u, t in zip(WEIGHTS, found) if t is not None)
"""

DIRECTION = '''# The derivative is that of the outputs, summed by these weights, ...
WEIGHTS = [{weights}]
# ... along these tangents of LEAVES.
TANGENTS = [{tangents}]
{source}

def moved(step):
    """Return that sum, with LEAVES moved by so many tangents."""
    leaves = [(x + step * t).astype(x.dtype) for x, t in zip(LEAVES, TANGENTS)]
    return sum(np.sum(u * y.numpy()) for u, y in zip(WEIGHTS, {truth}(*{moved})))


step = 2.0 ** -17
print("expected {expected}")
print(f"    (by a difference {{(moved(step) - moved(-step)) / (2 * step):.10g}})")
print(f"observed {{observed}} ({way})")
sys.exit(0 if {low} <= observed <= {high} else 1)
'''


def direction(finding: Finding, way: Way, showing: Shown, truth: str) -> str:
    """Return it.  `truth` is the name of the function that differences are of.

    Raises `CaseFileError` where differences do not tell either what is right.
    """
    subject = examined(finding.graph, finding.bucket)
    told = Question.of(subject, showing.evidence).numeric()
    if told.value is None or told.error is None:
        raise CaseFileError("evidence: names no element, and differences do not tell along a "
                            "random direction either; should for a script")  # fmt: skip
    low, high = told.value - told.error, told.value + told.error
    evidence = replace(showing.evidence, low=low, high=high)
    low, high = allowed(evidence, subject.primals[0])
    return DIRECTION.format(
        weights=arrays_source(subject.linearisation.split(subject.weights)),
        tangents=arrays_source(subject.tangents),
        source=FORWARD if way is FORWARD_MODE else REVERSE,
        truth=truth, moved=tensors_source("leaves", showing.graph), expected=expected(evidence),
        way=way.name, low=number_source(low), high=number_source(high),
    )  # fmt: skip
