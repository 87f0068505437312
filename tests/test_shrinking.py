"""What a planted bug shrinks to: the text that a person will be shown."""

import pytest

from gradfuzz.runtime import tf
from tests.drawing import graphs_of, simplest
from tests.planted import planted_gradient

pytestmark = pytest.mark.slow


def times(factor):
    """Return a gradient that is off by a factor in its first input."""

    def wrong(right, op, *cotangents):
        gradients = right(op, *cotangents)
        first, *rest = gradients if isinstance(gradients, list | tuple) else [gradients]
        return [factor * tf.convert_to_tensor(first), *rest]

    return wrong


def test_a_factor_in_gather_shrinks_to_one_call_on_one_zero():
    with planted_gradient("GatherV2", times(1.01)):
        finding = simplest(graphs_of("GatherV2", around=2), "GatherV2")
    assert str(finding.graph) == (
        "%0 = leaf float64[1] [0.0]\n%1 = GatherV2(params=%0, indices=int32[] 0, axis=int32[] 0)"
    )
    assert str(finding.bucket) == "GatherV2.params value (numeric)"


def test_a_sum_that_forgets_to_broadcast_shrinks_to_two_elements():
    def wrong(right, op, cotangent):
        return tf.fill(op.inputs[0].shape, tf.reduce_mean(cotangent)), None

    with planted_gradient("Sum", wrong):
        finding = simplest(graphs_of("Sum", around=2), "Sum")
    assert str(finding.graph) == (
        "%0 = leaf float64[2] [0.0, 0.0]\n%1 = Sum(input=%0, axis=int32[0], keep_dims=False)"
    )


def test_a_convolution_wrong_in_its_filter_shrinks_to_one_pixel():
    def wrong(right, op, cotangent):
        image, kernel = right(op, cotangent)
        return image, 1.01 * kernel

    with planted_gradient("Conv2D", wrong):
        finding = simplest(graphs_of("Conv2D", around=1), "Conv2D")
    assert str(finding.graph) == (
        "%0 = leaf float64[1, 1, 1, 1] [[[[0.125]]]]\n"
        "%1 = leaf float64[1, 1, 1, 1] [[[[0.0]]]]\n"
        "%2 = Conv2D(strides=[1, 1, 1, 1], padding='SAME', input=%0, filter=%1)"
    )


def test_a_wrong_cholesky_shrinks_to_one_call_on_one_element():
    with planted_gradient("Cholesky", times(1.01)):
        finding = simplest(graphs_of("Cholesky", around=2), "Cholesky")
    assert str(finding.graph) == ("%0 = leaf float64[1, 1] [[1.0]]\n%1 = Cholesky(input=%0)")


def test_a_gradient_of_none_shrinks_to_two_scalars():
    def wrong(right, op, cotangent):
        return None, right(op, cotangent)[1]

    with planted_gradient("Mul", wrong):
        finding = simplest(graphs_of("Mul", around=2), "Mul", kind="none")
    assert str(finding.graph) == (
        "%0 = leaf float64[] 0.0\n%1 = leaf float64[] 0.125\n%2 = Mul(x=%0, y=%1)"
    )
