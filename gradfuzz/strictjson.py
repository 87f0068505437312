"""Read JSON that a stranger wrote: every value is looked at before it is used.

Python's `json` takes more than JSON: a key given twice, a bare NaN, a number of a million
digits.  None of these passes here.  Each reader below takes a value and the place it stands
at, and returns the value or raises `CaseFileError` with one line for it.
"""

import json
from collections.abc import Callable, Collection
from typing import Any, NoReturn, TypeVar

from gradfuzz.errors import CaseFileError

Json = Any  # what `json.loads` returns, before it has been looked at

# Enough for a seed of 128 bits with its sign.
_DIGITS_AT_MOST = 40

T = TypeVar("T")
Reader = Callable[[Json, str], T]


def wrong(place: str, found: str, wanted: str) -> CaseFileError:
    """Return the error of one place: what is there, and what should be."""
    return CaseFileError(f"{place}: {found}, should be {wanted}")


def shown(value: Json) -> str:
    """Return a value as its file spells it, cut to what a line can bear."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
    return shortened(json.dumps(value))


def shortened(text: str) -> str:
    """Return `text`, cut after 60 characters."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def parse(text: str, whole: str = "a whole case file") -> Json:
    """Return the value of a JSON text, which should be `whole`.

    Raises `CaseFileError` where it is not JSON, gives a key twice, has a number that float64
    cannot hold, or is nested deeper than the parser can follow.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise wrong(place, f"not JSON ({error.msg})", whole) from None
    except RecursionError:
        raise wrong("JSON", "nested too deep to parse", "a few levels deep") from None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise wrong(f"key {shown(key)}", "given twice", "given once")
        found[key] = value
    return found


def _constant(token: str) -> NoReturn:
    spelt = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[token]
    raise wrong(f"number {token}", "not JSON", f'written "{spelt}"')


def _float(token: str) -> float:
    value = float(token)
    if abs(value) == float("inf"):
        raise wrong(f"number {shortened(token)}", "too large for float64", 'smaller, or "inf"')
    return value


def _int(token: str) -> int:
    if len(token) > _DIGITS_AT_MOST:
        wanted = f"at most {_DIGITS_AT_MOST}"
        raise wrong(f"number {token[:9]}…", f"{len(token)} digits", wanted)
    return int(token)


def members(raw: Json, place: str, names: Collection[str]) -> dict[str, Json]:
    """Return an object that has exactly the keys `names`."""
    found = mapping(raw, place)
    for name in names:
        if name not in found:
            raise wrong(place, f"no key {name!r}", f"there: {', '.join(names)}")
    for name in found:
        if name not in names:
            raise wrong(place, f"unknown key {shown(name)}", f"one of {', '.join(names)}")
    return found


def mapping(raw: Json, place: str) -> dict[str, Json]:
    """Return an object, whatever its keys."""
    if not isinstance(raw, dict):
        raise wrong(place, shown(raw), "an object")
    return raw


def sequence(raw: Json, place: str, *, at_most: int) -> list[Json]:
    """Return a list of one to `at_most` values."""
    if not isinstance(raw, list):
        raise wrong(place, shown(raw), "a list")
    if not 1 <= len(raw) <= at_most:
        raise wrong(place, f"{len(raw)} of them", f"1 to {at_most}")
    return raw


def string(raw: Json, place: str) -> str:
    """Return a string."""
    if not isinstance(raw, str):
        raise wrong(place, shown(raw), "a string")
    return raw


def boolean(raw: Json, place: str) -> bool:
    """Return true or false."""
    if not isinstance(raw, bool):
        raise wrong(place, shown(raw), "true or false")
    return raw


def integer(raw: Json, place: str) -> int:
    """Return an integer, which true and false are not."""
    if type(raw) is not int:
        raise wrong(place, shown(raw), "an integer")
    return raw


def natural(raw: Json, place: str) -> int:
    """Return an integer that is not negative."""
    if type(raw) is not int or raw < 0:
        raise wrong(place, shown(raw), "an integer from 0 on")
    return raw


def optional(read: Reader[T]) -> Reader[T | None]:
    """Return a reader that takes null as well."""
    return lambda raw, place: None if raw is None else read(raw, place)
