"""Which lines of TensorFlow's gradient functions run, which do not, and which cannot here.

What runs when a file is imported counts neither way.
"""

import ast
import inspect
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from coverage import Coverage

from gradfuzz.runtime import ops, tf

# A file as `name_of` has it, and the number of a line in it.
Line = tuple[str, int]


@dataclass(frozen=True)
class FileLines:
    """The lines in the functions of one file.

    `left_out` gives, for those that did not run and cannot here, the reason.
    """

    name: str
    ran: frozenset[int]
    missing: frozenset[int]
    left_out: Mapping[int, str]

    @property
    def count(self) -> int:
        """All lines."""
        return len(self.ran) + len(self.missing) + len(self.left_out)

    @property
    def missing_by_function(self) -> dict[str, list[str]]:
        """The lines that did not run, as ranges, by the name of the innermost function."""
        found = defaultdict[str, list[int]](list)
        for line in sorted(self.missing):
            found[_functions(self.name).of(line)].append(line)
        return {function: _ranges(lines) for function, lines in found.items()}


@dataclass(frozen=True)
class Lines:
    """The lines in the functions of all gradient files."""

    files: tuple[FileLines, ...]

    @property
    def ran(self) -> int:
        """How many ran."""
        return sum(len(file.ran) for file in self.files)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(file.count for file in self.files)

    @property
    def left_out(self) -> int:
        """How many did not run and cannot here."""
        return sum(len(file.left_out) for file in self.files)


def root() -> Path:
    """Return the folder that names of files start from."""
    return Path(tf.__file__).parent / "python"


def gradient_files() -> list[Path]:
    """Return TensorFlow's files of gradient functions, sorted."""
    return sorted(root().rglob("*_grad.py"))


def name_of(path: Path) -> str:
    """Return what a file is called here, "ops/math_grad.py"."""
    return path.relative_to(root()).as_posix()


@dataclass(eq=False)
class Recorder:
    """Tells which lines of gradient files ran."""

    _coverage: Coverage
    _told: set[Line] = field(default_factory=set)

    def new(self) -> frozenset[Line]:
        """Return the lines that ran for the first time since this was last asked."""
        data = self._coverage.get_data()
        lines = {(name_of(Path(path)), line)
                 for path in data.measured_files() for line in data.lines(path) or ()}  # fmt: skip
        new = lines - self._told
        self._told |= new
        return frozenset(new)


@contextmanager
def recording_lines() -> Iterator[Recorder]:
    """Within the block, record the lines of gradient files that run."""
    coverage = Coverage(
        data_file=None, include=[str(path) for path in gradient_files()], config_file=False
    )
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.start()
    try:
        yield Recorder(coverage)
    finally:
        coverage.stop()


def lines_of(
    ran: Collection[Line], excluded: Mapping[str, str], functions: Mapping[str, str]
) -> Lines:
    """Return what of the gradient files `ran`.

    Left out are the gradient functions of op types that are all `excluded`, and `functions`,
    named as in "ops/math_grad.py:_SumGrad", each for the reason given.
    """
    by_file = defaultdict[str, set[int]](set)
    for name, line in ran:
        by_file[name].add(line)
    coverage = Coverage(data_file=None, config_file=False)
    coverage.get_data().add_lines({str(root() / name): lines for name, lines in by_file.items()})
    reasons = _reasons(excluded) | dict(functions)
    files = (_file(coverage, path, reasons) for path in gradient_files())
    return Lines(tuple(file for file in files if file.count))


def _file(coverage: Coverage, path: Path, reasons: Mapping[str, str]) -> FileLines:
    name = name_of(path)
    functions = _functions(name)
    _, statements, _, missing, _ = coverage.analysis2(str(path))
    inside, silent = set(statements) & functions.lines, set(missing) & functions.lines
    left_out = {line: why for line in sorted(silent)
                for why in functions.reasons(line, reasons)}  # fmt: skip
    return FileLines(name, frozenset(inside - silent), frozenset(silent - set(left_out)), left_out)


@dataclass(frozen=True)
class _Functions:
    """The functions of a file, outer ones first: their names, and the lines of their bodies."""

    file: str
    bodies: Mapping[str, range]

    @property
    def lines(self) -> set[int]:
        return {line for body in self.bodies.values() for line in body}

    def of(self, line: int) -> str:
        """Return the name of the innermost function around a line."""
        return [name for name, body in self.bodies.items() if line in body][-1]

    def reasons(self, line: int, reasons: Mapping[str, str]) -> list[str]:
        """Return the reason to leave out a line, if there is one for a function around it."""
        around = [name for name, body in self.bodies.items() if line in body]
        return [reasons[f"{self.file}:{name}"] for name in around
                if f"{self.file}:{name}" in reasons][:1]  # fmt: skip


@cache
def _functions(file: str) -> _Functions:
    return _Functions(file, dict(_bodies(ast.parse((root() / file).read_text("utf-8")), "")))


def _bodies(tree: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
    """Yield each function below `tree`, one in another as "outer.inner"."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            name = prefix + node.name
            yield name, range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            yield from _bodies(node, f"{name}.")
        else:
            yield from _bodies(node, prefix)


def _reasons(excluded: Mapping[str, str]) -> dict[str, str]:
    """Return the reason for each gradient function that only excluded op types have."""
    types = defaultdict[str, list[str]](list)
    for op in ops.gradient_registry.list():
        function = _function_name(ops.gradient_registry.lookup(op))
        if function is not None:
            types[function].append(op)
    return {function: f"the gradient of what {excluded[found[0]]}"
            for function, found in types.items() if set(found) <= excluded.keys()}  # fmt: skip


def _function_name(gradient: Any) -> str | None:
    """Return the name of a gradient function with its file; None where it is not in one."""
    function = inspect.unwrap(gradient) if callable(gradient) else None
    if not inspect.isfunction(function):
        return None
    path = Path(function.__code__.co_filename)
    if not path.is_relative_to(root()):
        return None
    return f"{name_of(path)}:{function.__qualname__.replace('.<locals>', '')}"


def _ranges(lines: Collection[int]) -> list[str]:
    """Write numbers of lines as ranges, "7-9"."""
    found: list[list[int]] = []
    for line in sorted(lines):
        if found and line == found[-1][-1] + 1:
            found[-1].append(line)
        else:
            found.append([line])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in found]
