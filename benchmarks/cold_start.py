"""Which public faults of TensorFlow a campaign finds from an empty corpus, seed by seed.

    .venv/bin/python benchmarks/cold_start.py [--budget 2m] [--out DIR] [SEED ...]

Each seed (1 2 3 unless given) is one `gradfuzz fuzz` in a process of its own, on a new folder.
Its findings are held against a table of faults whose right values are known: those of first order
on real numbers that an op shows by itself.  A row is found where a finding has its op and kind,
and blames one of its inputs; "" stands for no single input, where the same fault may show in
several of them at once.  Nothing of the table reaches the fuzzer.

The look-alikes are ops at kinks, ties, jumps and conventions: a wrong value reported of one of
them would be a false alarm.

Exit codes: 0 every seed found at least 12 rows and no look-alike, 1 not so, 2 a run failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

# So many rows are to be found from each seed.
ENOUGH = 12


@dataclass(frozen=True)
class Fault:
    """A public fault: where it shows, and what is right.

    `ops` are ops that share one gradient function, `inputs` the arguments it may be blamed on.
    """

    name: str
    ops: tuple[str, ...]
    kind: str
    inputs: tuple[str, ...]
    reference: str

    def shows_in(self, bucket: dict[str, str]) -> bool:
        """Return whether a finding is of this fault."""
        return (
            bucket["op"] in self.ops
            and bucket["kind"] == self.kind
            and bucket["input"] in self.inputs
        )


RAISES = "raises-InvalidArgumentError"
NO_REPORT = "no public report known"

FAULTS = (
    Fault("xlogy at x = 0: d/dx is log y, not 0",
          ("Xlogy",), "value", ("x",), "tensorflow#119476"),
    Fault("cumprod with a zero: is 0, should be the product of the others",
          ("Cumprod",), "value", ("x",), "tensorflow#119430, #3862"),
    Fault("igamma at x = 0: d/dx P(1, x) is 1, not nan",
          ("Igamma",), "non-finite", ("x", ""), "tensorflow#123578"),
    Fault("det of a singular matrix: is a polynomial, its gradient the cofactors",
          ("MatrixDeterminant",), RAISES, ("",), "known limitation"),
    Fault("pow at 0 ** 0: d/dx of the constant 1 is 0, not nan",
          ("Pow",), "non-finite", ("x", ""), "family of tensorflow#35011"),
    Fault("euclidean norm at 0: not nan but a subgradient",
          ("EuclideanNorm",), "non-finite", ("input",), "tensorflow#12071"),
    Fault("softmax cross entropy: labels that do not sum to 1",
          ("SoftmaxCrossEntropyWithLogits",), "value", ("features", ""), "documented precondition"),
    Fault("pad: the gradient of the constant is a sum, not None",
          ("PadV2",), "none", ("constant_values",), NO_REPORT),
    Fault("zeta: the gradient of x is not None",
          ("Zeta",), "none", ("x",), NO_REPORT),
    Fault("gather_nd by indices of rank 1: is one-hot",
          ("GatherNd",), RAISES, ("",), NO_REPORT),
    Fault("fused batch norm, training: that of batch_mean is 1/n, not 0",
          ("FusedBatchNormV3",), "value", ("x", ""), NO_REPORT),
    Fault("sparse split: is a selection",
          ("SparseSplit",), "missing", ("",), NO_REPORT),
    Fault("sparse maximum, minimum",
          ("SparseSparseMaximum", "SparseSparseMinimum"), "raises-TypeError", ("",), NO_REPORT),
    Fault("projective transform that scales: is the transpose",
          ("ImageProjectiveTransformV3",), "value", ("images",), NO_REPORT),
    Fault("dynamic_stitch: what is overwritten has gradient 0",
          ("DynamicStitch",), "value", ("data",), NO_REPORT),
    Fault("reduce_std of one element: is 0, not nan",
          ("tf.math.reduce_std",), "non-finite", ("input_tensor",), NO_REPORT),
    Fault("isotonic regression: merged blocks share the gradient",
          ("IsotonicRegression",), "value", ("input",), "neighbour of tensorflow#127234"),
)  # fmt: skip

# Kinks, ties, jumps, conventions and sentinels, which a fault in value would be a false alarm of.
LOOK_ALIKES = ("Floor", "Sign", "Cholesky", "Relu", "Abs", "Maximum", "Max", "UnsortedSegmentMax")
ABOUT_VALUE = ("value", "non-finite", "none")


@dataclass(frozen=True)
class Run:
    """What one seed came to: the JSON summary of its campaign."""

    seed: int
    summary: dict[str, Any]

    @property
    def buckets(self) -> list[dict[str, str]]:
        """The bucket of each finding."""
        return [finding["bucket"] for finding in self.summary["findings"]]

    def has(self, fault: Fault) -> bool:
        """Return whether the fault was found."""
        return any(fault.shows_in(bucket) for bucket in self.buckets)

    @property
    def found(self) -> int:
        """How many of the faults were found."""
        return sum(self.has(fault) for fault in FAULTS)

    @property
    def look_alikes(self) -> list[str]:
        """The findings that are false alarms."""
        return [
            f"{bucket['op']}.{bucket['input']} {bucket['kind']}: {finding['file']}"
            for finding, bucket in zip(self.summary["findings"], self.buckets, strict=True)
            if bucket["op"] in LOOK_ALIKES
            and bucket["kind"] in ABOUT_VALUE
            and not is_complex(Path(finding["file"]))
        ]


def is_complex(case: Path) -> bool:
    """Return whether a case is of complex numbers, of which none of the look-alikes is."""
    return any("complex" in json.dumps(node) for node in json.loads(case.read_text())["nodes"])


def fuzz(seed: int, budget: str, folder: Path) -> Run:
    """Run one campaign in a process of its own.  Exits with code 2 where it fails."""
    command = [sys.executable, "-m", "gradfuzz", "fuzz", "--budget", budget, "--seed", str(seed),
               "--corpus", str(folder), "--json"]  # fmt: skip
    # Its log goes to a file: a full pipe would block it.
    with (folder / "log").open("w+") as log:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
        if done.returncode not in (0, 1):
            log.seek(0)
            print(f"cold_start: seed {seed}: exit code {done.returncode}\n{log.read()[-2000:]}")
            sys.exit(2)
    return Run(seed, json.loads(done.stdout))


def show(runs: Sequence[Run]) -> None:
    """Print faults by seeds, and what else each seed came to."""
    table = Table(title=f"Found from an empty corpus (at least {ENOUGH} should be)")
    for name in ("fault", "bucket", "public report"):
        table.add_column(name, overflow="fold")
    for run in runs:
        table.add_column(f"seed {run.seed}", justify="right")
    for fault in FAULTS:
        inputs = " or ".join(name or "no single input" for name in fault.inputs)
        bucket = f"{' or '.join(fault.ops)} {fault.kind}, {inputs}"
        marks = ["yes" if run.has(fault) else "-" for run in runs]
        table.add_row(fault.name, bucket, fault.reference, *marks)
    table.add_section()
    for name, counts in (
        (f"found, of {len(FAULTS)}", [run.found for run in runs]),
        ("findings in all", [len(run.buckets) for run in runs]),
        ("cases", [run.summary["cases"] for run in runs]),
        ("look-alikes (should be 0)", [len(run.look_alikes) for run in runs]),
    ):
        table.add_row(name, "", "", *map(str, counts))
    width = None if sys.stdout.isatty() else 170
    Console(highlight=False, markup=False, width=width).print(table)
    for run in runs:
        for alarm in run.look_alikes:
            print(f"look-alike reported, seed {run.seed}: {alarm}")


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("seeds", type=int, nargs="*", default=[1, 2, 3], metavar="SEED", help="(1 2 3)")
    add("--budget", default="2m", metavar="TIME", help="of each seed (2m)")
    add("--out", type=Path, metavar="DIR", help="where the findings are kept (a new folder)")
    return parser.parse_args()


def main() -> int:
    """Fuzz from each seed, print, and return the exit code."""
    chosen = options()
    root = chosen.out or Path(tempfile.mkdtemp(prefix="cold-start-"))
    runs = []
    for seed in chosen.seeds:
        folder = root / f"seed-{seed}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            print(f"cold_start: {folder}: is there, should be new: what it holds would be known")
            return 2
        print(f"seed {seed}: {chosen.budget}, findings to {folder}", flush=True)
        runs.append(fuzz(seed, chosen.budget, folder))
    show(runs)
    good = all(run.found >= ENOUGH and not run.look_alikes for run in runs)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
