"""Entries of real ops turned into entries of the same ops on complex numbers."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gradfuzz.strategies.entry import Entry

REAL, COMPLEX = "float64", "complex128"


def in_complex(entries: Iterable[Entry], names: str) -> tuple[Entry, ...]:
    """Return the entries of the ops in `names`, with complex tensors in the place of real ones.

    Their domains must be those of complex numbers as well.
    """
    wanted = names.split()
    return tuple(
        replace(entry, args={name: _complex(arg) for name, arg in entry.args.items()})
        for entry in entries
        if entry.op in wanted
    )


def _complex(value: Any) -> Any:
    """Return a description of an argument with complex dtypes for real ones, however deep."""
    if isinstance(value, str) and value == REAL:
        return COMPLEX
    if isinstance(value, tuple):
        return tuple(map(_complex, value))
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: _complex(getattr(value, field.name)) for field in fields(value)}
        return type(value)(**changed)
    return value
