"""`--shim`: what callers outside the tree get, run as they would run it, and the text that the package keeps for it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME
from tests.narrow_reexport.verbs import check_refused, contents, expect_tree, narrow, tree

OPTIONS = ("--shim", "--shim-removal", "2.0")
ALONE = """\
from .light import light

# codemods: shim narrow_reexport
# Names that moved, each with the version in which its row is to go.
_MOVED = {
    "sym": ("pkg.sub", "sym", "2.0"),
}


def __getattr__(name: str) -> object:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import warnings

    module, origin, removal = _MOVED[name]
    warnings.warn(
        f"{__name__}.{name} goes away in {removal}: use {module}.{origin}",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(__import__(module, fromlist=[origin]), origin)
"""


def outside(root: Path, text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a caller that the tree does not hold."""
    caller = root.parent / "caller.py"
    caller.write_text(text)
    environment = {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-S", *flags, str(caller)],
        cwd=root.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def says(root: Path, text: str, *flags: str) -> str:
    done = outside(root, text, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def shimmed(root: Path, symbols: str = "sym", options: Sequence[str] = OPTIONS) -> str:
    """Narrow with a shim; a second run changes nothing. Gives the `__init__`."""
    outcome = narrow(root, "pkg", *symbols.split(), *options)
    assert outcome.code == 0, outcome.text
    first = contents(root)
    again = narrow(root, "pkg", *symbols.split(), *options)
    assert again.code == 0 and contents(root) == first, again.text
    return (root / "pkg/__init__.py").read_bytes().decode()


MANY: dict[str, str | bytes] = {
    **PKG,
    "pkg/__init__.py": "from .light import light\nfrom .sub import sym, Sym, also\n",
    "pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\nclass Sym:\n    limit = 3\n\n\ndef also():\n    return 1\n",
}
READ = "from pkg import sym, Sym, also\nprint(sym(), Sym.limit, also())"


def with_init(text: str | bytes) -> dict[str, str | bytes]:
    return {**PKG, "pkg/__init__.py": text}


def test_the_shim_stands_at_the_end_and_call_sites_of_the_tree_move_as_usual() -> None:
    with tree({**PKG, "main.py": "from pkg import sym\n\nprint(sym())\n"}) as root:
        outcome = narrow(root, "pkg", "sym", *OPTIONS)
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**PKG, "pkg/__init__.py": ALONE, "main.py": "from pkg.sub import sym\n\nprint(sym())\n"})
        assert "will get a DeprecationWarning from the shim in pkg" in outcome.text
        assert "--from-shims pkg" in outcome.text
        assert '"pkg:sym" = { origin = "pkg.sub:sym" }' in (root / "narrowed.toml").read_text()
        again = narrow(root, "pkg", "sym", *OPTIONS)
        assert "already narrowed" in again.text


def test_the_package_stays_light_and_hands_out_the_same_object() -> None:
    with tree(PKG) as root:
        shimmed(root)
        text = (
            "import sys, pkg\nprint('pkg.sub' in sys.modules)\nsym = pkg.sym\nimport pkg.sub\nprint(sym is pkg.sub.sym)"
        )
        assert says(root, text) == "False\nTrue"


@pytest.mark.parametrize("read", ["pkg.sym", "from pkg import sym"])
def test_the_warning_names_both_paths_the_version_and_the_callers_line(read: str) -> None:
    with tree(PKG) as root:
        shimmed(root)
        done = outside(root, f"import pkg\n\n{read}\n", "-W", "default")
        assert "caller.py:3: DeprecationWarning: pkg.sym goes away in 2.0: use pkg.sub.sym" in done.stderr
        assert done.stderr.count("DeprecationWarning") == 1


def test_the_warning_is_a_deprecation_warning() -> None:
    with tree(PKG) as root:
        shimmed(root)
        done = outside(root, "import pkg\npkg.sym\n", "-W", "error::DeprecationWarning")
        assert done.returncode == 1 and "DeprecationWarning: pkg.sym goes away" in done.stderr


def test_without_a_version_the_warning_says_a_future_version() -> None:
    with tree(PKG) as root:
        shimmed(root, options=["--shim"])
        done = outside(root, "import pkg\npkg.sym\n", "-W", "default")
        assert "pkg.sym goes away in a future version: use pkg.sub.sym" in done.stderr


@pytest.mark.parametrize("exports", ["", "__all__ = ['light', 'sym']\n"])
def test_a_star_import_does_not_touch_the_shim(exports: str) -> None:
    with tree(with_init(f"from .light import light\nfrom .sub import sym\n{exports}")) as root:
        shimmed(root)
        text = "import sys\nfrom pkg import *\nprint('pkg.sub' in sys.modules, [n for n in dir() if 'ov' in n or n == 'sym'])"
        assert says(root, text, "-W", "error") == "False []"


def test_names_that_nobody_moved_are_missing_in_pythons_own_words() -> None:
    with tree(PKG) as root:
        shimmed(root)
        text = """
import pkg
print(hasattr(pkg, "nope"), hasattr(pkg, "sym"))
for module in (pkg, type(pkg)("pkg")):
    try:
        module.nope
    except AttributeError as error:
        print(error)
try:
    from pkg import nope
except ImportError as error:
    print(str(error).partition(" (")[0])
"""
        words = "module 'pkg' has no attribute 'nope'"
        assert says(root, text) == f"False True\n{words}\n{words}\ncannot import name 'nope' from 'pkg'"


def test_submodules_are_still_imported_from_the_package() -> None:
    with tree({**PKG, "pkg/extra.py": "value = 1\n"}) as root:
        shimmed(root)
        assert says(root, "from pkg import extra, sub\nprint(extra.value, sub.__name__)", "-W", "error") == "1 pkg.sub"


def test_another_name_at_the_origin_is_followed() -> None:
    with tree({**with_init("from .sub import impl as sym\n"), "pkg/sub.py": "def impl():\n    return 5\n"}) as root:
        assert '"sym": ("pkg.sub", "impl", "2.0"),' in shimmed(root)
        assert says(root, "from pkg import sym\nprint(sym.__name__, sym())") == "impl 5"


def test_several_symbols_share_one_table() -> None:
    with tree(MANY) as root:
        text = shimmed(root, "sym Sym also")
        assert text.startswith("from .light import light\n\n# codemods: shim") and text.count("def __getattr__") == 1
        assert says(root, READ) == "10 3 1"


def test_all_that_is_left_of_an_init_may_be_the_shim() -> None:
    with tree(with_init("from .sub import sym\n")) as root:
        assert shimmed(root).startswith("# codemods: shim narrow_reexport\n")


@pytest.mark.parametrize("order", [("sym", "Sym"), ("Sym", "sym")])
def test_a_later_run_extends_the_table_and_the_order_of_runs_does_not_matter(order: tuple[str, str]) -> None:
    with tree(MANY) as root:
        for symbol in order:
            text = shimmed(root, symbol)
        apart = text
    with tree(MANY) as root:
        assert shimmed(root, "sym Sym") == apart


def test_a_table_with_a_persons_comments_keeps_them() -> None:
    with tree(MANY) as root:
        shimmed(root, "also")
        init = root / "pkg/__init__.py"
        row = '    "also": ("pkg.sub", "also", "2.0"),'
        init.write_text(init.read_text().replace(row, f"    # the old one\n{row}  # gone soon"))
        text = shimmed(root, "sym Sym")
        assert f"    # the old one\n{row}  # gone soon\n" in text
        assert says(root, READ) == "10 3 1"


def test_a_table_on_one_line_is_extended_on_it() -> None:
    with tree(MANY) as root:
        text = shimmed(root, "also")
        row = '{\n    "also": ("pkg.sub", "also", "2.0"),\n}'
        assert row in text
        (root / "pkg/__init__.py").write_text(text.replace(row, '{"also": ("pkg.sub", "also", "2.0")}'))
        shimmed(root, "sym Sym")
        assert says(root, READ) == "10 3 1"


def test_an_emptied_table_is_filled_again() -> None:
    with tree(MANY) as root:
        text = shimmed(root, "also")
        (root / "pkg/__init__.py").write_text(text.replace('\n    "also": ("pkg.sub", "also", "2.0"),\n', ""))
        assert shimmed(root, "sym").count('{\n    "sym": (') == 1


def test_narrowing_another_name_without_a_shim_leaves_the_shim_alone() -> None:
    with tree(with_init("from .light import light\nfrom .sub import sym, Sym\n")) as root:
        text = shimmed(root, "sym")
        after = shimmed(root, "Sym", [])
        assert after == text.replace("from .sub import Sym\n", "")


def test_the_shim_is_known_without_a_record() -> None:
    with tree(with_init("from .light import light\nfrom .sub import sym\n")) as root:
        shimmed(root, options=[*OPTIONS, "--no-ban"])
        (root / "late.py").write_text("from pkg import sym\n")
        outcome = narrow(root, "pkg", "sym", "--no-ban")
        assert outcome.code == 0, outcome.text
        assert (root / "late.py").read_text() == "from pkg.sub import sym\n"


LAZY = '''
from .sub import sym


# What is loaded late.
def __getattr__(name):
    """Load it."""
    # the slow one
    if name == "slow":
        import importlib

        return importlib.import_module("pkg.light").light
    raise AttributeError(name)
'''


def test_an_existing_getattr_keeps_its_text_and_is_asked_second() -> None:
    with tree(with_init(LAZY)) as root:
        text = shimmed(root)
        assert text.endswith(
            LAZY.partition("\n\n\n")[2].replace(
                "    # the slow one\n", "    if name in _MOVED:\n        return _moved(name)\n    # the slow one\n"
            )
        )
        assert text.count("def __getattr__") == 1
        assert says(root, "import pkg\nprint(pkg.sym(), pkg.slow(4), hasattr(pkg, 'x'))") == "10 4 False"
        done = outside(root, "import pkg\n\npkg.sym\nfrom pkg import sym\n", "-W", "default")
        assert "caller.py:3: DeprecationWarning: pkg.sym goes away" in done.stderr
        assert "caller.py:4: DeprecationWarning: pkg.sym goes away" in done.stderr


def test_a_getattr_with_a_table_and_a_module_level_importlib_still_works() -> None:
    init = """
    import importlib
    from typing import TYPE_CHECKING, Any

    from .sub import sym

    _MOVED = {"slow": "light"}

    if not TYPE_CHECKING:
        def __getattr__(attribute: str) -> Any:
            if attribute in _MOVED:
                return getattr(importlib.import_module("pkg.light"), _MOVED[attribute])
            raise AttributeError(attribute)
    """
    with tree(with_init(init)) as root:
        text = shimmed(root)
        assert "_MOVED_NAMES = {" in text and "def _moved(name: str) -> Any:" in text
        assert says(root, "import pkg\nprint(pkg.sym(), pkg.slow(4), hasattr(pkg, 'x'))") == "10 4 False"


def test_a_getattr_that_holds_nothing_but_a_docstring_gets_the_branch() -> None:
    with tree(with_init('from .sub import sym\ndef __getattr__(name):\n    """Nothing yet."""\n')) as root:
        shimmed(root)
        assert says(root, "import pkg\nprint(pkg.sym(), pkg.other)") == "10 None"


def test_a_second_symbol_joins_the_table_of_a_composed_shim() -> None:
    with tree(with_init(LAZY.replace("import sym", "import sym, Sym"))) as root:
        shimmed(root, "sym")
        text = shimmed(root, "Sym")
        assert text.count("_moved(name)") == 1 and text.count("def _moved") == 1
        assert says(root, "import pkg\nprint(pkg.sym(), pkg.Sym.limit, pkg.slow(4))") == "10 3 4"


def test_windows_newlines_tabs_and_single_quotes_are_the_files_own() -> None:
    init = (
        "import sys\r\nfrom .sub import sym\r\n\r\nif sys.version_info < (3,):\r\n\traise ImportError('no', 'way')\r\n"
    )
    with tree(with_init(init.encode())) as root:
        text = shimmed(root)
        assert text.count("\n") == text.count("\r\n")
        assert "\r\n\t'sym': ('pkg.sub', 'sym', '2.0'),\r\n" in text and "    " not in text
        assert "\r\n\t\traise AttributeError(f'module {__name__!r} has no attribute {name!r}')\r\n" in text
        assert says(root, "import pkg\nprint(pkg.sym())") == "10"


@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n\n", "  # the end", "\n# the end"])
def test_two_blank_lines_stand_before_the_shim_whatever_ends_the_file(tail: str) -> None:
    with tree(with_init(f"from .sub import sym\nx = 1{tail}".encode())) as root:
        text = shimmed(root)
        assert text.startswith(f"x = 1{tail.rstrip()}\n\n\n# codemods: shim narrow_reexport\n") and text.endswith(
            "origin)\n"
        )


def test_a_row_that_is_too_long_for_the_line_is_laid_out_over_several() -> None:
    name = "a_function_with_a_name_that_goes_on_and_on"
    files = {"pkg/__init__.py": f"from .a_module_with_a_long_name import {name}\n"}
    files["pkg/a_module_with_a_long_name.py"] = f"def {name}():\n    return 7\n"
    with tree(files) as root:
        text = shimmed(root, name)
        assert max(map(len, text.splitlines())) <= 88
        assert says(root, f"import pkg\nprint(pkg.{name}())") == "7"


def test_a_stub_loses_the_name_so_that_type_checkers_complain() -> None:
    with tree({**PKG, "pkg/__init__.pyi": "from .light import light as light\nfrom .sub import sym as sym\n"}) as root:
        shimmed(root)
        assert (root / "pkg/__init__.pyi").read_text() == "from .light import light as light\n"


def test_a_submodule_needs_no_shim() -> None:
    with tree(with_init("from . import light\nfrom .sub import sym\n")) as root:
        text = shimmed(root, "light")
        assert text == "from .sub import sym\n"


def test_a_symbol_exported_again_from_elsewhere_gets_its_row_changed() -> None:
    with tree({**PKG, "pkg/new.py": "def sym():\n    return 'new'\n"}) as root:
        shimmed(root)
        init = root / "pkg/__init__.py"
        init.write_text(f"from .new import sym\n{init.read_text()}")
        assert '"sym": ("pkg.new", "sym", "2.0"),' in shimmed(root)
        assert says(root, "import pkg\nprint(pkg.sym())") == "new"


def test_a_guarded_import_is_shimmed_with_a_warning() -> None:
    init = "try:\n    from .sub import sym\nexcept ImportError:\n    pass\n"
    with tree(with_init(init)) as root:
        outcome = narrow(root, "pkg", "sym", *OPTIONS)
        assert outcome.code == 0 and 'hasattr(pkg, "sym") outside the tree no longer answers False' in outcome.text


def test_a_symbol_with_the_name_of_its_module_is_refused() -> None:
    check_refused(SAME, "pkg", "fused", "callers silently get the module", options=OPTIONS, at="pkg/__init__.py:1")


@pytest.mark.parametrize(
    ("more", "reason", "line"),
    [
        ("import sys\nsys.modules[__name__] = object()\n", "puts another object into sys.modules", 3),
        ("from .lazy import __getattr__\n", "no plain function", 2),
        ("__getattr__ = lambda name: 1\n", "no plain function", 2),
        ("def __getattr__(*names): return 1\n", "no plain function", 2),
        ("def __getattr__(name): return 1\n", "no plain function", 2),
        ("if light:\n    def __getattr__(name):\n        return 1\n", "no plain function", 3),
        ("# codemods: shim narrow_reexport\n_MOVED = dict(a=1)\n", "cannot be read", 3),
    ],
)
def test_a_package_where_no_getattr_would_be_asked_is_refused(more: str, reason: str, line: int) -> None:
    files = {**with_init(f"from .sub import sym\n{more}"), "pkg/lazy.py": "def __getattr__(name):\n    return 1\n"}
    if "light" in more:
        files["pkg/__init__.py"] = f"from .sub import sym; from .light import light\n{more}"
    check_refused(files, "pkg", "sym", reason, options=OPTIONS, at=f"pkg/__init__.py:{line}")


def test_a_refused_shim_leaves_the_other_symbols_to_keep_going() -> None:
    files = {
        **PKG,
        "pkg/__init__.py": "from .fused import fused\nfrom .sub import sym\n",
        "pkg/fused.py": "def fused(): ...\n",
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "fused", "sym", "--keep-going", *OPTIONS)
        assert outcome.code == 4
        text = (root / "pkg/__init__.py").read_text()
        assert text.startswith("from .fused import fused\n\n# codemods: shim") and '"fused": (' not in text


def test_callers_only_leaves_nothing_to_shim() -> None:
    with tree(PKG) as root:
        outcome = narrow(root, "pkg", "sym", "--callers-only", "--shim")
        assert outcome.code == 2 and "nothing to --shim" in outcome.text
        expect_tree(root, PKG)


@pytest.mark.parametrize("version", ['2"0', "2\n0", "{x}", "a\\b"])
def test_a_version_that_would_break_the_text_is_a_bad_argument(version: str) -> None:
    with tree(PKG) as root:
        assert narrow(root, "pkg", "sym", "--shim", "--shim-removal", version).code == 2
        expect_tree(root, PKG)


def test_a_run_without_a_shim_says_what_callers_outside_get() -> None:
    with tree(PKG) as root:
        outcome = narrow(root, "pkg", "sym")
        assert "will get an ImportError; --shim leaves them a warning instead" in outcome.text
        expect_tree(root, {**PKG, **NARROWED})


@pytest.mark.parametrize(
    ("init", "origin"),
    [("from . import deep as sym\n", '"pkg", "deep"'), ("from .deep import ops as sym\n", '"pkg.deep", "ops"')],
)
def test_an_origin_that_is_a_submodule_is_imported_by_the_shim(init: str, origin: str) -> None:
    with tree({"pkg/__init__.py": init, "pkg/deep/__init__.py": "", "pkg/deep/ops.py": ""}) as root:
        assert f'"sym": ({origin}, "2.0")' in shimmed(root)
        text = "import sys, pkg\nprint(len([n for n in sys.modules if 'deep' in n]))\nprint(pkg.sym.__name__)"
        name = "pkg.deep" if "ops" not in init else "pkg.deep.ops"
        assert says(root, text) == f"0\n{name}"


def test_a_star_that_brought_the_name_is_shimmed_too() -> None:
    with tree(with_init("from .light import *\nfrom .sub import *\n")) as root:
        shimmed(root)
        assert says(root, "import pkg\nprint(pkg.sym(), pkg.Sym.limit)") == "10 3"


@pytest.mark.parametrize("init", ["from .sub import sym\n", LAZY])
def test_the_text_is_python_since_the_first_version_with_a_module_getattr(init: str) -> None:
    with tree(with_init(init)) as root:
        ast.parse(shimmed(root), feature_version=(3, 7))


def test_a_getattr_behind_the_shim_is_no_reason_to_warn() -> None:
    with tree(with_init(LAZY.replace("raise AttributeError(name)", "return load(name)"))) as root:
        plain = narrow(root, "pkg", "sym", "--check")
        assert "__getattr__ will be asked" in plain.text
        shim = narrow(root, "pkg", "sym", "--strict", *OPTIONS)
        assert shim.code == 0 and "will be asked" not in shim.text


def test_a_removal_without_a_shim_is_a_bad_argument() -> None:
    with tree(PKG) as root:
        assert narrow(root, "pkg", "sym", "--shim-removal", "2.0").code == 2


def test_the_options_may_stand_in_the_configuration() -> None:
    table = '[tool.codemods.narrow_reexport]\nshim = true\nshim-removal = "3.1"\n'
    with tree({**PKG, "pyproject.toml": table}) as root:
        assert '"sym": ("pkg.sub", "sym", "3.1"),' in shimmed(root, options=[])


def test_a_symbol_that_was_narrowed_without_a_shim_gets_one_later() -> None:
    with tree(MANY) as root:
        assert narrow(root, "pkg", "sym").code == 0
        outcome = narrow(root, "pkg", "sym", "--diff", *OPTIONS)
        assert outcome.code == 0 and '+    "sym": ("pkg.sub", "sym", "2.0"),' in outcome.out
        assert "shim added" in outcome.text
        shimmed(root, "sym")
        assert says(root, "import pkg\nprint(pkg.sym())") == "10"


def test_a_symbol_of_its_modules_name_that_was_narrowed_before_gets_none_either() -> None:
    with tree(SAME) as root:
        assert narrow(root, "pkg", "fused").code == 0
        outcome = narrow(root, "pkg", "fused", *OPTIONS)
        assert outcome.code == 4 and "callers silently get the module" in outcome.text
