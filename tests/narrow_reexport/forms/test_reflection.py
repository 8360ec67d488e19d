"""The symbol reached by its name as text: refused, warned of or mentioned, never broken in silence."""

from __future__ import annotations

import json

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
        'operator.attrgetter("sym", "light")(pkg)[0]',
        'operator.methodcaller("sym", 2)(pkg)',
        'inspect.getattr_static(pkg, "sym")',
        'pkg.__dict__.get("sym")',
        'vars(pkg).get("sym", None)',
        'pkg.__getattribute__("sym")',
        'object.__getattribute__(pkg, "sym")',
        'getattr(getattr(importlib, "import_module")("pkg"), "sym")',
        'sys.modules.get("pkg").sym',
        'getattr(importlib.reload(pkg), "sym")',
        'getattr(pkg, "sym", [].append(1))',
        'getattr(pkg, "sym", pkg.sym)(1)',
        'vars(pkg).get("sym", [].append(1))',
        '[getattr(p, "sym") for p in (pkg,)]',
        'dict(x=pkg)["x"].sym',
        "f\"{getattr(pkg, 'sym')(2)}\"",
        "f\"{importlib.import_module('pkg').sym(2)}\"",
        'importlib.import_module(name="pkg").sym',
        '(lambda: getattr(pkg, "sy" + "m"))()(2)',
        '[vars(pkg)[n](1) for n in ("light", "sym")]',
        'list(map(lambda n: getattr(pkg, n)(2), ["sym"]))',
        '(m := importlib.import_module("pkg")).sym(2)',
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


@pytest.mark.parametrize(
    "name",
    [
        'f"make_{x}"',
        '"make_" + x',
        '"make_%s" % x',
        '"make_{}".format(x)',
        '"nothing" if x else "nowhere"',
    ],
)
def test_a_computed_name_that_cannot_be_the_symbol_is_left_alone(name: str) -> None:
    stays(f"import sys\n\nimport pkg\n\nx = sys.argv[-1][:2]\nprint(getattr(pkg, {name}, None))\n")


@pytest.mark.parametrize(
    "name", ['f"{x}m"', '"sy" + x', '"%s%s" % (x, x)', "x.lower()", 'x or "light"', '"s{}".format(x)']
)
def test_a_computed_name_that_may_be_the_symbol_is_refused(name: str) -> None:
    blocks(
        f"import sys\n\nimport pkg\n\nx = sys.argv[-1][:2]\nprint(getattr(pkg, {name}, None))\n",
        "dynamic",
        at="main.py:6",
    )


def test_a_loop_over_other_names_is_left_alone() -> None:
    stays(
        """
        import pkg

        NAMES = ("light", "nothing")
        for name in ("light", "nothing"):
            print(getattr(pkg, name, None) is None)
        for name, size in (("light", 1), ("nothing", 2)):
            print(hasattr(pkg, name), size)
        for each in "light nothing".split():
            print(hasattr(pkg, each))
        for each in {"light": 1}:
            print(vars(pkg)[each](1), pkg.__dict__[each](2))
        print([hasattr(pkg, other) for other in NAMES])
        """
    )


@pytest.mark.parametrize("names", ['("light", "sym")', '["sym"]', '{"sym": 1}', '"light sym".split()', "NAMES"])
def test_a_loop_over_the_symbol_too_is_refused(names: str) -> None:
    blocks(
        f'import pkg\n\nNAMES = ("light", "sym")\nfor name in {names}:\n    print(getattr(pkg, name)(1))\n',
        "the name may be sym here",
        at="main.py:5",
    )


@pytest.mark.parametrize(
    "code",
    [
        'NAMES = ["light"]\nNAMES.append("sym")\nfor name in NAMES:\n    print(getattr(pkg, name)(1))\n',
        'name = "light"\nname = "sy" "m"\nprint(getattr(pkg, name)(1))\n',
        'name = "sy"\nname += "m"\nprint(getattr(pkg, name)(1))\n',
        'def f(name="light"):\n    return getattr(pkg, name)(1)\n\n\nprint(f("sym"))\n',
        'name, other = "sym", "light"\nprint(getattr(pkg, name)(1))\n',
        'name = "light"\n\n\ndef f():\n    global name\n    name = input()\n\n\nprint(getattr(pkg, name)(1))\n',
    ],
)
def test_a_name_that_is_bound_otherwise_too_is_not_known(code: str) -> None:
    blocks(f"import pkg\n\n{code}", "dynamic")


def test_a_dynamic_read_on_what_is_only_perhaps_the_package_is_a_warning() -> None:
    stays(
        """
        import os
        import sys

        import pkg

        module = pkg if len(sys.argv) > 5 else os  # not sym
        print(getattr(module, sys.argv[-1][:0] + "sep"))
        print(getattr(module, "%s" % "sep"))
        """,
        says=r"warning: main\.py:8",
    )


@pytest.mark.parametrize("key", ["sys.argv[-1]", '"light" if sys.argv else "sym"'])
def test_a_dynamic_key_of_the_namespace_is_refused(key: str) -> None:
    blocks(f"import sys\n\nimport pkg\n\nprint(vars(pkg)[{key}])\n", "dynamic", at="main.py:5")
    blocks(f"import sys\n\nimport pkg\n\nprint(pkg.__dict__[{key}])\n", "dynamic", at="main.py:5")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ('operator.attrgetter("sym", "light")(pkg)', "several"),
        ("operator.attrgetter(*sys.argv)(pkg)", "dynamic"),
        ("operator.attrgetter(sys.argv[0])(pkg)", "dynamic"),
        ('vars(pkg).pop("sym")', "replaced"),
        ('pkg.__dict__.get("sym", print())', "default"),
        ('setattr(pkg, "sym", 1)', "by name"),
        ('delattr(pkg, "sym")', "by name"),
        ("setattr(pkg, sys.argv[0], 1)", "dynamic"),
        ('"sym" in dir(pkg)', "by name"),
        ('"sym" not in vars(pkg)', "by name"),
        ('"sym" in pkg.__dict__', "by name"),
        ('(get := operator.attrgetter("sym"))(pkg), get(pkg)', "by name"),
        ("f\"{getattr(pkg, 'sym')(2)}\"", "f-string"),
        ("(pkg if sys.argv else sys).sym", "some paths|call or a container"),
        ('getattr(pkg if sys.argv else sys, "sym")', "some paths|call or a container|by name"),
    ],
)
def test_what_cannot_be_shown_to_keep_its_meaning_is_refused(code: str, reason: str) -> None:
    blocks(f"import operator\nimport sys\nimport pkg\n\nprint({code})\n", reason, at="main.py:5")


def test_an_item_of_the_namespace_that_is_replaced_is_refused() -> None:
    blocks('import pkg\n\npkg.__dict__["sym"] = 1\n', "replaced", at="main.py:3")
    blocks('import pkg\n\ndel vars(pkg)["sym"]\n', "replaced", at="main.py:3")


@pytest.mark.parametrize(
    "line",
    [
        'print(getattr(pkg, "sym")(2))',
        "print(pkg.sym(2))",
        'print(hasattr(pkg, "sym"))',
        'print(vars(pkg)["sym"])',
        'print(importlib.import_module("pkg").sym(2))',
        "print(getattr(pkg, importlib.__name__, 1))",
        'setattr(pkg, "sym", 1)',
        "pkg.sym = 1",
        'print(pkgutil.resolve_name("pkg:sym"))',
        'print(sys.modules["pkg"].sym)',
    ],
)
def test_an_accepted_read_stays_and_is_recorded(line: str) -> None:
    text = f"import importlib, pkgutil, sys\nimport pkg\n\n{line}  # codemods: accept narrow_reexport\n"
    outcome = check_rewritten(
        {**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), options=["--output-format", "json"]
    )
    (accepted,) = json.loads(outcome.out)["accepted"]
    assert (accepted["path"], accepted["line"], accepted["symbol"]) == ("main.py", 4, "pkg:sym")


def test_whether_another_name_is_there_is_none_of_our_business() -> None:
    outcome = stays('import pkg\n\nprint("light" in dir(pkg), "x" in vars(pkg), "light" in pkg.__dict__)\n')
    assert "main.py:" not in outcome.text


def test_a_pattern_that_asks_the_package_for_the_symbol_is_refused() -> None:
    text = "import pkg\n\nmatch pkg:\n    case object(sym=found):\n        print(found(1))\n"
    check_refused({**PKG, "main.py": text}, "pkg", "sym", "a pattern asks the package for the symbol", at="main.py:4")
