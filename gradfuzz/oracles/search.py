"""Find the few wrong ones among many by asking about groups."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def wrong_ones(
    items: Sequence[Item],
    is_wrong: Callable[[Sequence[Item]], bool],
    most: int,
    *,
    known_wrong: bool = False,
) -> list[Item]:
    """Return up to `most` items that are wrong by themselves, in their order.

    A group is looked into only if it is wrong as a whole: one wrong item among n costs
    2 log2(n) questions.  `known_wrong` saves the question about all of them.
    """
    if not items or most <= 0 or not (known_wrong or is_wrong(items)):
        return []
    if len(items) == 1:
        return list(items)
    half = len(items) // 2
    found = wrong_ones(items[:half], is_wrong, most)
    return found + wrong_ones(items[half:], is_wrong, most - len(found))
