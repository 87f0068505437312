"""Draw the pictures of docs/verdict.md: `.venv/bin/python docs/pictures.py`.

Each is computed by the code that the verdict is made of, on a function whose derivative is known.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gradfuzz.evaluate import Program
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.numeric.line import Line
from gradfuzz.numeric.slopes import slopes
from gradfuzz.report.chart import Series, line_chart
from gradfuzz.runtime import tf

FOLDER = Path(__file__).parent / "pictures"
STYLE = """<style>
svg { background: #fff; font-family: system-ui, sans-serif; }
text { fill: #22252b; font-size: 11px; } .grid { stroke: #dfdcd4; }
polyline { fill: none; stroke-width: 2; }
.true polyline { stroke: #2f7d4f; } .true circle { fill: #2f7d4f; }
.analytic polyline { stroke: #b3402b; } .analytic circle { fill: #b3402b; }
.other polyline { stroke: #2b5fb3; } .other circle { fill: #2b5fb3; }
</style>"""
STEPS = 2.0 ** -np.arange(2, 40, 2)


def write(name: str, chart: str) -> None:
    """Write one picture, complete in itself."""
    head, _, body = chart.partition(">")
    svg = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"') + ">" + STYLE + body
    (FOLDER / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")


def line_of(op: str, x: float) -> Line:
    """Return one op at one point, in steps in proportion to it."""
    graph = Graph((Leaf(np.array(x)), Call(op, {"x": Ref(0)})), (Ref(1),))
    return Line(Program.of(graph), graph.primals, [np.array(abs(x) or 1.0)], np.ones(1, bool))


def errors(op: str, x: float, right: float) -> str:
    """Draw the error of a central difference by its step, and the bound that is reported."""
    line = line_of(op, x)
    unit = abs(x) or 1.0
    behind, ahead = line.sample(-STEPS)[:, 0], line.sample(STEPS)[:, 0]
    quotients = (ahead - behind) / (2 * STEPS) / unit
    measured = slopes(line, 2.0**-52).centre
    bound, error = float(measured.error[0]) / unit, abs(float(measured.value[0]) / unit - right)
    series = [
        Series("central difference", "analytic", points(STEPS, np.abs(quotients - right))),
        Series("bound of the estimate", "other", points(STEPS, np.full(len(STEPS), bound))),
        Series("its true error", "true", points(STEPS, np.full(len(STEPS), max(error, 1e-17)))),
    ]
    return line_chart(series, "step, in parts of x", "error", log=True)


def sides(function: Callable[[np.ndarray], np.ndarray]) -> str:
    """Draw a kink: the slopes of both sides, and what lies between them."""
    x = np.linspace(-1, 1, 21)
    series = [
        Series("the function", "true", points(x, function(x))),
        Series("slope ahead", "other", points(x, function(1.0) * x)),
        Series("slope behind", "analytic", points(x, -function(-1.0) * x)),
    ]
    return line_chart(series, "x", "", log=False)


def points(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """Return pairs of plain numbers."""
    return list(zip(x.tolist(), y.tolist(), strict=True))


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    write("exp-at-10", errors("Exp", 10.0, float(np.exp(10.0))))
    write("log-at-1e-4", errors("Log", 1e-4, 1e4))
    write("kink", sides(lambda x: np.asarray(tf.nn.leaky_relu(np.asarray(x, np.float64), 0.25))))


if __name__ == "__main__":
    main()
