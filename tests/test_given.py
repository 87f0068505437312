"""Property tests of functions of one's own, from Python and from the command line."""

import json
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import gradfuzz
from gradfuzz.cli.app import app
from gradfuzz.errors import UsageError
from gradfuzz.runtime import tf
from gradfuzz.strategies import POSITIVE, Index, Real, inputs
from gradfuzz.strategies.domains import SPD

FEW = hypothesis.settings(max_examples=40, deadline=None, derandomize=True, database=None)


# The three lines that a user writes.
@gradfuzz.given_gradients("*b n", settings=FEW)
def test_my_gelu(x: Any) -> Any:
    return 0.5 * x * (1 + tf.math.erf(x / np.sqrt(2.0)))


@gradfuzz.given_gradients("m k", "k n", settings=FEW)
def test_a_name_is_one_size_in_all_inputs(a: Any, b: Any) -> Any:
    return tf.matmul(a, b)


@gradfuzz.given_gradients(Real("n", POSITIVE), Index("m", below="n"), settings=FEW)
def test_domains_and_indices_are_those_of_the_catalogue(x: Any, indices: Any) -> Any:
    return tf.math.log(tf.gather(x, indices))


@tf.custom_gradient
def wrong_above_one(x: Any) -> Any:
    return x**2, lambda upstream: upstream * tf.where(x > 1, 3 * x, 2 * x)


def test_the_simplest_inputs_that_are_wrong_are_in_the_error() -> None:
    def function(x: Any) -> Any:
        return wrong_above_one(x)

    test = gradfuzz.given_gradients("*b n", settings=FEW)(function)
    assert test.__name__ == "function"
    with pytest.raises(gradfuzz.WrongGradientError) as raised:
        test()
    [x] = raised.value.inputs
    assert x.shape == (1,)
    assert x[0] == 1.125
    assert "d output[0] / d x[0]" in str(raised.value)


def test_inputs_of_which_nothing_can_be_told_are_no_examples() -> None:
    test = gradfuzz.given_gradients("n", settings=FEW)(lambda x: x * np.nan)
    with pytest.raises(UsageError, match=r"inputs: at most of them nothing can be told \(output"):
        test()


def test_where_only_some_inputs_tell_something_the_others_are_no_examples() -> None:
    gradfuzz.given_gradients("n", settings=FEW)(lambda x: tf.math.log(x + 8))()


def test_a_random_function_is_one_clear_error() -> None:
    def random(x: Any) -> Any:
        return x * tf.random.normal([], dtype=x.dtype)

    with pytest.raises(gradfuzz.FunctionError, match="random: not deterministic"):
        gradfuzz.given_gradients("n", settings=FEW)(random)()


def test_a_function_that_refuses_float64_is_given_float32() -> None:
    def single(x: Any) -> Any:
        return wrong_above_one(x) * tf.sqrt(2.0)

    with pytest.raises(gradfuzz.WrongGradientError, match=r"x: float32\[1\]: disagree") as raised:
        gradfuzz.given_gradients("n", settings=FEW)(single)()
    assert "computed in float32 (in float64 it raises Inv" in str(raised.value)
    right = gradfuzz.given_gradients("n", settings=FEW)
    right(lambda x: 0.5 * x * (1 + tf.math.erf(x / tf.sqrt(2.0))))()


class TestMethods:
    """The decorated methods are tests by themselves, as Hypothesis's are."""

    factor = 2.0

    @gradfuzz.given_gradients("*b n", settings=FEW)
    def test_self_is_passed_on(self, x: Any) -> Any:
        return self.factor * x**2

    @gradfuzz.given_gradients("n", settings=FEW)
    def wrong(self, x: Any) -> Any:
        return self.factor * wrong_above_one(x)

    def test_a_wrong_gradient_in_a_method_is_found(self) -> None:
        with pytest.raises(gradfuzz.WrongGradientError, match="gradients of wrong: disagree"):
            self.wrong()


@hypothesis.given(inputs("*b n", "n", "*#b"))
@FEW
def test_the_strategy_draws_arrays_that_fit(drawn: tuple[Any, ...]) -> None:
    x, scale, offset = drawn
    assert x.dtype == np.float64
    assert x.shape[-1:] == scale.shape
    np.broadcast_shapes(x.shape[:-1], offset.shape)


@pytest.mark.parametrize("arguments", [(), (3,), (tf.sin,)], ids=["none", "number", "function"])
def test_what_is_no_pattern_is_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(UsageError, match=r"inputs.*: (none|a int|a function), should be"):
        gradfuzz.given_gradients(*arguments)


@pytest.mark.parametrize("pattern", ["n-", "*", "2n", "**s", "(n)"])
def test_a_wrong_pattern_is_named(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"pattern .*: .*, should be an axis \(n\), a size \(3\)"):
        gradfuzz.given_gradients(f"b {pattern}")


def test_a_domain_that_needs_ops_is_refused() -> None:
    with pytest.raises(UsageError, match=r"inputs\[0\]: domain SPD, should be one that no step"):
        inputs(Real("n n", SPD))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Real("n", 3), r"inputs\[0\]: domain 3, should be one of gradfuzz.strategies"),
        (Real("n", dtype="foo"), r"inputs\[0\]: dtype 'foo', should be float64 or float32"),
        (Real(3), r"inputs\[0\]: pattern 3, should be one"),
    ],
)
def test_a_description_that_is_wrong_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gradfuzz.given_gradients(wrong)


def test_a_function_that_does_not_run_fails_with_its_name() -> None:
    def no_function(x: Any) -> Any:
        raise RuntimeError("no such luck")

    with pytest.raises(gradfuzz.FunctionError, match="no_function: raised RuntimeError"):
        gradfuzz.given_gradients("n", settings=FEW)(no_function)()


def test_options_are_those_of_the_check() -> None:
    weight = tf.Variable(2.0, dtype=tf.float64)
    gradfuzz.given_gradients("n", settings=FEW, variables=[weight])(lambda x: x * weight)()


def test_it_stands_beside_other_strategies() -> None:
    @hypothesis.given(inputs("n n"), st.booleans())
    @FEW
    def test(drawn: tuple[Any], transpose: bool) -> None:  # noqa: FBT001  # drawn by Hypothesis
        gradfuzz.assert_gradients(lambda a: tf.matmul(a, a, transpose_b=transpose), *drawn)

    test()


# On the command line.

MODULE = """
import tensorflow as tf
from gradfuzz.strategies import Catalogue, Real, op

@tf.custom_gradient
def cube(x):
    return x**3, lambda upstream: upstream * tf.where(x > 1, 2 * x**2, 3 * x**2)

def wrong(x):
    return cube(x)

def right(x, w):
    return tf.matmul(x, w)

def raising(x):
    raise RuntimeError("no such luck")

def random(x):
    return x * tf.random.normal([], dtype=x.dtype)

def single(x):
    return 0.5 * x * (1 + tf.math.erf(x / tf.sqrt(2.0)))

def ending(x):
    raise SystemExit(5)

number = 3

def nan(x):
    return x * float("nan")

CATALOGUE = Catalogue((op(wrong, x=Real("*s")),))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Each test has a module of its own: Python imports one of a name only once.
    (tmp_path / f"ops_of_{tmp_path.name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADFUZZ_OPS_FROM", "")
    return tmp_path


def run(*args: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(arg) for arg in args])


def test_a_function_is_checked_by_its_name(folder: Path) -> None:
    module = f"ops_of_{folder.name}"
    assert run("check", f"{module}:right", "*b m k", "*b k n", "--max-examples", 20).exit_code == 0
    done = run("check", f"{module}:wrong", "*b n", "--seed", 1)
    assert done.exit_code == 1
    assert "d output[0] / d x[0]: analytic 2.53125, should be 3.796875" in done.stdout
    assert "x = float64[1] [1.125]" in done.stdout
    as_json = json.loads(run("check", f"{module}:wrong", "n", "--json").stdout)
    assert (as_json["verdict"], as_json["inputs"]) == ("disagree", ["float64[1] [1.125]"])


@pytest.mark.parametrize(
    ("target", "pattern", "message"),
    [
        ("no_colon", "n", "function 'no_colon': should be module:function"),
        ("no_such_module:f", "n", "module 'no_such_module': not imported (ModuleNotFoundError"),
        ("{}:absent", "n", ":absent': not there, should be a function of the module"),
        ("{}:number", "n", ":number': of type int, should be a function"),
        ("{}:random", "n", "random: not deterministic: two calls at the same inputs differ"),
        ("{}:ending", "n", "ending: raised SystemExit: 5, should run"),
        ("{}:right", "n", "inputs: 1 given, should be what right takes"),
        ("{}:wrong", "n-", "pattern 'n-': 'n-', should be an axis"),
        ("{}:raising", "n", "raising: raised RuntimeError: no such luck, should run"),
        ("{}:nan", "n", "inputs: at most of them nothing can be told"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(
    folder: Path, target: str, pattern: str, message: str
) -> None:
    done = run("check", target.format(f"ops_of_{folder.name}"), pattern)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_what_refuses_float64_is_checked_in_float32_and_that_is_said(folder: Path) -> None:
    done = run("check", f"ops_of_{folder.name}:single", "*b n", "--max-examples", 20)
    assert done.exit_code == 0, done.output
    assert "right at 20 inputs of shapes *b n, in float32 (in float64 it raises" in done.stdout


def test_a_module_that_ends_python_is_refused_in_one_line(folder: Path) -> None:
    (folder / f"ending_{folder.name}.py").write_text("raise SystemExit(5)")
    done = run("check", f"ending_{folder.name}:f", "n")
    assert done.exit_code == 2
    assert "not imported (SystemExit: 5)" in done.output


def test_ops_of_a_file_are_fuzzed_saved_and_replayed(folder: Path) -> None:
    file = folder / f"ops_of_{folder.name}.py"
    op = f"{file.stem}.wrong"
    settings = ("--oracles", "numeric", "--budget", "10s", "--seed", 1, "--corpus", "c")
    done = run("fuzz", "--ops-from", file, "--ops", op, *settings)
    assert done.exit_code == 1, done.output
    [case] = Path("c").glob("*.json")
    assert json.loads(case.read_text())["bucket"]["op"] == op
    done = run("replay", "--ops-from", file, "c")
    assert done.exit_code == 0, done.output
    assert "STILL FAILS" in done.stdout
    assert f"import {file.stem}" in run("repro", "--ops-from", file, case).stdout


def test_what_was_found_in_ops_of_a_file_is_told_of_without_naming_it_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / f"ops_of_{folder.name}.py"
    settings = ("--oracles", "numeric", "--budget", "10s", "--seed", 1, "--corpus", "c")
    done = run("fuzz", "--ops-from", file.name, "--ops", f"{file.stem}.wrong", *settings)
    [case] = Path("c").glob("*.json")
    assert f"gradfuzz show {case} --ops-from {file}" in done.stdout
    for command in ("status", "report"):
        monkeypatch.setenv("GRADFUZZ_OPS_FROM", "")
        [run_folder] = Path(".gradfuzz").iterdir()
        done = run(command, run_folder)
        assert "passed over" not in done.output
        assert str(case) in done.stdout or "1 findings" in done.stdout
    monkeypatch.setenv("GRADFUZZ_OPS_FROM", file.name)
    assert "STILL FAILS" in run("replay", "c").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "not there, should be a Python file"),
        ("1 / 0", "not loaded (ZeroDivisionError: division by zero)"),
        ("CATALOGUE = 1", "no CATALOGUE, should have one"),
    ],
)
def test_a_file_without_ops_is_refused(folder: Path, text: str | None, message: str) -> None:
    file = folder / f"broken_{folder.name}.py"
    if text is not None:
        file.write_text(text)
    done = run("ops", "--ops-from", file)
    assert done.exit_code == 2
    assert message in done.output


def test_variables_made_in_the_first_call_have_their_values_back() -> None:
    made = []

    @gradfuzz.given_gradients("n", settings=FEW)
    def test(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(0.0, trainable=False))
        made[0].assign_add(1.0)
        return tf.sin(x)

    test()
    before = made[0].numpy()
    test()
    assert made[0].numpy() == before
