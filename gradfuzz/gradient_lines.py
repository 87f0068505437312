"""Which lines of TensorFlow's gradient files run: of the bodies of functions, as measured."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from coverage import Coverage

from gradfuzz.runtime import tf


@dataclass
class Lines:
    """How many lines of each file ran, and how many it has, by the name of the file.

    What runs when a file is imported counts neither way.
    """

    files: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def ran(self) -> int:
        """The lines that ran."""
        return sum(ran for ran, _ in self.files.values())

    @property
    def count(self) -> int:
        """All lines."""
        return sum(count for _, count in self.files.values())


def gradient_files() -> list[Path]:
    """Return TensorFlow's files of gradient functions, sorted."""
    return sorted(Path(tf.__file__).parent.joinpath("python").rglob("*_grad.py"))


@contextmanager
def recording_lines() -> Iterator[Lines]:
    """Within the block, record the lines that run; they are in `Lines` once it is left."""
    lines = Lines()
    files = gradient_files()
    coverage = Coverage(data_file=None, include=[str(path) for path in files], config_file=False)
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.start()
    try:
        yield lines
    finally:
        coverage.stop()
    for path in files:
        _, statements, _, missing, _ = coverage.analysis2(str(path))
        inside = set(statements) & _inside_functions(path)
        if inside:
            lines.files[path.name] = len(inside - set(missing)), len(inside)


def _inside_functions(path: Path) -> set[int]:
    """Return the lines in the bodies of functions."""
    functions = [node for node in ast.walk(ast.parse(path.read_text("utf-8")))
                 if isinstance(node, ast.FunctionDef)]  # fmt: skip
    return {
        line
        for function in functions
        for line in range(function.body[0].lineno, (function.end_lineno or 0) + 1)
    }
