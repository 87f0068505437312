"""Functions of the user's: what is found in them, on which element, and what is refused."""

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import gradfuzz
from gradfuzz.finding import Verdict
from gradfuzz.runtime import tf

HALVES = np.array([0.5, 1.5, -2.5])


@tf.custom_gradient
def cube(x: Any) -> Any:
    """Return x**3, with a gradient that is wrong from 2 on."""
    factor = tf.where(x < 2, tf.cast(3.0, x.dtype), tf.cast(6.0, x.dtype))
    return x**3, lambda upstream: upstream * factor * x**2


def told(function: Callable[..., Any], *inputs: Any, **options: Any) -> gradfuzz.GradientReport:
    return gradfuzz.check_gradients(function, *inputs, **options)


# What is found.


def test_the_element_the_numbers_and_every_oracle_are_in_the_message() -> None:
    with pytest.raises(gradfuzz.WrongGradientError) as raised:
        gradfuzz.assert_gradients(
            lambda x, w: {"loss": tf.reduce_sum(cube(x) * w)}, np.array([1.0, 3.0]), 2.0
        )
    message = str(raised.value)
    assert "d output['loss'] / d x[1]: analytic 108, should be 54 ± " in message
    assert "w: float64[]: agree" in message
    assert "numeric disagree (value)" in message
    assert "do: at a point nearby" not in message
    assert "do: look at the gradient rule" in message
    assert raised.value.report.verdict is Verdict.DISAGREE


def test_each_input_has_a_verdict_of_its_own() -> None:
    report = told(lambda x, y: cube(x) + cube(y), np.array([1.0]), np.array([[3.0, 1.0]]))
    assert [each.verdict for each in report.inputs] == [Verdict.AGREE, Verdict.DISAGREE]
    assert report.inputs[1].element == "y[0, 0]"
    assert report.inputs[1].output == "output[0, 0]"


def test_a_special_case_at_one_value_is_told_from_a_wrong_rule() -> None:
    @tf.custom_gradient
    def special(x: Any) -> Any:
        return x * 2, lambda upstream: upstream * tf.cast(tf.where(x == 0, 0, 2), x.dtype)

    [found] = told(special, np.float32(0.0)).inputs
    assert found.verdict is Verdict.DISAGREE
    assert "at a point nearby the gradient is right" in found.advice


def test_a_wrong_rule_is_no_special_case_where_nearby_nothing_can_be_told() -> None:
    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        return tf.sin(x), lambda upstream: upstream * 1.001 * tf.cos(x)

    [found] = told(
        lambda x: tf.cast(wrong(tf.cast(x, tf.float32)), tf.float64), np.array([0.3, 0.4])
    ).inputs
    assert found.verdict is Verdict.DISAGREE
    assert "at a point nearby" not in found.advice


def test_a_fault_of_the_form_names_the_input() -> None:
    @tf.custom_gradient
    def total(x: Any) -> Any:
        return tf.reduce_sum(x), lambda upstream: upstream

    assert "gradient of w: shape (), should be (3,)" in str(
        told(lambda x, w: x * total(w), 1.0, HALVES)
    )


def test_a_kink_is_named() -> None:
    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        return tf.abs(x), lambda upstream: 3 * upstream

    report = told(wrong, np.array([0.0]))
    assert report.inputs[0].fault is not None
    assert report.inputs[0].fault.evidence.kink
    assert "within the one-sided slopes -1 and 1 (a kink)" in str(report)


@pytest.mark.parametrize(
    "inputs",
    [
        (HALVES,),
        (tf.constant(HALVES),),
        (tf.Variable(HALVES),),
        (HALVES.astype("f4"),),
        (HALVES.astype("f2"),),
        (tf.constant(HALVES, tf.bfloat16),),
        ([0.5, 1.5],),
        ({"a": [0.5], "b": (HALVES, 2)},),
        (tf.RaggedTensor.from_row_lengths(HALVES, [2, 1]),),
        (HALVES + 1j,),
    ],
    ids=["array", "tensor", "variable", "float32", "float16", "bfloat16", "floats", "nested",
         "ragged", "complex"],
)  # fmt: skip
def test_inputs_of_every_sort_are_differentiated_in_float64(inputs: Any) -> None:
    def squares(x: Any) -> Any:
        parts = tf.nest.flatten(x, expand_composites=True)
        tensors = [tf.convert_to_tensor(part) for part in parts]
        return [x * x for x in tensors if x.dtype.is_floating or x.dtype.is_complex]

    report = told(squares, *inputs, jacobian=True)
    assert report.ok, report
    assert report.precision == "float64"
    assert all(each.agree.all() for each in report.jacobians)


def test_names_are_those_of_the_parameters_and_keys() -> None:
    report = told(lambda p, *rest: p["w"][0] * rest[1], {"w": [1.0]}, 2, 3.0)
    assert [each.name for each in report.inputs] == ["p['w'][0]", "rest[1]"]


def test_a_tf_function_is_checked_and_its_dtypes_are_seen() -> None:
    @tf.function
    def single(x: Any) -> Any:
        return tf.cast(tf.sin(tf.cast(x, tf.float32)), tf.float64)

    report = told(single, HALVES)
    assert report.ok
    assert report.precision.startswith("float32 (")


def test_a_function_that_refuses_float64_is_judged_in_its_own_dtype() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def fixed(x: Any) -> Any:
        return cube(x)

    assert told(fixed, HALVES.astype("f4")).ok
    report = told(fixed, np.array([0.5, 3.0], "f4"))
    assert report.inputs[0].element == "x[1]"
    assert report.precision.startswith("float32 (in float64 it raises ")


FUNCTIONS = {
    "exp": tf.exp,
    "tanh": tf.tanh,
    "softmax": tf.nn.softmax,
    "square": tf.square,
    "relu": tf.nn.relu,
    "gelu": tf.nn.gelu,
    "log of softplus": lambda x: tf.math.log(tf.nn.softplus(x)),
    "log of a sum": tf.reduce_logsumexp,
    "sum": tf.reduce_sum,
    "sort": tf.sort,
    "sigmoid": tf.sigmoid,
    "reciprocal": lambda x: 1 / (2 + x * x),
    "round": tf.round,
    "cumsum": tf.math.cumsum,
    "identity": tf.identity,
}
POINTS = {
    "zero": np.zeros(1),
    "ties": np.array([1.0, 1.0]),
    "irregular": np.array([0.3, -1.7, 30.1, 1e-3]),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bfloat16], ids=lambda d: d.name)
def test_no_false_alarm_in_low_precision(name: str, dtype: Any, point: str) -> None:
    def only_low(x: Any) -> Any:
        tf.debugging.assert_type(x, dtype)
        return FUNCTIONS[name](x)

    report = told(only_low, tf.constant(POINTS[point], dtype))
    assert report.verdict is not Verdict.DISAGREE, report
    assert report.precision.startswith(dtype.name)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bfloat16], ids=lambda d: d.name)
def test_a_wrong_gradient_does_not_pass_in_low_precision(dtype: Any) -> None:
    def only_low(x: Any) -> Any:
        tf.debugging.assert_type(x, dtype)
        return cube(x)

    [found] = told(only_low, tf.constant([1.0, 3.0], dtype)).inputs
    if dtype == tf.float32:
        assert found.element == "x[1]"
    assert found.verdict is not Verdict.AGREE


def test_the_full_comparison_shows_every_element() -> None:
    report = told(cube, np.array([1.0, 3.0, 0.0]), jacobian=True)
    [found] = report.jacobians
    assert found.analytic.shape == found.numeric.shape == (3, 3)
    assert np.diag(found.numeric) == pytest.approx([3, 27, 0])
    assert np.argwhere(found.disagree).tolist() == [[1, 1]]
    assert (found.agree | found.disagree).all()
    assert found.error.max() < 1e-7


@tf.custom_gradient
def not_twice(x: Any) -> Any:
    """Return x**2, whose gradient is right and cannot be differentiated again."""
    return x * x, lambda upstream: upstream * 2 * tf.stop_gradient(x)


@pytest.mark.parametrize("oracle", ["numeric", "forward", "compiled", "batched", "second"])
def test_other_oracles_can_be_asked(oracle: str) -> None:
    report = told(lambda x, y: tf.tanh(x) * y, HALVES, HALVES + 1, oracles=[oracle])
    assert report.ok, report
    assert set(report.oracles) == {"always", oracle}


def test_a_wrong_second_derivative_is_found_by_the_oracle_of_that_name() -> None:
    assert told(not_twice, HALVES).ok
    report = told(not_twice, HALVES, oracles=["numeric", "second"])
    assert report.verdict is Verdict.DISAGREE
    assert report.oracles["numeric"].verdict is Verdict.AGREE
    assert report.oracles["second"].fault is not None


def test_an_oracle_that_cannot_look_at_functions_says_nothing() -> None:
    assert told(tf.tanh, HALVES, oracles=["precision"]).ok
    with pytest.raises(gradfuzz.FunctionError, match="oracles: 'divination', should be some of"):
        told(tf.tanh, HALVES, oracles=["divination"])


# Variables, modules and layers.


def test_a_variable_that_the_function_holds_is_an_input_and_keeps_its_value() -> None:
    weight = tf.Variable([1.0, 3.0], dtype=tf.float64, name="weight")
    report = told(lambda x: x * cube(weight), 1.0, variables=[weight])
    assert [(each.name, each.verdict) for each in report.inputs] == [
        ("x", Verdict.AGREE),
        ("weight", Verdict.DISAGREE),
    ]
    assert weight.numpy().tolist() == [1.0, 3.0]


def test_an_embedding_gives_slices_which_are_added_up() -> None:
    table = tf.Variable(np.arange(6.0).reshape(3, 2))
    report = told(
        lambda: tf.nn.embedding_lookup(table, [0, 2, 0]) ** 2, variables=[table], jacobian=True
    )
    assert report.ok


def test_a_module_is_differentiated_by_its_variables() -> None:
    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = tf.Variable(3.0, name="factor")

        def __call__(self, x: Any) -> Any:
            return x * cube(self.factor)

    report = told(Scale(), 2.0)
    assert [each.name for each in report.inputs] == ["x", "factor"]
    assert report.inputs[1].verdict is Verdict.DISAGREE


def test_a_keras_model_is_checked_in_float64_and_stays_what_it_was() -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(3, "gelu"), layers.LayerNormalization(), layers.Dense(1)]
    )
    x = np.random.default_rng(0).normal(size=(2, 4)).astype("f4")
    before = [np.copy(w) for w in (model(x), model)[1].get_weights()]
    report = told(model, x)
    assert report.ok, report
    assert report.precision == "float64"
    assert len(report.inputs) == 7
    for old, new in zip(before, model.get_weights(), strict=True):
        assert new.dtype == np.float32
        assert np.array_equal(old, new)


def test_a_model_of_mixed_precision_is_checked_in_float64() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, "gelu", dtype="mixed_float16")])
    report = told(model, np.eye(2, dtype="f2"))
    assert report.ok
    assert report.precision == "float64"


def test_a_layer_that_cannot_be_copied_is_checked_in_its_own_dtype() -> None:
    class Odd(tf.keras.layers.Layer):
        def __init__(self, scale: Any) -> None:
            super().__init__()
            self.scale = scale
            self.weight = self.add_weight(shape=(2,), initializer="ones", name="weight")

        def call(self, x: Any) -> Any:
            return cube(x) * self.weight * self.scale()

    report = told(Odd(lambda: 2.0), np.array([1.0, 3.0], "f4"))
    assert report.inputs[0].element == "x[1]"
    assert report.precision == "float32 (no copy of the layer in float64 could be made)"


def test_a_training_step_of_a_keras_model() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, "tanh"), tf.keras.layers.Dense(2)])
    x, labels = np.eye(4, 3, dtype="f4"), np.array([0, 1, 1, 0])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model(x)
    report = told(lambda: loss(labels, model(x)), variables=model.trainable_variables)
    assert report.ok, report
    assert report.precision.startswith("float32 (")


@pytest.mark.parametrize(
    ("loss", "labels"),
    [
        ("Huber", [0.5, 2.0]),
        ("BinaryCrossentropy", [0.0, 1.0]),
        ("SparseCategoricalCrossentropy", np.array(1)),
    ],
)
def test_a_loss_of_keras_is_a_function_like_others(loss: str, labels: Any) -> None:
    report = told(getattr(tf.keras.losses, loss)(), np.asarray(labels), np.array([0.3, 0.7]))
    assert report.ok, report
    assert report.inputs[-1].name == "y_pred"


def test_a_regularizer_of_keras_is_a_function_like_others() -> None:
    assert told(tf.keras.regularizers.L2(), HALVES).ok


def test_variables_that_a_function_assigns_to_have_their_values_back() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()])
    x, calls = np.arange(6.0).reshape(3, 2).astype("f4"), tf.Variable(0)
    model(x)
    model.layers[0].set_weights([np.array([[1.0, -1.0], [0.5, 2.0]]), np.zeros(2)])
    before = [np.copy(weight) for weight in model.get_weights()]

    def loss() -> Any:
        calls.assign_add(1)
        return tf.reduce_sum(model(x, training=True) ** 3)

    assert told(loss, variables=model.trainable_variables).ok
    assert told(model, x).ok
    for old, new in zip(before, model.get_weights(), strict=True):
        assert np.array_equal(old, new)
    assert calls.numpy() == 0


# What is refused, naming the argument.


def drifting() -> Callable[[Any], Any]:
    count = iter(range(1000))
    return lambda x: x + next(count)


def raising(x: Any) -> Any:
    raise RuntimeError("no such luck")


def random_factor(x: Any) -> Any:
    return x * tf.random.normal([], dtype=x.dtype)


def keras_model() -> Any:
    return tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(2)])


REFUSED = {
    "random where it is 0": ((random_factor, 0.0), "random_factor: not deterministic: two calls"),
    "a metric": (
        (tf.keras.metrics.MeanSquaredError(), HALVES, HALVES),
        "function: mean_squared_error is a metric, which adds up all calls, should be a loss",
    ),
    "a wrong shape for Keras": (
        (keras_model(), np.ones((2, 4))),
        r"raised ValueError: .* expected .*3, .*, should run at these inputs$",
    ),
    "the end of Python": ((lambda x: sys.exit(5), 1.0), "raised SystemExit: 5, should run at"),
    "no function": (("text", 1.0), "function: a str, should be callable"),
    "a string": ((lambda x: "text", 1.0), "returns output: 'text', should return a real tensor"),
    "integers": ((lambda x: tf.cast(x, tf.int32), 1.0), r"output: int32\[\], should return a real"),
    "no tensor": ((lambda x: [object(), x], 1.0), r"output\[0\] is a object, should be a tensor"),
    "mixed dtypes": (
        (lambda x, y: tf.add(x, y), HALVES, HALVES.astype("f4")),
        "inputs: x is float64, y is float32, should be of one dtype",
    ),
    "not deterministic": ((drifting(), 1.0), "not deterministic: two calls .* in output"),
    "raising": ((raising, 1.0), "raising: raised RuntimeError: no such luck, should run at"),
    "nothing real": ((lambda x: x, 3), "inputs: x: 3, should have a real array"),
    "too many inputs": ((lambda x: x, 1.0, 2.0), "inputs: 2 given, should be what <lambda> takes"),
    "a list": (
        (lambda x: x**3, [1.0, 2.0]),
        r"inputs\[0\]: a list of numbers is passed as one, should",
    ),
    "no inputs": ((lambda: tf.constant(1.0),), "inputs: none, should have a real array"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_checked_is_refused_in_one_line(name: str) -> None:
    arguments, message = REFUSED[name]
    with pytest.raises(gradfuzz.FunctionError, match=message) as raised:
        gradfuzz.check_gradients(*arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"deadline": "soon"}, "deadline: 'soon', should be milliseconds"),
        ({"nondet_tol": -1.0}, "nondet_tol: -1.0, should be a number that is not negative"),
        ({"variables": 3}, "variables: 3, should be a list of variables"),
        (
            {"oracles": "numeric"},
            "oracles: 'numeric', should be a list of names, some of numeric, ",
        ),
    ],
)
def test_a_wrong_option_is_named(option: dict[str, Any], message: str) -> None:
    with pytest.raises(gradfuzz.FunctionError, match=message):
        gradfuzz.check_gradients(tf.sin, 1.0, **option)


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(gradfuzz.FunctionError, match=r"variables\[0\]: a int, should be a tf.Var"):
        gradfuzz.check_gradients(lambda x: x, 1.0, variables=[3])
    step = tf.Variable(1)
    with pytest.raises(gradfuzz.FunctionError, match=r"variables\[0\] \(Variable\): int32, should"):
        gradfuzz.check_gradients(lambda x: x, 1.0, variables=[step])


def test_noise_within_nondet_tol_is_let_through() -> None:
    noise = np.random.default_rng(0)
    report = told(lambda x: x + 1e-9 * noise.random(), 1.0, nondet_tol=1e-8)
    assert report.verdict is not Verdict.DISAGREE


def test_past_the_deadline_nothing_is_told() -> None:
    report = told(lambda x: x**2, HALVES, deadline=timedelta(0))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "takes too long" in str(report)


def test_what_cannot_be_told_is_no_success() -> None:
    with pytest.raises(gradfuzz.WrongGradientError, match=r"output is nan, which has no deriv"):
        gradfuzz.assert_gradients(tf.math.log, -1.0)
    gradfuzz.assert_gradients(tf.math.log, -1.0, allow_inconclusive=True)


def test_where_no_output_has_a_value_nothing_agrees() -> None:
    report = told(tf.math.log, np.array(-1.0))
    assert report.inputs[0].verdict is Verdict.INCONCLUSIVE
    assert report.oracles["numeric"].verdict is Verdict.INCONCLUSIVE


def test_a_value_too_large_to_be_measured_is_not_said_to_have_no_derivative() -> None:
    assert "output is 1e+305, which is too large to be measured" in str(
        told(lambda x: x * 1e300, 1e5)
    )


def test_the_package_is_imported_without_tensorflow() -> None:
    code = "import sys, gradfuzz; dir(gradfuzz); sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(gradfuzz, name) for name in gradfuzz.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        gradfuzz.nonsense  # noqa: B018  # the attribute is looked up for its error
