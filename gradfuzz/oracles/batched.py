"""Jacobians, and graphs over a batch of points, by `pfor` and one by one."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gradfuzz.analytic import GradientError, Gradients, real_views
from gradfuzz.batched import has_batch, jacobian, mapped
from gradfuzz.errors import ForwardError
from gradfuzz.finding import AGREED, Outcome, gap, inconclusive
from gradfuzz.graph import Array
from gradfuzz.numeric.line import flatten
from gradfuzz.oracles import always
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.outputs import compare_outputs
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import REVERSE, Answer, Product, Way, inner
from gradfuzz.registry import is_random
from gradfuzz.subject import Subject

NAME = "batched"

# What is to blame where there is nothing in the batch: not the op.
BATCH_JACOBIAN = "tf.GradientTape.batch_jacobian"

# A Jacobian of more elements is not taken.
LARGEST = 2**16
# The points of a batch: the subject's own between two others, in units of its elements.
FACTORS = (1 - 2.0**-6, 1.0, 1 + 2.0**-6)
OWN = 1


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare Jacobians, batch Jacobians and mapped gradients with VJPs taken one by one."""
    if subject.outputs.size * sum(x.size for x in subject.primals) > LARGEST:
        return inconclusive("too large a Jacobian")
    first: Outcome = AGREED
    for outcome in _outcomes(subject, at):
        if outcome.fault is not None:
            return outcome
        first = outcome if first is AGREED else first
    return first


def _outcomes(subject: Subject, at: Place | None) -> Iterator[Outcome]:
    # A Jacobian of complex numbers is of no real function: it takes every output by 1 alone.
    if not subject.has_complex:
        yield from _jacobians(subject, at)
    yield _mapped(subject.renewed(), at)


def _jacobians(subject: Subject, at: Place | None) -> Iterator[Outcome]:
    yield Comparison(subject.renewed(), REVERSE, JACOBIAN, "jacobian").examine(at)
    shapes = [tuple(y.shape) for y in subject.linearisation.outputs]
    if any(has_batch(y, x.shape) for y in shapes for x in subject.primals):
        yield _batch(subject.renewed(), at)


def _batch(subject: Subject, at: Place | None) -> Outcome:
    outcome = Comparison(subject, BATCH_LOOP, BATCH, "batch-jacobian").examine(at)
    fault = outcome.fault
    if fault is None or "raises" not in fault.kind or not _has_empty_batch(subject):
        return outcome
    return replace(outcome, fault=replace(fault, culprit=BATCH_JACOBIAN))


def _has_empty_batch(subject: Subject) -> bool:
    shapes = [tuple(y.shape) for y in subject.linearisation.outputs]
    return any(has_batch(y, x.shape) and 0 in (*y, x.size) for y in shapes for x in subject.primals)


def _mapped(subject: Subject, at: Place | None) -> Outcome:
    calls = subject.computation.graph.calls if subject.has_graph else ()
    if any(is_random(call.op) or "seed" in call.args for _, call in calls):
        return inconclusive("a random op draws anew for each point of a batch")
    try:
        outputs, _ = _at_own(subject, subject.weights)
    except GradientError as error:
        return always.raised(subject, error, "map")
    except ForwardError as error:
        return gap(str(error))
    fault = compare_outputs(subject, flatten(outputs), "map", "by vectorized_map")
    return fault or Comparison(subject, REVERSE, MAPPED, "map").examine(at)


def _at_own(subject: Subject, weights: Array) -> tuple[list[Array], Gradients]:
    """Return the outputs and gradients of the subject's own point, from a batch of several."""
    batch = [np.stack([_scaled(x, factor) for factor in FACTORS]) for x in subject.primals]
    outputs, gradients = mapped(subject.program, batch, subject.linearisation.split(weights))
    return [y[OWN] for y in outputs], [None if g is None else g[OWN] for g in gradients]


def _scaled(primal: Array, factor: float) -> Array:
    return (primal * factor).astype(primal.dtype)


def _jacobian(subject: Subject) -> Product:
    rows = jacobian(subject.program, subject.primals, pfor=True)
    shapes = [x.shape for x in subject.primals]

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        pairs = list(zip(subject.linearisation.split(weights), rows, strict=True))
        by_leaf = [_pull(pairs, leaf, shape) for leaf, shape in enumerate(shapes)]
        return inner(tangents, by_leaf)

    return product


def _pull(
    pairs: Sequence[tuple[Array, Gradients]], leaf: int, shape: tuple[int, ...]
) -> Array | None:
    """Return the cotangents times the Jacobians of one leaf, None where all of these are None."""
    found: Array | None = None
    for cotangent, row in pairs:
        block = row[leaf]
        if block is not None:
            chosen = cotangent.ravel() != 0
            flat = block.reshape(cotangent.size, math.prod(shape))[chosen]
            pulled = (cotangent.ravel()[chosen] @ flat.astype(np.float64)).reshape(shape)
            found = pulled if found is None else found + pulled
    return found


def _batch_jacobian(subject: Subject, *, pfor: bool) -> Product:
    """Return the product with the blocks that pair each point of the batch with itself."""
    rows = jacobian(subject.program, subject.primals, pfor=pfor, batch=True)

    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        cotangents = subject.linearisation.split(weights)
        found = [
            _times(u, block, v)
            for u, row in zip(cotangents, rows, strict=True)
            for v, block in zip(tangents, row, strict=True)
            if block is not None
        ]
        return Answer(sum(a.value for a in found), sum(a.size for a in found))

    return product


def _times(cotangent: Array, block: Array, tangent: Array) -> Answer:
    count = len(cotangent)
    u = cotangent.reshape(count, math.prod(cotangent.shape[1:]), 1)
    v = tangent.reshape(count, 1, math.prod(tangent.shape[1:]))
    pairs = np.broadcast_to(u * v, (count, u.shape[1], v.shape[2]))
    return inner([pairs], [block.reshape(pairs.shape)])


def _map(subject: Subject) -> Product:
    def product(tangents: Sequence[Array], weights: Array) -> Answer:
        return inner(tangents, real_views(_at_own(subject, weights)[1]))

    return product


JACOBIAN = Way("jacobian by pfor", _jacobian)
BATCH = Way("batch_jacobian by pfor", partial(_batch_jacobian, pfor=True))
BATCH_LOOP = Way("batch_jacobian in a loop", partial(_batch_jacobian, pfor=False))
MAPPED = Way("vectorized_map", _map)
