"""`gradfuzz ops`: the catalogue, what is left out of it, and what it lacks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradfuzz.catalogue import Catalogue, all_ops, load_catalogues
from gradfuzz.cli.tables import titled
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.registry import is_available, registered_gradients


@dataclass(frozen=True)
class OpRow:
    """One op of the catalogue.

    `entries` is None where the catalogue does not say.  `gradient` is None for the dotted
    name of a public function: TensorFlow registers gradients for op types only.
    """

    op: str
    entries: int | None
    in_tensorflow: bool
    gradient: bool | None


@dataclass(frozen=True)
class Coverage:
    """The catalogue, against the gradients that this TensorFlow registers.

    `missing` are the op types with a gradient that are neither in it nor excluded.
    """

    rows: Sequence[OpRow]
    excluded: dict[str, str]
    missing: Sequence[str]
    registered: int

    @property
    def counts(self) -> dict[str, int]:
        """How many ops there are of each sort."""
        return {
            "registered": self.registered,
            "in_catalogue": len(self.rows),
            "in_catalogue_with_gradient": sum(row.gradient is True for row in self.rows),
            "excluded": len(self.excluded),
            "missing": len(self.missing),
        }


def ops(*, as_json: bool, missing: bool) -> int:
    """Print the catalogue, and return the exit code."""
    found = _coverage(load_catalogues())
    if as_json:
        rows = [asdict(row) for row in found.rows]
        write_json({"ops": rows, "excluded": found.excluded, "missing": list(found.missing),
                    "counts": found.counts})  # fmt: skip
    else:
        _show(terminal(), found, missing=missing)
    return 0


def _coverage(catalogues: Sequence[Catalogue]) -> Coverage:
    registered = set(registered_gradients())
    entries = Counter(entry.op for c in catalogues for entry in getattr(c, "entries", ()))
    names = sorted(all_ops(catalogues))
    rows = [OpRow(op, entries[op] or None, is_available(op),
                  None if "." in op else op in registered) for op in names]  # fmt: skip
    excluded = {op: why for c in reversed(catalogues) for op, why in c.excluded.items()}
    missing = sorted(registered - {*names, *excluded})
    return Coverage(rows, dict(sorted(excluded.items())), missing, len(registered))


def _show(console: Console, found: Coverage, *, missing: bool) -> None:
    for table in (_catalogue(found), _excluded(found)):
        if table.row_count:
            console.print(table)
            console.print()
    if missing:
        console.print("Not yet covered", style="bold")
        console.print(one_line(", ".join(found.missing) or "none"))
        console.print()
    counts = found.counts
    console.print(
        f"{counts['in_catalogue']} ops in the catalogue. Of {counts['registered']} registered "
        f"gradients, {counts['in_catalogue_with_gradient']} are in it, {counts['excluded']} are "
        f"excluded, {counts['missing']} are not yet covered."
    )


def _catalogue(found: Coverage) -> Table:
    table = titled("Catalogue")
    table.add_column("op", overflow="fold")
    table.add_column("entries", justify="right")
    table.add_column("in TensorFlow")
    table.add_column("gradient registered")
    for row in found.rows:
        table.add_row(one_line(row.op), "" if row.entries is None else str(row.entries),
                      _yes(row.in_tensorflow), _yes(row.gradient))  # fmt: skip
    return table


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
