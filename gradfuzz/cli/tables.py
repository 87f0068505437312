"""Tables in the style of this command line."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gradfuzz.cli.terminal import UNBOUNDED

# Below this width a case is a few lines under each other, from it on one row.
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
) -> RenderableType:
    """Return cases in rows, of which the last three columns are a bucket, a message and a file.

    Those stand under each other on a narrow terminal.  In a pipe a case is one line, which ends
    where its text does, and nothing is cut off.
    """
    if console.width == UNBOUNDED:
        return _lines(title, columns, list(rows))
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


def _lines(title: str, columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> Text:
    """Return a line for each row: what is short first, and in columns; the message last."""
    found = [] if not title else [Text(title)]
    cells = [[*columns], *([cell.plain for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-3]]
    for *lead, bucket, message, file in cells:
        short = [text.ljust(width) for text, width in zip(lead, widths, strict=True)]
        found.append(Text("  ".join([*short, *filter(None, (file, bucket, message))])))
    return Text("\n").join(found)
