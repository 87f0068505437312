"""Graphs of TensorFlow's and XLA beside eager mode: what differs, and what only looks so."""

import gc
import os

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import chain, ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import planted_gradient

X, Y = Ref(0), Ref(1)
COMPILED = ("compiled",)


def where(condition, change):
    """Return a gradient that goes through `change` where `condition` holds of the op."""

    def wrong(right, op, cotangent):
        gradient = right(op, cotangent)
        return change(gradient) if condition(op) else gradient

    return wrong


def in_graph(op):
    return not tf.executing_eagerly()


def dims_unknown(op):
    return op.inputs[0].shape.rank is not None and not op.inputs[0].shape.is_fully_defined()


def rank_unknown(op):
    return op.inputs[0].shape.rank is None


def refuse(gradient):
    raise ValueError("of all things")


def nan_by_xla(gradient):
    """Add 0 in eager mode and graphs, NaN under XLA: see `FAULTS`."""
    zeros = gradient - gradient
    return gradient + tf.raw_ops.SqrtGrad(y=zeros, dy=zeros)


PLANTED = {
    "a factor in graphs": (where(in_graph, lambda g: 1.001 * g), "graph-value"),
    "a part in 10^11 in graphs": (where(in_graph, lambda g: (1 + 1e-11) * g), "graph-value"),
    "no connection in graphs": (where(in_graph, lambda g: None), "graph-lost"),
    "an error where dimensions are unknown": (
        where(dims_unknown, refuse),
        "unknown-dims-raises-ValueError",
    ),
    "a factor where the rank is unknown": (where(rank_unknown, lambda g: 2 * g),
                                           "unknown-rank-value"),
    "another shape where the rank is unknown": (where(rank_unknown, lambda g: g[None]),
                                                "unknown-rank-shape"),
    "nan by XLA": (where(bool, nan_by_xla), "xla-non-finite"),
}  # fmt: skip

ALONE = one_call("Sinh", [0.5, -0.25], x=X)


@pytest.mark.parametrize("name", PLANTED)
def test_a_gradient_wrong_in_one_way_is_found_and_blamed_on_its_op(name):
    wrong, kind = PLANTED[name]
    behind = (*ALONE.nodes, Call("Atan", {"x": Ref(1)}), Call("Sin", {"x": Ref(2)}))
    with planted_gradient("Sinh", wrong):
        assert check(ALONE).verdict is Verdict.AGREE
        for graph in (ALONE, Graph(behind, (Ref(3),))):
            finding = check(graph, oracles=COMPILED).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Sinh", "compiled", kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_gradient_wrong_in_one_way_shrinks_to_one_call(name):
    wrong, kind = PLANTED[name]
    with planted_gradient("Sinh", wrong):
        finding = simplest(graphs_of("Sinh", around=1), "Sinh", kind, BRIEF, COMPILED)
    assert [call.op for _, call in finding.graph.calls] == ["Sinh"]
    assert all(x.size == 1 for x in finding.graph.primals)


# Faults of TensorFlow that show where it compiles.
FAULTS = {
    "0 / 0 in the gradient of sqrt": (
        one_call("SqrtGrad", [0.0], [0.0], y=X, dy=Y),
        "SqrtGrad xla-output (compiled)",
    ),
    "the square of a norm at 0": (
        chain([0.0, 0.0], Call("tf.norm", {"tensor": X}), Call("Square", {"x": Ref(1)})),
        "Square.x xla-non-finite (compiled)",
    ),
    "int64 axes": (
        one_call("Sum", [1.0, 2.0], input=X, axis=np.array([0]), keep_dims=False),
        "Sum unknown-rank-raises-TypeError (compiled)",
    ),
    "a band of diagonals": (
        one_call("MatrixDiagPartV3", np.arange(9.0).reshape(3, 3), input=X, k=ints(-1, 1),
                 padding_value=np.array(0.0), align="RIGHT_LEFT"),
        "MatrixDiagPartV3 unknown-dims-raises-ValueError (compiled)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_bucket(name):
    graph, bucket = FAULTS[name]
    finding = check(graph, oracles=COMPILED).finding
    assert finding is not None
    assert str(finding.bucket) == bucket


LOOK_ALIKES = {
    "a difference inside of a function": one_call(
        "keras.activations.tanh_shrink", [0.0009765625], x=X
    ),
    "a zero between two bounds": Graph(
        (
            *(Leaf(np.array(x, np.float32)) for x in (0.0, -0.0625, 0.0625)),
            Call(
                "FakeQuantWithMinMaxVars",
                {"inputs": X, "min": Ref(1), "max": Ref(2), "num_bits": 8, "narrow_range": False},
            ),
        ),
        (Ref(3),),
    ),
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "max of ties": one_call("Max", [1.0, 1.0], input=X, axis=ints(0), keep_dims=False),
    "top 3 of five equals": one_call("TopKV2", np.zeros(5), input=X, k=np.int32(3)),
    "nan on both sides": one_call("tf.norm", [0.0, 0.0], tensor=X),
    "an infinite slope": one_call("Sqrt", [0.0, 1.0], x=X),
    "floor at an integer": one_call("Floor", [2.0, 1.0], x=X),
    "less precise than float64": Graph(
        (Leaf(np.array([0.3, -2.5, 7.0], np.float32)), Call("Tanh", {"x": X})), (Ref(1),)
    ),
    "what cancels": chain(
        [1e8, 1.0],
        Call("Sum", {"input": X, "axis": ints(0), "keep_dims": True}),
        Call("Sub", {"x": X, "y": Ref(1)}),
        Call("Sin", {"x": Ref(2)}),
    ),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    # The real part is 0 in one rounding of two squares, and 1e-16 in another.
    "a complex number of two equal parts": one_call(
        "MulNoNan", np.array(1.1306023741412203 * (1 + 1j)), x=X, y=X
    ),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_not_reported(name):
    assert check(LOOK_ALIKES[name], oracles=COMPILED).finding is None


def test_what_xla_has_not_is_a_gap():
    graph = one_call("SegmentMean", [1.0, 2.0], data=X, segment_ids=ints(0, 0))
    report = check(graph, oracles=COMPILED)
    assert report.gap
    assert report.finding is None
    assert report.reason.startswith("by XLA: Detected unsupported operations")
    assert "__inference" not in report.reason


def resident():
    with open(f"/proc/{os.getpid()}/statm") as file:  # noqa: PTH123  # the kernel's, not a file
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_what_is_traced_is_dropped():
    def check_many(first, count):
        for seed in range(first, first + count):
            leaf = np.random.default_rng(seed).uniform(0.5, 2, 1 + seed % 3)
            graph = chain(leaf, Call("Sinh", {"x": X}), Call("Atan", {"x": Ref(1)}))
            assert check(graph, oracles=COMPILED).verdict is Verdict.AGREE
        gc.collect()
        return resident()

    early = check_many(0, 60)
    late = check_many(60, 140)
    assert late - early < 140 * 2**20
