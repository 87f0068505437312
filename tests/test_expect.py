"""A case may be expected to fail below a version of TensorFlow and to pass from it on."""

import pytest

from gradfuzz.expect import Expect, FixedIn, expect_as_json, read_expect


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.15.1", Expect.FAILS),
        ("2.9.3", Expect.FAILS),
        ("1.15", Expect.FAILS),
        ("2.18.0", Expect.PASSES),
        ("2.18.0-rc1", Expect.PASSES),
        ("2.22.0-dev20261101", Expect.PASSES),
        ("3.0", Expect.PASSES),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, expected: Expect) -> None:
    assert FixedIn("2.18").on(version) is expected
    assert Expect.FAILS.on(version) is Expect.FAILS
    assert Expect.PASSES.on(version) is Expect.PASSES


@pytest.mark.parametrize("expect", [Expect.FAILS, Expect.PASSES, FixedIn("2.18")])
def test_an_expectation_comes_back_from_json(expect: Expect | FixedIn) -> None:
    assert read_expect(expect_as_json(expect), "expect") == expect
