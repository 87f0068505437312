"""Ops that fold elements along axes: reductions and cumulative sums."""

from gradfuzz.strategies.arguments import FLAG, AxisAfter, Real
from gradfuzz.strategies.domains import DISTINCT
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.size_arguments import EitherInt, SomeAxes

AXES = EitherInt(SomeAxes("*s *t"))
AXIS = EitherInt(AxisAfter("l", before="r", array=True))

OPS: tuple[Entry, ...] = (
    # Along any axes, in any order.
    op("Sum", input=Real("*s *t"), axis=AXES, keep_dims=FLAG),
    op("Mean", input=Real("*s *t"), axis=AXES, keep_dims=FLAG),
    op("Prod", input=Real("*s *t"), axis=AXES, keep_dims=FLAG),
    op("Max", input=Real("*s *t", DISTINCT), axis=AXES, keep_dims=FLAG),
    op("Min", input=Real("*s *t", DISTINCT), axis=AXES, keep_dims=FLAG),
    op("EuclideanNorm", input=Real("*s *t"), axis=AXES, keep_dims=FLAG),
    op("tf.math.reduce_logsumexp", input_tensor=Real("*s *t"), axis=AXES, keepdims=FLAG),
    op("tf.math.reduce_std", input_tensor=Real("*s *t"), axis=AXES, keepdims=FLAG),
    op("tf.math.reduce_variance", input_tensor=Real("*s *t"), axis=AXES, keepdims=FLAG),
    # Along one axis, a scalar.
    op("Sum", input=Real("*l n *r"), axis=AXIS, keep_dims=FLAG),
    op("Mean", input=Real("*l n *r"), axis=AXIS, keep_dims=FLAG),
    op("Prod", input=Real("*l n *r"), axis=AXIS, keep_dims=FLAG),
    op("Max", input=Real("*l n *r", DISTINCT), axis=AXIS, keep_dims=FLAG),
    op("Min", input=Real("*l n *r", DISTINCT), axis=AXIS, keep_dims=FLAG),
    op("EuclideanNorm", input=Real("*l n *r"), axis=AXIS, keep_dims=FLAG),
    # Cumulative.
    op("Cumsum", x=Real("*l n *r"), axis=AXIS, exclusive=FLAG, reverse=FLAG),
    op("Cumprod", x=Real("*l n *r"), axis=AXIS, exclusive=FLAG, reverse=FLAG),
    op("CumulativeLogsumexp", x=Real("*l n *r"), axis=AXIS, exclusive=FLAG, reverse=FLAG),
)
