"""Modes: what kind of sizes and values a whole case is made of.

A mode is drawn once a case.  Most bugs show on short decimals; the others live on exact
special values, at extreme magnitudes or where every bit of the value counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.shapes import Shape, Sides

# Eighths in [-2, 2]: exact in float16 and up, short to print; shrinks to 0.
SHORT = st.integers(-16, 16).map(lambda k: k / 8)

# Every bit counts; shrinks to 1.
IRREGULAR = st.builds(
    lambda sign, size: sign * size, st.sampled_from((1, -1)), st.floats(2**-10, 4)
)

# One digit and a power of ten between 1e-8 and 1e8; shrinks to 1.
MAGNITUDES = st.builds(
    lambda sign, digit, power: sign * float(f"{digit}e{power}"),
    st.sampled_from((1, -1)),
    st.integers(1, 9),
    st.integers(-8, 8),
)

# On edges half of the elements take few different values, so that two are often equal.
TIES = (0.0, 1.0, -1.0, 2.0)
EIGHTHS = tuple(sorted((k / 8 for k in range(-16, 17)), key=lambda x: (abs(x), -x)))
EDGE_ELEMENTS = (*EIGHTHS, *TIES * 8)

# Sizes shrink to 1.
SMALL_SIDES = st.sampled_from((1, 2, 3, 4))
SIDES_WITH_EMPTY = st.sampled_from((1, 2, 3, 4, 2, 1, 3, 2, 3, 1, 2, 0))


class Elements(Enum):
    """What a new leaf holds on edges: elements inside, edges among others, or one edge only."""

    INSIDE = 0
    MIXED = 1
    SAME = 2


@dataclass(frozen=True)
class Mode:
    """How the elements of a new leaf and the sizes of its axes are drawn.

    `edges` says that arguments may leave the interior of their domain for the exact special
    values on its edge.
    """

    name: str
    elements: st.SearchStrategy[float]
    sides: Sides = SMALL_SIDES
    edges: bool = False

    def __repr__(self) -> str:
        return self.name

    def array(self, draw: st.DrawFn, shape: Shape, dtype: str = "float64") -> Array:
        """Draw an array.  Shrinks towards zeros (ones for magnitudes)."""
        return draw_array(draw, shape, self.elements, dtype)

    def edge_array(
        self,
        draw: st.DrawFn,
        shape: Shape,
        edges: Sequence[float],
        elements: Elements,
        dtype: str = "float64",
    ) -> Array:
        """Draw an array with `edges` among its elements, or one of them everywhere.

        Of a complex array these are the edges of either part.
        """
        if elements is Elements.SAME:
            return np.full(shape, draw(as_dtype(st.sampled_from(edges), dtype)), dtype)
        as_many = tuple(edges) * (len(EDGE_ELEMENTS) // len(edges))
        return draw_array(draw, shape, st.sampled_from((*EDGE_ELEMENTS, *as_many)), dtype)


def draw_array(
    draw: st.DrawFn, shape: Shape, elements: st.SearchStrategy[float], dtype: str = "float64"
) -> Array:
    """Draw an array element by element, so that each shrinks on its own."""
    size = int(np.prod(shape, dtype=int))
    numbers = as_dtype(elements, dtype)
    return np.array([draw(numbers) for _ in range(size)], dtype).reshape(shape)


def as_dtype(elements: st.SearchStrategy[float], dtype: str) -> st.SearchStrategy[Any]:
    """Return a strategy of numbers whose parts, one or two, are drawn from `elements`."""
    return st.builds(complex, elements, elements) if np.dtype(dtype).kind == "c" else elements


PLAIN_MODE = Mode("plain", SHORT)
EDGE_MODE = Mode("edges", st.sampled_from(EDGE_ELEMENTS), SIDES_WITH_EMPTY, edges=True)
IRREGULAR_MODE = Mode("irregular", IRREGULAR)
MAGNITUDE_MODE = Mode("magnitudes", MAGNITUDES)

# Half of the cases stand on edges, where most bugs are; shrinks to plain.
MODES: st.SearchStrategy[Mode] = st.sampled_from(
    (PLAIN_MODE, EDGE_MODE, IRREGULAR_MODE, EDGE_MODE, MAGNITUDE_MODE, EDGE_MODE)
)
