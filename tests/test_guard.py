"""A graph that would allocate without bound is refused before it runs."""

from typing import Any

import numpy as np
import pytest

from gradfuzz.errors import CaseFileError
from gradfuzz.graph import Call, Graph, Leaf, Node, Ref
from gradfuzz.guard import require_small

SCALAR = Leaf(np.array(1.0))
VECTOR = Leaf(np.array([1e6, 1e6]))
HUGE = [10**6, 10**6]


def graph(*nodes: Node) -> Graph:
    return Graph(nodes, (Ref(len(nodes) - 1),))


@pytest.mark.parametrize(
    "call",
    [
        Call("Fill", {"dims": np.array(HUGE), "value": Ref(0)}),
        Call("Fill", {"dims": HUGE, "value": Ref(0)}),
        Call("Fill", {"dims": np.array([2**62, 2**62]), "value": Ref(0)}),
        Call("BroadcastTo", {"input": Ref(0), "shape": np.array(HUGE)}),
        Call("Range", {"start": np.int64(0), "limit": np.int64(10**12), "delta": np.int64(1)}),
        Call("tf.fill", {"dims": HUGE, "value": Ref(0)}),
    ],
    ids=lambda call: call.op,
)
def test_a_call_that_allocates_without_bound_is_refused(call: Call) -> None:
    with pytest.raises(CaseFileError, match=r"^nodes\[1\]: \d+ elements up to here, should be at"):
        require_small(graph(SCALAR, call))


def test_the_message_names_the_node_and_the_limit() -> None:
    tile = Call("Tile", {"input": Ref(0), "multiples": np.array([10**12])})
    with pytest.raises(CaseFileError) as caught:
        require_small(graph(VECTOR, tile))
    assert str(caught.value) == (
        "nodes[1]: 2000000000003 elements up to here, should be at most 67108864"
    )


def test_a_shape_computed_from_a_leaf_is_seen() -> None:
    cast = Call("Cast", {"x": Ref(0), "DstT": "int64"})
    fill = Call("Fill", {"dims": Ref(1), "value": np.float64(1)})
    with pytest.raises(CaseFileError, match=r"^nodes\[2\]"):
        require_small(graph(VECTOR, cast, fill))


def test_many_large_calls_are_one_too_large_graph() -> None:
    fill = Call("Fill", {"dims": [2**24], "value": Ref(0)})
    require_small(graph(SCALAR, fill, fill, fill))
    with pytest.raises(CaseFileError, match=r"^nodes\[4\]"):
        require_small(graph(SCALAR, fill, fill, fill, fill))


def test_a_call_that_cannot_be_built_does_not_hide_the_next() -> None:
    refused = Call("Sum", {"input": Ref(0), "axis": 7})
    reader = Call("Sin", {"x": Ref(1)})
    fill = Call("Fill", {"dims": HUGE, "value": np.float64(1)})
    with pytest.raises(CaseFileError, match=r"^nodes\[3\]"):
        require_small(graph(VECTOR, refused, reader, fill))


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("Sum", {"input": Ref(0), "axis": 0, "keep_dims": True}),
        ("Sum", {"input": Ref(0), "axis": [0]}),
        ("Sum", {"input": Ref(0), "axis": np.array([0], np.int32)}),
        ("ConcatV2", {"values": [Ref(0), Ref(0)], "axis": 0}),
        ("Fill", {"dims": np.array([0, 10**9]), "value": np.float64(1)}),
        ("tf.linalg.expm", {"input": np.eye(2)}),
    ],
)  # fmt: skip
def test_a_small_call_passes(op: str, args: dict[str, Any]) -> None:
    require_small(graph(VECTOR, Call(op, args)))


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("Sum", {"input": Ref(0), "axis": 7}),
        ("Sum", {"input": Ref(0), "axis": 2**70}),
        ("Sum", {"input": Ref(0), "axis": "x"}),
        ("Sum", {"input": Ref(0), "no_such": 1}),
        ("Sin", {"x": Ref(0, 7)}),
        ("Einsum", {"inputs": None, "equation": None}),
        ("Einsum", {"inputs": [Ref(0)], "equation": "\ud800"}),
        ("NoSuchOp", {}),
        ("tf.constant", {"value": {}}),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_built_is_left_to_the_run(op: str, args: dict[str, Any]) -> None:
    require_small(graph(VECTOR, Call(op, args)))
