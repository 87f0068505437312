"""Special functions: gamma, Bessel and error functions and their kin."""

from gradfuzz.strategies.arguments import Integers, Real
from gradfuzz.strategies.domains import ABOVE_ONE, BETWEEN_POLES, NONZERO, POSITIVE, UNIT
from gradfuzz.strategies.entry import Entry, op

OPS: tuple[Entry, ...] = (
    # The gamma function and its kin.
    op("Lgamma", x=Real("*s", POSITIVE)),
    op("Lgamma", x=Real("*s", BETWEEN_POLES)),
    op("Digamma", x=Real("*s", POSITIVE)),
    op("Digamma", x=Real("*s", BETWEEN_POLES)),
    op("Polygamma", a=Integers("*#s", 0, 3, dtype="float64"), x=Real("*#s", POSITIVE)),
    op("Zeta", x=Real("*#s", ABOVE_ONE), q=Real("*#s", POSITIVE)),
    op("Igamma", a=Real("*#s", POSITIVE), x=Real("*#s", POSITIVE)),
    op("Igammac", a=Real("*#s", POSITIVE), x=Real("*#s", POSITIVE)),
    op("Betainc", a=Real("*s", POSITIVE), b=Real("*s", POSITIVE), x=Real("*s", UNIT)),
    op("Betainc", a=Real("", POSITIVE), b=Real("", POSITIVE), x=Real("*s", UNIT)),
    op("Betainc", a=Real("*s", POSITIVE), b=Real("*s", POSITIVE), x=Real("", UNIT)),
    # Bessel functions.
    op("BesselI0", x=Real("*s")),
    op("BesselI1", x=Real("*s")),
    op("BesselI0e", x=Real("*s", NONZERO)),
    op("BesselI1e", x=Real("*s", NONZERO)),
    op("BesselJ0", x=Real("*s")),
    op("BesselJ1", x=Real("*s")),
    op("BesselK0", x=Real("*s", POSITIVE)),
    op("BesselK1", x=Real("*s", POSITIVE)),
    op("BesselK0e", x=Real("*s", POSITIVE)),
    op("BesselK1e", x=Real("*s", POSITIVE)),
    op("BesselY0", x=Real("*s", POSITIVE)),
    op("BesselY1", x=Real("*s", POSITIVE)),
    # Integrals.
    op("Dawsn", x=Real("*s")),
    op("Expint", x=Real("*s", POSITIVE)),
    op("FresnelCos", x=Real("*s")),
    op("FresnelSin", x=Real("*s")),
    op("Ndtri", x=Real("*s", UNIT)),
    op("Spence", x=Real("*s", POSITIVE)),
)
