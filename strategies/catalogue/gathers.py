"""Ops that read or write at positions: gather, scatter, stitch, partition."""

from hypothesis import strategies as st

from gradfuzz.strategies.arguments import AxisAfter, Drawn, Integers, OneOf, Real, const
from gradfuzz.strategies.domains import DISTINCT
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.index_arguments import (
    DISTINCT_LESS_HALF,
    Points,
    Positions,
    StitchData,
    StitchIndices,
)
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.size_arguments import EitherInt, NewShape, axis_between

AXIS = EitherInt(AxisAfter("l", before="r", array=True))

# Points into the leading axes of a tensor of this pattern.  What stands at each has axes *r.
TENSOR = "n *s *r"
POINTS = EitherInt(Points("k *t", of="n *s", within=TENSOR))
POINTS_BEYOND = EitherInt(Points("k *t", of="n *s", within=TENSOR, beyond=1))
SAME_INT = Points("k *t", of="n *s", within=TENSOR)
SAME_LONG = Points("k *t", of="n *s", within=TENSOR, dtype="int64")
UPDATES = Real("k *t *r", DISTINCT_LESS_HALF)
IGNORE = const("IGNORE")


def _batch_dims(dims: Dims) -> st.SearchStrategy[int]:
    """Count the leading axes of the indices *b *t from either end."""
    batch, rest = len(dims.runs["b"]), len(dims.runs["t"])
    return st.sampled_from((batch, -rest) if rest else (batch,))


OPS: tuple[Entry, ...] = (
    # Along one axis.
    op("Gather", params=Real("n *r"), indices=EitherInt(Positions("*t", below="n"))),
    op(
        "GatherV2", params=Real("*l n *r"), indices=EitherInt(Positions("*t", below="n")), axis=AXIS
    ),
    op(
        "GatherV2",
        params=Real("*b *l n *r"),
        indices=EitherInt(Positions("*b *t", below="n")),
        axis=axis_between("*b *l", "*r"),
        batch_dims=Drawn(_batch_dims),
    ),
    # At points: reading.
    op("GatherNd", params=Real(TENSOR), indices=EitherInt(Points("*t", of="n *s", within=TENSOR))),
    op("GatherNd", params=Real("n *r"), indices=Points("*t", of="", within="n *r")),
    op(
        "GatherNd",
        params=Real(TENSOR),
        indices=EitherInt(Points("*t", of="n *s", within=TENSOR, beyond=1)),
        bad_indices_policy=IGNORE,
    ),
    # At points: writing, where several may write to one place.
    op("ScatterNd", shape=NewShape(TENSOR), indices=SAME_INT, updates=Real("k *t *r")),
    op("ScatterNd", shape=NewShape(TENSOR, "int64"), indices=SAME_LONG, updates=Real("k *t *r")),
    op("ScatterNdNonAliasingAdd", input=Real(TENSOR), indices=POINTS, updates=Real("k *t *r")),
    op("TensorScatterAdd", tensor=Real(TENSOR), indices=POINTS, updates=Real("k *t *r")),
    op("TensorScatterSub", tensor=Real(TENSOR), indices=POINTS, updates=Real("k *t *r")),
    op("TensorScatterUpdate", tensor=Real(TENSOR), indices=POINTS, updates=Real("k *t *r")),
    op("TensorScatterMin", tensor=Real(TENSOR, DISTINCT), indices=POINTS, updates=UPDATES),
    op("TensorScatterMax", tensor=Real(TENSOR, DISTINCT), indices=POINTS, updates=UPDATES),
    # At points beyond the edge, to be ignored.
    op(
        "ScatterNd",
        shape=NewShape(TENSOR),
        indices=Points("k *t", of="n *s", within=TENSOR, beyond=1),
        updates=Real("k *t *r"),
        bad_indices_policy=IGNORE,
    ),
    *(
        op(
            name,
            tensor=Real(TENSOR),
            indices=POINTS_BEYOND,
            updates=Real("k *t *r"),
            bad_indices_policy=IGNORE,
        )
        for name in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate")
    ),
    # Into one tensor and out of it.
    op("DynamicStitch", indices=StitchIndices(), data=StitchData("*r")),
    op("ParallelDynamicStitch", indices=StitchIndices(), data=StitchData("*r")),
    op(
        "DynamicPartition",
        data=Real("*s *r"),
        partitions=Integers("*s", 0, 2),
        num_partitions=OneOf((3, 4)),
    ),
)
