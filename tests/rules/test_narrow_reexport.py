"""The rule: what it flags and what it offers, asked through Fixit's runner and through the real command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fixit")

from codemods.check_narrowed.fixes import Fixer
from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.verdicts import offences, taken_on
from codemods.rules.narrow_reexport import MOST_SITES, NarrowReexport
from tests.rules.linting import CONFIG, PROJECT, fixit, lay, lint

GUARDED = PROJECT / "fixtures/narrow_reexport/guard"

# What is flagged


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("main.py", "from pkg.ops import sym\n", [1]),
        ("pkg/deep.py", "from .ops import sym\n", [1]),
        ("main.py", "from pkg.ops import sym as s\n", [1]),
        ("main.py", "import pkg.ops\npkg.ops.sym()\n", [2]),
        ("main.py", "import pkg.ops as o\n\n\ndef f():\n    return o.sym()\n", [5]),
        ("main.py", "import pkg.ops\n\n\n@pkg.ops.sym\ndef f():\n    pass\n", [4]),
        ("main.py", "from pkg.ops import *\nsym()\n", [1]),
        ("main.py", "from unittest.mock import patch\npatch('pkg.ops.sym')\n", [2]),
        ("main.py", "from unittest.mock import patch\npatch.multiple('pkg.ops', sym=1)\n", [2]),
        ("main.py", "import importlib\nimportlib.import_module('pkg.ops').sym()\n", [2]),
        ("main.py", "import pkg.ops\no = pkg.ops\no.sym()\n", [3]),
        ("main.py", "from pkg.ops import (\n    sym,\n    other,\n    sub,\n)\n", [2, 3]),
        ("main.py", "from pkg.ops import fly\nfly()\n", [1]),
        ("main.py", "import pkg.ops.fly as m\nm()\n", [1]),
        ("main.py", "\ufefffrom pkg.ops import sym\n", [1]),
        ("pkg/ops/__init__.py", "from .sub import sym\n", [1]),
        ("pkg/ops/__init__.py", "from .sub import *\n", [1, 1, 1]),
        ("pkg/ops/__init__.py", "__all__ = [\n    'sub',\n    'sym',\n]\n", [3]),
        ("pkg/ops/__init__.py", "from . import sub\nsym = sub.sym\n", [2]),
        ("pkg/ops/__init__.pyi", "from .sub import sym as sym\n", [1]),
        # never these
        ("main.py", "from pkg.ops.sub import sym\n", []),
        ("main.py", "import pkg.ops.fly as m\nm.fly()\n", []),
        ("main.py", "from pkg.ops import fly\nfly.fly()\n", []),
        ("main.py", "from pkg.ops import sub\n", []),
        ("main.py", "from other.ops import sym\n", []),
        ("tests/test_it.py", "from pkg.ops import other\n", []),
        ("pkg/ops/__init__.py", "def sym(): pass\n", []),
        ("pkg/ops/__init__.py", "__all__ = [name for name in ['sub'] if name != 'sym']\n", []),
        (
            "pkg/ops/__init__.py",
            "def __getattr__(name):\n    if name == 'lazily':\n        from .sub import lazily\n        return lazily\n"
            "    raise AttributeError(name)\n",
            [],
        ),
    ],
)
def test_each_form_is_flagged_at_its_line(tmp_path: Path, path: str, text: str, lines: list[int]) -> None:
    lay(tmp_path, {path: text})
    linted = lint(tmp_path, path)
    assert linted.lines == lines
    guard = Guard(tmp_path, read_rows(tmp_path))
    assert [each.site.line for each in offences(guard, path, text.encode())] == lines


def test_a_lazy_import_is_flagged_where_libcst_can_read_it(tmp_path: Path) -> None:
    import libcst

    lay(tmp_path, {"main.py": "lazy from pkg.ops import sym\n"})
    try:
        libcst.parse_module("lazy from pkg.ops import sym\n")
    except libcst.ParserSyntaxError:
        pytest.skip("this LibCST does not read lazy imports")
    linted = lint(tmp_path, "main.py")
    assert linted.lines == [1]
    assert linted.fixed == b"lazy from pkg.ops.sub import sym\n"


def test_the_range_is_that_of_the_name_and_the_message_has_the_statement(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import (\n    sub,\n    sym as s,\n)\n"})
    [violation] = lint(tmp_path, "main.py").violations
    assert (violation.range.start.column, violation.range.end.column) == (4, 12)
    assert "write `from pkg.ops.sub import sym as s`" in violation.message


def test_a_column_counts_characters(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "import pkg.ops\nprint('é', pkg.ops.sym())\n"})
    [violation] = lint(tmp_path, "main.py").violations
    assert (violation.range.start.line, violation.range.start.column) == (2, 11)
    assert violation.range.end.column == 22


def test_the_bytes_that_fixit_gives_are_judged(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "print(1)\n"})
    assert lint(tmp_path, "main.py", b"from pkg.ops import sym\n").lines == [1]


def test_a_tree_without_rows_is_not_looked_at(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import sym\n"})
    (tmp_path / "narrowed.toml").unlink()
    assert lint(tmp_path, "main.py").violations == []


# What a comment keeps


@pytest.mark.parametrize(
    "comment", ["# lint-ignore", "# lint-fixme: NarrowReexport", "# lint-ignore: NarrowReexportRule"]
)
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("{c}\nfrom pkg.ops import sym\n", True),
        ("import os\n\n{c}\n\n# another\nfrom pkg.ops import sym\n", True),
        ("from pkg.ops import sym  {c}\n", True),
        ("from pkg.ops import (\n    sub,\n    sym,  {c}\n)\n", True),
        ("from pkg.ops import (\n    sub,  {c}\n    sym,\n)\n", False),
        ("{c}\nfrom pkg.ops import (\n    sub,\n    sym,\n)\n", True),
        ("from pkg.ops import (\n    sub,\n    sym,\n)  {c}\n", True),
        ("import pkg.ops\n\n\n@pkg.ops.sym  {c}\ndef f():\n    pass\n", True),
        ("import pkg.ops\n\n\n{c}\n@pkg.ops.sym\ndef f():\n    pass\n", True),
        ("import pkg.ops\n\n\n@pkg.ops.sym\n{c}\ndef f():\n    pass\n", True),
        ("import pkg.ops\n\nif pkg.ops.sym():  {c}\n    pass\n", True),
        ("import pkg.ops\n\nif 1:  {c}\n    pkg.ops.sym()\n", False),
        ("import pkg.ops\n\nif 1:\n    pass\nelif pkg.ops.sym():  {c}\n    pass\n", True),
        ("import pkg.ops\n\nprint(\n    pkg.ops.sym(\n        1,\n    ),  {c}\n    2,\n)\n", True),
        ("import pkg.ops\n\nx = [\n    {c}\n    pkg.ops.sym,\n]\n", True),
        ("import pkg.ops\n\nx = [\n    pkg.ops.sym,\n    2  {c}\n]\n", True),
        ("import pkg.ops\n{c}\n\n\ndef f():\n    pkg.ops.sym()\n", False),
        ("import pkg.ops\n\ntry:\n    pass\nexcept pkg.ops.sym:  {c}\n    pass\n", True),
    ],
)
def test_rule_and_check_read_the_same_comments(tmp_path: Path, text: str, kept: bool, comment: str) -> None:
    text = text.format(c=comment)
    lay(tmp_path, {"main.py": text})
    guard = Guard(tmp_path, read_rows(tmp_path))
    assert (lint(tmp_path, "main.py").violations == []) == kept
    assert (offences(guard, "main.py", text.encode()) == ()) == kept
    if kept:
        assert Fixer(guard).file("main.py", text.encode())[0] == text.encode()


def test_a_comment_for_another_rule_keeps_nothing(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import sym  # lint-ignore: Other\n"})
    assert lint(tmp_path, "main.py").lines == [1]
    assert taken_on("main.py", b"x = 1  # lint-ignore: Other\n") == frozenset()


def test_a_name_that_is_kept_stays_in_its_place_and_its_neighbour_moves(tmp_path: Path) -> None:
    text = "from pkg.ops import (\n    other,\n    sym,  # lint-ignore: NarrowReexport\n)\n"
    lay(tmp_path, {"main.py": text})
    linted = lint(tmp_path, "main.py")
    assert linted.lines == [2]
    assert b"sym,  # lint-ignore: NarrowReexport" in linted.fixed
    assert b"from pkg.ops.sub import other" in linted.fixed
    assert linted.fixed == Fixer(Guard(tmp_path, read_rows(tmp_path))).file("main.py", text.encode())[0]


# The real command


def test_the_cases_of_the_rules_documentation_hold() -> None:
    assert NarrowReexport.AUTOFIX
    ran = fixit(GUARDED, "test", "codemods.rules.narrow_reexport")
    assert ran.returncode == 0, ran.stderr
    assert f"Ran {len(NarrowReexport.VALID) + len(NarrowReexport.INVALID)} tests" in ran.stderr


def test_lint_exits_1_where_something_is_found_and_0_where_not(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import sym\n"})
    ran = fixit(tmp_path, "lint", "main.py")
    assert ran.returncode == 1
    assert "main.py@1:20 NarrowReexport: pkg.ops.sym was narrowed" in ran.stdout
    assert "(has autofix)" in ran.stdout
    (tmp_path / "main.py").write_text("from pkg.ops.sub import sym\n")
    assert fixit(tmp_path, "lint", ".").returncode == 0


def test_rows_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {"main.py": "print(1)\n", "narrowed.toml": 'version = 1\n[symbols]\n"pkg.ops:sym" = { orign = "x:y" }\n'},
    )
    ran = fixit(tmp_path, "lint", "main.py")
    assert ran.returncode == 2
    assert "narrowed.toml:3: unknown key `orign`" in ran.stdout + ran.stderr


def test_fix_automatic_writes_the_codemods_bytes(tmp_path: Path) -> None:
    files = {
        "crlf.py": "import os\r\nfrom pkg.ops import sym, sub  # keep\r\nsym()\r\n",
        "bom.py": "\ufefffrom pkg.ops import sym\n",
        "tabs.py": "def f():\n\tfrom pkg.ops import sym\n\treturn sym()\n",
        "open.py": "import pkg.ops\npkg.ops.sym()",
        "latin.py": "# coding: latin-1\nfrom pkg.ops import sym\nx = 'é'\n".encode("latin-1"),
        "several.py": "from pkg.ops import sym\nimport os\nfrom pkg.ops import other\nimport pkg.ops\npkg.ops.sym\n",
    }
    lay(tmp_path, files)
    fixer = Fixer(Guard(tmp_path, read_rows(tmp_path)))
    wanted = {path: fixer.file(path, (tmp_path / path).read_bytes())[0] for path in files}
    ran = fixit(tmp_path, "fix", "--automatic", *files)
    assert ran.returncode == 0, ran.stderr
    for path in files:
        assert (tmp_path / path).read_bytes() == wanted[path] != b"", path
        assert b"pkg.ops.sub" in wanted[path]
    assert fixit(tmp_path, "lint", ".").returncode == 0


def test_what_fixit_cannot_write_is_reported_without_a_fix(tmp_path: Path) -> None:
    text = "import os\n\x0c\nfrom pkg.ops import sym\n\x0cimport sys\n"
    lay(tmp_path, {"main.py": text})
    linted = lint(tmp_path, "main.py")
    assert [violation.replacement for violation in linted.violations] == [None]
    assert "check_narrowed --fix" in linted.violations[0].message


def test_the_reexport_goes_as_the_codemod_takes_it_out(tmp_path: Path) -> None:
    text = "from .sub import sym, local\n\n__all__ = ['local', 'sym']\n"
    lay(tmp_path, {"pkg/ops/__init__.py": text, "pkg/ops/sub.py": "def sym(): pass\ndef local(): pass\n"})
    ran = fixit(tmp_path, "fix", "--automatic", "pkg/ops/__init__.py")
    assert ran.returncode == 0
    assert (tmp_path / "pkg/ops/__init__.py").read_text() == "from .sub import local\n\n__all__ = ['local']\n"


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ("y\ny\n", "from pkg.ops.sub import sym\nimport os\nfrom pkg.ops.fly import fly\nfly()\n"),
        ("y\nn\n", "from pkg.ops.sub import sym\nimport os\nfrom pkg.ops import fly\nfly()\n"),
        ("n\ny\n", "from pkg.ops import sym\nimport os\nfrom pkg.ops.fly import fly\nfly()\n"),
        ("n\nn\n", "from pkg.ops import sym\nimport os\nfrom pkg.ops import fly\nfly()\n"),
    ],
)
def test_independent_fixes_are_taken_one_by_one(tmp_path: Path, answers: str, wanted: str) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import sym\nimport os\nfrom pkg.ops import fly\nfly()\n"})
    ran = fixit(tmp_path, "fix", "--interactive", "main.py", stdin=answers)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "main.py").read_text() == wanted


def test_two_statements_that_become_one_are_one_fix(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "from pkg.ops import sym\nimport os\nfrom pkg.ops import other\n"})
    first, second = lint(tmp_path, "main.py").violations
    assert first.replacement
    assert not second.replacement
    assert "mended together with line 1" in second.message
    ran = fixit(tmp_path, "fix", "--interactive", "main.py", stdin="y\n")
    assert ran.returncode == 0
    assert (tmp_path / "main.py").read_text() == "from pkg.ops.sub import other, sym\nimport os\n"


@pytest.mark.parametrize(("answer", "changed"), [("y\n", True), ("n\n", False)])
def test_an_import_and_the_reads_that_need_it_are_asked_for_once(tmp_path: Path, answer: str, changed: bool) -> None:
    text = "import pkg.ops\n\n\ndef f():\n    return pkg.ops.sym() + pkg.ops.sym()\n\n\nprint(pkg.ops.sym())\n"
    lay(tmp_path, {"main.py": text})
    wanted = Fixer(Guard(tmp_path, read_rows(tmp_path))).file("main.py", text.encode())[0].decode() if changed else text
    assert (wanted != text) == changed
    ran = fixit(tmp_path, "fix", "--interactive", "main.py", stdin=answer)
    assert ran.stdout.count("Apply autofix?") == 1
    assert (tmp_path / "main.py").read_text() == wanted


def test_a_file_on_standard_input_is_judged_by_its_path(tmp_path: Path) -> None:
    lay(tmp_path, {"tests/test_it.py": ""})
    assert fixit(tmp_path, "lint", "-", "new.py", stdin="from pkg.ops import other\n").returncode == 1
    assert fixit(tmp_path, "lint", "-", "tests/test_it.py", stdin="from pkg.ops import other\n").returncode == 0
    ran = fixit(tmp_path, "fix", "-", "new.py", stdin="from pkg.ops import other\n")
    assert ran.stdout == "from pkg.ops.sub import other\n"


def test_many_sites_are_reported_without_fixes(tmp_path: Path) -> None:
    rows = ["from pkg.ops import sym"] * (MOST_SITES + 1)
    lay(tmp_path, {"main.py": "\n".join(rows) + "\n"})
    linted = lint(tmp_path, "main.py")
    assert linted.lines == list(range(1, MOST_SITES + 2))
    assert not [each for each in linted.violations if each.replacement]
    assert "check_narrowed --fix main.py" in linted.violations[0].message


def test_what_the_codemod_refuses_is_reported_with_its_reason(tmp_path: Path) -> None:
    lay(tmp_path, {"main.py": "import pkg.ops\npkg.ops.sym = 1\n"})
    [violation] = lint(tmp_path, "main.py").violations
    assert violation.replacement is None
    assert "no fix: main.py:2: the code assigns to" in violation.message


# The recipe for continuous integration


def recipe() -> str:
    page = (PROJECT / "docs/fixit.md").read_text(encoding="utf-8")
    return page.split("<!-- the recipe -->\n```sh\n")[1].split("```")[0]


def run_recipe(root: Path, *, blocked: bool = False) -> subprocess.CompletedProcess[str]:
    from tests.rules.linting import block

    folder = root.parent / f"{root.name}-bin"
    folder.mkdir(exist_ok=True)
    command = folder / "fixit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fixit "$@"\n')
    command.chmod(0o755)
    path = str(block(root)) if blocked else str(PROJECT)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": path, "LC_ALL": "C.UTF-8", "CHANGED": "main.py"}
    return subprocess.run(["sh", "-c", recipe()], cwd=root, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_recipe_is_green_where_all_is_well_and_red_where_not(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    lay(root, {"main.py": "from pkg.ops.sub import sym\n"})
    ran = run_recipe(root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (root / "main.py").write_text("from pkg.ops import sym\n")
    assert run_recipe(root).returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize("how", ["missing", "not enabled", "no rows"])
def test_the_recipe_is_red_where_the_rule_does_not_run(tmp_path: Path, how: str) -> None:
    root = tmp_path / "tree"
    lay(root, {"main.py": "from pkg.ops.sub import sym\n"})
    if how == "not enabled":
        (root / "pyproject.toml").write_text(CONFIG.replace('"codemods.rules.narrow_reexport"', ""))
    if how == "no rows":
        (root / "narrowed.toml").write_text("version = 1\n")
    if how == "missing":
        alone = fixit(root, "lint", "main.py", blocked=True)
        assert alone.returncode == 0, "the trap: Fixit itself says that all is well"
    assert run_recipe(root, blocked=how == "missing").returncode not in (0,)


# What check_narrowed does, too


def test_a_file_that_the_configuration_excludes_is_left_alone(tmp_path: Path) -> None:
    lay(tmp_path, {"gen/main.py": "from pkg.ops import sym\n", "main.py": "from pkg.ops import sym\n"})
    (tmp_path / "pyproject.toml").write_text(CONFIG + '\n[tool.codemods.check_narrowed]\nexclude = ["gen/**"]\n')
    assert lint(tmp_path, "main.py").lines == [1]
    assert lint(tmp_path, "gen/main.py").lines == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pkg/ops/__init__.py", "__all__ = ['own', 'sym']\n", "__all__ = ['own']\n"),
        ("pkg/ops/__init__.pyi", "from .sub import own as own, sym as sym\n", "from .sub import own as own\n"),
    ],
)
def test_what_an_init_still_names_is_cut(tmp_path: Path, path: str, before: str, after: str) -> None:
    lay(tmp_path, {path: before})
    assert lint(tmp_path, path).fixed == after.encode()
