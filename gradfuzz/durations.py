"""Spans of time as people write them: "120", "90s", "15m", "8h", "1h30m"."""

import re

from gradfuzz.errors import UsageError

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_BARE = re.compile(_NUMBER)
_WITH_UNITS = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?")
_UNITS = (3600.0, 60.0, 1.0)

LONGEST = 366 * 24 * 3600.0


def parse_budget(text: str) -> float:
    """Return a budget in seconds: a plain number of them, or hours, minutes and seconds.

    Raises `UsageError` for anything else, and unless it is above 0 and at most a year.
    """
    seconds = _seconds(text.strip())
    if seconds is None:
        raise _error(text, "seconds or a time such as 90s, 15m, 8h or 1h30m")
    if not 0 < seconds <= LONGEST:
        raise _error(text, "above 0 and at most a year")
    return seconds


def _seconds(text: str) -> float | None:
    if _BARE.fullmatch(text):
        return float(text)
    found = _WITH_UNITS.fullmatch(text)
    if not text or not found:
        return None
    return sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS, strict=True))


def _error(text: str, wanted: str) -> UsageError:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return UsageError(f"budget {shown!r}: should be {wanted}")


def format_duration(seconds: float) -> str:
    """Return a span of time in its two largest units: "1h 30m", "2m 5s", "45s", "8h"."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    units = [f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (rest, "s")) if n]
    return " ".join(units[: 1 if hours and not minutes else 2]) or "0s"
