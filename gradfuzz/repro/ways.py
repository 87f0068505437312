"""The other ways to a gradient, and first derivatives as functions, as source for a script."""

FORWARD = '''def by_forward_mode(cotangents=None):
    """Return the gradients as forward mode has them, one JVP for each real number."""
    outputs = function(*feed(LEAVES))
    cotangents = cotangents or [np.ones(y.shape) for y in outputs]
    found = [np.zeros(flat(leaf).size) for leaf in LEAVES]
    lost = [True for _ in LEAVES]
    for number, whole in enumerate(found):
        for element in range(max(1, whole.size)):
            tangents = [np.zeros(each.size) for each in found]
            tangents[number][element:element + 1] = 1.0
            seeds = [tf.constant(shaped(t, x)) for t, x in zip(tangents, LEAVES)]
            leaves = feed(LEAVES)
            with tf.autodiff.ForwardAccumulator(leaves, seeds) as accumulator:
                outputs = function(*leaves)
            for u, jvp in zip(cotangents, [accumulator.jvp(y) for y in outputs]):
                if jvp is not None and np.any(u):
                    lost[number] = False
                    u, jvp = flat(u), flat(tf.convert_to_tensor(jvp))
                    whole[element] += (u[u != 0] * jvp[u != 0]).sum()
    return [None if gone else shaped(g, x) for g, x, gone in zip(found, LEAVES, lost)]


WAYS["forward mode"] = by_forward_mode


'''

ROWS = '''def by_rows(cotangents=None):
    """Return the gradient, then each row of the Jacobian, all from one persistent tape."""
    leaves = feed(LEAVES)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    rows = [(y, tf.constant(shaped(hot, y))) for y in outputs for hot in np.eye(flat(y).size)]
    return [tape.gradient(outputs, leaves),
            *[tape.gradient(y, leaves, output_gradients=u) for y, u in rows]]


WAYS["reverse mode, row by row from one tape"] = by_rows


'''

COMPILED = '''def compiled(cotangents=None):
    """Return the outputs and the gradients from a graph that is traced {how}."""
    eager = function(*feed(LEAVES))
    cotangents = cotangents or [np.ones(y.shape) for y in eager]
    connected = []

    def run(leaves, seeds):
        with tf.GradientTape() as tape:
            tape.watch(leaves)
            outputs = function(*leaves)
        found = tape.gradient(outputs, leaves, output_gradients=seeds)
        connected[:] = [g is not None for g in found]
        return outputs, [tf.convert_to_tensor(g) for g in found if g is not None]

    def spec(x):
        return tf.TensorSpec({shape}, x.dtype)

    traced = tf.function(run, autograph=False, jit_compile={jit}).get_concrete_function(
        [spec(leaf) for leaf in LEAVES], [spec(y) for y in eager])
    seeds = [tf.constant(u, y.dtype) for u, y in zip(cotangents, eager)]
    outputs, found = traced(feed(LEAVES), seeds)
    there = iter(found)
    return outputs, [next(there).numpy() if yes else None for yes in connected]


WAYS["reverse mode, {how}"] = lambda cotangents=None, run=compiled: run(cotangents)[1]


'''

JACOBIAN = '''def by_jacobian(cotangents=None):
    """Return the gradients from the Jacobians that `tape.jacobian` vectorises."""
    leaves = feed(LEAVES)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    cotangents = cotangents or [np.ones(y.shape) for y in outputs]
    found = [None for _ in LEAVES]
    for u, y in zip(cotangents, outputs):
        for number, part in enumerate(tape.jacobian(y, leaves)):
            if part is not None:
                size = LEAVES[number].size
                rows = part.numpy().reshape(u.size, size) * (u.ravel() != 0)[:, None]
                product = (u.ravel() @ rows).reshape(LEAVES[number].shape)
                found[number] = product if found[number] is None else found[number] + product
    return found


WAYS["tape.jacobian"] = by_jacobian


'''

BATCH = '''def by_batch_jacobian(cotangents=None):
    """Return the gradients from batch Jacobians, each point of a batch by itself."""
    leaves = feed(LEAVES)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    cotangents = cotangents or [np.ones(y.shape) for y in outputs]
    found = [np.zeros(x.shape) for x in LEAVES]
    for u, y in zip(cotangents, outputs):
        for number, x in enumerate(leaves):
            if min(x.shape.rank, y.shape.rank) > 1 and x.shape[0] == y.shape[0]:
                loop, block = (tape.batch_jacobian(y, x, experimental_use_pfor=vectorised)
                               for vectorised in (False, True))
                if block is not None:
                    rows = block.numpy().reshape(len(u), u[:1].size, x[:1].shape.num_elements())
                    pulled = np.einsum("bi,bij->bj", u.reshape(rows.shape[:2]), rows)
                    found[number] += pulled.reshape(x.shape)
    return found


WAYS["tape.batch_jacobian"] = by_batch_jacobian


'''

MAPPED = '''def mapped(cotangents=None):
    """Return the outputs and gradients at LEAVES, as one of the points of a batch."""
    eager = function(*feed(LEAVES))
    cotangents = cotangents or [np.ones(y.shape) for y in eager]
    seeds = [tf.constant(u, y.dtype) for u, y in zip(cotangents, eager)]
    connected = []

    def run(leaves):
        with tf.GradientTape() as tape:
            tape.watch(leaves)
            outputs = function(*leaves)
        found = tape.gradient(outputs, leaves, output_gradients=seeds)
        connected[:] = [g is not None for g in found]
        return [*outputs, *[tf.convert_to_tensor(g) for g in found if g is not None]]

    factors = (1 - 2.0 ** -6, 1, 1 + 2.0 ** -6)
    batch = [np.stack([(x * factor).astype(x.dtype) for factor in factors]) for x in LEAVES]
    found = [t[1] for t in tf.vectorized_map(run, feed(batch))]
    there = iter(found[len(eager):])
    return found[:len(eager)], [next(there).numpy() if yes else None for yes in connected]


WAYS["vectorized_map"] = lambda cotangents=None: mapped(cotangents)[1]


'''

OUTPUT = """eager, found = (
    np.concatenate([np.ravel(np.asarray(y, np.float64)) for y in outputs])
    for outputs in (function(*feed(LEAVES)), {way}()[0]))
print(f"expected {{eager[{shown}].tolist()}}, as in eager mode")
print(f"observed {{found[{shown}].tolist()}}")
same = eager.shape == found.shape and np.allclose(
    found[{shown}], eager[{shown}], rtol={rtol:.1g}, atol=1e-12, equal_nan=True)
sys.exit(0 if same else 1)
"""


GRADIENT = '''def gradient_of(first):
    """Return the function of its gradient by its outputs, weighted, and half their squares."""
    weights = [{weights}]
    bends = [{bends}]

    def gradient(*leaves):
        with tf.GradientTape() as tape:
            tape.watch(list(leaves))
            outputs = first(*leaves)
        seeds = [tf.constant(u, y.dtype) + tf.math.multiply_no_nan(y, tf.constant(c, y.dtype))
                 for u, c, y in zip(weights, bends, outputs)]
        found = tape.gradient(outputs, list(leaves), output_gradients=seeds)
        return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
                for g, x in zip(found, leaves)]

    return gradient


'''

TANGENT = '''def tangent_of(first):
    """Return the function of its JVP along fixed tangents."""
    tangents = [{tangents}]

    def tangent(*leaves):
        seeds = [tf.constant(t, x.dtype) for t, x in zip(tangents, LEAVES)]
        with tf.autodiff.ForwardAccumulator(list(leaves), seeds) as accumulator:
            outputs = first(*leaves)
        found = [accumulator.jvp(y) for y in outputs]
        return [tf.zeros_like(y) if t is None else tf.convert_to_tensor(t)
                for t, y in zip(found, outputs)]

    return tangent


'''


def _compiled(how: str, shape: str, *, jit: bool = False) -> str:
    return COMPILED.format(how=how, shape=shape, jit=jit)


# The dtypes in which the digits of a gradient are counted.
FORMATS = ("float64", "float32", "bfloat16", "float16")

# By oracle and path: another way, beside a tape's.
WAYS = {
    ("numeric", ""): "",
    ("always", ""): "",
    ("forward", ""): FORWARD,
    ("compiled", "graph"): _compiled("with all shapes known", "x.shape"),
    ("compiled", "unknown-dims"): _compiled("with unknown dimensions", "[None] * len(x.shape)"),
    ("compiled", "unknown-rank"): _compiled("with unknown rank", "None"),
    ("compiled", "xla"): _compiled("by XLA", "x.shape", jit=True),
    ("batched", "jacobian"): JACOBIAN,
    ("batched", "batch-jacobian"): BATCH,
    ("batched", "map"): MAPPED,
    **{("precision", dtype + order): "" for order in ("-second", "") for dtype in FORMATS},
    ("second", "fwd-rev"): FORWARD,
    ("second", "fwd-fwd"): FORWARD,
    ("second", "rev-fwd"): "",
    ("second", "transposed"): "",
    ("second", ""): "",
}
