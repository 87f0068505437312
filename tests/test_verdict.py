"""The verdict on single points: real faults, and what only looks like one."""

import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf
from tests.build import chain, ints, one_call
from tests.planted import one_element_times, planted_gradient

X, Y = Ref(0), Ref(1)

# Public faults of TensorFlow: the graph, the bucket, and the right derivative.
FAULTS = {
    "xlogy at 0": (one_call("Xlogy", 0.0, 2.0, x=X, y=Y), "Xlogy.x value (numeric)", np.log(2)),
    "cumprod with a zero": (
        one_call("Cumprod", [2.0, 3.0, 0.0], x=X, axis=np.int32(0)),
        "Cumprod.x value (numeric)",
        6.0,
    ),
    "igamma at 0": (one_call("Igamma", 1.0, 0.0, a=X, x=Y), "Igamma.x non-finite (numeric)", 1.0),
    "power 0 of 0": (one_call("Pow", 0.0, 0.0, x=X, y=Y), "Pow.x non-finite (numeric)", 0.0),
    "zeta's first argument": (
        one_call("Zeta", 2.0, 1.0, x=X, q=Y),
        "Zeta.x none (numeric)",
        -0.937548254315844,
    ),
    "the constant of a pad": (
        one_call("PadV2", [1.0], 0.0, input=X, paddings=ints(0, 2)[None], constant_values=Y),
        "PadV2.constant_values none (numeric)",
        1.0,
    ),
    "bessel_i1 at 0": (one_call("BesselI1", 0.0, x=X), "BesselI1.x value (numeric)", 0.5),
    "overwritten by dynamic_stitch": (
        one_call("DynamicStitch", [1.0], [2.0], indices=[ints(0), ints(0)], data=[X, Y]),
        "DynamicStitch.data value (numeric)",
        0.0,
    ),
}

RAISING = {
    "det of a singular matrix": (
        one_call("MatrixDeterminant", [[1.0, 2.0], [2.0, 4.0]], input=X),
        "MatrixDeterminant raises-InvalidArgumentError (always)",
    ),
    "gather_nd by one index": (
        one_call("GatherNd", [1.0, 2.0], params=X, indices=ints(1)),
        "GatherNd raises-InvalidArgumentError (always)",
    ),
    "top 0 of none": (
        one_call("TopKV2", np.zeros(0), input=X, k=np.int32(0)),
        "TopKV2 raises-InvalidArgumentError (always)",
    ),
}

# No faults: kinks, ties, jumps, conventions, sentinels, tails.
LOOK_ALIKES = {
    "relu at 0": one_call("Relu", [0.0, 1.0], features=X),
    "abs at 0": one_call("Abs", [0.0, 1.0], x=X),
    "maximum of equals": one_call("Maximum", 0.0, 0.0, x=X, y=Y),
    "max of ties": one_call("Max", [1.0, 1.0, 0.0], input=X, axis=ints(0), keep_dims=False),
    "isotonic regression of four equals": one_call(
        "IsotonicRegression", np.zeros((1, 4)), input=X, output_dtype="float64"
    ),
    "the middle of five equals": one_call("NthElement", np.zeros(5), input=X, n=np.int32(2)),
    "top 3 of five equals": one_call("TopKV2", np.zeros(5), input=X, k=np.int32(3)),
    "top 3 of twelve equals": one_call("TopKV2", np.zeros(12), input=X, k=np.int32(3)),
    "top 3 of three equals": one_call("TopKV2", [0.0, 0.0, 0.0], input=X, k=np.int32(3)),
    "eigenvalues of nothing": one_call(
        "Eig", np.zeros((3, 3, 3)), input=X, compute_v=False, Tout="complex128"
    ),
    "floor at an integer": one_call("Floor", [0.0, 1.0], x=X),
    "floor from afar": one_call("Floor", [6e8, 1e7 + 0.25], x=X),
    "sign at 0": one_call("Sign", [0.0, 1.0], x=X),
    "sqrt at 0": one_call("Sqrt", [0.0, 1.0], x=X),
    "softsign, smooth once": one_call("Softsign", [0.0], features=X),
    "bessel_i0e, smooth once": one_call("BesselI0e", [0.0], x=X),
    "norm with a zero": one_call(
        "EuclideanNorm", [0.0, 3.0], input=X, axis=ints(0), keep_dims=False
    ),
    "exp that overflows beside one that does not": one_call("Exp", [1e8, 2.0], x=X),
    "log of 0 beside 1": one_call("Log", [0.0, 1.0], x=X),
    "the lowest float of an empty segment": one_call(
        "UnsortedSegmentMax", [1.0, 2.0], data=X, segment_ids=ints(0, 0), num_segments=np.int32(2)
    ),
    "-inf of an exclusive cumulative logsumexp": one_call(
        "CumulativeLogsumexp", [0.5, 1.0], x=X, axis=np.int32(0), exclusive=True
    ),
    "identity at 1e18": one_call("Identity", [1e18, 2e-8], input=X),
    "square at 1e14": one_call("Square", [1e14], x=X),
    "log at 1e-4": one_call("Log", [1e-4], x=X),
    "flat tails": one_call("Tanh", [40.0, -700.0], x=X),
    "no elements": one_call("Tanh", np.zeros((0, 2)), x=X),
    # The gradient is declared to be that of a clip, and what reads it has its own where it is.
    "a product of what is quantised": chain(
        [0.3, 0.45, 2.0],
        Call(
            "QuantizeAndDequantizeV4",
            {
                "input": X,
                "input_min": np.float64(-1),
                "input_max": np.float64(1),
                "num_bits": 2,
                "range_given": True,
                "round_mode": "HALF_UP",
                "narrow_range": False,
                "axis": -1,
            },
        ),
        Call("Mul", {"x": Ref(1), "y": Ref(1)}),
        Call("Mul", {"x": X, "y": Ref(2)}),
    ),
    "cholesky of a symmetric matrix": chain(
        [[0.5, 0.0], [1.0, 2.0]],
        Call("BatchMatMulV2", {"x": X, "y": X, "adj_x": False, "adj_y": True}),
        Call("AddV2", {"x": Ref(1), "y": np.eye(2)}),
        Call("Cholesky", {"input": Ref(2)}),
    ),
}

# Points at which nothing can be said, and why.
UNTOLD = {
    "stairs seen from afar": one_call("TruncateDiv", 3e8, 1.0, x=X, y=Y),
    "stairs between two steps": one_call("TruncateDiv", 3e8, 1.7, x=X, y=Y),
    # The loss adds 1e-7 to what it takes the logarithm of.
    "a pole near by, of little weight": one_call(
        "keras.losses.poisson",
        [[1.0, -1.25, 0.0], [0.0, 1e-10, 1.0]],
        y_true=np.full((2, 3), 1e-10),
        y_pred=X,
    ),
    # 6.4e17 is taken away in between, so that what comes out is small and does not move.
    "an offset beside what cancels": one_call(
        "keras.ops.batch_normalization",
        [1.0],
        x=np.array([-8e8]),
        mean=np.array([-8e8]),
        variance=np.ones(1),
        axis=-1,
        offset=X,
        scale=np.array([-8e8]),
    ),
    # It is the hue that has no gradient, and no derivative at black.
    "a black and blue picture of which nothing is read": chain(
        np.array([0.0, 0, 0, 0, 0, 0, 0, 0, 2]).reshape(1, 3, 3),
        Call("tf.image.adjust_hue", {"image": X, "delta": 0.125}),
        Call(
            "UnsortedSegmentMax",
            {"data": Ref(1), "num_segments": np.int32(1), "segment_ids": ints(-1)},
        ),
    ),
    "division by 0 is 0": one_call("DivNoNan", 10.0, 0.0, x=X, y=Y),
    "kinks that cancel": chain(
        0.0,
        Call("Relu", {"features": X}),
        Call("Neg", {"x": X}),
        Call("Relu", {"features": Ref(2)}),
        Call("Sub", {"x": Ref(1), "y": Ref(3)}),
    ),
    "singular values of nothing": one_call(
        "Svd", np.zeros((4, 2)), input=X, compute_uv=True, full_matrices=False
    ),
    "a loss below what rounding shows": one_call(
        "SparseSoftmaxCrossEntropyWithLogits", [[1.0, -40.0]], features=X, labels=ints(0)
    ),
    # By one element it is -2e-9, and still; by another its slope is that, and all rounding.
    "a loss of labels in time below what rounding shows": one_call(
        "CTCLoss",
        np.array([[[20.0, 0, 0]], [[0, 0, 20]]], "float32"),
        inputs=X,
        labels_indices=np.zeros((1, 2), "int64"),
        labels_values=ints(0),
        sequence_length=ints(2),
    ),
    "a phase lost in rounding": one_call("FresnelSin", 1e5, x=X),
    # Beyond 2^53 each number is a whole one, and is rounded to itself.
    "steps that are finer than the numbers": chain(
        100.0, Call("Exp", {"x": X}), Call("Round", {"x": Ref(1)})
    ),
    "a dead branch that is infinite": Graph(
        (
            Leaf(np.array(7.0)),
            Call("Exp", {"x": X}),
            Call("Exp", {"x": Ref(1)}),
            Call("SelectV2", {"condition": np.bool_(1), "t": X, "e": Ref(2)}),
        ),
        (Ref(3),),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_bucket_with_the_right_derivative(name):
    graph, bucket, right = FAULTS[name]
    finding = check(graph).finding
    assert finding is not None
    assert str(finding.bucket) == bucket
    evidence = finding.evidence
    assert evidence.low - 1e-12 <= right <= evidence.high + 1e-12
    assert evidence.high - evidence.low < 1e-8


@pytest.mark.parametrize("name", RAISING)
def test_a_gradient_that_raises_is_found(name):
    graph, bucket = RAISING[name]
    finding = check(graph).finding
    assert finding is not None
    assert str(finding.bucket) == bucket


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_agrees(name):
    report = check(LOOK_ALIKES[name])
    assert (report.verdict, report.finding) == (Verdict.AGREE, None)


@pytest.mark.parametrize("name", UNTOLD)
def test_what_cannot_be_told_is_neither_reported_nor_passed(name):
    assert check(UNTOLD[name]).verdict is Verdict.INCONCLUSIVE


def test_the_norm_of_zeros_is_wrong_at_a_kink():
    graph = one_call("EuclideanNorm", [0.0, 0.0], input=X, axis=ints(0), keep_dims=False)
    finding = check(graph).finding
    assert finding is not None
    assert str(finding.bucket) == "EuclideanNorm.input non-finite (numeric)"
    assert finding.evidence.kink
    assert (finding.evidence.low, finding.evidence.high) == pytest.approx((-1, 1))


def test_a_gradient_outside_the_slopes_of_a_kink_is_found():
    def wrong(right, op, cotangent):
        return tf.where(op.outputs[0] == 0, 1.25 * cotangent, right(op, cotangent))

    with planted_gradient("Relu", wrong):
        finding = check(one_call("Relu", [0.0, 1.0], features=X)).finding
    assert finding is not None
    assert finding.evidence.kink
    assert (finding.evidence.low, finding.evidence.high) == pytest.approx((0, 1))


@pytest.mark.parametrize(
    ("op", "argument", "kink"), [("Abs", "x", 0.0), ("Relu", "features", 0.0), ("Floor", "x", 2.0)]
)
def test_a_kink_or_jump_in_one_element_hides_no_fault_in_another(op, argument, kink):
    leaf = [0.5, 0.75, 1.25, 1.5, 1.75, 2.25, 2.5, kink]
    nodes = (Leaf(np.array(leaf)), Call(op, {argument: X}), Call("Tanh", {"x": X}))
    with planted_gradient("Tanh", one_element_times(1.2)):
        finding = check(Graph(nodes, (Ref(1), Ref(2)))).finding
    assert finding is not None
    assert str(finding.bucket) == "Tanh.x value (numeric)"


def test_blame_names_the_op_behind_a_chain_and_its_input():
    graph = Graph(
        (
            Leaf(np.array(0.5)),
            Call("Tanh", {"x": X}),
            Call("AddV2", {"x": Ref(1), "y": np.array(2.0)}),
            Call("Zeta", {"x": Ref(2), "q": X}),
            Call("Exp", {"x": Ref(3)}),
        ),
        (Ref(4),),
    )
    finding = check(graph).finding
    assert finding is not None
    assert str(finding.bucket) == "Zeta.x none (numeric)"
    assert [call.op for _, call in finding.graph.calls] == ["Tanh", "AddV2", "Zeta"]


def test_the_same_graph_gets_the_same_verdict():
    graph = FAULTS["cumprod with a zero"][0]
    assert check(graph).finding.evidence == check(graph).finding.evidence
