"""What a module changes elsewhere as it is imported."""

from __future__ import annotations

import pytest

from codemods.engine.model import Module
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.foreign_state import state_changes

OTHER = """
TABLE = {}
LEVEL = 1
attr = None
class Class:
    attr = None
class Options:
    pass
options = Options()
def register(name, path):
    TABLE[name] = path
def patch():
    import json
    import target
    json.fast = 1
    target.attr = 2
def harmless(name):
    return name
def switch():
    global LEVEL
    LEVEL = 2
"""


def found(text: str) -> list[tuple[int, bool]]:
    files = {"pkg.sub": text, "other": OTHER, "target": "attr = 1\n", "pkg": ""}

    def locate(name: str) -> Module | None:
        return Module(name, name, name == "pkg") if name in files else None

    module = locate("pkg.sub")
    assert module is not None
    return [
        (each.site.line, each.certain)
        for each in state_changes(module, Namespaces(locate, lambda path: files[path].encode()))
    ]


@pytest.mark.parametrize(
    "statement",
    [
        *("other.attr = sym", "other.attr += 1", "other.attr: int = 1", "del other.attr", "other.a, other.b = 1, 2"),
        *("Class.attr = 1", "options.debug = True", "TABLE['x'] = 1", "TABLE.update(x=1)", "other.TABLE['x'] = 1"),
        *("setattr(other, 'attr', 1)", "setattr(Class, 'attr', 1)", "patch()", "pkg.flag = 1"),
        *("atexit.register(sym)", "signal.signal(15, sym)", "codecs.register(sym)", "copyreg.pickle(int, sym)"),
        *("logging.addLevelName(5, 'TRACE')", "sys.meta_path.append(sym)", "sys.modules['x'] = sys"),
        "for name in ('a', 'b'):\n    setattr(other, name, 1)",
        "try:\n    other.attr = 1\nexcept ValueError:\n    pass",
    ],
)
def test_a_change_that_is_seen_or_documented_is_certain(statement: str) -> None:
    text = (
        "import atexit, codecs, copyreg, logging, other, pkg, signal, sys\n"
        "from other import Class, TABLE, options, patch\n"
        f"def sym(): ...\n{statement}\n"
    )
    assert [certain for _, certain in found(text)] == [True], text


def test_a_decorator_of_the_standard_library_that_keeps_the_function_is_certain() -> None:
    assert found("import atexit\n@atexit.register\ndef sym(): ...\n") == [(2, True)]


@pytest.mark.parametrize(
    "statement",
    [
        *("os.environ['X'] = '1'", "os.environ.setdefault('X', '1')", "warnings.filterwarnings('ignore')"),
        *("json.attr = 1", "sys.path.append('x')", "logging.basicConfig()", "sys.setrecursionlimit(9)"),
        *("matplotlib.use('Agg')", "register('name', 'pkg.sub:sym')", "torch.backends.flag = True"),
        "lib = torch.library.Library('x', 'DEF')\nlib.define('op() -> ()')",
    ],
)
def test_a_setting_or_an_unseen_body_may_matter(statement: str) -> None:
    text = f"import json, logging, matplotlib, os, sys, torch, warnings\nfrom other import register\n{statement}\n"
    assert [certain for _, certain in found(text)] == [False], text


@pytest.mark.parametrize(
    "statement",
    [
        *("MINE['x'] = 1", "sym.attr = 1", "logger.propagate = False", "logger.info('x')", "print('x')"),
        *("x = other.attr", "harmless('x')", "other.attr", "kept = register('a', 'b')", "MINE.update(x=1)"),
        "import typer\napp = typer.Typer()\napp.add_typer('x')",
        "def late():\n    other.attr = 1",
        "if TYPE_CHECKING:\n    other.attr = 1",
        "if __name__ == '__main__':\n    other.attr = 1",
    ],
)
def test_what_the_module_owns_or_does_not_run_is_no_change(statement: str) -> None:
    text = (
        "import logging, other\nfrom typing import TYPE_CHECKING\nfrom other import harmless, register\n"
        f"MINE = {{}}\nlogger = logging.getLogger(__name__)\ndef sym(): ...\n{statement}\n"
    )
    assert found(text) == []


def test_a_file_that_does_not_parse_changes_nothing() -> None:
    assert found("def broken(:\n") == []
