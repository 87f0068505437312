"""Arrays and numbers as JSON, exactly: what is read back has the same dtype, shape and bits.

    array    {"float64": [0.5, "nan"], "shape": [2]}
    large    {"float64": {"zlib": "eJxj…"}, "shape": [300]}     base64 of little-endian bytes
    scalar   {"float32": 0.1}                                   a NumPy scalar: no shape

A float is written in the fewest digits that give it back, nan and the infinities as strings,
a complex number as "1.0+2.0j".
"""

import base64
import math
import re
import zlib
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from gradfuzz.graph import Array
from gradfuzz.strictjson import Json, mapping, shortened, shown, string, wrong

_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *_INTEGERS, *_FLOATS, "complex64", "complex128")

ELEMENTS_AT_MOST = 2**22
RANK_AT_MOST = 32
_TEXT_AT_MOST = 256  # elements: above, an array is compressed

NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|inf|nan"
_COMPLEX = re.compile(rf"(-?(?:{_NUMBER}))([+-](?:{_NUMBER}))j")

Pack = Callable[[bytes], Json]


class Room:
    """How many elements the rest of a file may hold: many small bombs are a large one."""

    def __init__(self, elements: int = 4 * ELEMENTS_AT_MOST) -> None:
        self._left = elements

    def take(self, elements: int, place: str) -> None:
        """Raise `CaseFileError` unless there is room for `elements` more."""
        if elements > ELEMENTS_AT_MOST:
            raise wrong(place, f"{elements} elements", f"at most {ELEMENTS_AT_MOST}")
        if elements > self._left:
            raise wrong(place, f"{elements} elements more", f"at most {self._left} in this file")
        self._left -= elements


def compress(data: bytes) -> Json:
    """Return the bytes of a large array as a case file holds them."""
    return {"zlib": base64.b64encode(zlib.compress(data, 9)).decode("ascii")}


def encode_array(array: Array | np.generic, place: str, pack: Pack = compress) -> Json:
    """Return an array, or a NumPy scalar, as JSON; a large one through `pack`.

    Raises `CaseFileError` for a dtype that a case file cannot hold.
    """
    name = array.dtype.name
    if name not in DTYPES:
        raise wrong(place, f"dtype {name!r}", f"one of {', '.join(DTYPES)}")
    if isinstance(array, np.generic):
        return {name: _text(array)}
    if array.size > _TEXT_AT_MOST:
        data = pack(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    else:
        data = [_text(element) for element in array.ravel()]
    return {name: data, "shape": list(array.shape)}


def _text(element: Any) -> Json:
    match element.dtype.kind:
        case "f":
            return encode_float(shortest(element))
        case "c":
            return encode_complex(complex(shortest(element.real), shortest(element.imag)))
    return element.item()


def shortest(element: Any) -> float:
    """Return the float64 of the fewest digits that rounds to `element` in its own dtype."""
    exact = float(element)
    if not math.isfinite(exact):
        return exact
    short = float(np.format_float_scientific(element))
    # Two roundings, to float64 and from there, can miss where one would not.
    return short if _rounded(short, element.dtype) == exact else exact


def _rounded(value: float, dtype: np.dtype[Any]) -> float:
    with np.errstate(over="ignore"):
        return float(dtype.type(value))


def encode_float(value: float) -> Json:
    """Return a float as JSON: a number, or "nan", "inf" or "-inf"."""
    return float(value) if math.isfinite(value) else str(float(value))


def encode_complex(value: complex) -> str:
    """Return a complex number as text, the signs of its zeros kept."""
    imaginary = repr(value.imag)
    sign = "" if imaginary.startswith("-") else "+"
    return f"{value.real!r}{sign}{imaginary}j"


def decode_float(raw: Json, place: str) -> float:
    """Return a float."""
    try:
        return _float(raw, np.dtype(np.float64))
    except ValueError:
        raise wrong(place, shown(raw), 'a number, "nan", "inf" or "-inf"') from None


def decode_complex(raw: str) -> complex | None:
    """Return a complex number, or None where `raw` is not the text of one."""
    found = _COMPLEX.fullmatch(raw)
    if not found:
        return None
    real, imaginary = (float(part) for part in found.groups())
    if math.isinf(real) + math.isinf(imaginary) > raw.count("inf"):
        return None
    return complex(real, imaginary)


def decode_array(
    raw: Json, place: str, room: Room, dtypes: Collection[str] = DTYPES
) -> Array | np.generic:
    """Return the array, or the NumPy scalar, that `raw` spells.

    Its size is known from its shape before anything of that size is made.
    """
    found = mapping(raw, place)
    names = [key for key in found if key != "shape"]
    if len(names) != 1:
        keys = ", ".join(map(shown, found)) or "none"
        raise wrong(place, f"keys {shortened(keys)}", 'one dtype and "shape"')
    [name] = names
    if name not in dtypes:
        raise wrong(place, f"dtype {shortened(name)!r}", f"one of {', '.join(dtypes)}")
    dtype = np.dtype(name)
    if "shape" not in found:
        scalar: np.generic = _decode_elements([found[name]], f"{place}.{name}", dtype)[0]
        return scalar
    shape = _decode_shape(found["shape"], f"{place}.shape")
    room.take(math.prod(shape), f"{place}.shape")
    return _decode_data(found[name], f"{place}.{name}", dtype, math.prod(shape)).reshape(shape)


def _decode_shape(raw: Json, place: str) -> tuple[int, ...]:
    if not isinstance(raw, list):
        raise wrong(place, shown(raw), "a list")
    if len(raw) > RANK_AT_MOST:
        raise wrong(place, f"rank {len(raw)}", f"at most {RANK_AT_MOST}")
    for axis, size in enumerate(raw):
        if type(size) is not int or not 0 <= size <= ELEMENTS_AT_MOST:
            wanted = f"an integer from 0 to {ELEMENTS_AT_MOST}"
            raise wrong(f"{place}[{axis}]", shown(size), wanted)
    return tuple(raw)


def _decode_data(raw: Json, place: str, dtype: np.dtype[Any], size: int) -> Array:
    if isinstance(raw, dict):
        return _decode_bytes(raw, place, dtype, size)
    if not isinstance(raw, list):
        raise wrong(place, shown(raw), 'a list of elements, or "zlib" and the bytes')
    if len(raw) != size:
        raise wrong(place, f"{len(raw)} elements", f"{size}, as the shape says")
    return _decode_elements(raw, place, dtype)


def _decode_elements(raw: list[Json], place: str, dtype: np.dtype[Any]) -> Array:
    array = np.empty(len(raw), dtype)
    for index, element in enumerate(raw):
        try:
            array[index] = _READ[dtype.kind](element, dtype)
        except ValueError:
            raise wrong(
                f"{place}[{index}]", shown(element), f"an element of {dtype.name}"
            ) from None
    return array


def _decode_bytes(raw: dict[str, Json], place: str, dtype: np.dtype[Any], size: int) -> Array:
    if raw.keys() != {"zlib"}:
        keys = shortened(", ".join(map(shown, raw)) or "none")
        raise wrong(place, f"keys {keys}", '"zlib" alone')
    data = _decompress(string(raw["zlib"], f"{place}.zlib"), f"{place}.zlib", size * dtype.itemsize)
    if dtype.kind == "b" and data.strip(b"\0\1"):
        raise wrong(f"{place}.zlib", "bytes other than 0 and 1", "booleans")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)


def _decompress(text: str, place: str, size: int) -> bytes:
    """Return `size` bytes.  Never holds more of them, whatever the text would inflate to."""
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error):
        raise wrong(place, "damaged", "base64 of compressed bytes") from None
    if len(data) > size:
        raise wrong(place, "more bytes", f"{size}, as the shape says")
    if len(data) < size or not inflate.eof or inflate.unused_data:
        raise wrong(place, f"{len(data)} bytes and no clean end", f"{size}, as the shape says")
    return data


# One reader for each kind of dtype.  Each raises ValueError, which has its place added above.


def _float(raw: Json, dtype: np.dtype[Any]) -> float:
    if isinstance(raw, str) and raw in NON_FINITE:
        return NON_FINITE[raw]
    if type(raw) not in (int, float) or abs(raw) > np.finfo(np.float64).max:
        raise ValueError
    _require_fits(float(raw), dtype)
    return float(raw)


def _require_fits(value: float, dtype: np.dtype[Any]) -> None:
    if math.isfinite(value) and math.isinf(_rounded(value, dtype)):
        raise ValueError


def _complex(raw: Json, dtype: np.dtype[Any]) -> complex:
    value = decode_complex(raw) if isinstance(raw, str) else None
    if value is None:
        raise ValueError
    part = np.dtype("float32" if dtype.name == "complex64" else "float64")
    _require_fits(value.real, part)
    _require_fits(value.imag, part)
    return value


def _integer(raw: Json, dtype: np.dtype[Any]) -> int:
    limits = np.iinfo(dtype)
    if type(raw) is not int or not limits.min <= raw <= limits.max:
        raise ValueError
    return raw


def _boolean(raw: Json, _dtype: np.dtype[Any]) -> bool:
    if not isinstance(raw, bool):
        raise ValueError
    return raw


_READ: dict[str, Callable[[Json, np.dtype[Any]], Any]] = {
    "b": _boolean, "i": _integer, "u": _integer, "f": _float, "c": _complex,
}  # fmt: skip
