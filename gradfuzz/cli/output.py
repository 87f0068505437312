"""A file that a command was asked to write."""

import os
from pathlib import Path

from gradfuzz.errors import UsageError


def require_writable(path: Path, option: str) -> None:
    """Raise `UsageError` now rather than when there is something to write, minutes later."""
    if path.is_fifo():  # whose reader would take this for the end
        return
    is_new = not os.path.lexists(path)
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise _not_written(path, option, error) from error


def write(path: Path, option: str, text: str) -> None:
    """Write the file that `option` names.  Raises `UsageError` where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _not_written(path, option, error) from error


def _not_written(path: Path, option: str, error: OSError) -> UsageError:
    return UsageError(f"{option} {path}: not written ({error.strerror}), "
                      "should be a writable file")  # fmt: skip
