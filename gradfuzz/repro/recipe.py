"""The recipes of a graph as source: their definitions, with all in their file that these read.

Annotations are left out, and so is what gradfuzz alone keeps beside the functions.
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cache

from gradfuzz.errors import CaseFileError
from gradfuzz.registry import is_declared, recipes

# What a script has by itself.
PROVIDED = {"np", "tf", "Recipe"}

# Where a recipe is made by a function, what stands for its class.
PAIR = """def Recipe(function, runs="", reference=None, **_):
    return function, reference


"""


def is_recipe(op: str) -> bool:
    """Return whether a call is of a function that TensorFlow has not."""
    return op in recipes() and "." in op


def recipe_name(op: str) -> str:
    """Return the name of the function of a recipe in a script."""
    return op.replace(".", "_")


def reference_name(op: str) -> str:
    """Return the name of the function whose derivative its gradient is declared to be."""
    return f"{recipe_name(op)}_reference"


def recipes_source(ops: Iterable[str]) -> str:
    """Return the source of the functions of those ops that are recipes.

    Raises `CaseFileError` for one that cannot be taken out of its file.
    """
    found: dict[str, None] = {}
    for op in sorted({op for op in ops if is_recipe(op) or is_declared(op)}):
        found |= dict.fromkeys(_blocks(op))
    return "".join(found)


def _blocks(op: str) -> Iterator[str]:
    """Yield the definitions that a recipe needs, in their order, and then its own."""
    recipe = recipes()[op]
    module = (recipe.reference or recipe.function).__module__
    trees = list(dict.fromkeys(_trees(module)))
    wanted = dict(_parts(op, _entry(op, trees[-1])))
    definitions = {name: each for tree in trees for name, each in _definitions(tree).items()}
    needed = _needed(wanted.values(), definitions)
    statements = [each for tree in trees for each in tree.body if each in needed.values()]
    # Another file's import of a name may be the one that is kept.
    for statement in sorted(statements, key=lambda each: not _is_import(each)):
        yield _source(statement, {name for name, each in needed.items() if each is statement})
    if any("Recipe" in _names(each) for each in (*wanted.values(), *needed.values())):
        yield PAIR
    yield "".join(f"{name} = {ast.unparse(part)}\n" for name, part in wanted.items()) + "\n\n"


def _parts(op: str, entry: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what to define, under which name: of a plain recipe, its functions."""
    match entry:
        case ast.Call(func=ast.Name(id="Recipe"), args=[function, *others], keywords=keywords):
            if is_recipe(op):
                yield recipe_name(op), function
            named = [each.value for each in keywords if each.arg == "reference"]
            if is_declared(op):
                yield reference_name(op), (named or others[1:2])[0]
        case _:
            yield f"{recipe_name(op)}, {reference_name(op)}", entry


def _trees(module: str) -> Iterator[ast.Module]:
    """Yield the file of a recipe, after the files of recipes that it imports from."""
    tree = _tree(module)
    for statement in tree.body:
        if _is_from_recipes(statement):
            yield from _trees(_module(statement))
    yield tree


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_from_recipes(statement: ast.stmt) -> bool:
    files = {recipe.function.__module__.rpartition(".")[0] for recipe in recipes().values()}
    return _module(statement).rpartition(".")[0] in files


def _module(statement: ast.stmt) -> str:
    """Return what a statement imports names from, "" where it does not."""
    return (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""


@cache
def _tree(module: str) -> ast.Module:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    _Unannotated().visit(tree)
    return ast.fix_missing_locations(tree)


class _Unannotated(ast.NodeTransformer):
    """Drops annotations: a script checks no types, and need not import what they name."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None
        return self.generic_visit(ast.Assign([node.target], node.value))


def _entry(op: str, tree: ast.Module) -> ast.expr:
    """Return what stands for an op in a table of recipes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == op:
                    return value
    raise CaseFileError(f"op {op!r}: a recipe that is in no table of its file, should be for a "
                        "script")  # fmt: skip


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the statement that gives each name of a file its value."""
    found: dict[str, ast.stmt] = {}
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = statement
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if not _is_from_recipes(statement):
                    found |= {each.asname or each.name: statement for each in names}
    return found


def _needed(parts: Iterable[ast.AST], definitions: Mapping[str, ast.stmt]) -> dict[str, ast.stmt]:
    """Return the definitions that some expressions read, and that those read in turn."""
    found: dict[str, ast.stmt] = {}
    names = [name for part in parts for name in _names(part)]
    while names:
        name = names.pop()
        if name in definitions and name not in found and name not in PROVIDED:
            found[name] = definitions[name]
            names.extend(_names(definitions[name]))
    return found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _source(statement: ast.stmt, names: set[str]) -> str:
    """Return a definition as source; of an import, some names only."""
    match statement:
        case ast.ImportFrom(module=module) if module and module.startswith("gradfuzz"):
            raise CaseFileError(f"a recipe reads {sorted(names)} of {module}, should need "
                                "TensorFlow alone for a script")  # fmt: skip
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            some = copy(statement)
            some.names = [each for each in aliases if (each.asname or each.name) in names]
            return f"{ast.unparse(some)}\n"
        case ast.FunctionDef() | ast.ClassDef():
            return f"{ast.unparse(statement)}\n\n\n"
    return f"{ast.unparse(statement)}\n"
