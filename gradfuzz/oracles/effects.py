"""What must not change a gradient: how the tape is kept, what is asked of it, what is around it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradfuzz.analytic import GradientError, Gradients, linearise, real_views
from gradfuzz.derived import seeds_of
from gradfuzz.evaluate import Runnable, Tensor, feed
from gradfuzz.finding import AGREED, Outcome, faulty
from gradfuzz.graph import Array
from gradfuzz.oracles import always
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way, inner
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

NAME = "effects"

# Takes a program, its primals and cotangents, and returns the gradients so taken.
Take = Callable[[Runnable, Sequence[Array], Sequence[Array]], list[Any]]


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare the gradient with the same one taken in other ways, and taken twice."""
    outcome = always.examine(subject, repeat=True)
    if outcome is not AGREED:
        return outcome
    first: Outcome = AGREED
    for path, take in WAYS.items():
        outcome = _compare(subject, path, take, at)
        if outcome.fault is not None:
            return outcome
        first = outcome if first is AGREED else first
    return first


def _compare(subject: Subject, path: str, take: Take, at: Place | None) -> Outcome:
    way = Way(path, partial(_product, take=take))
    try:
        gradients = _taken(subject, subject.weights, take)
    except GradientError as error:
        return always.raised(subject, error, path)
    fault = always.form(subject, gradients)
    if fault is not None:
        return faulty(fault.kind, fault.evidence, path)
    return Comparison(subject, REVERSE, way, path).examine(at)


def _product(subject: Subject, *, take: Take) -> Product:
    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        return inner(tangents, real_views(_taken(subject, weights, take)))

    return product


def _taken(subject: Subject, weights: Array, take: Take) -> Gradients:
    # A gradient function is code under test: whatever it raises is the finding.
    try:
        found = take(subject.program, subject.primals, subject.linearisation.split(weights))
        return [None if g is None else tf.convert_to_tensor(g).numpy() for g in found]
    except Exception as raised:
        raise GradientError(type(raised).__name__) from raised


def _once(program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array]) -> list[Any]:
    """Take the gradient from a tape that is gone afterwards."""
    return list(linearise(program, primals).vjp(cotangents))


def _of_each(program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array]) -> list[Any]:
    """Take the gradient of each leaf by itself, the others not watched."""
    return [_alone(program, primals, cotangents, leaf) for leaf in range(len(primals))]


def _alone(
    program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array], leaf: int
) -> Any:
    sources = feed(program, primals)
    with tf.GradientTape() as tape:
        tape.watch(sources[leaf])
        outputs = program.run(sources)
    return _pull(tape, outputs, [sources[leaf]], cotangents)[0]


def _zeros(program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array]) -> list[Any]:
    """Ask for zeros where there is no connection."""
    sources = feed(program, primals)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = program.run(sources)
    return _pull(tape, outputs, sources, cotangents, tf.UnconnectedGradients.ZERO)


def _of_variables(
    program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array], *, watch: bool
) -> list[Any]:
    """Take the gradient of variables: of all that are read if `watch`, or of those asked for."""
    sources = [tf.Variable(tensor) for tensor in feed(program, primals)]
    with tf.GradientTape(watch_accessed_variables=watch) as tape:
        if not watch:
            tape.watch(sources)
        outputs = program.run([tf.convert_to_tensor(source) for source in sources])
    return _pull(tape, outputs, sources, cotangents)


def _recomputed(
    program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array]
) -> list[Any]:
    """Run the forward pass again on the way back."""
    run = tf.recompute_grad(lambda *sources: program.run(list(sources)))
    sources = feed(program, primals)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = run(*sources)
    return _pull(tape, outputs, sources, cotangents)


def _wrapped(program: Runnable, primals: Sequence[Array], cotangents: Sequence[Array]) -> list[Any]:
    """Put every leaf and output through an identity with a gradient of its own."""
    sources = feed(program, primals)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = [_identity(y) for y in program.run([_identity(x) for x in sources])]
    return _pull(tape, outputs, sources, cotangents)


@tf.custom_gradient  # type: ignore[untyped-decorator]  # TensorFlow ships no types
def _identity(tensor: Tensor) -> Any:
    return tf.identity(tensor), lambda cotangent: cotangent


def _pull(
    tape: Any,
    outputs: Sequence[Tensor],
    sources: Sequence[Any],
    cotangents: Sequence[Array],
    unconnected: Any = tf.UnconnectedGradients.NONE,
) -> list[Any]:
    seeds = seeds_of(cotangents, outputs)
    found = tape.gradient(
        list(outputs), list(sources), output_gradients=seeds, unconnected_gradients=unconnected
    )
    return list(found)


# By the path that buckets name.
WAYS: dict[str, Take] = {
    "once": _once,
    "subset": _of_each,
    "zeros": _zeros,
    "accessed": partial(_of_variables, watch=True),
    "watched": partial(_of_variables, watch=False),
    "recomputed": _recomputed,
    "wrapped": _wrapped,
}
