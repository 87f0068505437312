import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradfuzz.oracles.search import wrong_ones


@given(st.sets(st.integers(0, 40)), st.integers(1, 41))
def test_finds_the_wrong_ones_and_no_others(wrong, size):
    found = wrong_ones(range(size), lambda group: bool(wrong & set(group)), most=100)
    assert found == sorted(w for w in wrong if w < size)


@pytest.mark.parametrize("wrong", [0, 17, 63])
def test_one_in_64_costs_thirteen_questions(wrong):
    questions = []

    def is_wrong(group):
        questions.append(list(group))
        return wrong in group

    assert wrong_ones(range(64), is_wrong, most=64) == [wrong]
    assert len(questions) == 13


def test_stops_at_the_most():
    assert wrong_ones(range(100), lambda group: True, most=3) == [0, 1, 2]


def test_what_is_known_to_be_wrong_is_not_asked():
    assert wrong_ones([7], lambda group: pytest.fail("asked"), most=1, known_wrong=True) == [7]
