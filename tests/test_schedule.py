"""Every op has its turn; the seed decides the order, and what is least known gets the time."""

from itertools import islice

import pytest

from gradfuzz.schedule import LONGEST_ROUND, SHORTEST_ROUND, Account, Schedule, Turn

OPS = [f"Op{number}" for number in range(20)]


def turns(count: int, schedule: Schedule) -> list[Turn]:
    return list(islice(schedule.turns(), count))


def schedule(seed: int = 1, budget: float = 600.0, **accounts: Account) -> Schedule:
    return Schedule(OPS, budget, seed, accounts=accounts)


def test_each_op_has_a_turn_before_any_has_another() -> None:
    found = [turn.op for turn in turns(60, schedule())]
    assert all(sorted(found[start : start + 20]) == sorted(OPS) for start in (0, 20, 40))


def test_the_seed_decides_the_order_and_what_was_found_does_not() -> None:
    def order(found: Schedule) -> list[tuple[str, int, int]]:
        return [(turn.op, turn.around, turn.seed) for turn in turns(60, found)]

    busy = schedule(Op3=Account(cases=10_000, seconds=60.0, findings=5, deaths=2))
    assert order(schedule()) == order(busy)
    assert order(schedule()) != order(schedule(seed=2))


def test_ops_whose_gradient_never_ran_come_first() -> None:
    found = schedule()
    found.unseen = {"Op3", "Op7"}
    assert {turn.op for turn in turns(2, found)} == {"Op3", "Op7"}


def test_all_get_as_much_at_first() -> None:
    assert {turn.seconds for turn in turns(20, schedule())} == {10.0}


@pytest.mark.parametrize(
    ("account", "more"),
    [
        (Account(cases=10, seconds=10.0), True),
        (Account(cases=10_000, seconds=10.0), False),
        (Account(cases=1000, seconds=10.0, findings=3), True),
        (Account(cases=1000, seconds=10.0, deaths=2), False),
    ],
)
def test_what_is_known_of_an_op_decides_its_share(account: Account, *, more: bool) -> None:
    usual = {op: Account(cases=1000, seconds=10.0) for op in OPS}
    share = schedule(**(usual | {"Op3": account})).shares()
    assert (share["Op3"] > share["Op4"]) == more
    assert sum(share.values()) == pytest.approx(len(OPS))


def test_an_op_that_only_kills_keeps_a_floor() -> None:
    usual = {op: Account(cases=1000, seconds=10.0) for op in OPS}
    found = schedule(**(usual | {"Op3": Account(cases=1000, deaths=1000)}))
    assert found.shares()["Op3"] > 0.1
    assert min(turn.seconds for turn in turns(20, found)) >= SHORTEST_ROUND


@pytest.mark.parametrize(("budget", "seconds"), [(0.1, SHORTEST_ROUND), (1e6, LONGEST_ROUND)])
def test_a_round_is_neither_too_short_nor_too_long(budget: float, seconds: float) -> None:
    assert turns(1, schedule(budget=budget))[0].seconds == seconds


def test_more_workers_have_longer_rounds() -> None:
    found = Schedule(OPS, 300.0, 1, workers=2)
    assert turns(1, found)[0].seconds == 10.0
