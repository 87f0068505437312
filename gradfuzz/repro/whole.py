"""The endings of a script for what is wrong with a gradient, or with outputs, as a whole."""

from collections.abc import Mapping

from gradfuzz.repro.shown import Shown
from gradfuzz.repro.ways import Way
from gradfuzz.subject import Subject

RAISES = """print("expected a derivative, {way}")
try:
    found = {call}
except Exception as error:
    print(f"observed {{type(error).__name__}}: {{error}}")
    sys.exit(1)
print(f"observed {{found}}")
"""

OUTPUTS = """expected, observed = (
    np.concatenate([np.ravel(y) for y in outputs])[{row}]
    for outputs in (function(*leaves), {outputs}))
print(f"expected {{expected}}, as in eager mode")
print(f"observed {{observed}} ({way})")
same = np.shape(expected) == np.shape(observed) and np.allclose(
    observed, expected, rtol={rtol:.1g}, atol=1e-12, equal_nan=True)
sys.exit(0 if same else 1)
"""

FORM = """found, leaf = {gradients}[{leaf}], LEAVES[{leaf}]
print(f"expected a gradient of shape {{leaf.shape}} and dtype {{leaf.dtype}}")
print("observed", "None" if found is None else
      f"shape {{found.shape}} and dtype {{found.dtype.name}}")
sys.exit(found is not None and (found.shape, found.dtype) != (leaf.shape, leaf.dtype))
"""

INDICES = """print("expected slices of the leaf that they are a gradient of")
wrong = 0
for found, leaf in zip({call}, LEAVES):
    if isinstance(found, tf.IndexedSlices):
        indices = found.indices.numpy()
        print(f"observed slices {{indices.tolist()}} of {{len(leaf)}}")
        wrong += int(((indices < 0) | (indices >= len(leaf))).sum())
sys.exit(1 if wrong else 0)
"""

REPEAT = """print("expected the same gradient each time")
first = np.array(tf.convert_to_tensor({call}[{leaf}]))
for attempt in range(1000):
    # Leave other numbers behind in the memory that TensorFlow takes next.
    garbage = [np.full(max(1, x.size), 1e30 * (attempt + 1)) for x in LEAVES for _ in range(8)]
    del garbage
    again = np.array(tf.convert_to_tensor({call}[{leaf}]))
    bound = 1e-6 * np.abs(first).max(initial=0)
    if not np.allclose(first, again, rtol=0, atol=bound, equal_nan=True):
        print(f"observed {{first.tolist()}}, then {{again.tolist()}}")
        sys.exit(1)
print("observed the same gradient 1000 times")
"""

MUTATED = """{call}
print("expected leaves that stay what they are")
changed = [i for i, leaf in enumerate(leaves) if not np.array_equal(leaf.numpy(), LEAVES[i], True)]
print(f"observed changes in leaves {{changed}}")
sys.exit(1 if changed else 0)
"""

# By what the kind of a bucket ends with, or what stands before the exception in it.
ENDINGS: Mapping[str, str] = {
    "output": OUTPUTS,
    "missing": RAISES,
    "raises": RAISES,
    "shape": FORM,
    "dtype": FORM,
    "indices": INDICES,
    "unrepeatable": REPEAT,
    "mutated": MUTATED,
}


def whole(kind: str, way: Way, showing: Shown) -> str:
    """Return the ending for a kind, without a path, that is in `ENDINGS`."""
    evidence = showing.evidence
    ending = ENDINGS[kind].format(
        leaf=evidence.leaf or 0,
        row=":" if evidence.output is None else evidence.output,
        way=way.name,
        call=way.call,
        outputs=way.outputs,
        gradients=way.gradients or way.call,
        rtol=16 * Subject.of(showing.graph).epsilon ** 0.75,
    )
    return "".join(way.definitions) + ending
