"""What a measuring run counts: cases, gradient functions that ran, and lines of theirs."""

import json

import pytest

from gradfuzz.cli.ops import ops as show_ops
from gradfuzz.cli.tally import Tally
from gradfuzz.gradient_lines import gradient_files, recording_lines
from gradfuzz.measure import measure
from gradfuzz.runtime import tf
from gradfuzz.strategies.arguments import Real
from gradfuzz.strategies.entry import op
from gradfuzz.strategies.graphs import Catalogue
from tests.planted import planted_gradient

SMALL = Catalogue(
    (
        op("Neg", x=Real("*s")),
        op("MatMul", a=Real("m k"), b=Real("k n")),
        op("Cross", a=Real("2"), b=Real("2")),  # which it refuses
        op("recipe.TensorListStack", tensor=Real("n *r")),
        op("tf.nn.silu", features=Real("*s")),
        op("NegV9", x=Real("*s")),
    ),
    {"Log": "is tested elsewhere"},
)
OPS = {name: SMALL for name in SMALL.ops if name != "NegV9"}


def test_each_op_has_cases_and_its_gradient_runs():
    tally = Tally(frozenset())
    ran = measure(OPS, 3.0, 0, tally.count)
    assert {"Neg", "MatMul", "TensorListStack", "TensorListFromTensor"} <= ran
    assert all(tally.ops[name].cases for name in OPS if name != "Cross")
    assert "Cross" not in ran
    assert tally.ops["Cross"].cases == 0
    assert tally.ops["Cross"].rejected > 0
    assert tally.ops["Neg"].rejected == 0


def test_an_op_has_a_turn_however_short_the_time():
    tally = Tally(frozenset())
    measure(OPS, 0.0, 0, tally.count)
    assert all(tally.ops[name].cases + tally.ops[name].rejected for name in OPS)


def test_findings_are_counted_and_do_not_end_a_turn():
    tally = Tally(frozenset())
    with planted_gradient("Neg", lambda right, op, u: 2 * right(op, u)):
        measure({"Neg": SMALL}, 1.0, 0, tally.count)
    assert sum(tally.hits.values()) > 1


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr("gradfuzz.cli.ops.load_catalogues", lambda: [SMALL])


def shown(capsys, **options):
    assert show_ops(as_json=True, missing=False, **options) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("small")
def test_ops_shows_what_was_measured(capsys):
    found = shown(capsys, measure=1.0, lines=True)
    rows = {row["op"]: row for row in found["ops"]}
    assert rows["Neg"]["cases"] > 0
    assert rows["Neg"]["ran"] is True
    assert rows["tf.nn.silu"]["ran"] is None
    assert rows["recipe.TensorListStack"]["gradient"] is True
    assert rows["NegV9"]["cases"] == 0
    assert rows["NegV9"]["in_tensorflow"] is False
    assert found["counts"]["in_catalogue_with_gradient"] == 5
    assert found["counts"]["ran"] >= 4
    assert "Abs" in found["missing"]
    assert "Log" not in found["missing"]
    assert found["not_run"] == ["Cross"]
    assert 0 < found["lines"]["ran"] < found["lines"]["count"]


@pytest.mark.usefixtures("small")
def test_ops_shows_what_did_not_run(capsys):
    assert show_ops(as_json=False, missing=True, measure=0.0) == 0
    text = capsys.readouterr().out
    assert "Covered, and did not run" in text
    assert "Gradient functions run: " in text


@pytest.mark.usefixtures("small")
def test_ops_without_measuring_counts_nothing(capsys):
    found = shown(capsys)
    assert {row["cases"] for row in found["ops"]} == {None}
    assert "ran" not in found["counts"]
    assert "lines" not in found


def test_the_lines_of_a_gradient_are_those_inside_its_function():
    with recording_lines() as none:
        pass
    with recording_lines() as some, tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        tape.gradient(tf.raw_ops.Tan(x=x), x)
    assert none.ran == 0
    assert none.count == some.count > 2000
    assert 0 < some.files["math_grad.py"][0] < 20
    assert {path.name for path in gradient_files()} >= set(some.files)
