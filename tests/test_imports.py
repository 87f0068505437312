"""The direction of imports, as DESIGN has it: data at the bottom, command line at the top."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# From the bottom up: a module imports only from its own line or the lines above it.
LAYERS = (
    {"errors"},
    {"graph"},
    {"finding", "realview", "strictjson"},
    {"arrayjson", "expect"},
    {"graphjson"},
    {"casefile"},
    {"runtime"},
    {"dtypes", "layers"},
    {"registry", "gradients_run", "gradient_lines"},
    {"noise"},
    {"evaluate"},
    {"derived", "rounding"},
    {"analytic", "guard", "corpus", "catalogue", "exact"},
    {"traced", "batched"},
    {"numeric"},
    {"subject"},
    {"oracles"},
    {"examine"},
    {"blame", "vote", "shares"},
    {"convergence"},
    {"check", "functions"},
    {"events", "known"},
    {"order"},
    {"clock", "fatal", "journal", "limits", "schedule", "server"},
    {"log", "round", "replay", "runfolder", "storage"},
    {"answer", "autopsy"},
    {"worker"},
    {"process"},
    {"crew"},
    {"campaign", "repro", "given"},
    {"measure", "preload"},
    {"durations"},
    {"report"},
    {"cli", "pytest_plugin"},
    {"__main__"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def modules() -> list[Path]:
    return sorted(
        p for p in (ROOT / "gradfuzz").rglob("*.py") if p != ROOT / "gradfuzz/__init__.py"
    )


def part_of(path: Path) -> str:
    return path.relative_to(ROOT / "gradfuzz").with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def parts_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in imported(path))
    return {name[1] for name in names if name[0] == "gradfuzz" and len(name) > 1} & set(LEVEL)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_from_below(path):
    assert part_of(path) in LEVEL, "a new module: give it a layer"
    above = {p for p in parts_imported(path) if LEVEL[p] > LEVEL[part_of(path)]}
    assert above == set()


# What joins the two: tests of a function of one's own, at inputs that the strategies draw.
JOINT = ROOT / "gradfuzz/given.py"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_engine_imports_no_strategy(path):
    found = {name for name in imported(path) if name.startswith("gradfuzz.strategies")}
    assert found == set() or path == JOINT


def test_a_case_file_is_read_and_checked_without_hypothesis():
    below = LEVEL["check"]
    paths = [path for path in modules() if LEVEL[part_of(path)] <= below]
    users = {part_of(p) for p in paths if any(n.startswith("hypothesis") for n in imported(p))}
    assert users <= {"catalogue"}


@pytest.mark.parametrize("part", ["graph", "casefile", "graphjson", "arrayjson", "finding"])
def test_data_needs_no_tensorflow(part):
    level = LEVEL[part]
    paths = [path for path in modules() if LEVEL[part_of(path)] <= level]
    assert not any(n.startswith("tensorflow") for path in paths for n in imported(path))


def test_only_the_runtime_imports_tensorflow():
    users = {part_of(p) for p in modules() if any(n.startswith("tensorflow") for n in imported(p))}
    assert users == {"runtime"}


def test_strategies_import_the_graph_and_nothing_else_of_the_engine():
    allowed = {"graph", "errors"}
    for path in sorted((ROOT / "strategies").rglob("*.py")):
        # Recipes are functions of TensorFlow, and belong to no strategy.
        more = {"registry", "runtime"} if path.parent.name == "recipes" else set()
        assert parts_imported(path) <= allowed | more, path
