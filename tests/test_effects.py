"""A gradient that depends on what should not matter is found, and blamed on its op."""

import traceback

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import planted_gradient

X, Y = Ref(0), Ref(1)
EFFECTS = ("effects",)

ALONE = one_call("Sinh", [0.5, -0.25], x=X)


def every_other_time():
    """Return a gradient that is wrong each second time it is taken."""
    calls = []

    def wrong(right, op, cotangent):
        calls.append(None)
        return right(op, cotangent) * (1 + 0.5 * (len(calls) % 2 == 0))

    return wrong


def within(caller, change):
    """Return a gradient that goes through `change` where `caller` takes it."""

    def wrong(right, op, cotangent):
        gradient = right(op, cotangent)
        names = {frame.name for frame in traceback.extract_stack()}
        return change(gradient) if caller in names else gradient

    return wrong


def refuse(_gradient):
    raise ValueError("of all things")


# The function that takes the gradient otherwise, and what comes out there.
PLANTED = {
    "once-value": ("_once", lambda g: 1.001 * g),
    "subset-lost": ("_of_each", lambda g: None),
    "zeros-value": ("_zeros", lambda g: (1 + 1e-11) * g),
    "accessed-dtype": ("_of_variables", lambda g: tf.cast(g, tf.float32)),
    "recomputed-raises-ValueError": ("_recomputed", refuse),
    "recomputed-value": ("_recomputed", tf.zeros_like),
    "wrapped-non-finite": ("_wrapped", lambda g: g * np.nan),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_gradient_that_depends_on_how_it_is_taken_is_found_and_blamed_on_its_op(kind):
    caller, change = PLANTED[kind]
    behind = (*ALONE.nodes, Call("Atan", {"x": Ref(1)}), Call("Sin", {"x": Ref(2)}))
    with planted_gradient("Sinh", within(caller, change)):
        assert check(ALONE).verdict is Verdict.AGREE
        for graph in (ALONE, Graph(behind, (Ref(3),))):
            finding = check(graph, oracles=EFFECTS).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Sinh", "effects", kind)


def test_a_gradient_that_differs_the_second_time_is_found():
    with planted_gradient("Sinh", every_other_time()):
        finding = check(ALONE, oracles=EFFECTS).finding
    assert finding is not None
    assert (finding.bucket.op, finding.bucket.kind) == ("Sinh", "unrepeatable")


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
def test_a_gradient_that_depends_on_how_it_is_taken_shrinks_to_one_call(kind):
    caller, change = PLANTED[kind]
    with planted_gradient("Sinh", within(caller, change)):
        finding = simplest(graphs_of("Sinh", around=1), "Sinh", kind, BRIEF, EFFECTS)
    assert [call.op for _, call in finding.graph.calls] == ["Sinh"]
    assert all(x.size == 1 for x in finding.graph.primals)


LOOK_ALIKES = {
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "no connection": one_call("Sign", [1.0, 2.0], x=X),
    "none, a known fault": one_call("Zeta", 2.0, 1.0, x=X, q=Y),
    "nan": one_call("tf.norm", [0.0, 0.0], tensor=X),
    "rows gathered twice": one_call("GatherV2", [1.0, 2.0], params=X, indices=ints(0, 0),
                                    axis=np.int32(0)),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    "less precise than float64": Graph(
        (Leaf(np.array([0.3, -2.5], np.float32)), Call("Tanh", {"x": X})), (Ref(1),)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_agrees(name):
    assert check(LOOK_ALIKES[name], oracles=EFFECTS).verdict is Verdict.AGREE
