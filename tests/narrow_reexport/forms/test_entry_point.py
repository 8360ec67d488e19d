"""Entry points move with the object, whatever file declares them, and load the same object before and after."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import check_refused, check_rewritten, check_unchanged, narrow, tree

# reads the declarations as their tools do, and loads each entry point
LOADS_TOML = """
import tomllib
from importlib.metadata import EntryPoint
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
for group, points in groups.items():
    for name, value in points.items():
        found = EntryPoint(name, value, group)
        print(group, name, found.load().__qualname__, found.extras)
"""
LOADS_CFG = """
import configparser
from importlib.metadata import EntryPoint
parser = configparser.ConfigParser()
parser.read("setup.cfg")
for group, lines in parser["options.entry_points"].items():
    for line in lines.strip().splitlines():
        name, _, value = line.partition("=")
        found = EntryPoint(name.strip(), value.strip(), group)
        print(group, name, found.load().__qualname__, found.extras)
"""
LOADS_SETUP = """
import sys, types
from importlib.metadata import EntryPoint
def setup(*, entry_points, **rest):
    if isinstance(entry_points, str):
        entry_points = {"": [row for row in entry_points.splitlines() if "=" in row]}
    for group, rows in entry_points.items():
        for row in [rows] if isinstance(rows, str) else rows:
            name, _, value = row.partition("=")
            found = EntryPoint(name.strip(), value.strip(), group)
            print(group, name, found.load().__qualname__, found.extras)
sys.modules["setuptools"] = types.SimpleNamespace(setup=setup)
import setup
"""
CFG = """[metadata]
name = x

[options.entry_points]
console_scripts =
    run = pkg:sym
    light=pkg:light
x.y =
    a-b = pkg:sym [extra]
    # c = pkg:sym
"""


def moves(path: str, before: str, after: str, loader: str = "") -> None:
    files = {**PKG, path: before, **({"loads.py": loader} if loader else {})}
    check_rewritten(
        files,
        "pkg",
        "sym",
        {**NARROWED, path: after},
        run=["loads"] if loader else [],
        says="install the project again",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[project.scripts]\nrun = "pkg:sym"\n', '[project.scripts]\nrun = "pkg.sub:sym"\n'),
        ("[project.scripts]\nrun='pkg:sym' # go\n", "[project.scripts]\nrun='pkg.sub:sym' # go\n"),
        ('[project]\nscripts = { run = "pkg:sym" }\n', '[project]\nscripts = { run = "pkg.sub:sym" }\n'),
        ('[project]\nscripts.run = "pkg:sym"\n', '[project]\nscripts.run = "pkg.sub:sym"\n'),
        (
            '[project.entry-points."a.b"]\n"x y" = "pkg:sym [extra]"\n',
            '[project.entry-points."a.b"]\n"x y" = "pkg.sub:sym [extra]"\n',
        ),
        (
            '[project.scripts]\na = "pkg:light"\nrun = "pkg : sym"\n# run = "pkg:sym"\n',
            '[project.scripts]\na = "pkg:light"\nrun = "pkg.sub : sym"\n# run = "pkg:sym"\n',
        ),
    ],
)
def test_an_entry_point_of_a_project_moves(before: str, after: str) -> None:
    moves("pyproject.toml", before, after, LOADS_TOML)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("project.gui-scripts", "run", '"{}:sym"'),
        ("tool.poetry.scripts", "run", '"{}:sym"'),
        ("tool.poetry.scripts", "run", '{{ reference = "{}:sym", type = "console" }}'),
        ("tool.poetry.plugins.'x.y'", "run", '"{}:sym"'),
        ("tool.flit.scripts", "run", '"{}:sym"'),
        ("tool.flit.entrypoints.x", "run", '"{}:sym"'),
        ("tool.pdm.scripts", "run", '{{ call = "{}:sym(1)" }}'),
        ("tool.setuptools.dynamic", "version", '{{ attr = "{}.sym" }}'),
        ("tool.setuptools.cmdclass", "build", '"{}.sym"'),
    ],
)
def test_what_other_build_tools_resolve_moves_too(table: str, key: str, value: str) -> None:
    before, after = (f"[{table}]\n{key} = {value.format(module)}\n" for module in ("pkg", "pkg.sub"))
    moves("pyproject.toml", before, after)


def test_the_line_endings_of_a_toml_file_stay() -> None:
    before = b'[project.scripts]\r\nrun = "pkg:sym"\r\n'
    check_rewritten(
        {**PKG, "pyproject.toml": before},
        "pkg",
        "sym",
        {**NARROWED, "pyproject.toml": before.replace(b"pkg:", b"pkg.sub:")},
    )


def test_an_attribute_of_the_object_moves_along() -> None:
    files = {"pkg/__init__.py": "from .sub import Sym\n", "pkg/sub.py": PKG["pkg/sub.py"], "loads.py": LOADS_TOML}
    files["pkg/sub.py"] = "class Sym:\n    @classmethod\n    def make(cls): ...\n"
    before, after = (f'[project.scripts]\nrun = "{module}:Sym.make"\n' for module in ("pkg", "pkg.sub"))
    check_rewritten(
        {**files, "pyproject.toml": before},
        "pkg",
        "Sym",
        {"pkg/__init__.py": "", "pyproject.toml": after},
        run=["loads"],
    )


def test_the_origin_gives_the_name() -> None:
    files = {"pkg/__init__.py": "from .sub import impl as sym\n", "pkg/sub.py": "def impl(): ...\n"}
    before, after = ('[project.scripts]\nrun = "pkg:sym"\n', '[project.scripts]\nrun = "pkg.sub:impl"\n')
    check_rewritten(
        {**files, "pyproject.toml": before, "loads.py": LOADS_TOML},
        "pkg",
        "sym",
        {"pkg/__init__.py": "", "pyproject.toml": after},
        run=["loads"],
    )


def test_an_entry_point_of_a_same_named_module_moves() -> None:
    before, after = (f'[project.scripts]\nrun = "{module}:fused"\n' for module in ("pkg", "pkg.fused"))
    check_rewritten(
        {**SAME, "pyproject.toml": before, "loads.py": LOADS_TOML},
        "pkg",
        "fused",
        {**SAME_NARROWED, "pyproject.toml": after},
        run=["loads"],
    )


def test_an_entry_point_without_an_attribute_is_the_module() -> None:
    text = '[project.entry-points.x]\nrun = "pkg.fused"\n'
    check_rewritten({**SAME, "pyproject.toml": text}, "pkg", "fused", dict(SAME_NARROWED))


def test_a_table_that_nobody_resolves_is_no_entry_point() -> None:
    text = '[tool.mine]\nrun = "pkg:sym"\n'
    check_refused({**PKG, "pyproject.toml": text}, "pkg", "sym", "names pkg:sym", at="pyproject.toml:2")


def test_entry_points_in_setup_cfg_move() -> None:
    before = CFG
    after = before.replace("run = pkg:", "run = pkg.sub:").replace("a-b = pkg:", "a-b = pkg.sub:")
    moves("setup.cfg", before, after, LOADS_CFG)


def test_attributes_and_commands_in_setup_cfg_move() -> None:
    before = "[metadata]\nversion = attr: pkg.sym\n\n[options]\ncmdclass =\n    build = pkg.sym\n"
    moves("setup.cfg", before, before.replace("pkg.sym", "pkg.sub.sym"))


def test_a_comment_in_setup_cfg_is_only_mentioned() -> None:
    text = "[options.entry_points]\nconsole_scripts =\n    # run = pkg:sym\n"
    check_rewritten({**PKG, "setup.cfg": text}, "pkg", "sym", dict(NARROWED), says=r"setup\.cfg:3")


def test_a_file_of_entry_points_moves() -> None:
    moves("meta/entry_points.txt", "[x]\nrun = pkg:sym\n", "[x]\nrun = pkg.sub:sym\n")


@pytest.mark.parametrize(
    "points",
    [
        '{"console_scripts": ["run = pkg:sym", "light = pkg:light"]}',
        '{"console_scripts": "run=pkg:sym"}',
        '{"x.y": ["run = pkg:sym [extra]"]}',
        '"""\n[console_scripts]\nrun = pkg:sym\n"""',
        '"[x]\\nrun = pkg:sym\\n"',
        '{"x": ["run%s = pkg:sym" % 3]}',
        '{"x": [f"run{3} = pkg:sym"]}',
    ],
)
def test_entry_points_in_setup_py_move(points: str) -> None:
    before = f"from setuptools import setup\n\nsetup(name='x', entry_points={points})  # pkg:sym\n"
    moves(
        "setup.py",
        before,
        before.replace("= pkg:sym", "= pkg.sub:sym").replace("=pkg:sym", "=pkg.sub:sym"),
        LOADS_SETUP,
    )


def test_entry_points_in_a_list_of_setup_py_move() -> None:
    before = 'from setuptools import setup\n\nrows = []\nrows += ["run = pkg:sym"]\nsetup(entry_points={"x": rows})\n'
    moves("setup.py", before, before.replace("pkg:", "pkg.sub:"), LOADS_SETUP)


def test_an_entry_point_from_parts_is_refused() -> None:
    text = 'from setuptools import setup\n\nsetup(entry_points={"x": ["run = pkg:" "sym"]})\n'
    check_refused({**PKG, "setup.py": text}, "pkg", "sym", "put together from parts", at="setup.py:3")


def test_a_setup_py_moves_as_code_and_as_a_declaration() -> None:
    before = (
        'from setuptools import setup\nfrom pkg import sym\n\nsym(2)\nsetup(entry_points={"x": ["run = pkg:sym"]})\n'
    )
    after = before.replace("from pkg ", "from pkg.sub ").replace("pkg:", "pkg.sub:")
    moves("setup.py", before, after, LOADS_SETUP)


def test_an_entry_point_that_moves_is_not_listed_as_left_alone() -> None:
    text = 'from setuptools import setup\n\nsetup(entry_points={"x": ["run = pkg:sym"]})\n# about pkg.sym\n'
    with tree({**PKG, "setup.py": text}) as root:
        said = narrow(root, "pkg", "sym").text
    assert "setup.py:4: # about pkg.sym" in said
    assert "setup.py:3" not in said


def test_an_accepted_entry_point_stays_and_is_recorded() -> None:
    text = '[project.scripts]\nrun = "pkg:sym"  # codemods: accept narrow_reexport\n'
    check_rewritten({**PKG, "pyproject.toml": text}, "pkg", "sym", dict(NARROWED), says=r"accepted: pyproject\.toml:2")


def test_a_file_without_the_symbol_is_untouched() -> None:
    files = {**PKG, **NARROWED, "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'}
    check_unchanged({**files, "pyproject.toml": '[project.scripts]\nrun = "pkg.sub:sym"\n'}, "pkg", "sym")
