"""The fast outline against the exact one: on tricky inputs, and on files of the standard library."""

# ruff: noqa: E501  (a tricky text reads best on one line)

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from codemods.engine import outline as subject
from codemods.engine.model import Module
from codemods.engine.outline import Binds, FromImports, Imports, Outline, exact_outline, outline

MODULE = Module("pkg.sub.mod", "pkg/sub/mod.py", False)

TRICKY = {
    "a docstring with imports at column 0": '"""Doc.\nimport no\nfrom no import no\n"""\nimport yes\n',
    "nested triple quotes": "x = '''\"\"\"\nimport no\n'''\nimport yes\ny = \"\"\"'''\nimport no\n\"\"\"\n",
    "quotes inside a triple quote": 'x = """a "b" ""c"" \\""" \nimport no\n"""\nimport yes\n',
    "a raw string that ends in backslashes": "x = r'\\\\'\nimport yes\ny = rb'\\''\nimport yes2\n",
    "a string continued by a backslash": "x = 'a\\\nimport no\\\n'\nimport yes\n",
    "joined strings": 'x = "a""b"\nimport yes\ny = ("a"\n"""b\nimport no\n""")\nimport yes2\n',
    "f-strings": 'x = f\'{a["b"]} {{\' \nimport yes\ny = f"""{\nz}\nimport no\n"""\n',
    "an f-string with its own quotes": 'x = f"{a["b"]}"\nimport yes\n',
    "a quote in a comment": '# don\'t\nimport yes  # """\nimport yes2\n',
    "a comment sign in a string": 'x = \'# """\'\nimport yes\n',
    "semicolons": "import a; import b; x = 1; from c import d;\nx = (\n1); import late\n",
    "a block on one line": "if x: import y; z = 1\nelse: import w\nclass A: import q\nwith a as b, c as (d, e): import v\n",
    "a dict in a header": "if {1: 2}[1]: import a\nif (lambda: 1)(): import b\nfor k in d[1:2]: import c\n",
    "a guarded import": "try: import a\nexcept ImportError: pass\nelse: import b\nfinally: import c\n",
    "guards": (
        "try:\n    import a\n    try:\n        import b\n    except OSError:\n        import c\n"
        "except (KeyError, builtins.ModuleNotFoundError) as e:\n    import d\n"
        "try:\n  import f\nexcept KeyError:\n  import g\nexcept Exception:\n  import h\nexcept:\n  pass\n"
        "try:\n  import i\nexcept* ImportError:\n  pass\ntry:\n  import j\nfinally:\n  import k\n"
    ),
    "carriage returns": "import a\r\nfrom b import (\r\n  c,\r\n  d)\r\nx = '''\r\nimport no\r\n'''\r\nimport e\r\n",
    "old carriage returns": "import a\rimport b\r",
    "tabs": "if x:\n\timport a\n        import b\nif y:\n    if z:\n\timport c\n",
    "form feeds": "import a\n\f\nimport b\n\fimport c\nif x:\n    import d\n\f    import e\n\f\fimport f\n",
    "comments inside brackets": "from a import (  # why (\n    b,  # ) no\n    # c,\n    d as e,\n)\nimport f\n",
    "brackets at column 0": "x = [\n1, (\nimports\n), {\n}\n]\ndef f(\na=1,\nb=(\n2)):\n  import no\nimport yes\n",
    "continuations": "from a import \\\n    b, \\\n    c as d\nimport \\\ne\nx = \\\n1; import f\nif x and \\\n y: import g\n",
    "a continuation first": "if x:\n    import a\n\\\nimport b\n",
    "functions": "def f():\n    import no\nasync def g():\n    import no\n    x = 1\nimport yes\ndef h(): import no\n",
    "decorators": "@a.b(\n  1\n)\ndef f(x=(1, 2)) -> {1: 2}:\n    import no\n@c\nclass D(E):\n    import yes\n    import yes2\n",
    "classes": (
        "class A:\n    import a\n    from b import c as d\n    x = y = 1\n    def f(self):\n        import no\n"
        "    class B(\n        C\n    ):\n        '''doc'''\n        if x:\n            from d import *\n        import e\n    z = 1\n"
        "w = 2\nif x:\n    class C:\n        import f\n    class D: pass\n"
    ),
    "match": "match x:\n    case {'a': b, **c}:\n        import a\n    case [d, *e] | A(f):\n        import g\nmatch = {1: 2}\n",
    "soft keywords as names": "match = 1\ntype = 2\nlazy = 3\ncase = lazy\nmatch[1] = 2\nmatch(x)\nmatch: int = 4\n",
    "constants": (
        "if False:\n    import no\nelif 0: import no\nelse:\n    import a\nif True: import b\nelse: import no\n"
        "if not None: import c\nif x and False: import no\nif x or True: import d\nelse: import no\nif 1: import e\n"
        "if TYPE_CHECKING and sys.version_info >= (3, 11): import no\nelse: import f\n"
        "if not (TYPE_CHECKING or x): import g\nif TYPE_CHECKING or x: import h\nif x > 0: import i\nif '': import j\n"
    ),
    "type checking": (
        "if TYPE_CHECKING:\n    import no\n    x = 1\nelse:\n    import a\nif typing.TYPE_CHECKING: import no\n"
        "if not TYPE_CHECKING:\n    import b\nelif x:\n    import no\nelse:\n    import no\n"
        "if x:\n    import c\nelif (t.TYPE_CHECKING):\n    import no\nelif not (TYPE_CHECKING):\n    import d\nelse:\n    import no\n"
        "if TYPE_CHECKING or x:\n    import e\nif x:\n    if TYPE_CHECKING:\n        import no\n    import f\n"
    ),
    "main": (
        "if __name__ == '__main__':\n    import no\nelse:\n    import a\nif '''__main__''' == (__name__):\n    import no\n"
        "if __name__ == 'other':\n    import b\nif __name__ == b'__main__': import c\n"
    ),
    "loops": "for i in x:\n    import a\nelse:\n    import b\nwhile y:\n    import c\nfor (j, k), *m.n in z: pass\n",
    "assignments": (
        "a = b = 1\nc, (d, *e) = f\n[g, h] = i\nj: int\nk: int = 1\nl: Dict[str, int] = {}\nm += 1\nn //= 2\no.p = 1\nq[r] = 2\n"
        "s = t.u = v = f(w=1)\nx == y\nz = a == b\naa = lambda b=1: b\nbb: t = lambda c=1: c\ncc >>= 1\ndd @= 2\n"
        "ee = {\n  'a': dict(b=1),\n}\nff = gg = [\n1]\nf(hh=1)[2].ii = 3\n(jj) = 1\n(kk), ll = 2, 3\nmm = [nn for nn in oo if pp == 1]\n"
    ),
    "walrus": "a = (b := 1)\nif (c := 2): import d\nx[(e := 1)] = [f := i for i in y]\nlambda: (g := 1)\nprint(h := 2)\n",
    "relative": "from . import a\nfrom .. import b as c\nfrom .d.e import f\nfrom.import g\nfrom .. h import(i)\nfrom .... import no\nfrom ... import no\n",
    "spacing": "import  a . b  as  c ,d\nfrom\ta.b\timport\t(c)\nfrom e import(f,)\nfrom importlib import import_module\nfrom g.import_ import h\n",
    "lookalikes": "importlib.reload(x)\nfrom_ = 1\nimport_ = 2\niffy = 1\nclass_ = 2\ndefine(x)\ntry_ = f(from_=1)\n",
    "star": "from a import *\nfrom .b import *\n",
    "other statements": "assert x == 1, 'y'\ndel a\nraise X from e\nglobal b\npass\nyield_ = 1\n",
    "no last line break": "import a\nclass A:\n    import b",
    "a docstring only": '"""import no"""',
    "nothing": "",
    "other identifiers": "ｘ = 1\nimport ｙ\né = 2\n",
    "an aliased type": "x = 1\n" + ("type Y[T] = list[T]\ntype Z = int\n" if sys.version_info >= (3, 12) else ""),
}


@pytest.mark.parametrize("source", TRICKY.values(), ids=TRICKY.keys())
def test_the_fast_outline_of_a_tricky_text_is_the_exact_one(source: str) -> None:
    for data in (source.encode(), b"\xef\xbb\xbf" + source.encode(), source.replace("\n", "\r\n").encode()):
        exact = exact_outline(data, MODULE)
        if exact.readable:  # an older interpreter does not read every text
            assert outline(data, MODULE) == exact
        assert "no" not in {part for event in exact.events for part in _words(event)}


def _words(event: object) -> list[str]:
    if isinstance(event, FromImports):
        return [name for name, _ in event.names]
    return [event.module] if isinstance(event, Imports) else []


def test_most_tricky_texts_are_read_without_ast(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    monkeypatch.setattr(subject, "exact_outline", lambda data, module: asked.append(data) or Outline(()))
    for source in TRICKY.values():
        outline(source.encode(), MODULE)
    assert len(asked) < len(TRICKY) // 4


def test_the_events_carry_what_the_statements_say() -> None:
    source = (
        "import a.b.c\nimport d.e as f\nfrom .g import h as i, j\n"
        "try:\n    from k import *\nexcept ImportError:\n    m = None\n"
        "class N:\n    import p\n    q = 1\nr, s = 1, 2\n"
    )
    assert outline(source.encode(), MODULE).events == (
        Imports("a.b.c", 1, "a"),
        Imports("d.e", 2, "f"),
        FromImports("pkg.sub.g", (("h", "i"), ("j", "j")), 3),
        FromImports("k", (("*", "*"),), 5, guarded=True),
        Binds("m", 7),
        Imports("p", 9, ""),
        Binds("N", 8),
        Binds("r", 11),
        Binds("s", 11),
    )


def test_relative_imports_start_from_the_package() -> None:
    data = b"from . import a\nfrom .b import c\nfrom .. import d\n"
    assert outline(data, Module("pkg", "pkg/__init__.py", True)).events == (
        FromImports("pkg", (("a", "a"),), 1),
        FromImports("pkg.b", (("c", "c"),), 2),
    )
    assert outline(data, Module("top", "top.py", False)).events == ()


LAZY = """\
import a
lazy import b
lazy from c import (
    d,
    e,
)
x = 1; lazy import f; lazy  import f2; import g
s = "lazy import h"
from i import j
"""


def test_lazy_imports_weigh_nothing_and_break_nothing() -> None:
    found = outline(LAZY.encode(), MODULE)
    assert found == exact_outline(LAZY.encode(), MODULE)
    assert [event for event in found.events if not isinstance(event, Binds)] == [
        Imports("a", 1, "a"),
        Imports("g", 7, "g"),
        FromImports("i", (("j", "j"),), 9),
    ]


def test_a_cookie_says_how_to_read_the_bytes() -> None:
    for head in ("# -*- coding: latin-1 -*-\n", "#!x\n# vim: set fileencoding=latin-1 :\n", "# coding=utf-8\n"):
        data = (head + "é = 'é'\nimport a\n").encode("utf-8" if "utf-8" in head else "latin-1")
        found = outline(data, MODULE)
        assert found == exact_outline(data, MODULE)
        assert [event.name for event in found.events if isinstance(event, Binds)] == ["é"]


@pytest.mark.parametrize("data", [b"x = 'a\n", b"x = (\n", b"\xff", b"x = 1\0", b"x = '''\n", b"except:\n  x\n"])
def test_a_file_that_does_not_parse_is_not_readable(data: bytes) -> None:
    assert outline(data, MODULE) == Outline((), readable=False)


def _stdlib() -> list[Path]:
    root = Path(os.__file__).parent
    skipped = {"site-packages", "lib2to3", "test", "tests"}
    files = sorted(path for path in root.rglob("*.py") if not skipped & set(path.relative_to(root).parts))
    return sorted(random.Random(7).sample(files, min(150, len(files))))


def test_the_outlines_of_the_standard_library_agree() -> None:
    root = Path(os.__file__).parent
    for path in _stdlib():
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        module = Module(name.removesuffix(".__init__"), str(path), path.name == "__init__.py")
        data = path.read_bytes()
        exact = exact_outline(data, module)
        assert not exact.readable or outline(data, module) == exact, path
