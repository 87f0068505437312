"""The parts of a script: its head, and an ending for each kind of fault."""

HEAD = '''"""{title}

Prints what is expected and what TensorFlow returns.  Exit code 1: the bug is there; 0: it is gone.
Found by gradfuzz on {versions}.
"""

import sys

import numpy as np
import tensorflow as tf
{imports}
LEAVES = [
{leaves}
]


def function({parameters}):
{body}
    return [{outputs}]


def gradients(cotangents=None):
    """Return the gradients by LEAVES of the outputs, weighted by `cotangents`."""
    leaves = [tf.constant(leaf) for leaf in LEAVES]
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    if cotangents is None:  # any will do, but for outputs that are not finite
        some = [np.linspace(0.5, 1.5, np.size(y)).reshape(y.shape) for y in outputs]
        cotangents = [np.where(np.isfinite(y), u, 0) for u, y in zip(some, outputs)]
    seeds = [tf.constant(u, y.dtype) for u, y in zip(cotangents, outputs)]
    return [None if g is None else tf.convert_to_tensor(g).numpy()
            for g in tape.gradient(outputs, leaves, output_gradients=seeds)]


'''

VALUE = '''# Positions; all outputs are counted as one vector.
LEAF, ELEMENT, OUTPUT = {leaf}, {element}, {output}
# The true derivative lies in [LOW, HIGH].
LOW, HIGH, SLACK = {low}, {high}, {slack:.3g}


def values(step):
    """Return all outputs as one vector, with that element moved by `step`."""
    leaves = [np.copy(leaf) for leaf in LEAVES]
    leaves[LEAF].flat[ELEMENT] += step
    outputs = function(*map(tf.constant, leaves))
    return np.concatenate([np.ravel(np.asarray(y, np.float64)) for y in outputs])


def observed():
    """Return TensorFlow's derivative of that output by that element, None for no connection."""
    hot = iter(np.arange(values(0.0).size) == OUTPUT)
    outputs = function(*map(tf.constant, LEAVES))
    cotangents = [np.array([next(hot) for _ in range(np.size(y))]).reshape(y.shape) * 1.0
                  for y in outputs]
    gradient = gradients(cotangents)[LEAF]
    return None if gradient is None else float(np.ravel(gradient)[ELEMENT])


found = observed()
step = {step}
behind, base, ahead = (values(t)[OUTPUT] for t in (-step, 0.0, step))
print("expected {expected}")
print(f"         (differences on a step of {{step:.2g}}: "
      f"{{(ahead - base) / step:.10g}} ahead, {{(base - behind) / step:.10g}} behind)")
print(f"observed {{found}}")
right = found is not None and LOW - SLACK <= found <= HIGH + SLACK
sys.exit(0 if right else 1)
'''

RAISES = """print("expected a gradient")
try:
    found = gradients()
except Exception as error:
    print(f"observed {{type(error).__name__}}: {{error}}")
    sys.exit(1)
print(f"observed {{found}}")
"""

FORM = """found = gradients()[{leaf}]
expected = LEAVES[{leaf}]
print(f"expected a gradient of shape {{expected.shape}} and dtype {{expected.dtype}}")
if found is None:
    print("observed None")
    sys.exit(0)
print(f"observed shape {{found.shape}} and dtype {{found.dtype}}")
sys.exit((found.shape, found.dtype) != (expected.shape, expected.dtype))
"""

REPEAT = """print("expected the same gradient each time")
first = gradients()[{leaf}]
for attempt in range(1000):
    # Leave other numbers behind in the memory that TensorFlow takes next.
    garbage = [np.full(max(1, x.size), 1e30 * (attempt + 1)) for x in LEAVES for _ in range(8)]
    del garbage
    again = gradients()[{leaf}]
    bound = 1e-6 * np.abs(first).max(initial=0)
    if not np.allclose(first, again, rtol=0, atol=bound, equal_nan=True):
        print(f"observed {{first.tolist()}}, then {{again.tolist()}}")
        sys.exit(1)
print("observed the same gradient 1000 times")
"""

MUTATED = """leaves = [tf.constant(leaf) for leaf in LEAVES]
with tf.GradientTape() as tape:
    tape.watch(leaves)
    outputs = function(*leaves)
tape.gradient(outputs, leaves)
print("expected leaves that stay what they are")
changed = [i for i, leaf in enumerate(leaves) if not np.array_equal(leaf.numpy(), LEAVES[i], True)]
print(f"observed changes in leaves {{changed}}")
sys.exit(1 if changed else 0)
"""
