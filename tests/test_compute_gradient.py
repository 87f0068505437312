"""`compute_gradient` has the layout of TensorFlow's, and better numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradfuzz
from gradfuzz.runtime import tf

tf1 = tf.compat.v1

FUNCTIONS = {
    "one argument": (lambda x: tf.tanh(x), [np.array([0.5, -1.0])]),
    "two arguments": (tf.matmul, [np.ones((2, 3)), np.arange(6.0).reshape(3, 2)]),
    "a scalar": (lambda x: x * x, [1.0]),
    "a list": (lambda x: x * x, [[1.0, 2.0]]),
    "float32": (tf.sin, [np.array([0.5], "f4")]),
    "complex": (lambda z: z * z, [np.array([1 + 2j, 3 - 1j])]),
    "complex to real": (tf.abs, [np.array([1 + 2j])]),
    "no elements": (tf.sin, [np.zeros((0, 2))]),
    "a tf.function": (tf.function(lambda x: x**3), [np.array([1.0, 2.0])]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_layout_is_that_of_tensorflow(name: str) -> None:
    function, arguments = FUNCTIONS[name]
    theirs = tf.test.compute_gradient(function, arguments)
    ours = gradfuzz.compute_gradient(function, arguments)
    for theirs_of_kind, ours_of_kind in zip(theirs, ours, strict=True):
        assert isinstance(ours_of_kind, tuple)
        for expected, found in zip(theirs_of_kind, ours_of_kind, strict=True):
            assert found.shape == expected.shape
            assert found == pytest.approx(expected, abs=1e-2)
    assert ours.max_error < 1e-9


def test_a_given_step_is_taken() -> None:
    function, x = tf.exp, [np.array([10.0])]
    ours = gradfuzz.compute_gradient(function, x, delta=1 / 1024)
    assert ours.numeric[0] == pytest.approx(tf.test.compute_gradient(function, x)[1][0], rel=1e-12)
    assert ours.max_error > 1e-3
    assert gradfuzz.compute_gradient(function, x).max_error < 1e-6


@pytest.mark.parametrize("delta", [0, -1.0, float("inf"), "small"])
def test_a_step_that_is_none_is_refused(delta: object) -> None:
    with pytest.raises(gradfuzz.FunctionError, match=r"delta: .*, should be a positive number"):
        gradfuzz.compute_gradient(tf.exp, [1.0], delta=delta)


def test_the_errors_of_two_jacobians() -> None:
    analytic, numeric = [np.array([[1.0, 0.0]])], [np.array([[2.0, 0.0]])]
    assert gradfuzz.max_error(analytic, numeric) == 1.0
    assert gradfuzz.mean_relative_error(analytic, numeric) == 0.25
    assert gradfuzz.max_error([np.zeros((0, 0))], [np.zeros((0, 0))]) == 0.0
    assert np.isnan(gradfuzz.compute_gradient(tf.math.log, [np.array([-1.0])]).max_error)


def test_the_plot_shows_each_argument(tmp_path: Path) -> None:
    pair = gradfuzz.compute_gradient(tf.matmul, [np.ones((2, 3)), np.ones((3, 1))])
    figure = pair.plot(tmp_path / "jacobians.png")
    assert len(figure.axes) == 4
    assert (tmp_path / "jacobians.png").stat().st_size > 1000
    report = gradfuzz.check_gradients(tf.sin, np.ones(3), jacobian=True)
    assert [axes.get_title() for axes in report.plot().axes] == ["x", "|analytic - numeric|"]
    with pytest.raises(gradfuzz.FunctionError, match="should be asked for with jacobian=True"):
        gradfuzz.check_gradients(tf.sin, 1.0).plot()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "none/jacobians.png",
            r"plot: .*none/jacobians.png: No such file.*, should be a file that",
        ),
        ("jacobians.xyz", "plot: .*'xyz'.*, should be the path of a picture, such as"),
    ],
)
def test_a_plot_that_cannot_be_written_is_refused(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(gradfuzz.FunctionError, match=message) as raised:
        gradfuzz.compute_gradient(tf.sin, [1.0]).plot(tmp_path / path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((tf.sin, np.ones(1)), "x: a ndarray, should be a list or tuple"),
        ((lambda x, n: x, [1.0, np.array([2])]), r"x\[1\]: int64\[1\], should be real or complex"),
        ((1.0, (), 1.0, ()), "f: 1.0, should be a function, or x: a tensor of a graph"),
        (("abc", [1.0]), "f: 'abc', should be a function"),
    ],
)
def test_what_cannot_be_differentiated_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(gradfuzz.FunctionError, match=message):
        gradfuzz.compute_gradient(*arguments)


def test_a_random_factor_is_told_where_a_zero_hides_it() -> None:
    with pytest.raises(gradfuzz.FunctionError, match="not deterministic: two calls"):
        gradfuzz.compute_gradient(lambda x: x * tf.random.normal([], dtype=x.dtype), [0.0])


# Tensors of a graph, in a session.


def test_the_example_of_the_tutorial_in_a_session() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float64, (10,))
        y = tf.reduce_sum(tf.square(x))
        weights = tf1.get_variable("weights", (10,), tf.float64)
        step = tf1.train.AdamOptimizer(0.1).minimize(tf.reduce_sum((weights - x) ** 2))
        session.run(tf1.global_variables_initializer())
        point = np.arange(10.0)
        ours = gradfuzz.compute_gradient(x, (10,), y, (), x_init_value=point)
        theirs = tf1.test.compute_gradient(x, (10,), y, (), x_init_value=point)
        session.run(step, {x: point})
    assert ours.analytic.shape == theirs[0].shape == (10, 1)
    assert ours.analytic.ravel() == pytest.approx(2 * point)
    assert ours.max_error < 1e-9


def test_several_tensors_feeds_and_a_session_that_is_given() -> None:
    with tf.Graph().as_default():
        a, b = tf1.placeholder(tf.float32, (2, 2)), tf1.placeholder(tf.float32, (2, 1))
        keep = tf1.placeholder(tf.float32, ())
        y = tf.matmul(a, b) * keep
        session = tf1.Session()
    found = gradfuzz.compute_gradient(
        [a, b], [(2, 2), (2, 1)], y, (2, 1), feed_dict={keep: 2.0}, session=session
    )
    assert [pair.numeric.shape for pair in found] == [(4, 2), (2, 2)]
    assert max(pair.max_error for pair in found) < 1e-3


def test_a_wrong_gradient_shows_in_a_session() -> None:
    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        return x * x, lambda upstream: upstream * x

    with tf.Graph().as_default(), tf1.Session():
        x = tf1.placeholder(tf.float64, (1,))
        found = gradfuzz.compute_gradient(x, (1,), wrong(x), (1,), x_init_value=np.array([3.0]))
    assert found.max_error == pytest.approx(3.0)


def test_without_a_session_it_says_so() -> None:
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, (1,))
        with pytest.raises(gradfuzz.FunctionError, match="session: none, should be given"):
            gradfuzz.compute_gradient(x, (1,), x * x, (1,))


def test_a_wrong_shape_is_named() -> None:
    with tf.Graph().as_default(), tf1.Session():
        x = tf1.placeholder(tf.float32, (2,))
        with pytest.raises(gradfuzz.FunctionError, match=r"y_shape: \(3,\), should be \(2,\)"):
            gradfuzz.compute_gradient(x, (2,), x * x, (3,))
        with pytest.raises(gradfuzz.FunctionError, match=r"x_init_value: shape \(3,\), should"):
            gradfuzz.compute_gradient(x, (2,), x * x, (2,), x_init_value=np.ones(3))


def test_a_random_graph_is_refused() -> None:
    with tf.Graph().as_default(), tf1.Session():
        x = tf1.placeholder(tf.float64, (2,))
        y = x * tf.random.normal([2], dtype=tf.float64)
        with pytest.raises(gradfuzz.FunctionError, match=r"session: not deterministic: .* in y"):
            gradfuzz.compute_gradient(x, (2,), y, (2,))


WRONG_ARGUMENTS = {
    "x_shape of another x": (
        {"x_shape": (3,)},
        r"x_shape: \(3,\), should be \(2,\), as x:0 has it",
    ),
    "x_shape that is none": ({"x_shape": "b"}, "x_shape: 'b', should be a tuple of sizes"),
    "y_shape that is none": ({"y_shape": "b"}, "y_shape: 'b', should be a tuple of sizes"),
    "no numbers": ({"x_init_value": "abc"}, "x_init_value: 'abc', should be numbers"),
    "no feed": ({"feed_dict": 3}, "feed_dict: 3, should be a dict of tensors and their values"),
    "no tensor to feed": ({"feed_dict": {"a": 3}}, "y: .*'a'.*, should run at these inputs"),
    "another option": (
        {"foo": 1},
        r"compute_gradient\(x, x_shape, …\): .*'foo', should be some of",
    ),
}


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_a_wrong_argument_beside_the_tensors_is_named(name: str) -> None:
    option, message = WRONG_ARGUMENTS[name]
    with tf.Graph().as_default(), tf1.Session():
        x = tf1.placeholder(tf.float64, (2,), name="x")
        given = {"x_shape": (2,), "y": x * x, "y_shape": (2,), **option}
        with pytest.raises(gradfuzz.FunctionError, match=message) as raised:
            gradfuzz.compute_gradient(x, **given)
    assert "\n" not in str(raised.value)


def test_lists_of_other_lengths_and_feeds_of_other_shapes_are_named() -> None:
    with tf.Graph().as_default(), tf1.Session():
        a, b = (tf1.placeholder(tf.float64, (2,), name=name) for name in "ab")
        y = a * b
        with pytest.raises(gradfuzz.FunctionError, match=r"x_shape: .*, should be a list of 2 sh"):
            gradfuzz.compute_gradient([a, b], [(2,)], y, (2,))
        with pytest.raises(gradfuzz.FunctionError, match=r"x_init_value: .*, should be a list"):
            gradfuzz.compute_gradient([a, b], [(2,), (2,)], y, (2,), x_init_value=[np.ones(2)])
        with pytest.raises(gradfuzz.FunctionError, match=r"feed_dict: b:0 has a value of shape"):
            gradfuzz.compute_gradient(a, (2,), y, (2,), feed_dict={b: np.ones(3)})


def test_an_option_that_there_is_not_is_named() -> None:
    message = r"compute_gradient\(f, x, …\): .*'foo', should be some of f, x, delta"
    with pytest.raises(gradfuzz.FunctionError, match=message):
        gradfuzz.compute_gradient(tf.sin, [1.0], foo=1)


def test_a_variable_whose_feed_does_not_reach_y_is_refused() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", (2,), tf.float64, use_resource=True)
        session.run(v.initializer)
        with pytest.raises(gradfuzz.FunctionError, match="x: v:0 is a variable that y reads by it"):
            gradfuzz.compute_gradient(v, (2,), v * v, (2,))
        value = v.read_value()
        assert gradfuzz.compute_gradient(value, (2,), value**2, (2,)).max_error < 1e-9
