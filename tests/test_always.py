"""What must hold of every gradient, whatever its value: each breach has a kind of its own."""

import ctypes

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import one_call
from tests.planted import planted_gradient

TANH = one_call("Tanh", [0.5, -0.25], x=Ref(0))


def bucket_with(wrong, graph=TANH, op="Tanh", *, repeat=False):
    with planted_gradient(op, wrong):
        finding = check(graph, repeat=repeat).finding
    return finding and str(finding.bucket)


def test_a_gradient_of_another_shape():
    def wrong(right, op, cotangent):
        return right(op, cotangent)[None]

    assert bucket_with(wrong) == "Tanh.x shape (always)"


def test_a_gradient_of_another_dtype():
    def wrong(right, op, cotangent):
        return tf.cast(right(op, cotangent), tf.float32)

    assert bucket_with(wrong) == "Tanh.x dtype (always)"


@pytest.mark.parametrize("error", [ValueError, AttributeError, ZeroDivisionError])
def test_a_gradient_that_raises(error):
    def wrong(right, op, cotangent):
        raise error("of all things")

    assert bucket_with(wrong) == f"Tanh raises-{error.__name__} (always)"


def test_a_gradient_that_is_not_registered():
    graph = one_call("Bitcast", [1.0], input=Ref(0), type="float64")
    finding = check(graph).finding
    assert finding is not None
    assert str(finding.bucket) == "Bitcast missing (always)"


def test_an_input_that_is_overwritten():
    def wrong(right, op, cotangent):
        gradient = right(op, cotangent)
        address = op.inputs[0]._numpy().ctypes.data
        ctypes.memset(address, 0, 8)
        return gradient

    graph = one_call("Square", [0.5, -0.25], x=Ref(0))
    assert bucket_with(wrong, graph, "Square") == "Square mutated (always)"


def test_a_gradient_that_differs_when_taken_again():
    calls = []

    def wrong(right, op, cotangent):
        calls.append(None)
        return right(op, cotangent) * (1 + 1e-3 * (len(calls) > 1))

    assert bucket_with(wrong, repeat=True) == "Tanh unrepeatable (always)"


def test_a_gradient_that_raises_where_an_output_is_infinite_is_not_told():
    def wrong(right, op, cotangent):
        raise ValueError("not there")

    with planted_gradient("Log", wrong):
        report = check(one_call("Log", [0.0, 1.0], x=Ref(0)))
    assert report.verdict is Verdict.INCONCLUSIVE


def test_a_gradient_that_raises_at_a_kink_or_an_infinite_slope_is_not_told():
    def wrong(right, op, cotangent):
        raise ValueError("not there")

    for op, argument in (("Sqrt", "x"), ("Relu", "features")):
        with planted_gradient(op, wrong):
            report = check(one_call(op, [0.0, 1.0], **{argument: Ref(0)}))
        assert report.verdict is Verdict.INCONCLUSIVE


def test_a_fault_in_a_chain_is_blamed_on_its_op():
    def wrong(right, op, cotangent):
        raise ValueError("of all things")

    nodes = (
        Leaf(np.array([0.5, 2.0])),
        Call("Exp", {"x": Ref(0)}),
        Call("Tanh", {"x": Ref(1)}),
        Call("Mul", {"x": Ref(2), "y": Ref(0)}),
    )
    graph = Graph(nodes, (Ref(3),))
    assert bucket_with(wrong, graph) == "Tanh raises-ValueError (always)"
