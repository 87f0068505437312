"""Forward mode: what is wrong in it alone, and what only looks so."""

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import chain, ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import hidden, planted_gradient, refuse

X, Y = Ref(0), Ref(1)


def first_element_times(factor):
    def change(gradient):
        flat = tf.reshape(gradient, [-1])
        scaled = tf.concat([flat[:1] * tf.cast(factor, flat.dtype), flat[1:]], 0)
        return tf.reshape(scaled, tf.shape(gradient))

    return change


PLANTED = {
    "a factor": (hidden(lambda g: 1.001 * g), "value"),
    "a factor in one element": (hidden(first_element_times(2.0)), "value"),
    "a factor of a part in 10^11": (hidden(lambda g: (1 + 1e-11) * g), "value"),
    "nothing": (hidden(tf.stop_gradient), "value"),
    "no connection": (
        lambda right, op, *c: [None if g is None else tf.stop_gradient(g) for g in right(op, *c)],
        "lost",
    ),
    "nan": (hidden(lambda g: g * np.nan), "non-finite"),
    "an error": (hidden(refuse), "raises-ValueError"),
}
PLANTED["nothing"] = (hidden(tf.zeros_like), "value")

TWO = one_call("Mul", [0.5, -0.25], [0.75, 2.0], x=X, y=Y)


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_jvp_beside_a_right_vjp_is_found_and_blamed_on_its_op(name):
    wrong, kind = PLANTED[name]
    behind = (*TWO.nodes, Call("Tanh", {"x": Ref(2)}), Call("Sin", {"x": Ref(3)}))
    with planted_gradient("Mul", wrong):
        assert check(TWO).verdict is Verdict.AGREE
        for graph in (TWO, Graph(behind, (Ref(4),))):
            finding = check(graph, oracles=("forward",)).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Mul", "forward", kind)
            assert bucket.input == ("" if kind.startswith("raises") else "x")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a factor", "no connection", "nan", "an error", "nothing"])
def test_a_wrong_jvp_shrinks_to_one_call(name):
    wrong, kind = PLANTED[name]
    with planted_gradient("Mul", wrong):
        finding = simplest(graphs_of("Mul", around=2), "Mul", kind, BRIEF, ("forward",))
    assert [call.op for _, call in finding.graph.calls] == ["Mul"]
    assert all(x.size == 1 for x in finding.graph.primals)
    assert finding.bucket.oracle == "forward"


# Faults of TensorFlow that show in forward mode.
FAULTS = {
    "an empty segment": (
        one_call("SegmentMean", [1.0], data=X, segment_ids=ints(1)),
        "SegmentMean.data non-finite (forward)",
    ),
    "a resize": (
        Graph(
            (
                Leaf(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)),
                Call("ResizeBilinear", {"images": X, "size": ints(3, 3)}),
            ),
            (Ref(1),),
        ),
        "ResizeBilinear.images lost (forward)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_bucket(name):
    graph, bucket = FAULTS[name]
    finding = check(graph, oracles=("forward",)).finding
    assert finding is not None
    assert str(finding.bucket) == bucket


LOOK_ALIKES = {
    "none, which means zero": one_call("Sign", [1.0, 2.0], x=X),
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "max of ties": one_call("Max", [1.0, 1.0], input=X, axis=ints(0), keep_dims=False),
    "nan on both sides": one_call("tf.norm", [0.0, 0.0], tensor=X),
    "infinite on both sides": one_call("Sqrt", [0.0, 1.0], x=X),
    "none on both sides": one_call("Zeta", 2.0, 1.0, x=X, q=Y),
    "what cancels": chain(
        [1e8, 1.0],
        Call("Sum", {"input": X, "axis": ints(0), "keep_dims": True}),
        Call("Sub", {"x": X, "y": Ref(1)}),
        Call("Mul", {"x": Ref(2), "y": Ref(1)}),
    ),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    # The logarithm of the cotangent is added to -7000, which rounds it.
    "digits that the cotangent loses": one_call(
        "CumulativeLogsumexp", [7000.0], x=X, axis=np.int64(0), exclusive=False, reverse=True
    ),
    "digits that the cotangent loses far out": one_call(
        "CumulativeLogsumexp", [3e8], x=X, axis=np.int32(0), exclusive=False, reverse=False
    ),
    "what a loss rounds off inside": one_call(
        "tf.nn.weighted_cross_entropy_with_logits",
        [1.0, 1e-8],
        [1.0, -1e5],
        1.0,
        labels=X,
        logits=Y,
        pos_weight=Ref(2),
    ),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_agrees(name):
    assert check(LOOK_ALIKES[name], oracles=("forward",)).verdict is Verdict.AGREE


def test_a_gradient_of_a_gradient_that_is_missing_is_a_gap():
    image = np.full((1, 1, 1, 2), 0.5, np.float32)
    graph = Graph((Leaf(image), Call("LRN", {"input": X})), (Ref(1),))
    report = check(graph, oracles=("forward",))
    assert report.gap
    assert report.finding is None
    assert "LRNGrad" in report.reason
