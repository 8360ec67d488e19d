"""The symbol reached by its name as text: refused, warned of or mentioned, never broken in silence."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, answered, blocks, stays
from tests.narrow_reexport.verbs import check_refused, check_rewritten


@pytest.mark.parametrize(
    "code",
    [
        'getattr(pkg, "sym")(2)',
        'getattr(pkg, "sym", None)',
        'hasattr(pkg, "sym")',
        'setattr(pkg, "sym", 1)',
        'delattr(pkg, "sym")',
        'operator.attrgetter("sym")(pkg)',
        'vars(pkg)["sym"]',
        'pkg.__dict__["sym"]',
        'importlib.import_module("pkg").sym',
        'sys.modules["pkg"].sym',
        '__import__("pkg").sym',
        'getattr(importlib.import_module("pkg"), "sym")',
        "(lambda p: p.sym)(pkg)",
        "[p.sym for p in [pkg]]",
        'eval("pkg.sym")',
        'exec("from pkg import sym")',
        'subprocess.check_output([sys.executable, "-c", "from pkg import sym; print(sym(2))"])',
        '[getattr(pkg, name)() for name in ("sym",)]',
        "inspect.getmembers(pkg)[-1][0]",
        "dir(pkg)",
    ],
)
def test_reflection_is_rewritten_refused_or_warned_of(code: str) -> None:
    # `x` is printed, so that a silent change of behaviour shows
    answered(
        (
            f"import importlib, inspect, operator, subprocess, sys\nimport pkg\n\n"
            f"x = {code}\nprint(repr(x)[:14], pkg.light(1))\n"
        ),
        "main.py:4",
    )


def test_a_literal_name_is_refused_with_file_line_and_way_out() -> None:
    outcome = blocks('import pkg\n\nprint(getattr(pkg, "sym")(2))\n', "by name", at="main.py:3")
    assert "way out" in outcome.text
    assert 'getattr(pkg, "sym")' in outcome.text


def test_another_literal_name_is_none_of_our_business() -> None:
    stays('import pkg\n\nprint(getattr(pkg, "light")(2), hasattr(pkg, "nothing"))\n')


def test_a_computed_name_on_the_package_itself_is_refused() -> None:
    blocks("import sys\n\nimport pkg\n\nprint(getattr(pkg, sys.argv[-1], None))\n", "dynamic", at="main.py:5")


def test_a_computed_name_on_something_else_is_left_alone() -> None:
    stays('import pkg\n\nprint(getattr(pkg.light, "".join(["__na", "me__"])))\n')


def test_the_package_handed_to_a_call_is_a_warning() -> None:
    more: dict[str, str | bytes] = {"tools.py": "def register(module):\n    return 1\n"}
    stays("import pkg\nimport tools\n\nprint(tools.register(pkg))\n", more=more, says=r"warning: main\.py:4")


def test_strict_turns_the_warning_into_a_refusal() -> None:
    tree = {**PKG, "main.py": "import pkg\nimport tools\n\nprint(tools.register(pkg))  # not sym\n"}
    outcome = check_refused(tree, "pkg", "sym", "run without --strict", options=["--strict"], at="main.py:4")
    assert "To accept a site" in outcome.text


def test_each_way_out_that_strict_names_is_one() -> None:
    text = "import pkg\nimport tools\n\nprint(tools.register(pkg), pkg.light(1))  # not sym\n"
    tree = {**PKG, "main.py": text, "tools.py": "def register(module):\n    return 1\n"}
    marked = {**tree, "main.py": text.replace("# not sym", "# codemods: accept narrow_reexport")}
    direct = {**tree, "main.py": "import tools\nfrom pkg import light\n\nprint(tools.register(light), light(1))\n"}
    check_rewritten(tree, "pkg", "sym", NARROWED, options=["--strict", "--accept", "main.py:4"], run=["main"])
    check_rewritten(marked, "pkg", "sym", NARROWED, options=["--strict"], run=["main"])
    check_rewritten(direct, "pkg", "sym", NARROWED, options=["--strict"], run=["main"])
    check_rewritten(tree, "pkg", "sym", NARROWED, run=["main"])


def test_a_warning_in_the_init_can_be_accepted_under_strict_too() -> None:
    init = "from .light import light\nfrom .sub import sym\n\n__all__ = [n for n in make()]\n"
    init = init.replace("\n\n", "\n\n\ndef make():\n    return ['light']\n\n\n", 1)
    tree = {**PKG, "pkg/__init__.py": init, "main.py": "from pkg import light\n\nprint(light(1))\n"}
    after = {"pkg/__init__.py": init.replace("from .sub import sym\n", "")}
    check_refused(tree, "pkg", "sym", "computed in a way", options=["--strict"], at="pkg/__init__.py:9")
    check_rewritten(tree, "pkg", "sym", after, options=["--strict", "--accept", "pkg/__init__.py:9"], run=["main"])


@pytest.mark.parametrize(
    "code",
    [
        'mock.patch("pkg.sym")',
        'mock.patch("pkg.sym", new=1)',
        'mock.patch(target="pkg.sym")',
        'monkeypatch.setattr("pkg.sym", 1)',
        'mock.patch.object(pkg, "sym")',
        'monkeypatch.setattr(pkg, "sym", 1)',
        'monkeypatch.delattr(pkg, "sym")',
        "mock.patch.multiple(pkg, sym=1)",
    ],
)
def test_a_patch_of_the_package_is_refused_and_names_the_test(code: str) -> None:
    blocks(
        f"from unittest import mock\n\nimport pkg\n\n\ndef test_it(monkeypatch):\n    with {code}:\n        pass\n",
        "patch|by name|attribute",
        path="test_it.py",
        at="test_it.py:7",
    )


def test_a_patch_of_a_consumer_is_left_alone() -> None:
    more = {"consumer.py": "from pkg import light\n\nsym = light\n"}
    stays(
        (
            'from unittest import mock\n\nwith mock.patch("consumer.sym", new=4):\n'
            "    import consumer\n\n    print(consumer.sym)\n"
        ),
        more=more,
    )


def test_a_patch_of_a_method_of_a_class_moves_since_the_class_is_the_same() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import Sym\n",
        "main.py": (
            "from unittest import mock\n\nimport pkg\n\n"
            'with mock.patch("pkg.Sym.limit", 9):\n    print(pkg.Sym.limit)\n'
        ),
    }
    after = {
        **NARROWED,
        "main.py": (
            "from unittest import mock\n\nimport pkg.sub\n\n"
            'with mock.patch("pkg.sub.Sym.limit", 9):\n    print(pkg.sub.Sym.limit)\n'
        ),
    }
    check_rewritten(tree, "pkg", "Sym", after, run=["main"], unloaded=["pkg.sub"])


@pytest.mark.parametrize("value", ["pkg.sym", "pkg:sym"])
def test_a_string_that_is_exactly_the_path_is_refused(value: str) -> None:
    blocks(f'SETTINGS = {{"kernel": "{value}"}}\n', "exactly", at="main.py:1")


@pytest.mark.parametrize(
    "line",
    [
        '"""Uses pkg.sym a lot."""',
        "# see pkg.sym",
        'TEXT = "the function pkg.sym is heavy"',
        'raise SystemExit("pkg.sym failed")',
    ],
)
def test_prose_that_names_the_path_is_a_mention(line: str) -> None:
    text = f"{line}\n"
    check_rewritten({**PKG, "notes.py": text}, "pkg", "sym", dict(NARROWED), says=r"notes\.py:1")


@pytest.mark.parametrize(
    "text", ['X = "pkg.symbol"\n', 'X = "other.pkg.sym"\n', 'X = "sym"\n', 'X = "pkg.sub.sym"\n', "X = 'my_pkg.sym'\n"]
)
def test_a_string_that_spells_another_path_is_left_alone(text: str) -> None:
    stays(text + "print(X)\n")


def test_code_in_a_string_that_imports_the_symbol_is_refused() -> None:
    blocks(
        'import subprocess\n\nsubprocess.run(["python", "-c", "from pkg import light, sym"])\n',
        "code in a string",
        at="main.py:3",
    )


def test_an_accept_comment_takes_a_site_on() -> None:
    line = 'LABEL = "pkg.sym"  # codemods: accept narrow_reexport\n'
    check_rewritten({**PKG, "main.py": line}, "pkg", "sym", dict(NARROWED), says=r"accepted: main\.py:1")


def test_an_accept_comment_elsewhere_does_not() -> None:
    blocks('# codemods: accept narrow_reexport\nLABEL = "pkg.sym"\n', "exactly", at="main.py:2")
