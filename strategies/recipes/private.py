"""Modules of TensorFlow that are not public, and may be gone in another version."""

from importlib import import_module
from typing import Any


def private(name: str) -> Any:
    """Return a module.

    Raises `NotImplementedError`, as an op does that refuses its arguments, where there is none.
    """
    try:
        return import_module(name)
    except ImportError as missing:
        raise NotImplementedError(f"{name}: not in this TensorFlow") from missing
