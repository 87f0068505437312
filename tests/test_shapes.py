"""Patterns: what is drawn for one is what matches it."""

from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gradfuzz.strategies.modes import SIDES_WITH_EMPTY
from gradfuzz.strategies.shapes import Dims, Shape, draw_shape, matches

QUICK = hypothesis.settings(max_examples=200, deadline=None, database=None, derandomize=True)

AXES = st.sampled_from(("n", "m", "k", "_", "3", "1"))
RUNS = st.sampled_from(("*s", "*#s", "*t"))


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Patterns of up to four axes and two runs, in any order.  Shrinks towards no axis."""
    axes = [*draw(st.lists(AXES, max_size=4)), *draw(st.lists(RUNS, max_size=2))]
    return " ".join(draw(st.permutations(axes)))


@st.composite
def drawn(draw: st.DrawFn, pattern: str, dims: Dims) -> Shape:
    """Shapes of a pattern, some of their axes empty; the names are bound in `dims`."""
    return draw_shape(draw, pattern, dims, SIDES_WITH_EMPTY)


@st.composite
def shapes(draw: st.DrawFn, pattern: str, run: Shape | None = None) -> Shape:
    """Shapes of a pattern by itself, or with its run `s` bound.  Some axes are empty."""
    dims = Dims() if run is None else Dims(runs={"s": run})
    return draw_shape(draw, pattern, dims, SIDES_WITH_EMPTY)


def simplest(strategy: st.SearchStrategy[Shape], condition: Callable[[Shape], bool]) -> Shape:
    return hypothesis.find(strategy, condition, settings=QUICK)


def readings(pattern: str, shape: Shape, dims: Dims | None = None) -> list[Dims]:
    return list(matches(pattern, shape, dims or Dims()))


# Drawing and matching agree.


@QUICK
@hypothesis.given(st.data(), patterns())
def test_what_is_drawn_matches_with_the_same_bindings(data: st.DataObject, pattern: str) -> None:
    dims = Dims()
    shape = data.draw(drawn(pattern, dims))
    assert dims in readings(pattern, shape, Dims(dict(dims.axes), dict(dims.runs)))


@QUICK
@hypothesis.given(st.data(), patterns().filter(lambda pattern: "#" not in pattern))
def test_what_is_drawn_matches_where_no_name_is_bound(data: st.DataObject, pattern: str) -> None:
    dims = Dims()
    shape = data.draw(drawn(pattern, dims))
    assert dims in readings(pattern, shape)


@QUICK
@hypothesis.given(st.data(), patterns(), st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_what_matches_can_be_written_from_its_bindings(
    data: st.DataObject, pattern: str, shape: Shape
) -> None:
    pattern = pattern.replace("#", "").replace("_", "own")
    for found in readings(pattern, shape):
        assert found.shape(pattern) == shape
        assert data.draw(drawn(pattern, found)) == shape


@QUICK
@hypothesis.given(st.data(), patterns(), patterns())
def test_a_second_pattern_keeps_what_the_first_bound(
    data: st.DataObject, first: str, second: str
) -> None:
    dims = Dims()
    data.draw(drawn(first, dims))
    before = Dims(dict(dims.axes), dict(dims.runs))
    shape = data.draw(drawn(second, dims))
    assert before.axes.items() <= dims.axes.items()
    assert before.runs.items() <= dims.runs.items()
    assert dims in readings(second, shape, dims)


@QUICK
@hypothesis.given(patterns(), st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_matching_leaves_what_was_bound_alone(pattern: str, shape: Shape) -> None:
    dims = Dims({"n": 2}, {"s": (1, 2)})
    for found in readings(pattern, shape, dims):
        assert dims.axes.items() <= found.axes.items()
        assert dims.runs.items() <= found.runs.items()
    assert dims == Dims({"n": 2}, {"s": (1, 2)})


# Broadcasting.


@QUICK
@hypothesis.given(st.data())
def test_broadcastable_runs_broadcast_as_numpy_says(data: st.DataObject) -> None:
    dims = Dims()
    shapes = [data.draw(drawn("*#s", dims)) for _ in range(3)]
    assert np.broadcast_shapes(*shapes, dims.runs["s"]) == dims.runs["s"]


@QUICK
@hypothesis.given(*[st.lists(st.integers(0, 3), max_size=3).map(tuple) for _ in "ab"])
def test_a_run_matches_all_that_broadcasts_to_it_and_nothing_else(run: Shape, shape: Shape) -> None:
    try:
        fits = np.broadcast_shapes(shape, run) == run
    except ValueError:
        fits = False
    assert bool(readings("*#s", shape, Dims(runs={"s": run}))) == fits


@pytest.mark.parametrize("wanted", [(), (3,), (1, 3), (2, 1), (1,), (1, 1), (2, 3)])
def test_each_way_to_broadcast_is_drawn(wanted: Shape) -> None:
    assert simplest(shapes("*#s", run=(2, 3)), lambda shape: shape == wanted) == wanted


def test_the_first_of_two_broadcastable_runs_binds_the_shape_it_has() -> None:
    assert readings("*#s", (1, 3)) == [Dims(runs={"s": (1, 3)})]


# Runs, names, numbers.


def test_a_run_is_read_at_every_width() -> None:
    found = readings("*l n *r", (2, 3, 4))
    assert [(d.runs["l"], d.axes["n"], d.runs["r"]) for d in found] == [
        ((), 2, (3, 4)),
        ((2,), 3, (4,)),
        ((2, 3), 4, ()),
    ]


def test_a_run_that_is_bound_is_read_at_its_own_width() -> None:
    [found] = readings("*l n *r", (2, 3, 4), Dims(runs={"l": (2,)}))
    assert (found.axes["n"], found.runs["r"]) == (3, (4,))


@pytest.mark.parametrize(
    ("pattern", "shape", "fits"),
    [
        ("", (), True),
        ("", (1,), False),
        ("n", (), False),
        ("n n", (2, 2), True),
        ("n n", (2, 3), False),
        ("n m n m", (2, 3, 2, 3), True),
        ("n m n m", (2, 3, 3, 2), False),
        ("_ _", (2, 3), True),
        ("3", (3,), True),
        ("3", (2,), False),
        ("*s 3", (3,), True),
        ("*s *s", (2, 3, 2, 3), True),
        ("*s *s", (2, 3, 2), False),
        ("*b n n", (0, 0), True),
        ("*b n n", (5, 0, 0), True),
        ("*b n n", (0,), False),
    ],
)
def test_a_pattern_fits_or_not(pattern: str, shape: Shape, *, fits: bool) -> None:
    assert bool(readings(pattern, shape)) == fits


@QUICK
@hypothesis.given(st.data())
def test_a_number_is_that_size_and_own_axes_bind_nothing(data: st.DataObject) -> None:
    dims = Dims()
    shape = data.draw(drawn("3 _ 12", dims))
    assert (shape[0], shape[2]) == (3, 12)
    assert dims == Dims()


@pytest.mark.parametrize("empty", range(3))
def test_each_axis_is_empty_at_times(empty: int) -> None:
    shape = simplest(shapes("n m _"), lambda shape: shape[empty] == 0)
    assert shape == tuple(0 if axis == empty else 1 for axis in range(3))


def test_a_run_has_up_to_two_axes_and_shrinks_to_none() -> None:
    found = [simplest(shapes("*s"), lambda s, least=n: len(s) >= least) for n in range(3)]
    assert found == [(), (1,), (1, 1)]
    with pytest.raises(hypothesis.errors.NoSuchExample):
        simplest(shapes("*s"), lambda shape: len(shape) > 2)


@pytest.mark.parametrize("pattern", ["n m", "*s n", "n *s *t", "*#s 3", "_ n n"])
def test_shapes_shrink_to_few_axes_of_size_1(pattern: str) -> None:
    fixed = [axis for axis in pattern.split() if not axis.startswith("*")]
    expected = tuple(int(axis) if axis.isdigit() else 1 for axis in fixed)
    assert simplest(shapes(pattern), lambda shape: True) == expected


# Sizes.


def test_the_size_of_a_run_is_its_number_of_elements() -> None:
    dims = Dims({"n": 4}, {"s": (2, 3), "t": (), "u": (2, 0)})
    assert [dims.size(name) for name in ("n", "*s", "*t", "*u")] == [4, 6, 1, 0]
