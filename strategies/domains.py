"""Domains: where an op is defined and smooth, and the special values on the edge of that.

A domain restricts the values of one argument and has two sides.

The *interior*.  `inside` maps an array of plain elements to a leaf inside.  `lift` carries
any tensor inside by ops recorded in the graph, so that a restricted op can follow any other
and no difference step can leave the domain; the case file replays with no help from here.

The *edge*.  `edges` are exact values at which bugs live: a zero in a product, the origin of
a norm, the far tails.  They are drawn in the edge mode only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradfuzz.graph import Array, Ref
from gradfuzz.strategies.builder import Builder

Inside = Callable[[Array], Array]
Lift = Callable[[Builder, Ref], Ref]

TAILS = (20.0, -20.0, 40.0, -40.0, 100.0, -100.0, 700.0, -700.0)


@dataclass(frozen=True)
class Domain:
    """A named set of real tensors.

    `thin` says that even a new leaf must be lifted: a difference step on one element of a
    symmetric matrix would leave the set.  Not so on a real matrix of one element.
    """

    name: str
    inside: Inside | None = None
    lift: Lift | None = None
    edges: tuple[float, ...] = (0.0, 1.0, -1.0)
    thin: bool = False

    def __repr__(self) -> str:
        return self.name


def above(low: float) -> Lift:
    """Return a lift of any elements to above `low`."""

    def lift(graph: Builder, x: Ref) -> Ref:
        positive = graph.call("Softplus", features=x)
        return graph.call("AddV2", x=positive, y=_scalar(graph, x, low))

    return lift


def between(low: float, high: float) -> Lift:
    """Return a lift of any elements to between two bounds."""

    def lift(graph: Builder, x: Ref) -> Ref:
        scaled = graph.call("Mul", x=graph.call("Sigmoid", x=x), y=_scalar(graph, x, high - low))
        return graph.call("AddV2", x=scaled, y=_scalar(graph, x, low))

    return lift


def _scalar(graph: Builder, like: Ref, value: float) -> Array:
    return np.array(value, graph.dtype(like))


def gram_plus_identity(graph: Builder, x: Ref) -> Ref:
    """Carry any square matrices to positive definite ones: X Xᴴ + I."""
    gram = graph.call("BatchMatMulV2", x=x, y=x, adj_x=False, adj_y=True)
    return graph.call("AddV2", x=gram, y=eye(graph, x))


def _plus_transpose(graph: Builder, x: Ref) -> Ref:
    rank = len(graph.shape(x))
    perm = np.array([*range(rank - 2), rank - 1, rank - 2], np.int32)
    return graph.call("AddV2", x=x, y=graph.call("Transpose", x=x, perm=perm))


def _distinct_spectrum(graph: Builder, x: Ref) -> Ref:
    symmetric = _plus_transpose(graph, graph.call("Tanh", x=x))
    size = graph.shape(x)[-1]
    apart = 8 * size * np.arange(1, size + 1, dtype=graph.dtype(x))
    return graph.call("AddV2", x=symmetric, y=apart * eye(graph, x))


def _dominant_diagonal(graph: Builder, x: Ref) -> Ref:
    bounded = graph.call("Tanh", x=x)
    size = graph.shape(x)[-1]
    return graph.call("AddV2", x=bounded, y=(size + 1) * eye(graph, x))


def eye(graph: Builder, x: Ref) -> Array:
    """Return ones on the main diagonal of what may be a rectangular matrix, in the dtype of x."""
    rows, columns = graph.shape(x)[-2:]
    ones: Array = np.eye(rows, columns, dtype=graph.dtype(x))
    return ones


def _dominant_rectangle(graph: Builder, x: Ref) -> Ref:
    """Carry any elements between 1 and 3, so that none is 0, and outweigh them on the diagonal."""
    bounded = graph.call("Tanh", x=x)
    return graph.call("AddV2", x=bounded, y=2 + 3 * max(graph.shape(x)[-2:]) * eye(graph, x))


def _separated_rectangle(graph: Builder, x: Ref) -> Ref:
    values = separated_diagonal(graph.shape(x)).astype(graph.dtype(x))
    return graph.call("AddV2", x=graph.call("Tanh", x=x), y=values)


def _heavy_row(row: int) -> Lift:
    """Carry any bands to those of a matrix whose diagonal, at `row` of them, dominates."""

    def lift(graph: Builder, x: Ref) -> Ref:
        bands = graph.shape(x)[-2]
        weight = np.zeros((bands, 1), graph.dtype(x))
        weight[row] = bands + 1
        return graph.call("AddV2", x=graph.call("Tanh", x=x), y=weight)

    return lift


def _one_for_zero(x: Array) -> Array:
    return np.where(x == 0, 1.0, x)


def positive(x: Array) -> Array:
    """Take magnitudes, and 1 for 0."""
    return np.abs(_one_for_zero(x))


def squeezed(x: Array) -> Array:
    """Map any element into [-7/8, 7/8], short ones to short ones."""
    return np.clip(x, -2, 2) * (7 / 16)


def plus_diagonal(x: Array) -> Array:
    """Make the diagonal dominate, whatever the magnitudes."""
    size = x.shape[-1]
    heaviest = np.abs(x).sum(axis=-1, keepdims=True, initial=0).max(initial=0)
    dominant: Array = x + np.eye(size) * (np.ceil(heaviest) + 1)
    return dominant


def _ranks(x: Array) -> Array:
    """Replace elements by their ranks, so that no two are equal or close."""
    order = x.ravel().argsort(kind="stable").argsort()
    return order.reshape(x.shape).astype(np.float64)


def plus_rectangle(x: Array) -> Array:
    """Make the main diagonal dominate rows and columns, so that the rank is full.

    No element is 0: under the diagonal the signs of a QR decomposition jump there.
    """
    filled = _one_for_zero(x)
    heaviest = max(np.abs(filled).sum(axis=axis).max(initial=0) for axis in (-1, -2))
    dominant: Array = filled + np.eye(*x.shape[-2:]) * (np.ceil(heaviest) + 1)
    return dominant


def separated_diagonal(shape: tuple[int, ...]) -> Array:
    """Return a diagonal whose elements are far apart, beside elements of at most 1."""
    rows, columns = shape[-2:]
    return np.eye(rows, columns) * (8.0 * max(rows, columns) * np.arange(1, columns + 1))


def _plus_row(row: int) -> Inside:
    """Make one row of an array of bands dominate the others."""

    def inside(x: Array) -> Array:
        heavier = x.copy()
        heavier[..., row, :] += np.ceil(np.abs(x).sum(axis=-2).max(initial=0)) + 1
        return heavier

    return inside


def _off_grid(x: Array) -> Array:
    """Move any element to 1/8 or more from each multiple of 1/2, without leaving its cell."""
    cell: Array = np.floor(2 * x)
    moved: Array = (cell + 0.25 + (2 * x - cell) / 2) / 2
    return moved


def _whole(x: Array) -> Array:
    """Round away from zero, and zero to 1."""
    return np.sign(_one_for_zero(x)) * np.ceil(np.abs(_one_for_zero(x)))


def _fractions(x: Array) -> Array:
    """Replace elements by different fractions in [0, 1/2)."""
    return _ranks(x) / (2 * max(1, x.size))


def _shades(x: Array) -> Array:
    """Replace elements by different fractions in (0, 1), with a power of 2 below them."""
    shades: Array = (_ranks(x) + 1) / 2.0 ** (x.size + 1).bit_length()
    return shades


def _powers(x: Array) -> Array:
    """Replace the elements of each last axis by different powers of 8.

    Means of different sets of them differ: their digits in base 8 do.
    """
    return 8.0 ** x.argsort(axis=-1, kind="stable").argsort(axis=-1)


def _boxes(x: Array) -> Array:
    """Map any elements to corners in (0, 1) at which no sample of a small image hits a pixel."""
    return 0.5 + squeezed(x) / 2 + 1 / np.array([37.0, 41.0, 43.0, 47.0])


ANY = Domain("ANY", edges=(0.0, 1.0, -1.0, 0.0, *TAILS))
NONZERO = Domain("NONZERO", inside=_one_for_zero, edges=(0.0, *TAILS))
DISTINCT = Domain("DISTINCT", inside=_ranks)
POSITIVE = Domain("POSITIVE", inside=positive, lift=above(0.125), edges=(0.0, 1.0, 1e-8, 1e3))
ABOVE_ONE = Domain(
    "ABOVE_ONE", inside=lambda x: 1 + positive(x), lift=above(1.125), edges=(1.0, 2.0, 40.0)
)
UNIT = Domain(
    "UNIT",
    inside=lambda x: 0.5 + squeezed(x) / 2,
    lift=between(0.0625, 0.9375),
    edges=(0.0, 1.0, 0.5, 1e-10),
)
INSIDE_ONE = Domain(
    "INSIDE_ONE", inside=squeezed, lift=between(-0.875, 0.875), edges=(0.0, 1.0, -1.0)
)
SPD = Domain("SPD", inside=positive, lift=gram_plus_identity, thin=True)
SYMMETRIC = Domain("SYMMETRIC", lift=_distinct_spectrum, thin=True)
INVERTIBLE = Domain("INVERTIBLE", inside=plus_diagonal, lift=_dominant_diagonal)

# Domains of one element.
ABOVE_MINUS_ONE = Domain(
    "ABOVE_MINUS_ONE",
    inside=lambda x: positive(x) - 0.9375,
    lift=above(-0.9375),
    edges=(0.0, -1.0, 1e-10, -1e-10, 1e3),
)
OFF_SATURATION = Domain(
    "OFF_SATURATION",
    inside=lambda x: np.where(x == 6, 5.0, _one_for_zero(x)),
    edges=(0.0, 6.0, *TAILS),
)
OFF_GRID = Domain("OFF_GRID", inside=_off_grid, edges=(0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5))
# Not far out: there, what the gamma function's derivatives cost grows with the distance.
BETWEEN_POLES = Domain(
    "BETWEEN_POLES",
    inside=lambda x: _off_grid(np.clip(x, -64, 64)),
    edges=(0.0, -1.0, -2.0, 0.5, -0.5, -2.5),
)
WHOLE = Domain("WHOLE", inside=_whole, edges=(0.0, 1.0, -1.0, 0.5))

# The second of two arguments that may not tie: sixteenths, where the first has eighths.
BESIDE = Domain("BESIDE", inside=lambda x: x + 0.0625)

# Bounds, and what they clip, which only ties with them on an edge.
LOWER_BOUND = Domain("LOWER_BOUND", inside=lambda x: -np.abs(x) - 0.0625)
UPPER_BOUND = Domain("UPPER_BOUND", inside=lambda x: np.abs(x) + 0.0625)
NEAR_BOUNDS = Domain("NEAR_BOUNDS", edges=(0.0625, -0.0625, 1.0625, -1.0625, 0.0, *TAILS))

# Domains of elements that may not tie, not even in sums.
FRACTIONS = Domain("FRACTIONS", inside=_fractions)
POWERS = Domain("POWERS", inside=_powers)
SHADES = Domain("SHADES", inside=_shades, edges=(0.0, 1.0, 0.5))
BOXES = Domain("BOXES", inside=_boxes, edges=(0.0, 1.0, 0.5, -0.5, 2.0))

# Matrices: of full rank, with well separated singular values, and stored as bands.
FULL_RANK = Domain("FULL_RANK", inside=plus_rectangle, lift=_dominant_rectangle)
SEPARATED = Domain(
    "SEPARATED",
    inside=lambda x: np.clip(x, -1, 1) + separated_diagonal(x.shape),
    lift=_separated_rectangle,
)
TRIDIAGONAL = Domain("TRIDIAGONAL", inside=_plus_row(1), lift=_heavy_row(1))
LOWER_BANDS = Domain("LOWER_BANDS", inside=_plus_row(0), lift=_heavy_row(0))
UPPER_BANDS = Domain("UPPER_BANDS", inside=_plus_row(-1), lift=_heavy_row(-1))
