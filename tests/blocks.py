"""The code blocks of README and docs: found, run, and compared with what they show.

```python            is run; the blocks of a file share their names
```python file=x.py  is written to x.py, for the commands after it
```console           lines that begin with "$ " are commands, the others what they print; an "…"
                     stands for anything, on a line of its own for any lines
```sh                commands that take too long for a test: each must be one that there is
```yaml, ```toml     configuration: each command in a `run:` must be one that there is
```text              what the python block before it prints
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LANGUAGES = ("python", "console", "sh", "yaml", "toml", "text")
SECONDS = 280

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block: its language, the file it is written to ("" for none), its text and line."""

    language: str
    file: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a console block, and what is shown of its output."""

    text: str
    shown: str


def blocks(document: Path) -> list[Block]:
    """Return the blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        words = match[1].split()
        file = next((word[5:] for word in words if word.startswith("file=")), "")
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(words[0] if words else "", file, match[2], line))
    return found


def indented_blocks(document: Path) -> list[int]:
    """Return the lines at which a block is indented rather than fenced: nothing would run it."""
    lines = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), document.read_text()).split("\n")
    return [
        number + 1
        for number, line in enumerate(lines)
        if line.startswith("    ") and number and not lines[number - 1].strip()
    ]


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield Command(command, shown)


def run(command: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command of a shell."""
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False,
        timeout=SECONDS,
    )  # fmt: skip


def fits(shown: str, printed: str) -> bool:
    """Return whether what was printed is what a block shows."""
    lines = (
        "(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + " *\n"
        for line in shown.strip("\n").split("\n")
    )
    return re.fullmatch("\\s*" + "".join(lines) + "\\s*", printed.strip("\n") + "\n") is not None


def named_commands(text: str) -> list[str]:
    """Return the commands of a block that is not run, one a line, without comments."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line.removeprefix("- run:").removeprefix("run:").strip() for line in lines if line]
