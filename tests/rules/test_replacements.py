"""Every form's call sites, put back into the narrowed tree: rule, check and codemod say and write the same.

Owns the comparison over `fixtures/narrow_reexport/forms/*.toml`.
Invariant: a form that is not compared is listed here with the reason.
"""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("fixit")

import libcst as cst

from codemods.check_narrowed.fixes import Fixer
from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.verdicts import offences
from codemods.engine.discover import is_code
from codemods.rules.replacements import applied
from fixtures.narrow_reexport import forms_page
from fixtures.narrow_reexport.forms_page import Form
from tests.rules.linting import lay, lint

NOT_COMPARED = {
    # the narrowed tree no longer shows that the re-export was lazy or optional, so that its readers had to stay late
    "init_guard_attribute_read_late": "late",
    "lazy_branches": "late",
    "lazy_table": "late",
    "lazy_read_in_a_branch": "late",
    # no row is about these: a submodule that the package had loaded, or a star without a use of the name
    "init_submodule_as_symbol": "submodule",
    "attribute_submodule_by_luck": "submodule",
    "attribute_submodule_of_another_package": "submodule",
    "submodule_lost_below_a_star": "submodule",
    "onward_star": "star",
    "onward_star_chain": "star",
    "onward_dunder_all_of_the_package": "star",
    "stub_passes_it_on": "star",
    # strings that are no code
    "entry_point_setup_py": "string",
    # options that decide what is looked at, or leave no row
    "file_that_does_not_parse_is_excluded": "option",
    "init_callers_only": "option",
    "patch_with_callers_only": "option",
}
FORMS = [
    form
    for form in forms_page.load_forms()
    if form.expect == "rewritten" and form.name not in NOT_COMPARED and "--rewrite-strings" not in form.options
]


@dataclass(frozen=True, slots=True)
class Compared:
    """One file: its lines by the check and by the rule, and its bytes from each of the three."""

    path: str
    checked: list[int]
    ruled: list[int]
    codemod: bytes
    fixer: bytes
    fixit: bytes


@functools.cache
def compared(name: str) -> tuple[list[str], list[Compared]]:
    """What the narrowed tree offends by itself, and each call-site file of before, put back."""
    form = next(form for form in FORMS if form.name == name)
    with tempfile.TemporaryDirectory(prefix="form-") as folder:
        root = Path(folder).resolve()
        after = forms_page.run(form, root).after
        rows = read_rows(root)
        guard = Guard(root, rows)
        dirty = [f"{each.site}: {each.message}" for path in after for each in offences(guard, path, after[path])]
        sites = [path for path in _changed(form, after) if guard.view_of_init(path) is None]
        for path in sites:
            (root / path).write_bytes(form.before[path])
        guard = Guard(root, rows)
        fixer = Fixer(guard)
        found = []
        for path in sites:
            before = form.before[path]
            checked = [each.site.line for each in offences(guard, path, before)]
            linted = lint(root, path, before)
            found.append(
                Compared(path, checked, sorted(linted.lines), after[path], fixer.file(path, before)[0], linted.fixed)
            )
        return dirty, found


def _changed(form: Form, after: dict[str, bytes]) -> list[str]:
    return [path for path, before in form.before.items() if is_code(path) and after.get(path, before) != before]


@pytest.mark.parametrize("name", [form.name for form in FORMS])
def test_rule_check_and_codemod_agree_on_a_form(name: str) -> None:
    if name == "lazy_from":
        try:
            cst.parse_module("lazy from pkg import sym\n")
        except cst.ParserSyntaxError:
            pytest.skip("this LibCST does not read lazy imports")
    dirty, files = compared(name)
    assert dirty == []
    for file in files:
        assert file.checked, f"{file.path} is not flagged"
        assert file.ruled == file.checked
        assert file.fixer.decode(errors="replace") == file.codemod.decode(errors="replace")
        assert file.fixit.decode(errors="replace") == file.codemod.decode(errors="replace")
        assert file.fixit == file.fixer == file.codemod


def test_most_forms_are_compared() -> None:
    assert len(FORMS) > 200
    assert not NOT_COMPARED.keys() - {form.name for form in forms_page.load_forms()}


# The nodes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from pkg.ops import sym\nimport os\n", cst.SimpleStatementLine),
        ("def f():\n    import pkg.ops\n    x = 1\n    return pkg.ops.sym()\n", cst.IndentedBlock),
        ("import os\n\n\ndef f():\n    from pkg.ops import sym\n", cst.SimpleStatementLine),
        ("if 1: from pkg.ops import sym\n", cst.If),
        ("try:\n    pass\nexcept ImportError:\n    from pkg.ops import sym\n", cst.SimpleStatementLine),
        ("import pkg.ops\n\n\ndef f():\n    return pkg.ops.sym()\n", cst.Module),
    ],
)
def test_the_smallest_node_is_replaced(tmp_path: Path, text: str, kind: type[cst.CSTNode]) -> None:
    lay(tmp_path, {"main.py": text})
    [violation] = lint(tmp_path, "main.py").violations
    assert isinstance(violation.node, kind)
    assert violation.replacement is not None


def test_a_comment_in_the_header_does_not_silence_the_whole_file(tmp_path: Path) -> None:
    text = "# lint-ignore: NarrowReexport\nfrom pkg.ops import other\nimport pkg.ops\n\n\ndef f():\n    pkg.ops.sym()\n"
    lay(tmp_path, {"main.py": text})
    linted = lint(tmp_path, "main.py")
    assert linted.lines == [7]
    assert linted.fixed.startswith(b"# lint-ignore: NarrowReexport\nfrom pkg.ops import other\n")
    assert b"pkg.ops.sub" in linted.fixed


def test_replacements_are_applied_as_fixit_does_it() -> None:
    module = cst.parse_module("a = 1\nb = 2\n")
    first, second = module.body
    new = cst.parse_module("c = 3\nd = 4\n")
    assert applied(module, {first: cst.FlattenSentinel(new.body)}) == b"c = 3\nd = 4\nb = 2\n"
    assert applied(module, {second: cst.RemoveFromParent()}) == b"a = 1\n"
    assert applied(module, {module: new, first: new.body[0]}) == b"c = 3\nd = 4\n"


def test_two_packages_in_one_statement_are_mended_one_after_the_other(tmp_path: Path) -> None:
    rows = 'version = 1\n[symbols]\n"a:x" = { origin = "a.m:x" }\n"b:y" = { origin = "b.m:y" }\n'
    text = "from a import x\nfrom b import y\nimport a, b\na.x, b.y\n"
    files = {"narrowed.toml": rows, "a/__init__.py": "", "a/m.py": "x = 1\n", "b/__init__.py": "", "b/m.py": "y = 1\n"}
    lay(tmp_path, {**files, "main.py": text})
    linted = lint(tmp_path, "main.py")
    assert sorted(linted.lines) == [1, 2, 4, 4]
    assert linted.fixed == Fixer(Guard(tmp_path, read_rows(tmp_path))).file("main.py", text.encode())[0]
    assert lint(tmp_path, "main.py", linted.fixed).violations == []
