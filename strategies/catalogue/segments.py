"""Ops that fold the elements of a segment; some segments are empty."""

from typing import Any

from gradfuzz.strategies.arguments import FLAG, Real, SortedIds
from gradfuzz.strategies.domains import DISTINCT
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.index_arguments import Positions, SegmentIds, SortedPositions
from gradfuzz.strategies.size_arguments import EitherInt, NewSize

SORTED = EitherInt(SortedIds("n"))
UNSORTED = EitherInt(SegmentIds("*s", count="k"))
NUM_SEGMENTS = EitherInt(NewSize("k"))

# Rows of n, picked by k positions, in segments.
PICKED: dict[str, Any] = {
    "data": Real("n *r"),
    "indices": EitherInt(Positions("k", below="n")),
    "segment_ids": EitherInt(SortedIds("k")),
    "sparse_gradient": FLAG,
}
PICKED_OF_KNOWN_NUMBER: dict[str, Any] = {
    "data": Real("n *r"),
    "num_segments": EitherInt(NewSize("m")),
    "indices": EitherInt(Positions("k", below="n", within="n m")),
    "segment_ids": EitherInt(SortedPositions("k", below="m")),
    "sparse_gradient": FLAG,
}

OPS: tuple[Entry, ...] = (
    # Segments in order.
    op("SegmentSum", data=Real("n *r"), segment_ids=SORTED),
    op("SegmentMean", data=Real("n *r"), segment_ids=SORTED),
    op("SegmentProd", data=Real("n *r"), segment_ids=SORTED),
    op("SegmentMax", data=Real("n *r", DISTINCT), segment_ids=SORTED),
    op("SegmentMin", data=Real("n *r", DISTINCT), segment_ids=SORTED),
    # Segments in any order.
    *(
        op(name, data=Real("*s *r"), num_segments=NUM_SEGMENTS, segment_ids=UNSORTED)
        for name in ("UnsortedSegmentSum", "UnsortedSegmentProd")
    ),
    *(
        op(name, data=Real("*s *r", DISTINCT), num_segments=NUM_SEGMENTS, segment_ids=UNSORTED)
        for name in ("UnsortedSegmentMax", "UnsortedSegmentMin")
    ),
    # Rows picked by position.
    op("SparseSegmentSum", **PICKED),
    op("SparseSegmentMean", **PICKED),
    op("SparseSegmentSqrtN", **PICKED),
    op("SparseSegmentSumWithNumSegments", **PICKED_OF_KNOWN_NUMBER),
    op("SparseSegmentMeanWithNumSegments", **PICKED_OF_KNOWN_NUMBER),
    op("SparseSegmentSqrtNWithNumSegments", **PICKED_OF_KNOWN_NUMBER),
)
