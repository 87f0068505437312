"""`gradfuzz triage`: say of each new finding what it is, and keep it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent

from rich.console import Console
from rich.prompt import Prompt

from gradfuzz.casefile import Case
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.cli.terminal import counted, one_line, plain, terminal, visible
from gradfuzz.corpus import Corpus, find_case_files
from gradfuzz.errors import UsageError
from gradfuzz.expect import Expect
from gradfuzz.known import SORTS, Accepted, accept, read_accepted, require_until
from gradfuzz.runtime import tf

KEYS = {"b": "bug", "c": "convention", "l": "limitation", "f": "false alarm", "s": "", "q": None}


@dataclass(frozen=True)
class Given:
    """What is said on the command line; `sort` is None where it is to be asked for."""

    sort: str | None = None
    link: str = ""
    note: str = ""
    until: str = ""


def triage(paths: Sequence[Path], given: Given) -> int:
    """Go through the new findings of case files and corpora, and return the exit code."""
    require_until(given.until, "--until")
    if given.sort is not None and given.sort not in SORTS:
        raise UsageError(f"--as {given.sort!r}: should be {', '.join(SORTS)}")
    catalogue = set(all_ops(load_catalogues()))
    console = terminal()
    files = [file for path in paths for file in find_case_files(path)]
    new = [file for file in files if _is_new(file, catalogue)]
    done = 0
    for number, file in enumerate(new, 1):
        case = Corpus(file.parent, catalogue).load(file)
        _show(console, file, case, f"{number} of {len(new)}")
        answer = given if given.sort is not None else _ask(console, given)
        if answer is None:
            break
        if answer.sort:
            _keep(file, case, answer)
            done += 1
    left = counted(len(new) - done, "new finding")
    console.print(one_line(f"{counted(done, 'finding')} said what it is; {left} left."))
    return 0


def _is_new(file: Path, catalogue: set[str]) -> bool:
    """Return whether nobody has said what a case is that is expected to fail."""
    case = Corpus(file.parent, catalogue).load(file)
    if case.expect.on(tf.__version__) is not Expect.FAILS or case.note or case.link:
        return False
    return not any(each.matches(case.finding.bucket) for each in read_accepted(file.parent))


def _show(console: Console, file: Path, case: Case, place: str) -> None:
    console.print(one_line(f"{place}: {case.finding.bucket}", "bold red"))
    for text in (
        str(case.finding.graph),
        visible(case.finding.evidence.message),
        visible(str(file)),
    ):
        console.print(plain(indent(text, "    ")), soft_wrap=True)


def _ask(console: Console, given: Given) -> Given | None:
    """Return what a person says of a case: no sort to leave it for now, None to end."""
    keys = ", ".join(f"{key} {sort}" for key, sort in KEYS.items() if sort)
    console.print(one_line(f"  {keys}, s skip, q quit", "dim"))
    try:
        sort = KEYS[Prompt.ask("What is it", choices=list(KEYS), console=console)]
        if not sort:
            return None if sort is None else replace(given, sort="")
        link = given.link or Prompt.ask("Link", default="", show_default=False, console=console)
        note = given.note or Prompt.ask("Note", default="", show_default=False, console=console)
    except (EOFError, KeyboardInterrupt):
        console.print()
        return None
    return replace(given, sort=sort, link=link, note=note)


def _keep(file: Path, case: Case, answer: Given) -> None:
    """Write down what a case is: beside it, for campaigns, and in it, for who reads it."""
    assert answer.sort
    bucket = str(case.finding.bucket)
    accept(file.parent, Accepted(bucket, answer.sort, answer.link, answer.note, answer.until))
    told = replace(case, link=answer.link, note=answer.note)
    Corpus(file.parent).rewrite(file, told)
