"""Every op that may appear in a graph: one file a family."""

from gradfuzz.strategies.catalogue import (
    complexes,
    declared,
    elementwise,
    gathers,
    handles,
    image,
    linalg,
    moves,
    nn,
    reductions,
    segments,
    sparse,
    special,
)
from gradfuzz.strategies.catalogue.excluded import EXCLUDED
from gradfuzz.strategies.graphs import Catalogue

CATALOGUE = Catalogue(
    (
        *elementwise.OPS,
        *special.OPS,
        *reductions.OPS,
        *moves.OPS,
        *gathers.OPS,
        *segments.OPS,
        *sparse.OPS,
        *linalg.OPS,
        *nn.OPS,
        *image.OPS,
        *complexes.OPS,
        *handles.OPS,
        *declared.OPS,
    ),
    EXCLUDED,
)
