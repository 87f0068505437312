"""The parts of a script: its head, and an ending for each kind of fault."""

HEAD = '''"""{title}

Exit code 1: the bug is there; 0: it is gone.
Found by gradfuzz on {versions}.
"""

{standard}

import numpy as np
import tensorflow as tf
{imports}
LEAVES = [
{leaves}
]


{functions}'''

MEANS = '''def feed(leaves):
    """Return what `function` takes, of arrays."""
    return [{feed}]


def gradients(cotangents=None):
    """Return the gradients by LEAVES of the outputs, weighted by `cotangents`."""
    leaves = feed(LEAVES)
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    if cotangents is None:  # any will do, but for outputs that are not finite
        some = [np.linspace(0.5, 1.5, np.size(y)).reshape(y.shape) for y in outputs]
        cotangents = [np.where(np.isfinite(y), u, 0) for u, y in zip(some, outputs)]
    seeds = [tf.constant(u, y.dtype) for u, y in zip(cotangents, outputs)]
    return [None if g is None else tf.convert_to_tensor(g).numpy()
            for g in tape.gradient(outputs, leaves, output_gradients=seeds)]


WAYS = {{"reverse mode": gradients}}


def flat(x):
    """Return the real numbers in an array, as one vector."""
    x = np.ravel(np.asarray(x))
    return np.stack([x.real, x.imag], -1).ravel() if np.iscomplexobj(x) else x.astype(np.float64)


def shaped(vector, like):
    """Return such a vector as an array like another."""
    like = np.asarray(like)
    parts = vector[::2] + 1j * vector[1::2] if np.iscomplexobj(like) else vector
    return parts.reshape(like.shape).astype(like.dtype)


'''

FUNCTION = """def {name}({parameters}):
{body}
    return [{outputs}]


"""

VALUE = '''# Positions among all real numbers; all outputs are counted as one vector.
LEAF, ELEMENT, OUTPUT = {leaf}, {element}, {output}


def observed(way):
    """Return TensorFlow's derivative of that output by that element, None for no connection."""
    outputs = function(*feed(LEAVES))
    sizes = np.cumsum([flat(y).size for y in outputs])
    hot = np.split((np.arange(sizes[-1]) == OUTPUT) * 1.0, sizes[:-1])
    gradient = way([shaped(u, y) for u, y in zip(hot, outputs)])[LEAF]
    return None if gradient is None else float(flat(gradient)[ELEMENT])


found = {{name: observed(way) for name, way in WAYS.items()}}
{ending}'''

BOUNDED = """# The true derivative lies in [LOW, HIGH].
LOW, HIGH, SLACK = {low}, {high}, {slack:.3g}
print("expected {expected}")
{evidence}for name, value in found.items():
    print(f"observed {{value}} ({{name}})")
right = [value is not None and LOW - SLACK <= value <= HIGH + SLACK for value in found.values()]
sys.exit(0 if all(right) else 1)
"""

# Where differences do not tell which of two ways is wrong.
AGREEING = """print("expected one number, the same in each way")
for name, value in found.items():
    print(f"observed {{value}} ({{name}})")
numbers = [np.nan if value is None else value for value in found.values()]
sys.exit(0 if np.isfinite(numbers).all() and np.ptp(numbers) <= 1e-6 * np.abs(numbers).max() else 1)
"""

EXACT = """print("         (to 50 digits; a difference of the function has too few to tell)")
"""

DIFFERENCES = '''

def values(step):
    """Return all outputs as one vector, with that element moved by `step`."""
    moved = flat(LEAVES[LEAF])
    moved[ELEMENT] += step
    leaves = [shaped(moved, x) if i == LEAF else x for i, x in enumerate(LEAVES)]
    return np.concatenate([flat(y) for y in {function}(*feed(leaves))])


step = {step}
behind, base, ahead = (values(t)[OUTPUT] for t in (-step, 0.0, step))
print(f"         (differences on a step of {{step:.2g}}: "
      f"{{(ahead - base) / step:.10g}} ahead, {{(base - behind) / step:.10g}} behind)")
'''

DIRECTION = '''# The derivative is that of the outputs, summed by these weights, ...
WEIGHTS = [{weights}]
# ... along these tangents of LEAVES, all as real numbers.
TANGENTS = [{tangents}]
# The true derivative lies in [LOW, HIGH].
LOW, HIGH, SLACK = {low}, {high}, {slack:.3g}


def value(step):
    """Return that sum, with LEAVES moved by so many tangents."""
    moved = [shaped(flat(x) + step * flat(t), x) for x, t in zip(LEAVES, TANGENTS)]
    return sum((flat(y) * flat(u)).sum() for y, u in zip({function}(*feed(moved)), WEIGHTS))


def observed(way):
    """Return TensorFlow's derivative."""
    outputs = function(*feed(LEAVES))
    found = way([shaped(flat(u), y) for u, y in zip(WEIGHTS, outputs)])
    return sum((flat(g) * flat(t)).sum() for g, t in zip(found, TANGENTS) if g is not None)


found = {{name: observed(way) for name, way in WAYS.items()}}
step = 2.0 ** -17
print("expected {expected}")
print(f"         (a difference on a step of {{step:.2g}}: "
      f"{{(value(step) - value(-step)) / (2 * step):.10g}})")
for name, slope in found.items():
    print(f"observed {{slope}} ({{name}})")
sys.exit(0 if all(LOW - SLACK <= slope <= HIGH + SLACK for slope in found.values()) else 1)
'''

FATAL = """if sys.argv[1:] == ["child"]:
{limit}    for function in ({functions}):
        for way in WAYS.values():
            way()
    sys.exit()

print("expected a process that ends by itself, with a gradient or a refusal")
child = subprocess.run([sys.executable, __file__, "child"], stderr=subprocess.PIPE, text=True)
if child.returncode in (0, 1):  # no end that one may call fatal
    print("observed", child.stderr.splitlines()[-1] if child.returncode else "a gradient")
    sys.exit(0)
code = child.returncode
print("observed", signal.Signals(-code).name if code < 0 else f"exit code {{code}}")
sys.exit(1)
"""

# What ends a child that takes more time, or memory, than any gradient of small arrays.
LIMITS = {
    "hangs": "    signal.alarm(60)\n",
    "memory": """    def watch():
        while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 * 2**20:  # KiB
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
""",
}

INDICES = """leaves = feed(LEAVES)
with tf.GradientTape() as tape:
    tape.watch(leaves)
    outputs = function(*leaves)
print("expected slices of the leaf that they are a gradient of")
wrong = 0
for number, found in enumerate(tape.gradient(outputs, leaves)):
    if isinstance(found, tf.IndexedSlices):
        indices, count = found.indices.numpy(), len(LEAVES[number])
        print(f"observed slices {{indices.tolist()}} of {{count}}, of leaf {{number}}")
        wrong += int(((indices < 0) | (indices >= count)).sum())
sys.exit(1 if wrong else 0)
"""

RAISES = """name, way = list(WAYS.items())[-1]
print(f"expected a gradient, in {{name}}")
try:
    found = way()
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

MUTATED = """leaves = feed(LEAVES)
with tf.GradientTape() as tape:
    tape.watch(leaves)
    outputs = function(*leaves)
tape.gradient(outputs, leaves)
print("expected leaves that stay what they are")
changed = [i for i, leaf in enumerate(leaves) if not np.array_equal(leaf.numpy(), LEAVES[i], True)]
print(f"observed changes in leaves {{changed}}")
sys.exit(1 if changed else 0)
"""
