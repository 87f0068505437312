"""What an exception of the user's function says, in one line."""

import re

from gradfuzz.evaluate import first_line

# Keras writes the cause below a line that says where, and in bold.
_WHERE = re.compile(r"Exception encountered when calling .*\n\s*")
_BOLD = re.compile(r"\x1b\[[0-9;]*m")


def said(error: BaseException) -> str:
    """Return the type of an exception, and the line of its message that says what is wrong."""
    text = _BOLD.sub("", str(error)).strip()
    cause = _WHERE.match(text)
    line = first_line(Exception(text[cause.end() :]) if cause else error)
    return f"{type(error).__name__}: {line}"
