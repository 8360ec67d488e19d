"""Code in strings is refused, and narrowed by the same planner on request."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED, rewrites_strings
from tests.narrow_reexport.verbs import check_refused, check_rewritten

RUN = 'import subprocess, sys\nrun = lambda code: print(subprocess.check_output([sys.executable, "-c", code]))\n'

DEDENTED = '''
import textwrap
exec(textwrap.dedent("""
    IMPORT

    if sym(2):
        print(sym(3), light(1))
"""))
'''


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'ns = {}\nexec("from pkg import sym", ns)\nprint(ns["sym"](2))\n',
            'ns = {}\nexec("from pkg.sub import sym", ns)\nprint(ns["sym"](2))\n',
        ),
        (
            RUN + "run('from pkg import sym; print(sym(2))')\n",
            RUN + "run('from pkg.sub import sym; print(sym(2))')\n",
        ),
        (
            RUN + 'run("from pkg import sym as s\\nprint(s(2))\\n")\n',
            RUN + 'run("from pkg.sub import sym as s\\nprint(s(2))\\n")\n',
        ),
        (
            RUN + 'run("from pkg import light, sym\\nprint(light(2), sym(2))")\n',
            RUN + 'run("from pkg import light\\nfrom pkg.sub import sym\\nprint(light(2), sym(2))")\n',
        ),
        (
            RUN + 'run("import pkg; print(pkg.sym(2))")\n',
            RUN + 'run("import pkg.sub; print(pkg.sub.sym(2))")\n',
        ),
        (
            DEDENTED.replace("IMPORT", "from pkg import light, sym"),
            DEDENTED.replace("IMPORT", "from pkg import light\n    from pkg.sub import sym"),
        ),
        (
            "def f():\n    exec(r'''\nfrom pkg import (\n    sym,  # é\n)\nprint(sym(2))\n''')\nf()\n",
            "def f():\n    exec(r'''\nfrom pkg.sub import (\n    sym,  # é\n)\nprint(sym(2))\n''')\nf()\n",
        ),
    ],
)
def test_code_is_refused_and_rewritten_on_request(before: str, after: str) -> None:
    check_refused({**PKG, "main.py": before}, "pkg", "sym", "code in a string", at="main.py:")
    rewrites_strings({"main.py": before}, {"main.py": after})


def test_code_that_is_kept_under_a_name_is_a_warning_and_rewritten_on_request() -> None:
    text = 'CODE = "from pkg import sym"\n'
    rewrites_strings({"main.py": text}, {"main.py": text.replace("pkg ", "pkg.sub ")})


KEPT = "import subprocess, sys\nCODE = %s'from pkg import sym; print(sym(2))'\n"


@pytest.mark.parametrize(
    "runs",
    [
        "exec(CODE)\n",
        "print(subprocess.check_output([sys.executable, '-c', CODE]))\n",
        "def f():\n    print(subprocess.run([sys.executable, '-'], input=CODE.strip(), text=True).returncode)\nf()\n",
    ],
)
def test_code_that_is_kept_under_a_name_and_run_in_the_same_file_is_refused(runs: str) -> None:
    before = KEPT % "" + runs
    check_refused({**PKG, "main.py": before}, "pkg", "sym", "code in a string", at="main.py:2")
    rewrites_strings({"main.py": before}, {"main.py": before.replace("from pkg ", "from pkg.sub ")})


def test_a_name_of_another_scope_is_not_the_one_that_runs() -> None:
    before = KEPT % "" + "def f(CODE):\n    exec(CODE)\nf('print(1)')\n"
    check_rewritten(
        {**PKG, "main.py": before}, "pkg", "sym", dict(NARROWED), run=["main"], says="main.py:2: the string"
    )


@pytest.mark.parametrize(
    "before",
    [
        "import subprocess, sys\nsubprocess.run([sys.executable, '-'], input=b'from pkg import sym; sym(2)')\n",
        "import sys\nexec(b'import pkg; print(pkg.sym(2))')\n",
        KEPT % "b" + "program = subprocess.Popen([sys.executable, '-'], stdin=-1)\nprogram.communicate(CODE)\n",
    ],
)
@pytest.mark.parametrize("options", [[], ["--rewrite-strings"]])
def test_code_in_bytes_is_refused(before: str, options: list[str]) -> None:
    check_refused({**PKG, "main.py": before}, "pkg", "sym", "code in a string", at="main.py:2", options=options)


def test_code_in_bytes_that_is_kept_under_a_name_is_a_warning() -> None:
    before = KEPT % "b" + "print(len(CODE))\n"
    check_rewritten(
        {**PKG, "main.py": before}, "pkg", "sym", dict(NARROWED), run=["main"], says="main.py:2: the string"
    )


def test_bytes_that_spell_the_path_are_no_code() -> None:
    before = "LABEL = [b'pkg.sym', b'\\xff pkg.sym']\nprint(LABEL)\n"
    check_rewritten({**PKG, "main.py": before}, "pkg", "sym", dict(NARROWED), run=["main"])


def test_code_with_the_line_endings_of_windows_is_rewritten() -> None:
    before = b'exec("""\r\nfrom pkg import light, sym\r\nprint(sym(2), light(1))\r\n""")\r\n'
    after = before.replace(b"light, sym\r\n", b"light\r\nfrom pkg.sub import sym\r\n")
    rewrites_strings({"main.py": before}, {"main.py": after})


@pytest.mark.parametrize(
    "text",
    [
        'exec("from pkg import " "sym")',
        'exec("from pkg import sym\\x3b sym(2)")',
        'exec("%s from pkg import sym" % "")',
        'eval("pkg.sym(2)")',
    ],
)
def test_code_that_cannot_be_cut_is_refused_on_request_too(text: str) -> None:
    tree = {**PKG, "main.py": f"import pkg\n{text}\n"}
    check_refused(tree, "pkg", "sym", "change it by hand", options=["--rewrite-strings"], at="main.py:2")


def test_code_whose_own_site_is_refused_is_refused() -> None:
    tree = {**PKG, "main.py": 'exec("import pkg; from pkg import sym; pkg.sym = 3")\n'}
    check_refused(tree, "pkg", "sym", "code in a string", options=["--rewrite-strings"], at="main.py:1")


def test_code_in_a_string_meets_the_same_trap() -> None:
    before = 'exec("import pkg; print(pkg.fused(2))")\n'
    check_rewritten(
        {**SAME, "main.py": before},
        "pkg",
        "fused",
        {**SAME_NARROWED, "main.py": 'exec("import pkg; from pkg.fused import fused; print(fused(2))")\n'},
        options=["--rewrite-strings"],
        run=["main"],
    )


def test_prose_that_holds_the_words_is_no_code() -> None:
    text = 'TEXT = ["to import pkg is fine, but pkg.sym is slow"]\nprint(TEXT)\n'
    rewrites_strings({"main.py": text}, {"main.py": text})


def test_a_docstring_is_no_code_that_runs() -> None:
    text = '"""Run.\n\nfrom pkg import sym\n"""\nprint(__doc__)\n'
    rewrites_strings({"main.py": text}, {"main.py": text})


def test_a_message_that_shows_an_import_is_a_warning() -> None:
    text = "print('Use this instead: from pkg import sym')\n"
    says = "warning: main.py:1: the string holds code"
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), run=["main"], says=says)


@pytest.mark.parametrize("text", ["'x = %s; from pkg import sym' % 3", "'x = {}; from pkg import sym'.format(3)"])
def test_a_template_of_code_is_refused(text: str) -> None:
    check_refused({**PKG, "main.py": f"exec({text})\n"}, "pkg", "sym", "code in a string", at="main.py:1")
