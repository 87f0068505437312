"""Single elements of the leaves of a graph, and the tangents that move them."""

from collections.abc import Sequence

import numpy as np

from gradfuzz.graph import Array

# A leaf of a graph and the position of an element in it, flattened.
Place = tuple[int, int]


def places(primals: Sequence[Array]) -> list[Place]:
    """Return every element of every leaf."""
    return [(leaf, element) for leaf, x in enumerate(primals) for element in range(x.size)]


def only(tangents: Sequence[Array], group: Sequence[Place]) -> list[Array]:
    """Return the tangents with all elements but those of `group` at rest."""
    found = [np.zeros_like(tangent) for tangent in tangents]
    for leaf, element in group:
        found[leaf].flat[element] = tangents[leaf].flat[element]
    return found


def unflatten(flat: Array, primals: Sequence[Array]) -> list[Array]:
    """Return one array for each leaf of all their elements in a row."""
    ends = np.cumsum([x.size for x in primals])[:-1]
    parts = np.split(flat, ends)
    return [part.reshape(x.shape) for part, x in zip(parts, primals, strict=True)]


def flat(tangents: Sequence[Array]) -> Array:
    """Return all elements of all leaves in a row."""
    return np.concatenate([np.ravel(tangent) for tangent in tangents])


def along(primals: Sequence[Array], place: Place, unit: float) -> list[Array]:
    """Return the tangents that move one element by `unit`."""
    found = [np.zeros(x.shape) for x in primals]
    found[place[0]].flat[place[1]] = unit
    return found
