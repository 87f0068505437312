"""What elementwise ops compute, for mpmath: functions of the op's own arguments, by name.

Derivatives are taken of these to any number of digits.  `kinks` says where there is none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mpmath import mp

Number = Any  # mpmath ships no types


@dataclass(frozen=True)
class Exact:
    """A function of numbers, called with the arguments of the op that are numbers.

    `kinks` returns whether the function has a kink or a jump there, or an edge of its domain.
    """

    function: Callable[..., Number]
    kinks: Callable[..., bool] | None = None


SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def _sigmoid(x: Number) -> Number:
    return 1 / (1 + mp.exp(-x))


def _at_zero(name: str) -> Callable[..., bool]:
    """Return whether the argument of that name is 0."""
    return lambda **args: bool(args[name] == 0)


def _at_bounds(features: Number, **_others: Number) -> bool:
    return features in (0, 6)


def _at_edge(a: Number, x: Number) -> bool:
    return bool(a <= 0 or x <= 0)


def _equal(x: Number, y: Number) -> bool:
    return bool(x == y)


def _elu(x: Number) -> Number:
    return x if x > 0 else mp.expm1(x)


def _leaky(x: Number, alpha: Number) -> Number:
    return x if x > 0 else alpha * x


SMOOTH: Mapping[str, Callable[..., Number]] = {
    "Acos": lambda x: mp.acos(x),
    "Acosh": lambda x: mp.acosh(x),
    "Add": lambda x, y: x + y,
    "AddV2": lambda x, y: x + y,
    "Asin": lambda x: mp.asin(x),
    "Asinh": lambda x: mp.asinh(x),
    "Atan": lambda x: mp.atan(x),
    "Atan2": lambda y, x: mp.atan2(y, x),
    "Atanh": lambda x: mp.atanh(x),
    "BesselI0": lambda x: mp.besseli(0, x),
    "BesselI0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "BesselI1": lambda x: mp.besseli(1, x),
    "BesselI1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "BesselJ0": lambda x: mp.besselj(0, x),
    "BesselJ1": lambda x: mp.besselj(1, x),
    "BesselK0": lambda x: mp.besselk(0, x),
    "BesselK0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "BesselK1": lambda x: mp.besselk(1, x),
    "BesselK1e": lambda x: mp.besselk(1, x) * mp.exp(x),
    "BesselY0": lambda x: mp.bessely(0, x),
    "BesselY1": lambda x: mp.bessely(1, x),
    "Cos": lambda x: mp.cos(x),
    "Cosh": lambda x: mp.cosh(x),
    "Dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "Digamma": lambda x: mp.digamma(x),
    "Div": lambda x, y: x / y,
    "DivNoNan": lambda x, y: x / y,
    "Erf": lambda x: mp.erf(x),
    "Erfc": lambda x: mp.erfc(x),
    "Erfinv": lambda x: mp.erfinv(x),
    "Exp": lambda x: mp.exp(x),
    "Expint": lambda x: mp.ei(x),
    "Expm1": lambda x: mp.expm1(x),
    "FresnelCos": lambda x: mp.fresnelc(x),
    "FresnelSin": lambda x: mp.fresnels(x),
    "Identity": lambda input: input,
    "Inv": lambda x: 1 / x,
    "InvGrad": lambda y, dy: -dy * y * y,
    "Lgamma": lambda x: mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x),
    "Log": lambda x: mp.log(x),
    "Log1p": lambda x: mp.log1p(x),
    "Mul": lambda x, y: x * y,
    "MulNoNan": lambda x, y: x * y,
    "Ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "Neg": lambda x: -x,
    "Polygamma": lambda a, x: mp.polygamma(int(a), x),
    "Pow": lambda x, y: mp.power(x, y),
    "RealDiv": lambda x, y: x / y,
    "Reciprocal": lambda x: 1 / x,
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "Rsqrt": lambda x: 1 / mp.sqrt(x),
    "RsqrtGrad": lambda y, dy: -dy * y**3 / 2,
    "Sigmoid": _sigmoid,
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "Sin": lambda x: mp.sin(x),
    "Sinh": lambda x: mp.sinh(x),
    "Softplus": lambda features: mp.log1p(mp.exp(features)),
    "SoftplusGrad": lambda gradients, features: gradients * _sigmoid(features),
    "Spence": lambda x: mp.polylog(2, 1 - x),
    "Sqrt": lambda x: mp.sqrt(x),
    "SqrtGrad": lambda y, dy: dy / (2 * y),
    "Square": lambda x: x * x,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "Sub": lambda x, y: x - y,
    "Tan": lambda x: mp.tan(x),
    "Tanh": lambda x: mp.tanh(x),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "Xdivy": lambda x, y: x / y,
    "Xlog1py": lambda x, y: x * mp.log1p(y),
    "Xlogy": lambda x, y: x * mp.log(y),
    "Zeta": lambda x, q: mp.zeta(x, q),
}

KINKED: Mapping[str, Exact] = {
    "Abs": Exact(lambda x: abs(x), _at_zero("x")),
    "Elu": Exact(lambda features: _elu(features), _at_zero("features")),
    "EluGrad": Exact(
        lambda gradients, outputs: gradients * (1 + min(outputs, 0)), _at_zero("outputs")
    ),
    # At the edge of their domain mpmath takes minutes to see that they have no derivative.
    "Igamma": Exact(lambda a, x: mp.gammainc(a, 0, x, regularized=True), _at_edge),
    "Igammac": Exact(lambda a, x: mp.gammainc(a, x, regularized=True), _at_edge),
    "LeakyRelu": Exact(lambda features, alpha: _leaky(features, alpha), _at_zero("features")),
    "LeakyReluGrad": Exact(
        lambda gradients, features, alpha: gradients if features > 0 else alpha * gradients,
        _at_zero("features"),
    ),
    "Maximum": Exact(lambda x, y: max(x, y), _equal),
    "Minimum": Exact(lambda x, y: min(x, y), _equal),
    "Relu": Exact(lambda features: max(features, 0 * features), _at_zero("features")),
    "Relu6": Exact(lambda features: min(max(features, 0 * features), mp.mpf(6)), _at_bounds),
    "Relu6Grad": Exact(
        lambda gradients, features: gradients if 0 < features < 6 else 0 * gradients, _at_bounds
    ),
    "ReluGrad": Exact(
        lambda gradients, features: gradients if features > 0 else 0 * gradients,
        _at_zero("features"),
    ),
    "Selu": Exact(
        lambda features: SELU_SCALE * (features if features > 0 else SELU_ALPHA * _elu(features)),
        _at_zero("features"),
    ),
    "SeluGrad": Exact(
        lambda gradients, outputs: (
            gradients * (SELU_SCALE if outputs > 0 else outputs + SELU_SCALE * SELU_ALPHA)
        ),
        _at_zero("outputs"),
    ),
    "Softsign": Exact(lambda features: features / (1 + abs(features)), _at_zero("features")),
}

EXACT: Mapping[str, Exact] = {op: Exact(function) for op, function in SMOOTH.items()} | dict(KINKED)
