"""The layers of this project, checked with its own import graph."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods.engine.graph import ImportGraph
from codemods.engine.model import Module
from codemods.engine.modules import Layout

PROJECT = Path(__file__).resolve().parents[1]
PATHS = sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "codemods").rglob("*.py"))
LAYOUT = Layout(PATHS, "codemods")
MODULES = [LAYOUT.module_at(path) for path in PATHS]
GRAPH = ImportGraph(LAYOUT.locate, lambda path: (PROJECT / path).read_bytes())
CODEMODS = [
    module.name
    for module in MODULES
    if module.is_package and module.name.count(".") == 1 and module.name not in ("codemods.engine", "codemods.rules")
]

GUARD = "codemods.check_narrowed"  # it judges by the references, plan and rewrite of the codemod


def imports_of(module: Module) -> set[str]:
    """Everything of this project that a module imports, also inside functions and for type checkers."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((PROJECT / module.path).read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module.path}:{node.lineno} imports relatively"
            name = node.module or ""
            for alias in node.names:
                below = f"{name}.{alias.name}"
                found.add(below if LAYOUT.locate(below) else name)
    return {name for name in found if name.partition(".")[0] == "codemods"}


def eager_edges(module: Module) -> set[str]:
    return {
        edge.imported
        for edge in GRAPH.edges(module.name)
        if edge.line and edge.imported.partition(".")[0] == "codemods"
    }


def test_the_graph_sees_the_whole_project() -> None:
    assert len(MODULES) > 25
    for module in MODULES:
        typing_or_late = imports_of(module) - eager_edges(module)
        assert eager_edges(module) <= imports_of(module) | {
            "codemods",
            *(name.rpartition(".")[0] for name in imports_of(module)),
        }, module.name
        assert all(LAYOUT.locate(name) for name in typing_or_late), module.name


def test_the_engine_knows_no_codemod() -> None:
    for module in MODULES:
        if module.name.startswith("codemods.engine"):
            assert not [name for name in imports_of(module) if not name.startswith("codemods.engine")], module.name
            text = (PROJECT / module.path).read_text(encoding="utf-8")
            assert "import narrow_reexport" not in text


@pytest.mark.parametrize("name", ["codemods.engine.model", "codemods.engine.errors"])
def test_the_nouns_import_nothing_of_the_project(name: str) -> None:
    module = LAYOUT.locate(name)
    assert module is not None
    assert imports_of(module) == set()


@pytest.mark.parametrize("module", [module for module in MODULES if module.is_package], ids=lambda module: module.name)
def test_our_own_packages_import_nothing_and_reexport_nothing(module: Module) -> None:
    tree = ast.parse((PROJECT / module.path).read_bytes())
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))], module.path
    assert ast.get_docstring(tree), module.path


def test_forms_import_neither_the_flow_nor_the_command_line() -> None:
    for module in MODULES:
        if module.name.startswith("codemods.narrow_reexport.forms"):
            above = {
                f"codemods.narrow_reexport.{name}" for name in ("pipeline", "cli", "plan", "scan", "report", "__main__")
            }
            assert not imports_of(module) & above, module.name


# The guard judges by the references, plan and rewrite of the codemod; the codemod may ask what an import costs, and what
# the guard finds today.
GUARD = "codemods.check_narrowed"
SEAMS = {
    (GUARD, "codemods.narrow_reexport"),
    ("codemods.narrow_reexport", "codemods.import_cost"),
    ("codemods.narrow_reexport", GUARD),
}


def test_codemods_know_nothing_of_each_other() -> None:
    for module in MODULES:
        own = ".".join(module.name.split(".")[:2])
        if own in CODEMODS:
            others = {".".join(name.split(".")[:2]) for name in imports_of(module)} & set(CODEMODS) - {own}
            assert all((own, other) in SEAMS for other in others), module.name
            assert own == GUARD or not {name for name in eager_edges(module) if ".".join(name.split(".")[:2]) in others}
        if module.name.startswith("codemods.rules"):
            above = {f"codemods.narrow_reexport.{name}" for name in ("pipeline", "cli", "report", "__main__")}
            assert not imports_of(module) & above, module.name


def test_only_the_command_lines_import_click() -> None:
    for module in MODULES:
        text = (PROJECT / module.path).read_text(encoding="utf-8")
        if "import click" in text:
            assert module.name.rpartition(".")[2] in ("__main__", "cli", "bulk_cli", "shards_cli"), module.name


# the cache is no source file: it lies in the user's cache folder, and nobody minds if it is lost; nor is what lies in
# temporary folders, which `scratch` makes and removes
WRITERS = ("codemods.engine.project", "codemods.engine.disk", "codemods.engine.scratch", "codemods.import_cost.cache")


def test_only_the_project_module_writes_files() -> None:
    calls = {"write_bytes", "write_text", "unlink", "rename", "replace", "rmtree", "mkdir"}
    for module in MODULES:
        tree = ast.parse((PROJECT / module.path).read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls:
                base = ast.unparse(node.func.value)
                if base == "os" or node.func.attr in ("write_bytes", "write_text", "rmtree", "unlink"):
                    assert module.name in WRITERS, f"{module.path}:{node.lineno}"


def test_there_is_no_cycle_of_eager_imports() -> None:
    for module in MODULES:
        for imported in eager_edges(module):
            back = GRAPH.chain(imported, module.name) if not module.is_package else ()
            assert not [edge for edge in back or () if edge.line] or not back, f"{module.name} <-> {imported}"


@pytest.mark.parametrize("path", PATHS)
def test_a_module_stays_short(path: str) -> None:
    lines = (PROJECT / path).read_text(encoding="utf-8").count("\n")
    assert lines <= (120 if path.endswith("__main__.py") else 400)


@pytest.mark.parametrize("path", [path for path in PATHS if not path.endswith(("__init__.py", "__main__.py"))])
def test_a_module_says_what_it_owns_and_what_it_never_does(path: str) -> None:
    docstring = ast.get_docstring(ast.parse((PROJECT / path).read_bytes())) or ""
    assert "Owns" in docstring
    assert "\nInvariant: " in docstring


def test_tests_mirror_the_modules() -> None:
    missing = []
    for path in PATHS:
        folder, _, name = path.removeprefix("codemods/").rpartition("/")
        if folder and not name.startswith("__"):
            mirrored = PROJECT / "tests" / folder / f"test_{name}"
            missing += [mirrored.name] if not mirrored.exists() else []
    # cut by others and tested through them, or thin
    through_others = {
        "verify",
        "namespace",
        "blanking",
        "walk",
        "report",
        "scan",
        "model",
        "errors",
        "request",
        "context",
        "name_facts",
        "left_alone",
        "byways",
        "snippet",
        "outcome",
        "prepare",
        "questions",
        "expressions",
        "weave",
        "page",
        "late_readers",
        "lookup",
        "verdicts",
        "literal",
        "label",
        "sequence",
        "statement",
        "order",
        "star_modules",
        "lazy_attach",
        "lazy_values",
        "lazy_calls",
        "lazy_getattr",
        "lazy_structure",
        "lazy_branches",
        "lazy_cut",
        "probe_prologue",
        "bulk_cli",
        "shards_cli",
    }
    assert not [path for path in missing if Path(path).stem.removeprefix("test_") not in through_others], missing
