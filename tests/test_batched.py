"""Derivatives over batches by pfor beside one by one: what differs, and what only looks so."""

from contextlib import contextmanager

import numpy as np
import pytest
from tensorflow.python.ops.parallel_for import pfor

from gradfuzz.analytic import GradientError
from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.oracles.always import fault_of_raising
from gradfuzz.oracles.ways import inner
from gradfuzz.runtime import tf
from tests.build import chain, ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import planted_gradient

X, Y = Ref(0), Ref(1)
BATCHED = ("batched",)


@contextmanager
def planted_converter(op_type, change):
    """Within the block, pfor converts `op_type` and puts what comes out through `change`."""
    registry = pfor._pfor_converter_registry
    right = registry[op_type]

    def wrong(pfor_input, *args):
        found = right(pfor_input, *args)
        return pfor.wrap(change(found.t), is_stacked=True)

    registry[op_type] = wrong
    try:
        yield
    finally:
        registry[op_type] = right


def refuse(_found):
    raise ValueError("of all things")


def first_times(factor):
    def change(found):
        return tf.concat([found[:1] * tf.cast(factor, found.dtype), found[1:]], 0)

    return change


# Sinh runs in the forward pass, which a Jacobian does not convert; Mul in its gradient.
PLANTED = {
    "a factor in a converter": ("Mul", lambda t: 1.001 * t, "jacobian-value"),
    "a part in 10^11": ("Mul", lambda t: (1 + 1e-11) * t, "jacobian-value"),
    "rows in another order": ("Mul", lambda t: t[::-1], "jacobian-value"),
    "a wrong first row": ("Mul", first_times(2.0), "jacobian-value"),
    "an error in a converter": ("Mul", refuse, "jacobian-raises-ValueError"),
    "nan": ("Mul", lambda t: t * np.nan, "jacobian-non-finite"),
    "wrong outputs": ("Sinh", lambda t: t + 1e-9, "map-output"),
    "an error in the forward converter": ("Cosh", refuse, "map-raises-ValueError"),
}

ALONE = one_call("Sinh", [0.5, -0.25], x=X)


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_converter_is_found_and_blamed_on_the_op_that_it_serves(name):
    converted, change, kind = PLANTED[name]
    behind = (*ALONE.nodes, Call("Neg", {"x": Ref(1)}), Call("Neg", {"x": Ref(2)}))
    with planted_converter(converted, change):
        assert check(ALONE).verdict is Verdict.AGREE
        for graph in (ALONE, Graph(behind, (Ref(3),))):
            finding = check(graph, oracles=BATCHED).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Sinh", "batched", kind)


def test_a_gradient_that_is_lost_in_a_batch_is_found():
    def wrong(right, op, cotangent):
        return right(op, cotangent) if tf.executing_eagerly() else None

    with planted_gradient("Sinh", wrong):
        finding = check(ALONE, oracles=BATCHED).finding
    assert finding is not None
    assert str(finding.bucket) == "Sinh.x jacobian-lost (batched)"


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_converter_shrinks_to_one_call(name):
    converted, change, kind = PLANTED[name]
    with planted_converter(converted, change):
        finding = simplest(graphs_of("Sinh"), "Sinh", kind, BRIEF, BATCHED)
    assert [call.op for _, call in finding.graph.calls] == ["Sinh"]
    assert all(x.size <= 2 for x in finding.graph.primals)


# Faults of TensorFlow that show in batches.
FAULTS = {
    "a negative axis of roll": (
        one_call("Roll", [[1.0, 2.0, 3.0]], input=X, shift=np.int32(1), axis=np.int32(-1)),
        "Roll.input jacobian-value (batched)",
    ),
    # Behind floor, which has no gradient, only the mapped outputs show it.
    "a negative axis of roll behind another op": (
        chain(
            [[1.5, 2.5, 3.5]],
            Call("Roll", {"input": X, "shift": np.int32(1), "axis": np.int32(-1)}),
            Call("Floor", {"x": Ref(1)}),
        ),
        "Roll.input jacobian-value (batched)",
    ),
    "a repeated label": (
        one_call("Einsum", [[1.0, 2.0], [4.0, 5.0]], inputs=[X], equation="ii->i"),
        "Einsum jacobian-raises-ValueError (batched)",
    ),
    "an empty batch": (
        one_call("Tanh", np.zeros((0, 2)), x=X),
        "tf.GradientTape.batch_jacobian batch-jacobian-raises-ZeroDivisionError (batched)",
    ),
    "an empty batch beside a leaf with elements": (
        one_call("Mul", np.zeros((0, 2)), [1.0, 2.0], x=X, y=Ref(1)),
        "tf.GradientTape.batch_jacobian batch-jacobian-raises-ZeroDivisionError (batched)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_bucket(name):
    graph, bucket = FAULTS[name]
    finding = check(graph, oracles=BATCHED).finding
    assert finding is not None
    assert str(finding.bucket) == bucket


LOOK_ALIKES = {
    # The parts of 1 / y and x / y^2 cancel, as far as parts of a complex number are rounded.
    "a complex number divided by itself": one_call(
        "Xdivy", np.array([1e-7 - 0.9j, -0.8 - 0.07j, -1e-7 - 8e6j]), x=X, y=X
    ),
    "another sample for each point": one_call(
        "recipe.RandomGamma", 0.0625, alpha=X, shape=np.array([1], np.int32), at=np.array(0.0625)
    ),
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "max of ties": one_call("Max", [1.0, 1.0], input=X, axis=ints(0), keep_dims=False),
    "no connection": one_call("Sign", [1.0, 2.0], x=X),
    "a matrix product": one_call("MatMul", [[1.0, 2.0], [3.0, 4.0]], [[1.0], [-1.0]], a=X, b=Y),
    "less precise than float64": Graph(
        (Leaf(np.array([0.3, -2.5], np.float32)), Call("Tanh", {"x": X})), (Ref(1),)
    ),
    "a random op": one_call(
        "FractionalMaxPool",
        np.arange(8.0).reshape(2, 1, 2, 2),
        value=X,
        pooling_ratio=[1.0] * 4,
        pseudo_random=True,
        overlapping=False,
        deterministic=True,
        seed=1,
        seed2=1,
    ),
    "a converter that is missing": Graph(
        (Leaf(np.full((1, 1, 1, 2), 0.5, np.float32)), Call("LRN", {"input": X})), (Ref(1),)
    ),
    "no elements": one_call("Tanh", np.zeros(0), x=X),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_not_reported(name):
    assert check(LOOK_ALIKES[name], oracles=BATCHED).finding is None


def test_a_derivative_of_another_shape_is_a_fault_of_its_shape():
    with pytest.raises(GradientError) as raised:
        inner([np.ones((1, 2))], [np.ones((1, 1))])
    fault = fault_of_raising(raised.value)
    assert fault.kind == "shape"
    assert fault.evidence.message.endswith("shape (1, 1), should be (1, 2)")
