"""Domains of complex numbers: off the branch cuts and away from the poles of functions.

They work as those of real numbers do; edges are values of either part.
"""

import numpy as np

from gradfuzz.graph import Array, Ref
from gradfuzz.strategies.builder import Builder
from gradfuzz.strategies.domains import (
    Domain,
    Lift,
    above,
    between,
    eye,
    gram_plus_identity,
    plus_diagonal,
    plus_rectangle,
    positive,
    separated_diagonal,
    squeezed,
)


def _parts(real: Lift | None, imag: Lift | None) -> Lift:
    """Carry any complex tensor to one whose parts each lift carries inside; None keeps a part."""

    def lift(graph: Builder, x: Ref) -> Ref:
        ops = (("Real", real), ("Imag", imag))
        parts = [graph.call(op, input=x, Tout="float64") for op, _ in ops]
        lifted = [
            part if carry is None else carry(graph, part)
            for part, (_, carry) in zip(parts, ops, strict=True)
        ]
        return graph.call("Complex", real=lifted[0], imag=lifted[1], Tout="complex128")

    return lift


def _bounded(graph: Builder, x: Ref) -> Ref:
    return graph.call("Tanh", x=x)


_in_unit_square = _parts(_bounded, _bounded)


def _plus_on_diagonal(weight: int) -> Lift:
    """Carry any complex matrices to ones whose diagonal dominates."""

    def lift(graph: Builder, x: Ref) -> Ref:
        largest = max(graph.shape(x)[-2:])
        diagonal = (1 + weight * largest) * eye(graph, x)
        return graph.call("AddV2", x=_in_unit_square(graph, x), y=diagonal)

    return lift


def _hermitian_spectrum(graph: Builder, x: Ref) -> Ref:
    bounded = _in_unit_square(graph, x)
    rank = len(graph.shape(x))
    perm = np.array([*range(rank - 2), rank - 1, rank - 2], np.int32)
    adjoint = graph.call("ConjugateTranspose", x=bounded, perm=perm)
    values = separated_diagonal(graph.shape(x)).astype(graph.dtype(x))
    return graph.call("AddV2", x=graph.call("AddV2", x=bounded, y=adjoint), y=values)


def _apart(graph: Builder, x: Ref) -> Ref:
    values = separated_diagonal(graph.shape(x)).astype(graph.dtype(x))
    return graph.call("AddV2", x=_in_unit_square(graph, x), y=values)


def _clipped(x: Array) -> Array:
    """Clip either part to [-1, 1]."""
    clipped: Array = np.clip(x.real, -1, 1) + 1j * np.clip(x.imag, -1, 1)
    return clipped


# Domains of complex numbers, off the branch cuts and away from the poles of the functions.
OFF_NEGATIVE = Domain(
    "OFF_NEGATIVE",
    inside=lambda x: positive(x.real) + 1j * x.imag,
    lift=_parts(above(0.125), None),
    edges=(0.0, 1.0, -1.0, 1e-8, 1e3),
)
RIGHT_OF_ONE = Domain(
    "RIGHT_OF_ONE",
    inside=lambda x: 1 + positive(x.real) + 1j * x.imag,
    lift=_parts(above(1.125), None),
)
WITHIN_ONE = Domain(
    "WITHIN_ONE",
    inside=lambda x: squeezed(x.real) + 1j * squeezed(x.imag),
    lift=_parts(between(-0.875, 0.875), between(-0.875, 0.875)),
)
# Complex matrices.
HERMITIAN = Domain("HERMITIAN", lift=_hermitian_spectrum, thin=True)
HERMITIAN_POSITIVE = Domain("HERMITIAN_POSITIVE", lift=gram_plus_identity, thin=True)
DOMINANT = Domain("DOMINANT", inside=plus_diagonal, lift=_plus_on_diagonal(2))
FULL = Domain("FULL", inside=plus_rectangle, lift=_plus_on_diagonal(3))
APART = Domain("APART", inside=lambda x: _clipped(x) + separated_diagonal(x.shape), lift=_apart)
