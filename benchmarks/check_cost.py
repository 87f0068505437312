"""What one check that agrees costs, against TensorFlow code that does less.

    .venv/bin/python benchmarks/check_cost.py [--pairs N] [--quick]

The graph is five smooth calls on two leaves of 100 elements, of 10 outputs: tanh(x * softmax(x w))
summed over its rows.  Its peers are written as a user of TensorFlow would, on `tf.raw_ops`:

- a VJP and four forward passes, each on new input tensors: what a difference quotient of fourth
  order beside the gradient needs at the least.  Its inputs are moved before the clock starts.
- `tf.test.compute_gradient`, which differentiates by each element in turn.

Candidates take turns on the same values, A B A B ..., and each ratio is that of one pair, so that
a busy machine slows both sides.  Some cases have their gradient taken twice, which the values of
the leaves decide: a pair is therefore made of many values, all different, and no two pairs share
any.  Read the medians; minimum and maximum tell how steady the machine was.

Exit codes: 0 both targets are met, 1 one is missed, 2 a check did not agree.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradfuzz.check import check
from gradfuzz.finding import Verdict
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.runtime import tf, use_one_thread

VJP_TARGET = 1.5
COMPUTE_GRADIENT_TARGET = 1 / 20
# The leaves are square: so many rows and columns each.
SIDE = 10
SIDES = (1, 3, 10, 32, 100)
# One pair is made of so many values of the leaves.
VALUES = 64
# compute_gradient is not run where it would take longer, in seconds.
PATIENCE = 20.0
# The step of the moved inputs, in proportion to each.
STEP = 1e-3


@dataclass(frozen=True)
class Point:
    """One value of the leaves, and what the candidates need of it."""

    graph: Graph
    moved: Sequence[tuple[Array, Array]]
    weights: Array

    @classmethod
    def draw(cls, side: int, rng: np.random.Generator) -> "Point":
        """Draw ordinary values: of either sign, and such that x w has elements around 1."""
        x, w = rng.normal(size=(2, side, side))
        w /= np.sqrt(side)
        moved = [(x * (1 + k * STEP), w * (1 + k * STEP)) for k in (-2, -1, 1, 2)]
        return cls(graph_at(x, w), moved, rng.normal(size=side))


def graph_at(x: Array, w: Array) -> Graph:
    """Return the graph of five calls at those values of its leaves."""
    calls = (
        Call("MatMul", {"a": Ref(0), "b": Ref(1), "transpose_a": False, "transpose_b": False}),
        Call("Softmax", {"logits": Ref(2)}),
        Call("Mul", {"x": Ref(0), "y": Ref(3)}),
        Call("Tanh", {"x": Ref(4)}),
        Call("Sum", {"input": Ref(5), "axis": np.array(1, np.int32), "keep_dims": False}),
    )
    return Graph((Leaf(x), Leaf(w), *calls), (Ref(6),))


class Peer:
    """The same function as a user of TensorFlow writes it: its one constant is made once."""

    def __init__(self) -> None:
        self.axis = tf.constant(1)

    def __call__(self, x: Any, w: Any) -> Any:
        """Run the function on two tensors."""
        product = tf.raw_ops.MatMul(a=x, b=w, transpose_a=False, transpose_b=False)
        scaled = tf.raw_ops.Mul(x=x, y=tf.raw_ops.Softmax(logits=product))
        return tf.raw_ops.Sum(input=tf.raw_ops.Tanh(x=scaled), axis=self.axis, keep_dims=False)

    def forward(self, x: Array, w: Array) -> Array:
        """Run the function on new tensors."""
        found: Array = self(tf.constant(x), tf.constant(w)).numpy()
        return found

    def vjp(self, x: Array, w: Array, weights: Array) -> list[Array]:
        """Take one gradient on new tensors."""
        sources = [tf.constant(x), tf.constant(w)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = self(*sources)
        return [g.numpy() for g in tape.gradient(y, sources, output_gradients=tf.constant(weights))]

    def vjp_and_four(self, point: Point) -> None:
        """Take one gradient and run the function at four points around."""
        self.vjp(*point.graph.primals, point.weights)
        for x, w in point.moved:
            self.forward(x, w)

    def compute_gradient(self, point: Point) -> None:
        """Differentiate by each element of both leaves."""
        tf.test.compute_gradient(self, [tf.constant(value) for value in point.graph.primals])


def check_agreeing(point: Point) -> None:
    """Check one point.  Exits with code 2 unless it agrees: then the cost is of another thing."""
    report = check(point.graph)
    if report.verdict is not Verdict.AGREE:
        print(f"check_cost: {report.verdict.value} ({report.reason}), should agree")
        print(report.finding.evidence.message if report.finding else point.graph)
        sys.exit(2)


def seconds(job: Callable[..., object], *args: object) -> float:
    """Return how long `job` takes."""
    start = time.perf_counter()
    job(*args)
    return time.perf_counter() - start


@dataclass(frozen=True)
class Pair:
    """The seconds that a check and its peer took, each on average over the same values."""

    check: float
    peer: float

    @property
    def ratio(self) -> float:
        """The cost of the check in units of its peer."""
        return self.check / self.peer


def against_vjp(peer: Peer, points: Sequence[Point]) -> Pair:
    """Measure one pair: the candidates take turns, value by value, and in going first."""
    ours = theirs = 0.0
    for turn, point in enumerate(points):
        if turn % 2:
            theirs += seconds(peer.vjp_and_four, point)
        ours += seconds(check_agreeing, point)
        if not turn % 2:
            theirs += seconds(peer.vjp_and_four, point)
    return Pair(ours / len(points), theirs / len(points))


def against_compute_gradient(peer: Peer, points: Sequence[Point]) -> Pair:
    """Measure one pair: all the checks, beside one run of compute_gradient, which is long."""
    theirs = seconds(peer.compute_gradient, points[0])
    ours = sum(seconds(check_agreeing, point) for point in points)
    return Pair(ours / len(points), theirs)


def batches(side: int, count: int, size: int) -> Iterator[list[Point]]:
    """Yield points for `count` pairs, `size` each, after a few that warm up and do not count."""
    rng = np.random.default_rng(side)
    peer = Peer()
    for point in (Point.draw(side, rng) for _ in range(8)):
        check_agreeing(point)
        peer.vjp_and_four(point)
    for _ in range(count):
        yield [Point.draw(side, rng) for _ in range(size)]


def show_ratios(name: str, pairs: Sequence[Pair], target: float) -> bool:
    """Print the ratios beside their target, and return whether the median meets it."""
    ratios = [pair.ratio for pair in pairs]
    median = statistics.median(ratios)
    ours = statistics.median(pair.check for pair in pairs)
    theirs = statistics.median(pair.peer for pair in pairs)
    met = median <= target
    print(f"check / {name}")
    print(f"  ratio   min {min(ratios):.4f}  median {median:.4f}  max {max(ratios):.4f}"
          f"   of {len(ratios)} pairs")  # fmt: skip
    print(f"  target  {target:.4f}: {'met' if met else 'MISSED'}")
    print(f"  time    {ours * 1e3:.3f} ms / {theirs * 1e3:.3f} ms (medians)\n", flush=True)
    return met


def show_growth(peer: Peer, size: int, count: int) -> None:
    """Print what each candidate takes from 1 to 10,000 elements a leaf."""
    print("growth, in ms (medians)")
    print(f"  {'elements':>8}  {'check':>9}  {'VJP+4':>9}  {'ratio':>6}  compute_gradient")
    for side in SIDES:
        drawn = list(batches(side, count, size))
        pairs = [against_vjp(peer, points) for points in drawn]
        ours = statistics.median(pair.check for pair in pairs)
        theirs = statistics.median(pair.peer for pair in pairs)
        ratio = statistics.median(pair.ratio for pair in pairs)
        long = compute_gradient_in_time(peer, drawn[0][0])
        times = f"{ours * 1e3:>9.3f}  {theirs * 1e3:>9.3f}"
        print(f"  {side * side:>8}  {times}  {ratio:>6.2f}  {long}", flush=True)


def compute_gradient_in_time(peer: Peer, point: Point) -> str:
    """Return the milliseconds of compute_gradient, or that it is not run as it takes too long.

    It moves each element forth and back, and copies all of them each time.
    """
    once = min(seconds(peer.forward, *point.graph.primals) for _ in range(5))
    elements = sum(primal.size for primal in point.graph.primals)
    if 3 * elements * once > PATIENCE:
        return f"not run: about {3 * elements * once:.0f} s"
    return f"{seconds(peer.compute_gradient, point) * 1e3:.1f}"


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=31, metavar="N", help="pairs (default 31)")
    parser.add_argument("--quick", action="store_true", help="few pairs, only to see that it works")
    options = parser.parse_args()
    count = 5 if options.quick else options.pairs
    use_one_thread()
    peer = Peer()
    rng = np.random.default_rng(0)
    print(f"TensorFlow {tf.__version__}, one thread.  The graph, on {SIDE * SIDE} elements a leaf:")
    print(f"{Point.draw(SIDE, rng).graph}\n")
    pairs = [against_vjp(peer, points) for points in batches(SIDE, count, VALUES)]
    met = show_ratios("(VJP and four forward passes)", pairs, VJP_TARGET)
    some = batches(SIDE, max(3, count // 3), VALUES)
    pairs = [against_compute_gradient(peer, points) for points in some]
    met &= show_ratios("tf.test.compute_gradient", pairs, COMPUTE_GRADIENT_TARGET)
    show_growth(peer, VALUES // 2 if options.quick else VALUES, max(3, count // 6))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
