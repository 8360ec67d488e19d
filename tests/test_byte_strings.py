"""Every parser of ours over byte strings: an answer or an error that a person can read, in time, and never a crash.

The texts are valid ones, cut, repeated, mixed and damaged. `FAULTS_EXAMPLES=20000 pytest tests/test_byte_strings.py` tries more.
"""

from __future__ import annotations

import ast
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.check_narrowed.baseline import decode_baseline
from codemods.engine.bans import Ban, load_bans, with_bans, with_renamed, without_bans
from codemods.engine.errors import CodemodError
from codemods.engine.hunks import Hunk
from codemods.engine.import_lines import import_lines
from codemods.engine.journal import JOURNAL, Entry, encode_journal
from codemods.engine.listed_names import listed_names
from codemods.engine.model import Module, Symbol
from codemods.engine.outline import exact_outline, outline
from codemods.engine.project import abort, digest, resume
from codemods.engine.split import way_of
from codemods.import_cost import budgets, records
from codemods.narrow_reexport import plan_io
from codemods.narrow_reexport.many import rows_of
from codemods.narrow_reexport.request import Request
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import narrow, tree

_MORE = int(os.environ.get("FAULTS_EXAMPLES", "0"))
_SECONDS = 1.0 if not _MORE else 3.0

IMPORTS = b"""\
from pkg import sym, other as b  # noqa
import pkg.sub as s, os
from .. import (a, b,
    c)
if x: import y; from z import *
def f():
    from \\
        pkg import sym
    return f"{pkg.sym!r:>{w}}" + 'a"b' + \"\"\"doc
    from pkg import sym
\"\"\"
try:
    import a
except ImportError: a = None
class A(pkg.sym): x: "pkg.sym" = getattr(pkg, "sym")
with a as b, c as (d, e): pass
for i in j: k = 1
match x:
    case [A(), *rest]: y = 1
"""
INIT = b"""\
from .light import light
from .sub import sym
__all__ = ["light", 'sym', *sub.__all__] + ("a" "b",)
__all__ += ["c"]
__all__.append("d"); __all__.extend(["e"])
def __getattr__(name):
    if name in _TABLE: return _TABLE[name]
    raise AttributeError(name)
"""
NARROWED = b"""\
# ours
version = 1

[symbols]
"pkg:a" = { origin = "pkg.sub:a", allow = ["tests/**"] }
"pkg:sym" = { origin = "pkg.sub:sym", lazy = true }
"""
NOTEBOOK = b"""\
{
 "cells": [
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["%time from pkg import sym\\n", "!ls\\n", "sym()"]},
  {"cell_type": "markdown", "source": "`from pkg import sym`"}
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4, "nbformat_minor": 5
}
"""
PAGE = b"""\
# Title

```python
from pkg import sym
>>> sym(1)
10
```

    >>> import pkg; pkg.sym(
    ... 1)

.. code-block:: python

   from pkg import sym

:func:`pkg.sym`
"""
CYTHON = b"from pkg cimport a\nfrom pkg import sym\ncdef class A(pkg.sym):\n    cdef int x\ninclude 'a.pxi'\n"
PYPROJECT = b"""\
[project.scripts]
a = "pkg:sym"
[tool.codemods.narrow_reexport]
accept = ["a.py:1"]
[tool.codemods.import_cost.budgets."pkg"]
max-modules = 3
forbid = ["torch"]
[tool.black]
line-length = 100
"""
SETUP_CFG = b"[options.entry_points]\nconsole_scripts =\n    a = pkg:sym [x]\n    b=pkg.sub : f\n"
SETUP_PY = b"from setuptools import setup\nsetup(entry_points={'console_scripts': ['a = pkg:sym']}, name=\"x\")\n"
ENTRY_POINTS = b"[console_scripts]\na = pkg:sym\n"
REQUEST = b'version = 1\n[[narrow]]\npackage = "pkg"\nsymbols = ["sym"]\naccept = ["a.py:1"]\nshim-removal = "2"\n'
REQUEST_JSON = b'{"version": 1, "narrow": [{"package": "pkg", "symbols": ["sym"], "strict": true}]}'
BASELINE = b'{"version": 1, "accepted": {"pkg:sym": {"a.py": 2}}}\n'
OWNERS = b"* @all\n/pkg/ @org/a b@c.d # why\n*.py[co] @x\n!no @y\ndocs/**/a\\ b @z\n"
SETTINGS = b'a: "pkg.sym"\nb: [pkg:sym, {c: pkg.sym}]\n{"class": "pkg.sym"}\n'
HUNK = Hunk(1, "a\n", "b\n")
PLAN = plan_io.encode(
    plan_io.Plan(
        "pkg",
        (plan_io.Moved("pkg:sym", "pkg.sub:sym", "pkg/__init__.py:1"),),
        (("strict", True),),
        (plan_io.PlannedFile(".", "a.py", digest(b"a\n"), digest(b"b\n"), "alone", 1, ("pkg:sym",), (HUNK,)),),
        (("a.py", "b.py"),),
        ((".", "pkg:sym", "pkg.sub:sym"),),
        (plan_io.Remark("warning", "a.py", 1, "x", "why"),),
        ("pkg/__init__.py",),
    )
)
SEEDS = (
    *(IMPORTS, INIT, NARROWED, NOTEBOOK, PAGE, CYTHON, PYPROJECT, SETUP_CFG, SETUP_PY, REQUEST, REQUEST_JSON),
    *(BASELINE, OWNERS, SETTINGS, PLAN, ENTRY_POINTS),
)
ODD = (
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b"\r\n",
        b"\\",
        b"\\\n",
        b'"""',
        b"'",
        b'"',
        b"#",
        b"\t",
        b"\x0c",
        b";",
    ),
    *(
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
        b":",
        b",",
        b".",
        b"...",
        b">>> ",
        b"import ",
        b"from ",
        b" as ",
        b"*",
        b"__all__",
    ),
    *(
        b"pkg",
        b"sym",
        b"pkg.sym",
        b"f'",
        b"%",
        b"1e999",
        b"NaN",
        b"null",
        b"true",
        b"-1",
        b'{"a":',
        b"\\ud800",
        b"# coding: ",
    ),
    *(
        "\u00e9\ufb01\u2028".encode(),
        b"lazy ",
        b"```",
        b"match ",
        b":=",
        b"version = 2\n",
        b"@",
        b"!",
        b"~",
        b"= ",
        b"==",
        b"[",
    ),
)


@st.composite
def damaged(draw: st.DrawFn, *seeds: bytes) -> bytes:
    """A valid text with a few cuts, insertions, repetitions and pieces of other texts."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 12)))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:at] + draw(st.sampled_from(ODD)) + data[at:]
        elif kind == 2:
            data = data[:at] + data[at:end] * draw(st.sampled_from([2, 3, 50])) + data[end:]
        elif kind == 3:
            other = draw(st.sampled_from(SEEDS))
            start = draw(st.integers(0, len(other)))
            data = data[:at] + other[start : start + draw(st.integers(0, 60))] + data[end:]
        else:
            data = data[:at] + draw(st.binary(max_size=6)) + data[end:]
    return data


@contextlib.contextmanager
def in_time(seconds: float = _SECONDS) -> Iterator[None]:
    """Fail what takes longer, also inside of one call of a regular expression (which looks for signals now and then)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {seconds} s of CPU time")

    kept = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, kept)


def examples(number: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return settings(
        max_examples=_MORE or number,
        derandomize=not _MORE,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def rows_and_back(data: bytes) -> None:
    load_bans(data)
    with_bans(data, [Ban(Symbol("pkg", "new"), Symbol("pkg.sub", "new"))])
    without_bans(data, {Symbol("pkg", "sym")})
    with_renamed(data, "pkg.sub", "pkg.other")


def owners_of(data: bytes) -> None:
    pytest.importorskip("codeowners")
    way = way_of("codeowners", ["a.py"], ["a.py"], data.decode("utf-8", "replace"))
    for path in ("a.py", "pkg/a.py", "docs/x/a b", ".github/y"):
        way(path)


def plan_and_use(data: bytes) -> None:
    plan = plan_io.decode(data, "plan.json")
    plan_io.encode(plan)
    with tree({"a.py": "a\n"}) as root:
        plan_io.changes_of(plan, root)


def cache_and_back(data: bytes) -> None:
    assert records.decode(data, "1") == {}


def journal_and_follow(data: bytes) -> None:
    with tree({JOURNAL: data, "a.py": "a\n"}) as root:
        for settle in (resume, abort):
            settle(root)


def budgets_of(data: bytes) -> None:
    with tree({"pyproject.toml": data}) as root:
        budgets.load_options(root)


BASE = Request(Path(), "", ())
PARSERS: dict[str, tuple[Callable[[bytes], object], tuple[bytes, ...]]] = {
    "narrowed.toml": (rows_and_back, (NARROWED,)),
    "plan": (plan_and_use, (PLAN,)),
    "request.toml": (lambda data: rows_of(data, "a.toml", BASE), (REQUEST,)),
    "request.json": (lambda data: rows_of(data, "a.json", BASE), (REQUEST_JSON,)),
    "baseline": (lambda data: decode_baseline(data, "a.json"), (BASELINE,)),
    "budgets": (budgets_of, (PYPROJECT,)),
    "cache": (cache_and_back, (b"codemods 1 1 3.11 aa\n[]\n", BASELINE)),
    "codeowners": (owners_of, (OWNERS,)),
    "journal": (journal_and_follow, (encode_journal([Entry.of("a.py", b"a\n", b"b\n", digest)]),)),
    "import lines": (lambda data: list(import_lines(data)), (IMPORTS, INIT)),
    "__all__": (listed_names, (INIT,)),
}


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_answers_or_says_what_is_wrong(name: str) -> None:
    parser, seeds = PARSERS[name]

    @examples(60)
    @given(damaged(*seeds))
    def tried(data: bytes) -> None:
        with in_time(), contextlib.suppress(CodemodError):
            parser(data)

    tried()


MODULE = Module("pkg.mod", "pkg/mod.py", False)


@examples(300)
@given(damaged(IMPORTS, INIT))
def test_the_outline_by_lines_is_that_of_ast(data: bytes) -> None:
    with in_time():
        fast, exact = outline(data, MODULE), exact_outline(data, MODULE)
    if exact.readable:
        try:
            compile(ast.parse(data), "a.py", "exec")
        except (SyntaxError, ValueError):  # it parses, and is no program
            return
        assert fast == exact


FILES = {
    "main.py": (IMPORTS,),
    "main.pyi": (IMPORTS,),
    "pkg/__init__.py": (INIT,),
    "pkg/sub.py": (IMPORTS, INIT),
    "a.ipynb": (NOTEBOOK,),
    "a.md": (PAGE,),
    "a.rst": (PAGE,),
    "a.pyx": (CYTHON,),
    "a.yaml": (SETTINGS,),
    "a.json": (SETTINGS, NOTEBOOK),
    "pyproject.toml": (PYPROJECT,),
    "setup.cfg": (SETUP_CFG,),
    "setup.py": (SETUP_PY,),
    "x/entry_points.txt": (ENTRY_POINTS,),
    "run.sh": (b"python -c 'from pkg import sym; sym()'\n", OWNERS),
}


@pytest.mark.parametrize("path", FILES)
def test_a_run_over_a_damaged_file_ends_with_an_exit_code(path: str) -> None:
    @examples(12)
    @given(damaged(*FILES[path]))
    def tried(data: bytes) -> None:
        with tree({**PKG, path: data}) as root, in_time(3):
            outcome = narrow(root, "pkg", "sym", "--check")
        assert outcome.code in (0, 1, 3, 4), outcome.text

    tried()


LONG = 10_000
PIECES = (
    *(
        b" ",
        b"\t",
        b"\\\n",
        b"a",
        b"a.",
        b"(",
        b"[",
        b"'",
        b'"',
        b"\\",
        b"#",
        b"\n",
        b"-",
        b"*",
        b"%",
        b"{",
        b"=",
        b"`",
    ),
    *(b">>> ", b"a, ", b"if x:\n ", b"/", b"@", b"\r", b"!", b"f'{", b"a" + b" " * 50 + b"\n", b"\xc3\xa9", b": "),
)
LEADS = (b"from pkg import sym\n", b"from ", b"import pkg", b"pkg.sym", b"x = '", b"#", b"")


@pytest.mark.parametrize("piece", PIECES)
def test_long_runs_of_what_patterns_repeat_take_no_longer_than_their_length(piece: bytes) -> None:
    texts = {f"{number}{Path(path).suffix}": lead for path in FILES for number, lead in enumerate(LEADS)}
    files = {path: lead + piece * (LONG // len(piece)) + b"sym\npkg.sym\n" for path, lead in texts.items()}
    with tree({**PKG, **files}) as root, in_time(10):
        outcome = narrow(root, "pkg", "sym", "--check")
    assert outcome.code in (1, 3, 4), outcome.text
