"""`gradfuzz ops`: the catalogue, what is left out of it, what it lacks, and what of it ran."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradfuzz.catalogue import Catalogue, all_ops, chosen_ops, load_catalogues
from gradfuzz.cli.fuzz import cores, split
from gradfuzz.cli.interrupt import stop_on_signals
from gradfuzz.cli.tables import titled
from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.clock import StoppableClock
from gradfuzz.crew import Workers
from gradfuzz.gradient_lines import FileLines, Lines, lines_of
from gradfuzz.measure import measure
from gradfuzz.registry import is_available, registered_gradients, runs
from gradfuzz.shares import parse_shares


@dataclass(frozen=True)
class Measurement:
    """What is to be measured: for how long, which ops by which oracles, and lines or not.

    `workers` is a number of processes, 0 for one on each core.
    """

    seconds: float
    ops: Sequence[str] = ()
    oracles: Sequence[str] = ()
    seed: int = 0
    workers: int = 0
    lines: bool = False


@dataclass(frozen=True)
class Measured:
    """What a measuring run came to: its counts, and lines of gradient files if asked for."""

    tally: Tally
    lines: Lines | None


@dataclass(frozen=True)
class OpRow:
    """One op of the catalogue.

    `entries` is None where the catalogue does not say.  `gradient` is None for a function with a
    dotted name of which no gradient is known to run: TensorFlow registers them for op types.
    The other members are None where nothing was measured: `ran` says whether all gradient
    functions that the op is known to run did.
    """

    op: str
    entries: int | None
    in_tensorflow: bool
    gradient: bool | None
    cases: int | None = None
    rejected: int | None = None
    inconclusive: int | None = None
    findings: int | None = None
    ran: bool | None = None


@dataclass(frozen=True)
class Coverage:
    """The catalogue, against the gradients that this TensorFlow registers.

    `missing` are the op types with a gradient that are neither in it nor excluded; `not_run` are
    those that are in it and did not run, None where nothing was measured.
    """

    rows: Sequence[OpRow]
    excluded: dict[str, str]
    covered: frozenset[str]
    registered: frozenset[str]
    measured: Measured | None

    @property
    def missing(self) -> list[str]:
        return sorted(self.registered - self.covered - set(self.excluded))

    @property
    def not_run(self) -> list[str] | None:
        return (
            None if self.measured is None else sorted(self.covered - self.measured.tally.gradients)
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many ops there are of each sort."""
        found = {
            "registered": len(self.registered),
            "in_raw_ops": sum(map(is_available, self.registered)),
            "in_catalogue": len(self.rows),
            "in_catalogue_with_gradient": len(self.covered),
            "excluded": len(self.excluded),
            "missing": len(self.missing),
        }
        if self.measured is not None:
            found["ran"] = len(self.measured.tally.gradients & self.registered)
        return found


def ops(*, as_json: bool, missing: bool, measurement: Measurement | None = None) -> int:
    """Print the catalogue, with what was measured of it, and return the exit code."""
    catalogues = load_catalogues()
    measured = None if measurement is None else _measure(catalogues, measurement)
    found = _coverage(catalogues, measured)
    if as_json:
        write_json(_as_json(found))
    else:
        _show(terminal(), found, missing=missing)
    return 0


def _measure(catalogues: Sequence[Catalogue], wanted: Measurement) -> Measured:
    known = chosen_ops(split(wanted.ops), catalogues)
    weights, clock, tally = parse_shares(wanted.oracles), StoppableClock(), Tally(frozenset())
    with (
        tempfile.TemporaryDirectory(prefix="gradfuzz-") as folder,
        terminal(stderr=True).status("measuring"),
        stop_on_signals(clock),
    ):
        crew = Workers.of(wanted.workers or cores(), Path(folder), lines=wanted.lines)
        measure(known, wanted.seconds, wanted.seed, tally.count, crew,
                weights=weights, clock=clock)  # fmt: skip
    return Measured(tally, _lines_of(catalogues, tally) if wanted.lines else None)


def _lines_of(catalogues: Sequence[Catalogue], tally: Tally) -> Lines:
    functions = {name: why for c in reversed(catalogues)
                 for name, why in getattr(c, "excluded_functions", {}).items()}  # fmt: skip
    return lines_of(tally.lines, _excluded_by(catalogues), functions)


def _excluded_by(catalogues: Sequence[Catalogue]) -> dict[str, str]:
    return {op: why for c in reversed(catalogues) for op, why in c.excluded.items()}


def _coverage(catalogues: Sequence[Catalogue], measured: Measured | None) -> Coverage:
    registered = frozenset(registered_gradients())
    entries = Counter(entry.op for c in catalogues for entry in getattr(c, "entries", ()))
    names = sorted(all_ops(catalogues))
    rows = [_row(op, entries[op] or None, measured) for op in names]
    excluded = _excluded_by(catalogues)
    covered = frozenset[str]().union(*map(runs, names))
    return Coverage(rows, dict(sorted(excluded.items())), covered, registered, measured)


def _row(op: str, entries: int | None, measured: Measured | None) -> OpRow:
    gradients = runs(op)
    gradient = None if "." in op and not gradients else bool(gradients)
    if measured is None:
        return OpRow(op, entries, is_available(op), gradient)
    counts = measured.tally.ops[op]
    findings = counts.cases and sum(
        count for bucket, count in measured.tally.hits.items() if bucket.op == op
    )
    ran = gradients <= measured.tally.gradients if gradients else None
    return OpRow(op, entries, is_available(op), gradient, counts.cases, counts.rejected,
                 counts.inconclusive, findings, ran)  # fmt: skip


def _as_json(found: Coverage) -> dict[str, object]:
    raw: dict[str, object] = {
        "ops": [asdict(row) for row in found.rows],
        "excluded": found.excluded,
        "missing": found.missing,
        "counts": found.counts,
    }
    if found.measured is not None:
        raw["not_run"] = found.not_run
    if found.measured is not None and found.measured.lines is not None:
        lines = found.measured.lines
        raw["lines"] = {
            "ran": lines.ran,
            "count": lines.count,
            "left_out": lines.left_out,
            "files": {file.name: _file_as_json(file) for file in lines.files},
        }
    return raw


def _file_as_json(file: FileLines) -> dict[str, object]:
    return {
        "ran": len(file.ran),
        "count": file.count,
        "missing": file.missing_by_function,
        "left_out": {reason: sorted(line for line, why in file.left_out.items() if why == reason)
                     for reason in dict.fromkeys(file.left_out.values())},
    }  # fmt: skip


def _show(console: Console, found: Coverage, *, missing: bool) -> None:
    tables = [_catalogue(found), _excluded(found)]
    if found.measured is not None and found.measured.lines is not None:
        tables.append(_lines(found.measured.lines))
    for table in tables:
        if table.row_count:
            console.print(table)
            console.print()
    if missing:
        _show_names(console, "Not yet covered", found.missing)
        if found.not_run is not None:
            _show_names(console, "Covered, and did not run", found.not_run)
        if found.measured is not None and found.measured.lines is not None:
            _show_missing_lines(console, found.measured.lines)
    counts = found.counts
    console.print(
        f"{counts['in_catalogue']} ops in the catalogue. Of {counts['registered']} registered "
        f"gradients, {counts['in_catalogue_with_gradient']} are in it, {counts['excluded']} are "
        f"excluded, {counts['missing']} are not yet covered."
    )
    if found.measured is not None:
        _show_measured(console, found.measured, counts)


def _show_names(console: Console, title: str, names: Sequence[str]) -> None:
    console.print(title, style="bold")
    console.print(one_line(", ".join(names) or "none"))
    console.print()


def _show_measured(console: Console, measured: Measured, counts: dict[str, int]) -> None:
    console.print(
        f"Gradient functions run: {counts['ran']} of {counts['registered']} registered "
        f"({counts['in_raw_ops']} in tf.raw_ops)."
    )
    lines = measured.lines
    if lines is not None:
        console.print(
            f"Lines of TensorFlow's gradient files run: {_share(lines.ran, lines.count)}; "
            f"of those not left out, {_share(lines.ran, lines.count - lines.left_out)}."
        )
    if measured.tally.deaths:
        died = ", ".join(f"{kind} {count}" for kind, count in measured.tally.deaths.items())
        console.print(one_line(f"Workers that did not survive a case: {died}."))


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.1%} ({part} of {whole})"


def _catalogue(found: Coverage) -> Table:
    table = titled("Catalogue")
    table.add_column("op", overflow="fold")
    table.add_column("entries", justify="right")
    table.add_column("in TensorFlow")
    table.add_column("gradient registered")
    if found.measured is not None:
        for name in ("cases", "rejected", "inconclusive", "findings"):
            table.add_column(name, justify="right")
        table.add_column("gradient ran")
    for row in found.rows:
        cells = [one_line(row.op), _number(row.entries), _yes(row.in_tensorflow),
                 _yes(row.gradient)]  # fmt: skip
        if found.measured is not None:
            cells += map(_number, (row.cases, row.rejected, row.inconclusive, row.findings))
            cells.append(_yes(row.ran))
        table.add_row(*cells)
    return table


def _number(number: int | None) -> Text:
    return Text("" if number is None else str(number))


def _yes(answer: bool | None) -> Text:  # noqa: FBT001  # it is the value that is shown
    if answer is None:
        return Text("(a function)", "dim")
    return Text("yes", "green") if answer else Text("no", "bold red")


def _excluded(found: Coverage) -> Table:
    table = titled("Excluded")
    table.add_column("op", overflow="fold")
    table.add_column("reason", overflow="fold")
    for op, reason in found.excluded.items():
        table.add_row(one_line(op), one_line(reason))
    return table


def _lines(lines: Lines) -> Table:
    table = titled("Lines of gradient files")
    table.add_column("file")
    for name in ("ran", "of", "share", "left out"):
        table.add_column(name, justify="right")
    for file in lines.files:
        ran, left_out = len(file.ran), len(file.left_out)
        share = f"{ran / file.count:.0%}"
        table.add_row(file.name, str(ran), str(file.count), share, str(left_out or ""))
    return table


def _show_missing_lines(console: Console, lines: Lines) -> None:
    for title, rows in (("Lines that did not run", _missing(lines)),
                        ("Lines left out", _left_out(lines))):  # fmt: skip
        console.print(title, style="bold")
        for row in rows:
            console.print(one_line(row), soft_wrap=True)
        console.print()


def _missing(lines: Lines) -> Iterator[str]:
    for file in lines.files:
        for function, ranges in file.missing_by_function.items():
            yield f"{file.name} {function}: {', '.join(ranges)}"


def _left_out(lines: Lines) -> Iterator[str]:
    reasons = Counter((why, file.name) for file in lines.files for why in file.left_out.values())
    for (why, name), count in sorted(reasons.items()):
        yield f"{name}: {count}, {why}"
