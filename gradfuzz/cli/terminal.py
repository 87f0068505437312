"""Text on a terminal or in a pipe.

What a case file says is shown, never obeyed: no markup in it is read, no escape in it sent.
"""

import os
from typing import Any

from rich.console import Console
from rich.text import Text

# Where nobody watches, a row of a table is one line, for grep.
UNBOUNDED = 10_000

# What a shell gives for a process that SIGPIPE ended.
BROKEN_PIPE = 141


class Terminal(Console):
    """A console that ends quietly when whoever reads from it is gone."""

    def on_broken_pipe(self) -> None:
        try:
            super().on_broken_pipe()
        except SystemExit:
            # Not 1, which says that something new was found.
            raise SystemExit(BROKEN_PIPE) from None


def terminal(*, stderr: bool = False) -> Console:
    """Return a console on what is stdout (or stderr) now."""
    found = Terminal(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = UNBOUNDED
    return found


def visible(text: str) -> str:
    """Return `text` on one line, control characters and the like as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain(text: object, style: str = "") -> Text:
    """Return text that came from elsewhere, made visible line by line."""
    return Text("\n".join(visible(line) for line in str(text).split("\n")), style)


def one_line(text: object, style: str = "") -> Text:
    """Return text that came from elsewhere, made visible, on one line."""
    return Text(visible(str(text)), style)


def counted(count: int, noun: str) -> str:
    """Return "1 case", "2 cases"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def write_json(value: Any) -> None:
    """Print one JSON value on stdout, as ASCII."""
    terminal().print_json(data=value, ensure_ascii=True, allow_nan=False)
