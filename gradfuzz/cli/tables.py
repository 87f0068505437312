"""Tables in the style of this command line."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

# Below this width a case is a few lines under each other; from it on, and in a pipe, one row.
WIDE = 130


def titled(title: str = "") -> Table:
    """Return an empty table."""
    return Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
                 show_edge=False, header_style="dim", pad_edge=False)  # fmt: skip


def facts(rows: dict[str, Text]) -> Table:
    """Return names and what they stand for, but for those that stand for nothing."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, fact in rows.items():
        if fact.plain:
            grid.add_row(name, fact)
    return grid


def case_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Text]]
) -> Table:
    """Return a table whose last three columns stand under each other on a narrow terminal."""
    table = titled(title)
    stacked = console.width < WIDE
    for name in columns[: -3 if stacked else None]:
        table.add_column(name, overflow="fold")
    if stacked:
        table.add_column(", ".join(columns[-3:]), overflow="fold")
    for row in rows:
        lead, cells = row[:-3], row[-3:]
        if stacked:
            cells = [Text("\n").join(cell for cell in cells if cell.plain)]
        table.add_row(*lead, *cells)
    return table
