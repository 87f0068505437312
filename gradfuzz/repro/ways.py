"""The ways to a derivative as source for a script: to one element of it, and to all of it.

What the sources stand behind has defined `function` and `leaves`, the tensors of LEAVES.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from gradfuzz.finding import Bucket

PICK = """found = None if found is None else tf.convert_to_tensor(found).numpy()
observed = None if found is None else found.ravel()[{element}]
"""

FORWARD = """tangents = [np.zeros_like(x) for x in LEAVES]
tangents[{leaf}].flat[{element}] = 1
with tf.autodiff.ForwardAccumulator(leaves, [tf.constant(t) for t in tangents]) as accumulator:
    outputs = function(*leaves)
found = accumulator.jvp(outputs[{output}])
""" + PICK.replace("element", "row")

ACCUMULATED = """def forward_mode():
    tangents = [tf.ones(x.shape, x.dtype) for x in LEAVES]
    with tf.autodiff.ForwardAccumulator(leaves, tangents) as accumulator:
        outputs = function(*leaves)
    return [accumulator.jvp(y) for y in outputs]


"""

ROWS = """def by_rows():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
        rows = [row for y in outputs for row in tf.unstack(tf.reshape(y, [-1]))]
    return [tape.gradient(each, leaves) for each in (outputs, *rows)]


"""

COMPILED = """@tf.function(autograph=False{how})
def derivative_of(*leaves):
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        y = tf.reshape(function(*leaves)[{output}], [-1])[{row}]
    return tape.gradient(y, leaves[{leaf}])


found = derivative_of(*leaves)
"""

DERIVE = """def derive(leaves, seeds):
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    found = tape.gradient(outputs, leaves, output_gradients=seeds)
    return outputs, [tf.convert_to_tensor(g) for g in found if g is not None]


def ones():
    return [tf.ones_like(y) for y in function(*leaves)]


"""

TAPED = """with tf.GradientTape() as tape:
    tape.watch(leaves)
    y = function(*leaves)[{output}]
"""

JACOBIAN = (
    TAPED
    + """found = tape.jacobian(y, leaves[{leaf}])
observed = None if found is None else found.numpy().reshape(-1, {columns})[{row}, {element}]
"""
)

JACOBIANS = """def jacobians():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    return [tape.jacobian(y, leaves) for y in outputs]


"""

BATCH_JACOBIAN = (
    TAPED
    + """found = tape.batch_jacobian(y, leaves[{leaf}])
observed = None if found is None else found.numpy().reshape{blocks}[{block}]
"""
)

BATCH_JACOBIANS = """def batch_jacobians():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    return [tape.batch_jacobian(y, x, experimental_use_pfor=vectorised)
            for vectorised in (False, True) for y in outputs for x in leaves
            if min(y.shape.rank, x.shape.rank) > 1 and y.shape[0] == x.shape[0]]


"""

BATCH = """# These leaves, between two others.
batch = [tf.constant(np.stack([x * f for f in (63 / 64, 1, 65 / 64)]).astype(x.dtype))
         for x in LEAVES]


"""

MAPPED = (
    BATCH
    + """hot = [np.zeros_like(y) for y in function(*leaves)]
hot[{output}].flat[{row}] = 1
seeds = [*map(tf.constant, hot)]


def derivative_of(leaves):
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        outputs = function(*leaves)
    found = tape.gradient(outputs, leaves, output_gradients=seeds)
    return outputs, {{i: tf.convert_to_tensor(g) for i, g in enumerate(found) if g is not None}}


found = tf.vectorized_map(derivative_of, batch)[1].get({leaf})
observed = None if found is None else found[1].numpy().ravel()[{element}]
"""
)

MAP = """def mapped():
    seeds = ones()
    return tf.vectorized_map(lambda leaves: derive(leaves, seeds), batch)


"""

IDENTITY = """@tf.custom_gradient
def unchanged(x):
    return tf.identity(x), lambda u: u


def wrapped(*leaves):
    return [unchanged(y) for y in function(*[unchanged(x) for x in leaves])]


"""

READ = """variables = [tf.Variable(x) for x in leaves]


def read_variables(*leaves):
    return function(*map(tf.convert_to_tensor, leaves))


"""

ALONE = """def alone(leaf):
    with tf.GradientTape() as tape:
        tape.watch(leaf)
        outputs = function(*leaves)
    return tape.gradient(outputs, leaf)


"""


@dataclass(frozen=True)
class Way:
    """A way to a derivative, and what it is called.

    `element` sets `observed` to one number of the Jacobian, or to None.  `definitions` are what
    `call` needs, which takes the whole derivative, and `outputs`, which has those of the function.
    """

    name: str
    element: str
    definitions: tuple[str, ...]
    call: str
    outputs: str = ""
    gradients: str = ""  # those alone, where `call` returns more


def _reverse(
    name: str,
    function: str = "reverse_mode",
    *,
    before: str = "",
    tape: str = "",
    watch: bool = True,
    run: str = "function",
    sources: str = "leaves",
    asked: str = "",
) -> Way:
    """Return reverse mode as it is, or with something about the tape that must not matter."""
    watched = f"    tape.watch({sources})\n" if watch else ""
    opened = f"with tf.GradientTape({tape}) as tape:\n{watched}"
    element = (
        f"{before}{opened}    y = tf.reshape({run}(*{sources})[{{output}}], [-1])[{{row}}]\n"
        f"found = tape.gradient(y, {sources}[{{leaf}}]{asked})\n{PICK}"
    )
    body = (
        f"{opened}    outputs = {run}(*{sources})\nreturn tape.gradient(outputs, {sources}{asked})"
    )
    defined = f"{before}def {function}():\n{indent(body, '    ')}\n\n\n"
    return Way(name, element, (defined,), f"{function}()")


def _compiled(name: str, how: str = "") -> Way:
    call = f"tf.function(derive, autograph=False{how})(leaves, ones())"
    element = COMPILED.replace("{how}", how) + PICK
    return Way(name, element, (DERIVE,), call, f"{call}[0]", f"{call}[1]")


def _unknown(name: str, signature: str, shape: str) -> Way:
    specs = f"[tf.TensorSpec({shape}, x.dtype) for x in tensors]"
    defined = f"def {signature}(tensors):\n    return {specs}\n\n\n"
    element = COMPILED.replace("{how}", f", input_signature={signature}(leaves)") + PICK
    signatures = f"[{signature}(leaves), {signature}(ones())]"
    call = f"tf.function(derive, {signatures}, autograph=False)(leaves, ones())"
    return Way(name, defined + element, (DERIVE, defined), call, f"{call}[0]", f"{call}[1]")


REVERSE_MODE = _reverse("in reverse mode")
FORWARD_MODE = Way("in forward mode", FORWARD, (ACCUMULATED,), "forward_mode()")
ROW_BY_ROW = Way("row by row from one tape", REVERSE_MODE.element, (ROWS,), "by_rows()")

# The formats in which the digits of a gradient are counted.
FORMATS = ("float64", "float32", "bfloat16", "float16")

# By oracle and the path in its buckets.
WAYS = {
    ("numeric", "raises"): ROW_BY_ROW,  # at once, it is found before its numbers are asked for
    ("numeric", ""): REVERSE_MODE,
    ("always", ""): REVERSE_MODE,
    ("forward", ""): FORWARD_MODE,
    ("compiled", "graph"): _compiled("in a graph"),
    ("compiled", "unknown-dims"): _unknown(
        "in a graph of unknown dimensions", "unknown_dims", "[None] * x.shape.rank"
    ),
    ("compiled", "unknown-rank"): _unknown("in a graph of unknown rank", "unknown_rank", "None"),
    ("compiled", "xla"): _compiled("by XLA", ", jit_compile=True"),
    ("batched", "jacobian"): Way("by tape.jacobian", JACOBIAN, (JACOBIANS,), "jacobians()"),
    ("batched", "batch-jacobian"): Way(
        "by tape.batch_jacobian", BATCH_JACOBIAN, (BATCH_JACOBIANS,), "batch_jacobians()"
    ),
    ("batched", "map"): Way(
        "by tf.vectorized_map",
        MAPPED,
        (BATCH, DERIVE, MAP),
        "mapped()",
        "[y[1] for y in mapped()[0]]",
        "[g[1] for g in mapped()[1]]",
    ),
    **{("precision", each): REVERSE_MODE for each in FORMATS},
    ("second", "fwd-rev"): FORWARD_MODE,
    ("second", "fwd-fwd"): FORWARD_MODE,
    ("second", "rev-fwd"): REVERSE_MODE,
    ("second", "transposed"): REVERSE_MODE,
    ("second", ""): REVERSE_MODE,
    ("effects", "subset"): Way(
        "of one leaf, the others not watched",
        REVERSE_MODE.element.replace("watch(leaves)", "watch(leaves[{leaf}])"),
        (ALONE,),
        "[alone(leaf) for leaf in leaves]",
    ),
    ("effects", "zeros"): _reverse(
        "with zeros asked for", "with_zeros", asked=", unconnected_gradients='zero'"
    ),
    ("effects", "accessed"): _reverse(
        "of variables that are read",
        "accessed",
        before=READ,
        watch=False,
        run="read_variables",
        sources="variables",
    ),
    ("effects", "watched"): _reverse(
        "of variables that are watched",
        "watched",
        before=READ,
        tape="watch_accessed_variables=False",
        run="read_variables",
        sources="variables",
    ),
    ("effects", "recomputed"): _reverse(
        "with tf.recompute_grad", "recomputed", run="tf.recompute_grad(function)"
    ),
    ("effects", "wrapped"): _reverse(
        "through identities", "identities", before=IDENTITY, run="wrapped"
    ),
    ("effects", ""): REVERSE_MODE,
}


def way_of(bucket: Bucket) -> Way | None:
    """Return the way that a bucket finds wrong, None for one that a script does not know."""
    for (oracle, path), way in WAYS.items():
        if oracle == bucket.oracle and (not path or bucket.kind.startswith(path)):
            return way
    return None


def ways_of(oracle: str) -> Iterator[Way]:
    """Yield the ways of an oracle, each once."""
    yield from dict.fromkeys(way for (of, _), way in WAYS.items() if of == oracle)
