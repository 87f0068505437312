"""The inputs of a function, flattened: which of them are differentiated, and what they are called.

Real and complex floating-point arrays, tensors and variables, and Python floats are; whatever
else stands among the arguments is passed on as it is.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradfuzz.errors import FunctionError
from gradfuzz.evaluate import Tensor
from gradfuzz.graph import Array
from gradfuzz.realview import real_view
from gradfuzz.runtime import constant, nest, tf


@dataclass(frozen=True, eq=False)
class Input:
    """One array to differentiate at: `x`, or `params['kernel'][0]`.

    `slot` is its place among the flattened arguments, None for a variable that the function
    holds.  The value of a `variable` is assigned; other inputs are passed as tensors.  `weak`
    says that it was given as a Python number, which TensorFlow takes for a float32.
    """

    name: str
    value: Array
    slot: int | None = None
    variable: Any = None
    weak: bool = False

    @property
    def is_complex(self) -> bool:
        """Whether it is differentiated by real and imaginary parts, on a new last axis of 2."""
        return bool(self.value.dtype.kind == "c")

    @property
    def primal(self) -> Array:
        """The value as a real array."""
        return real_view(self.value)

    def weakened(self, dtype: Any) -> "Input":
        """The same input in the precision of `dtype`, if it was given as a Python number."""
        value = self.value.astype(np.result_type(dtype, np.complex64) if self.is_complex else dtype)
        return replace(self, value=value) if self.weak else self

    @property
    def precise(self) -> "Input":
        """The same input in float64 or complex128; a held variable keeps its dtype."""
        if self.slot is None:
            return self
        value = self.value.astype(np.complex128 if self.is_complex else np.float64)
        return replace(self, value=value, variable=_twin(self.variable, value))

    def source(self, primal: Array) -> Tensor:
        """Return what a tape can watch: a tensor, or the variable with this value."""
        if self.variable is None:
            return constant(primal)
        self.variable.assign(primal)
        return self.variable

    def argument(self, source: Tensor) -> Any:
        """Return what the function is called with."""
        if self.variable is not None:
            if source is not self.variable:
                self.variable.assign(source)
            return self.variable
        return tf.complex(source[..., 0], source[..., 1]) if self.is_complex else source

    def place(self, element: int) -> str:
        """Return an element of the primal as one writes it: `x[0, 1]`, `x.imag[0]`."""
        index = np.unravel_index(element, self.primal.shape)
        if not self.is_complex:
            return subscripted(self.name, index)
        return subscripted(f"{self.name}.{'imag' if index[-1] else 'real'}", index[:-1])


def subscripted(name: str, index: Sequence[Any]) -> str:
    """Return `name[0, 1]`, and the name alone for no index."""
    return f"{name}[{', '.join(str(int(i)) for i in index)}]" if len(index) else name


def _twin(variable: Any, value: Array) -> Any:
    return None if variable is None else tf.Variable(value)


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of a function: their structure, and every part of it."""

    structure: tuple[Any, ...]
    flat: tuple[Any, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., Any], arguments: Sequence[Any]) -> "Arguments":
        """Take the arguments of one call apart."""
        named = argument_names(function, len(arguments))
        paths = nest.flatten_with_tuple_paths(tuple(arguments), expand_composites=True)
        names = (_name(named[path[0]], path[1:]) for path, _ in paths)
        return cls(tuple(arguments), tuple(part for _, part in paths), tuple(names))

    def inputs(self) -> list[Input]:
        """Return the parts to differentiate by."""
        found = []
        for slot, (name, part) in enumerate(zip(self.names, self.flat, strict=True)):
            value = floating(part)
            if value is not None:
                variable = tf.Variable(value) if isinstance(part, tf.Variable) else None
                weak = type(part) in (float, complex)
                found.append(Input(name, value, slot, variable, weak))
        return found

    def pack(self, flat: Sequence[Any]) -> Any:
        """Return the arguments with other parts in the same structure."""
        return nest.pack_sequence_as(self.structure, list(flat), expand_composites=True)

    def described(self) -> str:
        """Return what stands where: "x: int32[2], mode: 'same'"."""
        parts = zip(self.names, self.flat, strict=True)
        return ", ".join(f"{name}: {described(part)}" for name, part in parts)


def described(part: Any) -> str:
    """Return a tensor or array as dtype and shape, anything else as Python shows it."""
    if hasattr(part, "dtype") and hasattr(part, "shape"):
        return f"{tf.as_dtype(part.dtype).name}{list(part.shape)}"
    text = repr(part)
    return text if len(text) <= 40 else f"{text[:39]}…"


def floating(part: Any) -> Array | None:
    """Return the value of a real or complex floating-point array, tensor or float, else None."""
    if not isinstance(part, float | complex | np.ndarray | np.generic | tf.Tensor | tf.Variable):
        return None
    if isinstance(part, tf.Tensor) and not hasattr(part, "numpy"):
        raise FunctionError("inputs: a symbolic tensor, should be a value (call it eagerly)")
    value = np.asarray(part.numpy() if isinstance(part, tf.Tensor | tf.Variable) else part)
    dtype = _dtype(value)
    return value if dtype is not None and (dtype.is_floating or dtype.is_complex) else None


def _dtype(value: Array) -> Any:
    try:
        return tf.as_dtype(value.dtype)
    except TypeError:
        return None


def held_variables(variables: Sequence[Any]) -> list[Input]:
    """Return the variables that a function holds, rather than is called with, as inputs.

    Raises `FunctionError` for what is no real variable.
    """
    found = []
    for number, given in enumerate(variables):
        # A variable of Keras holds one of TensorFlow.
        variable = given if isinstance(given, tf.Variable) else getattr(given, "value", None)
        if not isinstance(variable, tf.Variable):
            raise FunctionError(f"variables[{number}]: a {type(given).__name__}, "
                                "should be a tf.Variable")  # fmt: skip
        name = getattr(given, "path", None) or given.name.partition(":")[0]
        if not variable.dtype.is_floating:
            raise FunctionError(f"variables[{number}] ({name}): {variable.dtype.name}, "
                                "should be real")  # fmt: skip
        found.append(Input(name, variable.numpy(), None, variable))
    return found


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """Return a name for each positional argument: its parameter's, or `args[0]`, ….

    Raises `FunctionError` where the function does not take so many.
    """
    # A layer of Keras takes anything, and calls what says more.
    called = getattr(function, "call", function)
    try:
        signature = inspect.signature(called if callable(called) else function)
    except (TypeError, ValueError):
        return [f"args[{i}]" for i in range(count)]
    try:
        bound = signature.bind(*range(count)).arguments
    except TypeError as error:
        raise FunctionError(f"inputs: {count} given, should be what {named(function)} takes "
                            f"({error})") from None  # fmt: skip
    names: dict[int, str] = {}
    for name, places in bound.items():
        if isinstance(places, tuple):
            names |= {place: f"{name}[{i}]" for i, place in enumerate(places)}
        else:
            names[places] = name
    return [names[i] for i in range(count)]


def named(function: Callable[..., Any]) -> str:
    """Return what a function is called in messages."""
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    return str(name or type(function).__name__)


def _name(name: str, path: Sequence[Any]) -> str:
    # A composite tensor stands in a path by the name of its type.
    return name + "".join(f".{p}" if _is_type(p) else f"[{p!r}]" for p in path)


def _is_type(part: Any) -> bool:
    return isinstance(part, str) and part in ("RaggedTensor", "SparseTensor", "IndexedSlices")
