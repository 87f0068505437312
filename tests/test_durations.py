import math

import pytest

from gradfuzz.durations import format_duration, parse_budget
from gradfuzz.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("0.5", 0.5),
        (" 90s ", 90),
        ("15m", 900),
        ("8h", 28800),
        ("1h30m", 5400),
        ("1h5s", 3605),
        ("1.5h", 5400),
        ("1h1m1s", 3661),
        ("366h", 366 * 3600),
    ],
)
def test_a_budget_is_seconds_or_hours_minutes_and_seconds(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", " ", "h", "soon", "-5", "-5m", "1h30", "30m1h", "1 h", "5d", "nan", "inf", "1e3", "0x10",
     "٣", "1..5", ".5", "5.", "1,5", "1m1m", "10M", "120s\n60"],
)  # fmt: skip
def test_nonsense_is_refused_with_what_it_should_be(text):
    with pytest.raises(UsageError) as caught:
        parse_budget(text)
    wanted = "should be seconds or a time such as 90s, 15m, 8h or 1h30m"
    assert str(caught.value) == f"budget {text!r}: {wanted}"


@pytest.mark.parametrize("text", ["0", "0s", "0h0m", "0.0", "367d".replace("d", "00h"), "9" * 400])
def test_nothing_and_more_than_a_year_are_refused(text):
    with pytest.raises(
        UsageError, match=r"^budget '.{1,40}': should be above 0 and at most a year$"
    ):
        parse_budget(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (-3, "0s"), (0.4, "0s"), (59.6, "1m"), (125, "2m 5s"), (28800, "8h"),
     (5400, "1h 30m"), (3605, "1h"), (3599, "59m 59s")],
)  # fmt: skip
def test_a_duration_is_shown_in_its_two_largest_units(seconds, text):
    assert format_duration(seconds) == text


def test_what_is_parsed_is_finite():
    assert math.isfinite(parse_budget("8784h"))
