"""The campaign's time is shared among oracles as asked."""

from collections import Counter

import pytest

from gradfuzz.errors import UsageError
from gradfuzz.shares import WEIGHTS, Shares, parse_shares


def test_time_is_shared_by_weight_however_long_the_rounds_of_each_take():
    shares, seconds = Shares({"numeric": 4.0, "second": 2.0}), Counter()
    for _ in range(600):
        for op in ("Log", "Exp"):
            oracle = shares.next(op)[0]
            took = {"numeric": 0.1, "second": 2.0}[oracle]
            shares.spend(op, oracle, took)
            seconds[oracle] += took
    assert seconds["numeric"] / seconds["second"] == pytest.approx(2, rel=0.05)


def test_every_oracle_gets_to_every_op():
    shares = Shares({"numeric": 4.0, "second": 2.0, "forward": 1.0})
    seen = set()
    for _ in range(3):
        for op in ("Log", "Exp"):
            oracle = shares.next(op)[0]
            shares.spend(op, oracle, 1.0)
            seen.add((op, oracle))
    assert len(seen) == 6


def test_ops_are_asked_about_differences_first_and_come_to_the_others_at_different_times():
    shares = Shares(WEIGHTS)
    ops = [f"op{number}" for number in range(60)]
    passes = []
    for _ in range(6):
        asked = {op: shares.next(op, 1.0)[0] for op in ops}
        for op, oracle in asked.items():
            shares.charge(op, oracle, 1.0)
        passes.append(Counter(asked.values()))
    assert passes[0] == {"numeric": 60}
    assert all(len(asked) >= 4 for asked in passes[1:])


def test_an_oracle_is_first_asked_once_about_an_op():
    shares = Shares({"numeric": 1.0, "second": 1.0})
    assert shares.is_first("Log", "numeric")
    shares.charge("Log", "numeric", 0.0)
    shares.spend("Log", "numeric", 0.1)
    assert not shares.is_first("Log", "numeric")
    assert shares.is_first("Log", "second")
    assert shares.is_first("Exp", "numeric")


def test_forward_mode_is_asked_about_beside_differences():
    assert Shares({"forward": 1.0}).next("Log") == ("forward", "numeric")


def test_weights_are_parsed():
    assert parse_shares(["numeric=4, forward", "second=0.5"]) == {
        "numeric": 4.0,
        "forward": 1.0,
        "second": 0.5,
    }
    assert parse_shares([]) == WEIGHTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("numerics", "oracle 'numerics': unknown; did you mean 'numeric'?"),
        ("", "oracle '': unknown, should be one of numeric, "),
        ("numeric=0", "oracle 'numeric': weight '0', should be a number above 0"),
        ("numeric=x", "oracle 'numeric': weight 'x', should be a number above 0"),
        ("numeric=nan", "oracle 'numeric': weight 'nan', should be a number above 0"),
        ("numeric,numeric=2", "oracle 'numeric': given twice, should be given once"),
    ],
)
def test_wrong_weights_are_refused_in_one_line(text, message):
    with pytest.raises(UsageError) as raised:
        parse_shares([text])
    assert str(raised.value).startswith(message)
