"""Digits of a derivative: what is lost, in which dtype, and what only looks so."""

import numpy as np
import pytest
from mpmath import mp

from gradfuzz.check import check
from gradfuzz.exact import derivative, exact_functions
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.oracles.figures import told_apart
from gradfuzz.registry import is_available
from gradfuzz.runtime import tf
from gradfuzz.strategies.catalogue import CATALOGUE
from tests.build import chain, ints, one_call
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import planted_gradient

X, Y = Ref(0), Ref(1)
PRECISION = ("precision",)


def only_in(dtype, change):
    """Return a gradient that goes through `change` in one dtype."""

    def wrong(right, op, cotangent):
        gradient = right(op, cotangent)
        return change(op, gradient) if cotangent.dtype == dtype else gradient

    return wrong


def cancels(right, op, cotangent):
    """Return cosh by a difference of large numbers: right in exact arithmetic."""
    large = tf.cast(2.0**14, cotangent.dtype)
    return (right(op, cotangent) + large) - large


def bends(right, op, cotangent):
    """Return the right gradient, whose own is off by a part in 10^10."""
    x = op.inputs[0]
    return right(op, cotangent) + 1e-10 * cotangent * (tf.sinh(x) - tf.stop_gradient(tf.sinh(x)))


PLANTED = {
    "a part in 10^9": (only_in(tf.float64, lambda op, g: (1 + 1e-9) * g), "float64-value"),
    "a part in 10^3 in float32": (
        only_in(tf.float32, lambda op, g: tf.constant(1.001, g.dtype) * g), "float32-value"),
    "a part in 2 in bfloat16": (only_in(tf.bfloat16, lambda op, g: g + g), "bfloat16-value"),
    "an overflow in float16": (
        only_in(tf.float16, lambda op, g: g * 70000.0), "float16-non-finite"),
    "a cancellation": (cancels, "float32-value"),
    "a part in 10^10 at second order": (bends, "float64-second-value"),
}  # fmt: skip

ALONE = one_call("Sinh", [0.5, -0.25], x=X)


@pytest.mark.parametrize("name", PLANTED)
def test_lost_digits_are_found_and_blamed_on_their_op(name):
    wrong, kind = PLANTED[name]
    behind = (*ALONE.nodes, Call("Neg", {"x": Ref(1)}), Call("Neg", {"x": Ref(2)}))
    with planted_gradient("Sinh", wrong):
        assert check(ALONE).verdict is Verdict.AGREE or kind.startswith("float64")
        for graph in (ALONE, Graph(behind, (Ref(3),))):
            finding = check(graph, oracles=PRECISION).finding
            assert finding is not None
            bucket = finding.bucket
            assert (bucket.op, bucket.oracle, bucket.kind) == ("Sinh", "precision", kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_lost_digits_shrink_to_one_call(name):
    wrong, kind = PLANTED[name]
    with planted_gradient("Sinh", wrong):
        finding = simplest(graphs_of("Sinh", around=1), "Sinh", kind, BRIEF, PRECISION)
    assert [call.op for _, call in finding.graph.calls] == ["Sinh"]
    assert all(x.size == 1 for x in finding.graph.primals)


def test_a_cancellation_in_the_float32_gradient_of_any_op_is_found():
    def wrong(right, op, *cotangents):
        if cotangents[0].dtype != tf.float32:
            return right(op, *cotangents)
        return [None if g is None else (g + 4096.0) - 4096.0 for g in right(op, *cotangents)]

    graph = one_call("MatMul", [[0.37, 1.7]], [[0.77], [2.3]], a=X, b=Y)
    with planted_gradient("MatMul", wrong):
        finding = check(graph, oracles=PRECISION).finding
    assert finding is not None
    assert (finding.bucket.op, finding.bucket.kind) == ("MatMul", "float32-value")


# Tails in which TensorFlow has no digit right, and the right value.
FAULTS = {
    "tanh": (one_call("Tanh", 20.0, x=X), "Tanh.x float64-value (precision)", 1.69934170e-17),
    "sigmoid": (one_call("Sigmoid", 37.0, x=X), "Sigmoid.x float64-value (precision)",
                8.53304763e-17),
    "elu": (one_call("Elu", -40.0, features=X), "Elu.features float64-value (precision)",
            4.24835426e-18),
    "softplus at second order": (one_call("Softplus", 40.0, features=X),
                                 "Softplus.features float64-second-value (precision)",
                                 4.24835426e-18),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_tail_is_found_with_the_right_value(name):
    graph, bucket, right = FAULTS[name]
    finding = check(graph, oracles=PRECISION).finding
    assert finding is not None
    assert str(finding.bucket) == bucket
    assert finding.evidence.analytic == 0
    assert finding.evidence.low == pytest.approx(right)


LOOK_ALIKES = {
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "a slope that is a float32": one_call("LeakyRelu", [-0.125], features=X, alpha=0.2),
    "the real part of an imaginary number": one_call(
        "RFFT2D", [[1.0], [7000.0]], input=X, fft_length=ints(2, 1), Tcomplex="complex128"
    ),
    "a phase lost in rounding": one_call("FresnelSin", 40000.0, x=X),
    "a subnormal derivative": one_call("Tanh", [370.0], x=X),
    "an infinite slope": one_call("Sqrt", [0.0], x=X),
    "a pole": one_call("Digamma", [0.0], x=X),
    "a pole of a logarithm": one_call("Lgamma", [0.5, 0.0, -2.0], x=X),
    "beyond float32, in complex numbers": one_call("Exp", np.array([100.0 + 0j]), x=X),
    "a function that takes long far out": one_call("BesselY1", [1000.0], x=X),
    "a step of a quantiser, another one in float32": chain(
        [0.1250000001],
        Call(
            "QuantizeAndDequantizeV2",
            {
                "input": X,
                "input_min": np.float64(-1),
                "input_max": np.float64(1),
                "num_bits": 4,
                "range_given": True,
                "signed_input": True,
                "round_mode": "HALF_UP",
                "narrow_range": False,
                "axis": -1,
            },
        ),
        Call("Square", {"x": Ref(1)}),
    ),
    "where there is no value": one_call("Zeta", 0.0, 0.0, x=X, q=Y),
    "the edge of a domain": one_call("Igamma", 0.8181471805599453, 0.0, a=X, x=Y),
    "another edge": one_call("Igamma", 0.0, 1.0, a=X, x=Y),
    "subnormal in float32": one_call("keras.activations.mish", [-100.0], x=X),
    "subnormal in float32, in complex numbers": one_call("Tan", np.array(100 + 100j), x=X),
    "eigenvalues in another order": one_call(
        "Eig",
        [
            [33.0, 1.0, -1.0, 1.0],
            [0.03, 65.0, 1.0, 0.1],
            [1.0, 1.0, 97.0, 1.0],
            [1.0, 1.0, 1.0, 129.0],
        ],
        input=X,
        compute_v=False,
        Tout="complex128",
    ),
    "an element that a solver rounds off": one_call(
        "MatrixSquareRoot", [[2.0, 1.0], [1.0, 10000003.0]], input=X
    ),
    "one leaf as two weights that cancel": one_call(
        "keras.layers.LayerNormalization",
        [[-700.0, 0.0], [1.0, -700.0]],
        [-700.0, -700.0],
        inputs=X,
        weights=[Y, Y],
    ),
    "close to a zero of the derivative": one_call("Cos", [np.pi], x=X),
    "beyond float16": one_call("Square", [1e8], x=X),
    "a triangular factor": chain(
        [[2.0, 1.0], [1.0, 3.0]], Call("Cholesky", {"input": X}), Call("Sin", {"x": Ref(1)})
    ),
    "less precise than float64": Graph(
        (Leaf(np.array([0.3, -2.5], np.float32)), Call("Tanh", {"x": X})), (Ref(1),)
    ),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    "none, a known fault": one_call("Zeta", 2.0, 1.0, x=X, q=Y),
    "a convention that differences see": one_call("Xlogy", 0.0, 2.0, x=X, y=Y),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_not_reported(name):
    assert check(LOOK_ALIKES[name], oracles=PRECISION).finding is None


# The table of exact functions.


def test_eighty_ops_and_more_have_an_exact_function():
    ops = set(exact_functions()) & set(CATALOGUE.ops)
    assert len(ops) >= 80


# Points inside every op's domain, by argument; 0.4375 is in that of the rest.
INSIDE = {
    "Acosh": {"x": 1.75},
    "Zeta": {"x": 2.5, "q": 1.5},
    "Polygamma": {"a": 2.0, "x": 1.5},
    "LeakyRelu": {"features": -0.5, "alpha": 0.25},
    "LeakyReluGrad": {"gradients": 0.75, "features": -0.5, "alpha": 0.25},
    "Relu6": {"features": 1.5},
}


@pytest.mark.parametrize("op", sorted(exact_functions()))
def test_an_exact_function_is_what_tensorflow_computes(op):
    if not is_available(op):
        pytest.skip(f"this TensorFlow has no {op}")
    [entry, *_] = [e for e in CATALOGUE.entries if e.op == op] or [None]
    names = list(INSIDE.get(op, dict.fromkeys(entry.args, 0.4375) if entry else {"input": 0.4375}))
    point = INSIDE.get(op, dict(zip(names, (0.4375, 0.625), strict=False)))
    attrs = {"alpha": point["alpha"]} if "alpha" in point else {}
    tensors = {n: tf.constant(v, tf.float64) for n, v in point.items() if n not in attrs}
    found = getattr(tf.raw_ops, op)(**tensors, **attrs)
    with mp.workdps(30):
        exact = exact_functions()[op].function(**{n: mp.mpf(v) for n, v in point.items()})
    assert float(found) == pytest.approx(float(exact), rel=1e-9)


def test_a_derivative_is_right_far_in_the_tail():
    tanh = exact_functions()["Tanh"].function
    assert float(derivative(tanh, {"x": 1}, {"x": 300.0})) == pytest.approx(1.0601586212e-260)
    assert derivative(exact_functions()["Log"].function, {"x": 1}, {"x": 0.0}) is None


def test_a_message_shows_as_many_digits_as_two_numbers_differ_in():
    assert told_apart(0.5, 1 / 3, 9) == ("0.5", "0.333333333")
    assert told_apart(0.25, 0.25 * (1 + 2.0**-40), 9) == ("0.25", "0.2500000000002")
    assert told_apart(1.0, 1.0 + 2.0**-52, 9) == ("1", "1.0000000000000002")
    assert told_apart(float("nan"), float("nan"), 9) == ("nan", "nan")
