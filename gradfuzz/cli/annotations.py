"""Surprises as annotations that GitHub shows at the case file, in the pull request.

Source: the workflow commands of GitHub Actions, "Setting an error message".
"""

from collections.abc import Iterator, Sequence

from gradfuzz.cli.replay import message_of
from gradfuzz.cli.terminal import visible
from gradfuzz.replay import Replayed, Status


def annotations(done: Sequence[Replayed], problems: Sequence[str]) -> Iterator[str]:
    """Yield a line for each case that is not as expected, and each path without a case."""
    for replayed in done:
        if not replayed.status.expected:
            # What is fixed needs its `expect` changed; it breaks nothing.
            level = "warning" if replayed.status is Status.FIXED else "error"
            place = f"file={_property(str(replayed.path))}"
            title = f"title={_property(f'gradfuzz: {replayed.status.value}')}"
            yield f"::{level} {place},{title}::{_data(message_of(replayed))}"
    for problem in problems:
        yield f"::error title=gradfuzz::{_data(problem)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
