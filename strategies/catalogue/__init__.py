"""Every op that may appear in a graph: one file a family."""

from gradfuzz.strategies.catalogue import (
    complexes,
    declared,
    elementwise,
    gathers,
    handles,
    image,
    keras_functions,
    keras_layers,
    linalg,
    moves,
    nn,
    public_image,
    public_math,
    public_nn,
    public_numpy,
    reductions,
    segments,
    sparse,
    special,
)
from gradfuzz.strategies.catalogue.excluded import EXCLUDED, EXCLUDED_FUNCTIONS
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
        *public_math.OPS,
        *public_nn.OPS,
        *public_image.OPS,
        *public_numpy.OPS,
        *keras_functions.OPS,
        *keras_layers.OPS,
        *handles.OPS,
        *declared.OPS,
    ),
    EXCLUDED,
    EXCLUDED_FUNCTIONS,
)
