"""`gradfuzz ops`: the catalogue, what is left out of it, what it lacks, and what of it ran."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradfuzz.catalogue import Catalogue, all_ops, load_catalogues
from gradfuzz.cli.tables import titled
from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.gradient_lines import Lines, recording_lines
from gradfuzz.measure import measure as measure_ops
from gradfuzz.registry import is_available, registered_gradients, runs


@dataclass(frozen=True)
class Measured:
    """What a measuring run came to: its counts, the gradients that ran, and lines if asked for."""

    tally: Tally
    gradients: frozenset[str]
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
        return None if self.measured is None else sorted(self.covered - self.measured.gradients)

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
            found["ran"] = len(self.measured.gradients & self.registered)
        return found


def ops(
    *,
    as_json: bool,
    missing: bool,
    measure: float | None = None,
    lines: bool = False,
    seed: int = 0,
) -> int:
    """Print the catalogue, and return the exit code.

    `measure` is for how many seconds to draw and check, None for not at all.
    """
    catalogues = load_catalogues()
    measured = None if measure is None else _measure(catalogues, measure, seed, lines=lines)
    found = _coverage(catalogues, measured)
    if as_json:
        write_json(_as_json(found))
    else:
        _show(terminal(), found, missing=missing)
    return 0


def _measure(
    catalogues: Sequence[Catalogue], seconds: float, seed: int, *, lines: bool
) -> Measured:
    known = {op: catalogue for op, catalogue in all_ops(catalogues).items() if is_available(op)}
    tally = Tally(frozenset())
    with (
        terminal(stderr=True).status("measuring"),
        recording_lines() if lines else nullcontext() as found,
    ):
        gradients = measure_ops(known, seconds, seed, tally.count)
    return Measured(tally, frozenset(gradients), found)


def _coverage(catalogues: Sequence[Catalogue], measured: Measured | None) -> Coverage:
    registered = frozenset(registered_gradients())
    entries = Counter(entry.op for c in catalogues for entry in getattr(c, "entries", ()))
    names = sorted(all_ops(catalogues))
    rows = [_row(op, entries[op] or None, measured) for op in names]
    excluded = {op: why for c in reversed(catalogues) for op, why in c.excluded.items()}
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
    ran = gradients <= measured.gradients if gradients else None
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
        raw["lines"] = {"ran": lines.ran, "count": lines.count, "files": lines.files}
    return raw


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
        share = lines.ran / max(1, lines.count)
        console.print(f"Lines of TensorFlow's gradient files run: {share:.1%} ({lines.ran} of "
                      f"{lines.count}).")  # fmt: skip


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
    for name in ("ran", "of", "share"):
        table.add_column(name, justify="right")
    for name, (ran, count) in lines.files.items():
        table.add_row(name, str(ran), str(count), f"{ran / count:.0%}")
    return table
