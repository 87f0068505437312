"""Tensors of a `tf.compat.v1` graph as a function of others, run in a session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradfuzz.dtypes import EPSILON
from gradfuzz.errors import ForwardError, FunctionError
from gradfuzz.evaluate import Feed, Outputs, Tensor, first_line
from gradfuzz.functions.check import DEADLINE
from gradfuzz.functions.compute import Jacobians, measure
from gradfuzz.functions.inputs import described
from gradfuzz.functions.repeats import require_repeats
from gradfuzz.functions.shapes import require_feeds, require_shape, require_shapes
from gradfuzz.graph import Array
from gradfuzz.noise import Noise
from gradfuzz.realview import from_real_view, real_view
from gradfuzz.runtime import constant, tf
from gradfuzz.subject import Subject


@dataclass(frozen=True, eq=False)
class SessionFunction:
    """`y` as a function of `xs`, whose values are fed to the session.

    `seed` is fed with the cotangent that `gradients` are taken with: a graph has no tape.
    Complex tensors are real ones with a last axis of 2 to whoever calls this.
    """

    session: Any
    xs: Sequence[Any]
    y: Any
    fixed: Mapping[Any, Any]
    seed: Any
    gradients: Sequence[Any]

    @classmethod
    def of(
        cls, session: Any, xs: Sequence[Any], y: Any, feeds: Mapping[Any, Any]
    ) -> "SessionFunction":
        """Add the gradients of `y` to its graph."""
        with y.graph.as_default():
            seed = tf.compat.v1.placeholder(y.dtype, y.shape, name="gradfuzz_cotangent")
            gradients = tf.compat.v1.gradients([y], list(xs), grad_ys=[seed])
            dense = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
        return cls(session, tuple(xs), y, feeds, seed, dense)

    @property
    def epsilon(self) -> float:
        """The rounding unit of the least precise real tensor that `y` is computed from."""
        dtypes = {out.dtype.real_dtype for op in _ancestors(self.y) for out in op.outputs}
        return max(EPSILON.get(dtype, 0.0) for dtype in {*dtypes, self.y.dtype.real_dtype})

    def reference(self, values: Sequence[Outputs]) -> "SessionFunction":
        return self

    @property
    def is_composed(self) -> bool:
        # Every op of its graph is in sight.
        return False

    @property
    def feeds(self) -> list[Feed]:
        return [constant for _ in self.xs]

    def is_complex(self, leaf: int) -> bool:
        # Complex tensors are fed with numbers made of real ones.
        return False

    def leaf_name(self, leaf: int) -> str:
        return str(self.xs[leaf].name)

    def tape(self, *, persistent: bool) -> "SessionTape":
        return SessionTape(self)

    def run(self, sources: Sequence[Tensor]) -> list[Tensor]:
        try:
            return [constant(real_view(np.asarray(self.session.run(self.y, self.fed(sources)))))]
        # What it is fed with is refused by the session, before there is any op.
        except (tf.errors.OpError, TypeError, ValueError) as error:
            raise ForwardError(f"y: {first_line(error)}") from error

    @property
    def noise(self) -> Noise | None:
        return None

    def noisy(self, noise: Noise) -> "SessionFunction":
        # Only differences are asked of a session, and they have no need of it.
        del noise
        return self

    def run_all(self, sources: Sequence[Tensor]) -> list[Outputs]:
        return [tuple(self.run(sources))]

    def outputs(self, values: Sequence[Outputs]) -> list[Tensor]:
        return list(values[0])

    def fed(self, sources: Sequence[Tensor]) -> dict[Any, Any]:
        """Return what is fed: the values of `xs`, and what was given beside them."""
        pairs = zip(self.xs, sources, strict=True)
        return {**self.fixed, **{x: _unreal(s.numpy(), x.dtype) for x, s in pairs}}


@dataclass(eq=False)
class SessionTape:
    """Stands for a `tf.GradientTape`, which a graph does not have."""

    function: SessionFunction
    sources: Sequence[Tensor] = field(default_factory=list)

    def __enter__(self) -> "SessionTape":
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing to stop."""

    def watch(self, sources: Sequence[Tensor]) -> None:
        """Keep what the gradients are taken at."""
        self.sources = sources

    def gradient(
        self, _targets: Any, _sources: Any, output_gradients: Sequence[Tensor]
    ) -> list[Array | None]:
        """Return the VJP, None where the graph has no connection."""
        function, [seed] = self.function, output_gradients
        fed = {**function.fed(self.sources), function.seed: _unreal(seed.numpy(), function.y.dtype)}
        there = [g for g in function.gradients if g is not None]
        found = iter(function.session.run(there, fed))
        return [
            None if g is None else real_view(np.asarray(next(found))) for g in function.gradients
        ]


def _unreal(value: Array, dtype: Any) -> Array:
    return from_real_view(value) if dtype.is_complex else value


def _ancestors(y: Any) -> set[Any]:
    """Return the ops that a tensor is computed by."""
    found, todo = set(), [y.op]
    while todo:
        op = todo.pop()
        if op not in found:
            found.add(op)
            todo.extend(source.op for source in op.inputs)
    return found


def compute_session_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Sequence[int],
    x_init_value: Any = None,
    delta: float | None = None,
    init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
    *,
    feed_dict: Mapping[Any, Any] | None = None,
    session: Any = None,
) -> Jacobians | list[Jacobians]:
    """Return the Jacobians of `y` by `x`, (inputs, outputs): see `compute_gradient`."""
    several = isinstance(x, list | tuple)
    xs = list(x) if several else [x]
    _require_tensors(xs, y)
    shapes = require_shapes(xs, x_shape, several=several)
    session = session or tf.compat.v1.get_default_session()
    if session is None:
        raise FunctionError("session: none, should be given, or be entered (with session: …)")
    if init_targets is not None:
        session.run(init_targets)
    feeds = {
        **require_feeds("extra_feed_dict", extra_feed_dict),
        **require_feeds("feed_dict", feed_dict),
    }
    values = x_init_value if several or x_init_value is None else [x_init_value]
    primals = _primals(xs, shapes, values)
    function = SessionFunction.of(session, xs, y, feeds)
    _require_reach(function)
    subject = _subject(function, primals)
    _require_size(subject, y_shape)
    pairs = zip(*measure(subject, delta), strict=True)
    found = [Jacobians(analytic.T, numeric.T) for analytic, numeric in pairs]
    return found if several else found[0]


def _require_reach(function: SessionFunction) -> None:
    """Raise `FunctionError` where `y` depends on a variable, but not on what is fed for it."""
    computed = _ancestors(function.y)
    for x, gradient in zip(function.xs, function.gradients, strict=True):
        if isinstance(x, tf.Variable) and gradient is not None:
            fed = function.y.graph.as_graph_element(x)
            if fed.op not in computed:
                raise FunctionError(
                    f"x: {x.name} is a variable that y reads by itself, should be a placeholder, "
                    "or a tensor that y is computed from"
                )


def _subject(function: SessionFunction, primals: Sequence[Array]) -> Subject:
    """Run the graph.  Raises `FunctionError` where it does not run, or does not repeat."""
    try:
        first, subject = (
            Subject.at(function, primals, function.y.name, DEADLINE / 1000) for _ in range(2)
        )
    except ForwardError as error:
        raise FunctionError(f"{error}, should run at these inputs") from error
    require_repeats("session", [("y", first.outputs)], [("y", subject.outputs)], 0.0)
    return subject


def _require_tensors(xs: Sequence[Any], y: Any) -> None:
    for name, each in [
        *((f"x[{i}]" if len(xs) > 1 else "x", x) for i, x in enumerate(xs)),
        ("y", y),
    ]:
        if not (tf.is_tensor(each) and hasattr(each, "graph")):
            raise FunctionError(f"{name}: a {type(each).__name__}, should be a tensor of a graph, "
                                "or a function with a list of its arguments")  # fmt: skip
        if not (each.dtype.is_floating or each.dtype.is_complex):
            raise FunctionError(f"{name}: {each.dtype.name}, should be real or complex")


def _primals(xs: Sequence[Any], shapes: Sequence[tuple[int, ...]], values: Any) -> list[Array]:
    """Return where to differentiate: the values given, or random ones from 0 to 1."""
    rng = np.random.default_rng(0)
    if values is None:
        values = [rng.random(shape) for shape in shapes]
    if not isinstance(values, list | tuple | np.ndarray) or len(values) != len(xs):
        raise FunctionError(f"x_init_value: {described(values)}, should be a list of "
                            f"{len(xs)} arrays, one for each x")  # fmt: skip
    found = []
    for x, shape, each in zip(xs, shapes, values, strict=True):
        value = np.asarray(each)
        if value.dtype.kind not in "biufcV":
            raise FunctionError(f"x_init_value: {described(each)}, should be numbers")
        if value.shape != shape:
            raise FunctionError(f"x_init_value: shape {value.shape}, should be x_shape {shape}")
        found.append(real_view(value.astype(x.dtype.as_numpy_dtype)))
    return found


def _require_size(subject: Subject, y_shape: Sequence[int]) -> None:
    shape = require_shape("y_shape", y_shape)
    size = int(np.prod(shape, dtype=int))
    own = subject.linearisation.outputs[0].shape
    if subject.outputs.size not in (size, 2 * size):
        raise FunctionError(f"y_shape: {shape}, should be {tuple(own)}, as y has it")
