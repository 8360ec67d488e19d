"""Strings that are the symbol's path: refused until a person decides, rewritten on request, left where nobody resolves them."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED, rewrites_strings
from tests.narrow_reexport.verbs import check_refused, check_rewritten

RESOLVE = """
import importlib, pkgutil

def load(path):
    if ":" in path:
        return pkgutil.resolve_name(path)
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)

"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('print(load("pkg.sym")(2))', 'print(load("pkg.sub.sym")(2))'),
        ("print(load('pkg:sym')(2))", "print(load('pkg.sub:sym')(2))"),
        ("print(load(r'pkg:sym')(2))", "print(load(r'pkg.sub:sym')(2))"),
        ('print(load("""pkg.sym""")(2))', 'print(load("""pkg.sub.sym""")(2))'),
        ('print(load("pkg:sym.__name__"))', 'print(load("pkg.sub:sym.__name__"))'),
        (
            'PATHS = {"a": ["pkg.sym"]}\nprint(load(PATHS["a"][0])(2))',
            'PATHS = {"a": ["pkg.sub.sym"]}\nprint(load(PATHS["a"][0])(2))',
        ),
        (
            'def f(path="pkg.sym"):  # é\n    return load(path)(2)\nprint(f())',
            'def f(path="pkg.sub.sym"):  # é\n    return load(path)(2)\nprint(f())',
        ),
        ('é = "ü"; print(load("pkg.sym")(2))', 'é = "ü"; print(load("pkg.sub.sym")(2))'),
    ],
)
def test_a_path_is_refused_and_rewritten_on_request(before: str, after: str) -> None:
    tree = {**PKG, "main.py": RESOLVE + before + "\n"}
    check_refused(tree, "pkg", "sym", "--rewrite-strings rewrites it, or accept the site", at="main.py:")
    rewrites_strings({"main.py": RESOLVE + before + "\n"}, {"main.py": RESOLVE + after + "\n"})


def test_the_origin_gives_the_name() -> None:
    tree = {"pkg/__init__.py": "from .sub import impl as sym\n", "pkg/sub.py": "def impl(x):\n    return x\n"}
    check_rewritten(
        {**tree, "main.py": RESOLVE + 'print(load("pkg.sym")(2))\n'},
        "pkg",
        "sym",
        {"pkg/__init__.py": "", "main.py": RESOLVE + 'print(load("pkg.sub.impl")(2))\n'},
        options=["--rewrite-strings"],
        run=["main"],
    )


@pytest.mark.parametrize("text", ['load("pkg" ".sym")', 'load("pkg\\x2esym")'])
def test_a_path_from_parts_is_refused_on_request_too(text: str) -> None:
    tree = {**PKG, "main.py": RESOLVE + text + "\n"}
    check_refused(tree, "pkg", "sym", "change it by hand", options=["--rewrite-strings"], at="main.py:9")


def test_a_path_inside_an_f_string_is_left() -> None:
    text = 'print(f"pkg.sym {1}")\n'
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), options=["--rewrite-strings"], run=["main"])


def test_an_accepted_path_stays_on_request_too() -> None:
    text = 'LABEL = "pkg.sym"  # codemods: accept narrow_reexport\nOTHER = "pkg.sym"\n'
    after = text.replace('OTHER = "pkg.sym"', 'OTHER = "pkg.sub.sym"')
    check_rewritten(
        {**PKG, "main.py": text},
        "pkg",
        "sym",
        {**NARROWED, "main.py": after},
        options=["--rewrite-strings"],
        says=r"accepted: main\.py:1",
    )


def test_the_option_may_stand_in_the_configuration() -> None:
    config = "[tool.codemods.narrow_reexport]\nrewrite-strings = true\n"
    tree = {**PKG, "pyproject.toml": config, "main.py": 'PATH = "pkg.sym"\n'}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, "main.py": 'PATH = "pkg.sub.sym"\n'})


def test_the_colon_tells_the_object_from_the_module_of_its_name() -> None:
    before = RESOLVE + 'print(load("pkg:fused")(2))\n'
    check_rewritten(
        {**SAME, "main.py": before},
        "pkg",
        "fused",
        {**SAME_NARROWED, "main.py": before.replace('"pkg:', '"pkg.fused:')},
        options=["--rewrite-strings"],
        run=["main"],
    )


def test_a_dotted_path_of_a_same_named_module_is_refused_on_request_too() -> None:
    tree = {**SAME, "main.py": RESOLVE + 'print(load("pkg.fused")(2))\n'}
    check_refused(tree, "pkg", "fused", "may mean the module", options=["--rewrite-strings"], at="main.py:9")


@pytest.mark.parametrize(
    "text",
    [
        'import importlib\nprint(importlib.import_module("pkg.fused").other())\n',
        'import sys\nimport pkg.fused\nprint(sys.modules["pkg.fused"].other())\n',
    ],
)
def test_what_can_only_be_the_module_stays(text: str) -> None:
    check_rewritten(
        {**SAME, "main.py": text},
        "pkg",
        "fused",
        dict(SAME_NARROWED),
        options=["--rewrite-strings"],
        run=["main"],
    )


@pytest.mark.parametrize(
    "text",
    [
        'import logging\nlogging.getLogger("pkg.sym")\n',
        'import warnings\nwarnings.warn("pkg.sym")\n',
        'print("pkg.sym")\n',
        'try:\n    raise ValueError("pkg:sym")\nexcept ValueError as error:\n    print(error)\n',
        'assert 1, "pkg.sym"\n',
        'import logging\nlogger = logging.getLogger()\nlogger.info("pkg.sym")\n',
    ],
)
@pytest.mark.parametrize("options", [(), ("--rewrite-strings",)])
def test_what_is_only_written_out_is_a_mention(text: str, options: tuple[str, ...]) -> None:
    check_rewritten(
        {**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), options=options, run=["main"], says=r"main\.py:\d"
    )


@pytest.mark.parametrize(
    "text",
    [
        'import sys\nprint(sys.argv[0] == "pkg.sym")\n',
        'import sys\nprint("pkg.sym" not in sys.argv)\n',
        'import sys\nprint(sys.argv[0].endswith("pkg.sym"))\n',
        'import unittest\nunittest.TestCase().assertNotEqual("x", "pkg.sym")\n',
    ],
)
def test_a_comparison_resolves_nothing_but_may_fail_once_paths_are_rewritten(text: str) -> None:
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), run=["main"], says=r"main\.py:2")
    check_refused({**PKG, "main.py": text}, "pkg", "sym", "is compared", options=["--rewrite-strings"], at="main.py:2")


def test_a_same_named_module_in_a_comparison_is_refused() -> None:
    tree = {**SAME, "main.py": 'import sys\nimport pkg\nprint("pkg.fused" in sys.modules)\n'}
    check_refused(tree, "pkg", "fused", "exactly pkg.fused", at="main.py:3")


@pytest.mark.parametrize("text", ['register.info("pkg.sym")', 'Error("pkg.sym")', 'log("pkg.sym")', 'x["pkg.sym"]'])
def test_what_gets_the_path_and_is_not_known_may_resolve_it(text: str) -> None:
    tree = {**PKG, "main.py": f"from setup import *\n{text}\n"}
    check_refused(tree, "pkg", "sym", "exactly pkg.sym", at="main.py:2")


@pytest.mark.parametrize(
    "spelled", ["ext://pkg.sym", "error::pkg.sym", "ignore:some text:pkg.sym", "once::pkg.sym:mod:3"]
)
def test_a_path_behind_a_scheme_is_resolved_too(spelled: str) -> None:
    tree = {**PKG, "main.py": f"FILTERS = [{spelled!r}]\n"}
    check_refused(tree, "pkg", "sym", "resolved when it is used", at="main.py:1")


@pytest.mark.parametrize("spelled", ["error: see pkg.sym", "ext://pkg.symbol", "note: x:pkg.sym"])
def test_what_only_looks_like_a_scheme_is_a_text(spelled: str) -> None:
    tree = {**PKG, "main.py": f"FILTERS = [{spelled!r}]\n"}
    check_rewritten(tree, "pkg", "sym", NARROWED)
