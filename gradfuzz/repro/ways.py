"""The other ways to a gradient, and first derivatives as functions, as source for a script."""

FORWARD = '''def by_forward_mode(cotangents=None):
    """Return the gradients as forward mode has them, one JVP for each real number."""
    outputs = function(*[tf.constant(leaf) for leaf in LEAVES])
    cotangents = cotangents or [np.ones(y.shape) for y in outputs]
    found = [np.zeros(flat(leaf).size) for leaf in LEAVES]
    lost = [True for _ in LEAVES]
    for number, whole in enumerate(found):
        for element in range(max(1, whole.size)):
            tangents = [np.zeros(each.size) for each in found]
            tangents[number][element:element + 1] = 1.0
            seeds = [tf.constant(shaped(t, x)) for t, x in zip(tangents, LEAVES)]
            leaves = [tf.constant(leaf) for leaf in LEAVES]
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

COMPILED = '''def compiled(cotangents=None):
    """Return the outputs and the gradients from a graph that is traced {how}."""
    eager = function(*[tf.constant(leaf) for leaf in LEAVES])
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
    outputs, found = traced([tf.constant(leaf) for leaf in LEAVES], seeds)
    there = iter(found)
    return outputs, [next(there).numpy() if yes else None for yes in connected]


WAYS["reverse mode, {how}"] = lambda cotangents=None: compiled(cotangents)[1]


'''

JACOBIAN = '''def by_jacobian(cotangents=None):
    """Return the gradients from the Jacobians that `tape.jacobian` vectorises."""
    leaves = [tf.constant(leaf) for leaf in LEAVES]
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

OUTPUT = """eager = np.concatenate(
    [np.ravel(np.asarray(y, np.float64)) for y in function(*[tf.constant(x) for x in LEAVES])])
found = np.concatenate([np.ravel(np.asarray(y, np.float64)) for y in compiled()[0]])
print(f"expected {{eager[{output}]:.10g}}, as in eager mode, for output {output}")
print(f"observed {{found[{output}]:.10g}}")
same = np.isclose(found[{output}], eager[{output}], rtol=1e-6, atol=1e-12, equal_nan=True)
sys.exit(0 if same else 1)
"""


GRADIENT = '''first = function


def function(*leaves):
    """Return the gradients of the outputs, weighted, and of half their squares, weighted too."""
    with tf.GradientTape() as tape:
        tape.watch(list(leaves))
        outputs = first(*leaves)
    weights = [{weights}]
    bends = [{bends}]
    seeds = [tf.constant(u, y.dtype) + tf.math.multiply_no_nan(y, tf.constant(c, y.dtype))
             for u, c, y in zip(weights, bends, outputs)]
    found = tape.gradient(outputs, list(leaves), output_gradients=seeds)
    return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
            for g, x in zip(found, leaves)]


'''

TANGENT = '''first = function


def function(*leaves):
    """Return the JVP of the outputs along fixed tangents."""
    tangents = [{tangents}]
    seeds = [tf.constant(shaped(flat(t), x)) for t, x in zip(tangents, LEAVES)]
    with tf.autodiff.ForwardAccumulator(list(leaves), seeds) as accumulator:
        outputs = first(*leaves)
    found = [accumulator.jvp(y) for y in outputs]
    return [tf.zeros_like(y) if t is None else tf.convert_to_tensor(t)
            for t, y in zip(found, outputs)]


'''


def _compiled(how: str, shape: str, *, jit: bool = False) -> str:
    return COMPILED.format(how=how, shape=shape, jit=jit)


# By oracle and path: another way, beside a tape's.
WAYS = {
    ("forward", ""): FORWARD,
    ("compiled", "graph"): _compiled("with all shapes known", "x.shape"),
    ("compiled", "unknown-dims"): _compiled("with unknown dimensions", "[None] * len(x.shape)"),
    ("compiled", "unknown-rank"): _compiled("with unknown rank", "None"),
    ("compiled", "xla"): _compiled("by XLA", "x.shape", jit=True),
    ("batched", "jacobian"): JACOBIAN,
    ("precision", "float64"): "",
    ("second", "fwd-rev"): FORWARD,
    ("second", "fwd-fwd"): FORWARD,
    ("second", "rev-fwd"): "",
    ("second", ""): "",
}
