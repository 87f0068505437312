"""Second order: each path that is wrong by itself, and what only looks so."""

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import chain, ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import hidden, passing_back, planted_gradient, refuse

X, Y = Ref(0), Ref(1)
SECOND = ("second",)


def bending(factor):
    """Return a right gradient of Sinh whose derivative by the point is off by a factor."""

    def wrong(right, op, cotangent):
        x = op.inputs[0]
        return right(op, cotangent) + cotangent * (factor - 1) * (
            tf.cosh(x) - tf.stop_gradient(tf.cosh(x))
        )

    return wrong


def held(right, op, cotangent):
    return tf.stop_gradient(right(op, cotangent))


def infinite(gradient):
    return gradient / 0.0


def step(right, op, cotangent):
    """Return a right gradient whose derivative by the point is infinite."""
    x = op.inputs[0]
    return right(op, cotangent) + cotangent * passing_back(infinite)(x - tf.stop_gradient(x))


PLANTED = {
    "a factor": (bending(1.5), "value"),
    "held constant": (held, "lost"),
    "infinity": (step, "non-finite"),
    "an error": (hidden(refuse), "raises-ValueError"),
    "a wrong gradient of the gradient": (hidden(lambda g: 1.001 * g), "value"),
}

TWO = chain([0.5, -0.25], Call("Sinh", {"x": X}))


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_second_derivative_is_found_and_blamed_on_its_op(name):
    wrong, kind = PLANTED[name]
    behind = (*TWO.nodes, Call("Atan", {"x": Ref(1)}), Call("Sin", {"x": Ref(2)}))
    with planted_gradient("Sinh", wrong):
        assert check(TWO).verdict is Verdict.AGREE
        for graph in (TWO, Graph(behind, (Ref(3),))):
            finding = check(graph, oracles=SECOND).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Sinh", "second", kind)


def test_a_hessian_that_is_not_symmetric_is_found_though_no_difference_sees_it():
    def wrong(right, op, cotangent):
        by_x, by_y = right(op, cotangent)
        logarithm = tf.math.log(op.inputs[1])
        return by_x + 1e-11 * cotangent * (logarithm - tf.stop_gradient(logarithm)), by_y

    graph = one_call("Xlogy", [0.5, -0.25], [0.75, 2.0], x=X, y=Y)
    with planted_gradient("Xlogy", wrong):
        finding = check(graph, oracles=SECOND).finding
    assert finding is not None
    assert (finding.bucket.op, finding.bucket.kind) == ("Xlogy", "transposed-value")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_second_derivative_shrinks_to_one_call(name):
    wrong, kind = PLANTED[name]
    with planted_gradient("Sinh", wrong):
        finding = simplest(graphs_of("Sinh", around=2), "Sinh", kind, BRIEF, SECOND)
    assert [call.op for _, call in finding.graph.calls] == ["Sinh"]
    assert all(x.size == 1 for x in finding.graph.primals)
    assert finding.bucket.oracle == "second"


# Faults of TensorFlow that show at second order.
FAULTS = {
    "a product with a zero": (
        one_call("Prod", [0.0, 1.0], input=X, axis=ints(0), keep_dims=False),
        "Prod.input value (second)",
    ),
    "a fused cross entropy by its labels": (
        one_call("SoftmaxCrossEntropyWithLogits", [[0.5, 1.0]], [[0.25, 0.75]],
                 features=X, labels=Y),
        "SoftmaxCrossEntropyWithLogits.labels value (second)",
    ),
    "a resize": (
        Graph(
            (
                Leaf(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)),
                Call("ResizeBilinear", {"images": X, "size": ints(3, 3)}),
            ),
            (Ref(1),),
        ),
        "ResizeBilinear.images lost (second)",
    ),
    # Forward over forward mode has 0 there: it is not the one that has no number.
    "reverse over reverse mode without a number": (
        one_call("keras.ops.sinc", 0.0, x=X),
        "keras.ops.sinc.x rev-fwd-non-finite (second)",
    ),
    "a tensor read twice in forward over forward mode": (
        chain(0.7, Call("Identity", {"input": X}), Call("Mul", {"x": Ref(1), "y": Ref(1)}),
              Call("Mul", {"x": Ref(2), "y": Ref(1)})),
        "tf.autodiff.ForwardAccumulator fwd-fwd-value (second)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_bucket(name):
    graph, bucket = FAULTS[name]
    finding = check(graph, oracles=SECOND).finding
    assert finding is not None
    assert str(finding.bucket) == bucket


LOOK_ALIKES = {
    # That of the resize is missing, which shows by its own input only where rounding hides it.
    "a product of what has no second derivative": Graph(
        (
            Leaf(np.full((1, 1, 2, 1), -700, np.float32)),
            Call("ResizeBilinear", {"images": X, "size": ints(5, 1), "align_corners": True}),
            Call("Cast", {"x": Ref(1), "DstT": "float64"}),
            Leaf(np.array([[[[-0.75, -40.0, 2.0]]]])),
            Call("BatchMatMulV2", {"x": Ref(2), "y": Ref(3)}),
        ),
        (Ref(4),),
    ),
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "maximum of equals": one_call("Maximum", 0.0, 0.0, x=X, y=Y),
    "max of ties": one_call("Max", [1.0, 1.0], input=X, axis=ints(0), keep_dims=False),
    "a matrix product": one_call("MatMul", [[1.0, 2.0], [3.0, 4.0]], [[1.0], [-1.0]], a=X, b=Y),
    "no second derivative at all": one_call("Neg", [0.5], x=X),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    "flat tails": one_call("Tanh", [40.0, -700.0], x=X),
    "the other one of two probabilities": one_call("Softmax", [0.0, 20.0], logits=X),
    "a probability of 1, and one of 4e-18": one_call("Softmax", [0.0, 40.0], logits=X),
    "a curvature beside a large one": one_call("LogSoftmax", [10.0, 1e5], logits=X),
    "a layer that attends to one alone": one_call(
        "keras.layers.Attention",
        [[[8000.0, 10000.0, 0.8], [-900.0, 0.0002, -0.1]]],
        [[[9e-06, 500000.0, -8e-06], [-2e-07, 0.006, 400.0]]],
        inputs=[X, X, Y],
    ),
    "a probability of 1 beside weights": one_call(
        "tf.math.log_softmax", [[3e8], [-9e4], [-8e8]], logits=X, axis=0
    ),
    "0 times infinity": one_call("Reciprocal", [0.0], x=X),
    "a maximum beside what is no number": Graph(
        (
            *map(Leaf, map(np.array, (0.0, 1.0, 0.0625))),
            Call("Betainc", {"a": X, "b": Y, "x": Ref(2)}),
            Call("tf.experimental.numpy.maximum", {"x1": Ref(3), "x2": np.array(1.0625)}),
        ),
        (Ref(4),),
    ),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_not_reported(name):
    assert check(LOOK_ALIKES[name], oracles=SECOND).finding is None


@pytest.mark.parametrize("op", ["LRN", "Softsign"])
def test_a_missing_gradient_of_a_gradient_is_a_gap(op):
    leaf = np.full((1, 1, 1, 2), 0.5, np.float32)
    name = {"LRN": "input", "Softsign": "features"}[op]
    report = check(Graph((Leaf(leaf), Call(op, {name: X})), (Ref(1),)), oracles=SECOND)
    assert report.gap
    assert report.finding is None
    assert f"{op}Grad" in report.reason
