"""Files that are not Python: settings refuse, prose and scripts are listed."""

from __future__ import annotations

import re

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("conf/app.yaml", "kernel:\n  _target_: pkg.sym\n"),
        ("conf/app.json", '{\n  "kernel": "pkg.sym"\n}\n'),
        ("logging.ini", "[handler]\nclass = pkg.sym\n"),
        ("conf/list.yml", "kernels:\n  - pkg.sym\n"),
    ],
)
def test_a_setting_that_is_exactly_the_path_is_refused(path: str, text: str) -> None:
    check_refused({**PKG, path: text}, "pkg", "sym", "names pkg[.:]sym", at=f"{path}:")


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("README.md", "# Ops\n\nCall `pkg.sym(2)`.\n", 3),
        ("docs/index.rst", "See :func:`pkg.sym`.\n", 1),
        ("run.sh", "#!/bin/sh\npython -c 'import pkg; pkg.sym(2)'\n", 2),
        ("Dockerfile", "RUN python -c 'from pkg import sym'\n", 1),
        (".github/workflows/ci.yml", "jobs:\n  run: python -c 'import pkg; pkg.sym(2)'\n", 2),
        ("notes.txt", "pkg.sym is heavy\n", 1),
        ("README.md", "```\nfrom pkg import sym\n```\n", 2),
        ("README.md", "```bash\npython -c 'from pkg import sym'\n```\n", 2),
    ],
)
def test_prose_and_scripts_are_listed_with_file_and_line(path: str, text: str, line: int) -> None:
    check_rewritten({**PKG, path: text}, "pkg", "sym", dict(NARROWED), says=rf"{path}:{line}\b")


def test_an_import_in_cython_is_refused() -> None:
    check_refused({**PKG, "fast.pyx": "from pkg import sym\n"}, "pkg", "sym", "by hand", at="fast.pyx:1")


def test_a_document_that_names_something_else_is_not_listed() -> None:
    tree = {**PKG, "README.md": "pkg.symbol, other.pkg.sym, sym, pkg.sub.sym\n"}
    outcome = check_rewritten(tree, "pkg", "sym", dict(NARROWED))
    assert "README.md" not in outcome.text


def test_a_document_that_is_not_utf_8_is_read_all_the_same() -> None:
    tree = {**PKG, "notes.txt": "caf\xe9: pkg.sym\n".encode("latin-1")}
    check_rewritten(tree, "pkg", "sym", dict(NARROWED), says=r"notes\.txt:1")


def test_an_accept_comment_takes_a_setting_on() -> None:
    tree = {**PKG, "conf.toml": 'kernel = "pkg.sym"  # codemods: accept narrow_reexport\n'}
    check_rewritten(tree, "pkg", "sym", dict(NARROWED))


def test_accept_on_the_command_line_takes_a_setting_on() -> None:
    tree = {**PKG, "conf.toml": 'kernel = "pkg.sym"\n'}
    check_rewritten(tree, "pkg", "sym", dict(NARROWED), options=["--accept", "conf.toml:1"])


@pytest.mark.parametrize("path", ["pkg/fast.pyx.tp", "pkg/fast.pyx.in"])
def test_an_import_in_a_template_of_cython_is_refused_like_one_in_cython(path: str) -> None:
    tree = {**PKG, path: "{{py: x = 1}}\nfrom . import sym\n"}
    check_refused(tree, "pkg", "sym", "Cython code reads the symbol", at=f"{path}:2")


@pytest.mark.parametrize("path", ["pkg/fast.pyx", "pkg/fast.pyx.tp", "pkg/fast.pyx.in"])
def test_a_comment_in_cython_is_a_mention(path: str) -> None:
    tree = {**PKG, path: "{{py: x = 1}}\n# see pkg.sym\n"}
    outcome = check_rewritten(tree, "pkg", "sym", dict(NARROWED), says=rf"{re.escape(path)}:2")
    assert "warning: " not in outcome.text
