"""The short ending of a script: of one number by another, or of a gradient that cannot be had.

Where a fault takes no more to show, this is all that stands behind the graph.
"""

from dataclasses import dataclass

import numpy as np

from gradfuzz.evaluate import Program, feed
from gradfuzz.finding import Bucket
from gradfuzz.graph import Graph, Leaf
from gradfuzz.numeric.line import flatten
from gradfuzz.realview import real_view
from gradfuzz.repro.expected import allowed, expected, step_of
from gradfuzz.repro.literals import number_source
from gradfuzz.repro.shown import Shown

REVERSE = """leaves = [tf.constant(x) for x in LEAVES]
with tf.GradientTape() as tape:
    tape.watch(leaves)
    y = tf.reshape(function(*leaves)[{output}], [-1])[{row}]
found = tape.gradient(y, leaves[{leaf}])
observed = None if found is None else np.ravel(tf.convert_to_tensor(found).numpy())[{element}]
"""

FORWARD = """leaves = [tf.constant(x) for x in LEAVES]
tangents = [np.zeros_like(x) for x in LEAVES]
tangents[{leaf}].flat[{element}] = 1
with tf.autodiff.ForwardAccumulator(leaves, [tf.constant(t) for t in tangents]) as accumulator:
    outputs = function(*leaves)
found = accumulator.jvp(outputs[{output}])
observed = None if found is None else np.ravel(tf.convert_to_tensor(found).numpy())[{row}]
"""

COMPILED = """@tf.function(autograph=False{how})
def derivative_of(*leaves):
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        y = tf.reshape(function(*leaves)[{output}], [-1])[{row}]
    return tape.gradient(y, leaves[{leaf}])


found = derivative_of(*map(tf.constant, LEAVES))
observed = None if found is None else np.ravel(tf.convert_to_tensor(found).numpy())[{element}]
"""

JACOBIAN = """leaves = [tf.constant(x) for x in LEAVES]
with tf.GradientTape() as tape:
    tape.watch(leaves)
    y = function(*leaves)[{output}]
found = tape.jacobian(y, leaves[{leaf}])
observed = None if found is None else found.numpy().reshape({shape})[{row}, {element}]
"""

DIFFERENCES = '''

def moved(step):
    """Return element {row} of output {output}, with element {element} of leaf {leaf} moved."""
    leaves = [x.copy() for x in LEAVES]
    leaves[{leaf}].flat[{element}] += step
    return np.float64(np.ravel({truth}(*map(tf.constant, leaves))[{output}].numpy())[{row}])


step = {step}
behind, base, ahead = moved(-step), moved(0), moved(step)
print("expected {expected}")
print(f"    (by differences {{(base - behind) / step:.10g}} and {{(ahead - base) / step:.10g}})")
'''

EXACT = """
print("expected {expected}")
print("    (to 50 digits; a difference of the function has too few to tell)")
"""

BOUNDED = """print(f"observed {{observed}} ({way})")
sys.exit(0 if observed is not None and {low} <= observed <= {high} else 1)
"""

ACCUMULATED = """leaves = [tf.constant(x) for x in LEAVES]
print("expected a JVP")
try:
    with tf.autodiff.ForwardAccumulator(leaves, [tf.ones_like(x) for x in leaves]) as accumulator:
        found = [accumulator.jvp(y) for y in function(*leaves)]
except Exception as error:
    print(f"observed {type(error).__name__}: {error}")
    sys.exit(1)
print(f"observed {found}")
"""

RAISES = """leaves = [tf.constant(x) for x in LEAVES]
print("expected a gradient")
try:
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    found = tape.gradient(outputs, leaves)
except Exception as error:
    print(f"observed {type(error).__name__}: {error}")
    sys.exit(1)
print(f"observed {found}")
"""

FORM = """leaves = [tf.constant(x) for x in LEAVES]
with tf.GradientTape() as tape:
    tape.watch(leaves)
    outputs = function(*leaves)
found, leaf = tape.gradient(outputs, leaves)[{leaf}], leaves[{leaf}]
print(f"expected a gradient like {{leaf}}")
print(f"observed {{found}}")
sys.exit(found is not None and (found.shape, found.dtype) != (leaf.shape, leaf.dtype))
"""


@dataclass(frozen=True)
class Way:
    """A way to an element: what it is called, its source, and how it compiles."""

    name: str
    source: str
    how: str = ""


REVERSE_MODE, FORWARD_MODE = Way("reverse mode", REVERSE), Way("forward mode", FORWARD)
UNKNOWN = ", input_signature=[tf.TensorSpec({shape}, x.dtype) for x in LEAVES]"

# The kinds of fault that are of an element.
ELEMENTS = ("value", "none", "non-finite", "lost")
# The way to an element, by oracle and the path in its buckets.
WAYS = {
    ("numeric", ""): REVERSE_MODE,
    ("precision", ""): REVERSE_MODE,
    ("forward", ""): FORWARD_MODE,
    ("second", "fwd-rev"): FORWARD_MODE,
    ("second", "fwd-fwd"): FORWARD_MODE,
    ("second", ""): REVERSE_MODE,
    ("compiled", "graph"): Way("in a graph", COMPILED),
    ("compiled", "unknown-dims"): Way(
        "in a graph of unknown dimensions", COMPILED, UNKNOWN.format(shape="[None] * x.ndim")
    ),
    ("compiled", "unknown-rank"): Way(
        "in a graph of unknown rank", COMPILED, UNKNOWN.format(shape="None")
    ),
    ("compiled", "xla"): Way("by XLA", COMPILED, ", jit_compile=True"),
    ("batched", "jacobian"): Way("tape.jacobian", JACOBIAN),
}


def brief(bucket: Bucket, showing: Shown, truth: str) -> str:
    """Return it, and "" where the fault takes more to show.

    `truth` is the function that differences are of.
    """
    if any(isinstance(node, Leaf) and node.variable for node in showing.graph.nodes):
        return ""
    if bucket.oracle == "always":
        return _whole(bucket.kind, showing)
    if bucket.oracle == "forward" and bucket.kind.startswith("raises"):
        return ACCUMULATED
    evidence = showing.evidence
    # Where the value that was found is right, reverse mode is the way that is wrong.
    way = REVERSE_MODE if evidence.is_allowed else _way(bucket)
    if way is None or None in (evidence.leaf, evidence.element, evidence.output, evidence.low):
        return ""
    return _element(way, showing, truth)


def _whole(kind: str, showing: Shown) -> str:
    if kind.startswith(("raises", "missing")):
        return RAISES
    if kind in ("shape", "dtype"):
        return FORM.format(leaf=showing.evidence.leaf or 0)
    return ""


def _way(bucket: Bucket) -> Way | None:
    if not bucket.kind.endswith(ELEMENTS):
        return None
    for (oracle, path), way in WAYS.items():
        if oracle == bucket.oracle and bucket.kind.startswith(path):
            return way
    return None


def _element(way: Way, showing: Shown, truth: str) -> str:
    evidence = showing.evidence
    leaf, element = evidence.leaf or 0, evidence.element or 0
    output, row = _place(showing)
    primal = real_view(showing.graph.primals[leaf])
    low, high = allowed(evidence, primal)
    numbers = EXACT if showing.is_exact else DIFFERENCES
    return (way.source + numbers + BOUNDED).format(
        leaf=leaf, element=element, output=output, row=row, truth=truth, shape=(-1, primal.size),
        step=step_of(primal, element), expected=expected(evidence), way=way.name, how=way.how,
        low=number_source(low), high=number_source(high),
    )  # fmt: skip


def _place(showing: Shown) -> tuple[int, int]:
    """Return which output of the script's function the row is of, and its place there."""
    sizes = [real_view(x).size for x in showing.graph.primals]
    if showing.derive != "gradient_of":
        sizes = _sizes(showing.graph)
    ends = np.cumsum(sizes)
    row = showing.evidence.output or 0
    output = int(np.searchsorted(ends, row, side="right"))
    return output, row - int(ends[output] - sizes[output])


def _sizes(graph: Graph) -> list[int]:
    program = Program.of(graph)
    values = program.run(feed(program, [real_view(x) for x in graph.primals]))
    return [flatten([value]).size for value in values]
