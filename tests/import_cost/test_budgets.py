"""Budgets: read with their lines, verified with the chain, recorded without touching anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.errors import BadConfiguration, CannotWrite
from codemods.import_cost.budgets import Budget, check, load_options, recorded, update, verify
from tests.import_cost.checkouts import HEAVY, opened, write

HEAD = "[tool.codemods.import_cost.budgets]\n"


def budgets(root: Path, rows: str) -> tuple[Budget, ...]:
    return load_options(write(root, {"pyproject.toml": HEAD + rows})).budgets


def test_budgets_are_read_with_their_lines(tmp_path: Path) -> None:
    rows = '"pkg.light" = { forbid = ["torch", "pkg.models"], max-modules = 3 }\npkg = { max-modules = 60 }\n'
    assert budgets(tmp_path, rows) == (
        Budget("pkg.light", ("torch", "pkg.models"), 3, 2),
        Budget("pkg", (), 60, 3),
    )


def test_a_budget_may_be_a_table_of_its_own(tmp_path: Path) -> None:
    text = '[tool.codemods.import_cost.budgets."pkg.light"]\nmax-modules = 3\n'
    assert load_options(write(tmp_path, {"pyproject.toml": text})).budgets == (Budget("pkg.light", (), 3, 1),)


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool.codemods.narrow_reexport]\nstrict = true\n"])
def test_without_a_table_there_is_no_budget(tmp_path: Path, text: str) -> None:
    assert load_options(tmp_path).budgets == ()
    assert load_options(write(tmp_path, {"pyproject.toml": text})).budgets == ()


@pytest.mark.parametrize(
    ("text", "detail", "line", "hint"),
    [
        ("[tool.codemods.import_cost]\nbudget = {}\n", "unknown key `budget`", 2, "did you mean `budgets`?"),
        (HEAD + '"pkg.a" = { max-module = 3 }\n', "unknown key `max-module`", 2, "did you mean `max-modules`?"),
        (HEAD + "pkg.a = { max-modules = 3 }\n", "unknown key `a` in the budget of pkg", 2, '"pkg.a"'),
        (HEAD + '"pkg.a" = { max-modules = "3" }\n', "must be a number above 0", 2, ""),
        (HEAD + '"pkg.a" = { max-modules = true }\n', "must be a number above 0", 2, ""),
        (HEAD + '"pkg.a" = { forbid = "torch" }\n', "must be a list of strings", 2, ""),
        (HEAD + '"pkg.a" = 3\n', "must be a module's dotted name with a table", 2, ""),
        (HEAD + '"not a name" = {}\n', "must be a module's dotted name with a table", 2, ""),
        ("[tool.codemods]\nimport_cost = 3\n", "must be a table", 2, ""),
        ("[tool.codemods.import_cost\n", "is not valid TOML", 1, ""),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, detail: str, line: int, hint: str) -> None:
    with pytest.raises(BadConfiguration) as error:
        load_options(write(tmp_path, {"pyproject.toml": text}))
    assert detail in error.value.detail
    assert (error.value.path, error.value.line) == ("pyproject.toml", line)
    assert hint in error.value.hint


def test_a_forbidden_package_is_found_by_anything_below_it_with_the_chain(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    for forbidden, chain in {
        "torch": ["pkg.heavy", "torch.nn"],
        "torch.nn": ["pkg.heavy", "torch.nn"],
        "pkg.models": ["pkg.heavy", "pkg.models"],
    }.items():
        count, (exceeded,) = verify(loads, Budget("pkg", (forbidden,)))
        assert count == 6
        assert [edge.imported for edge in exceeded.chain] == chain


@pytest.mark.parametrize("forbidden", ["torch.cuda", "tor", "pkg.model", "tensorflow"])
def test_what_only_begins_alike_is_not_forbidden(tmp_path: Path, forbidden: str) -> None:
    assert verify(opened(tmp_path, HEAVY).loads, Budget("pkg", (forbidden,))) == (6, ())


def test_the_standard_library_may_be_forbidden(tmp_path: Path) -> None:
    loads = opened(tmp_path, {"pkg/__init__.py": "import xml.dom.minidom\n"}).loads
    (exceeded,) = verify(loads, Budget("pkg", ("xml.dom",)))[1]
    assert exceeded.message == "import pkg loads xml.dom.minidom, which its budget forbids"


def test_a_module_may_forbid_what_lies_below_itself(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from . import a\n", "pkg/a.py": "", "pkg/b.py": ""}
    loads = opened(tmp_path, files).loads
    assert [each.target for each in verify(loads, Budget("pkg", ("pkg",)))[1]] == ["pkg.a"]
    assert verify(loads, Budget("pkg", ("pkg.b",)))[1] == ()


def test_one_module_too_many_is_too_many(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    assert verify(loads, Budget("pkg", (), 6))[1] == ()
    (exceeded,) = verify(loads, Budget("pkg", (), 5))[1]
    assert exceeded.message == "import pkg loads 6 modules of the tree, its budget is 5"


def test_all_budgets_are_verified_whatever_package_they_are_about(tmp_path: Path) -> None:
    write(tmp_path, {**HEAVY, "other/__init__.py": "import pkg\n"})
    rows = '"pkg.user" = { max-modules = 2 }\n"other" = { forbid = ["torch"] }\n"pkg.light" = { max-modules = 9 }\n'
    budgets(tmp_path, rows)
    verdict = check(tmp_path, load_options(tmp_path), cached=False)
    assert [(budget.module, count) for budget, count in verdict.counted] == [
        ("pkg.user", 7),
        ("other", 7),
        ("pkg.light", 6),
    ]
    assert [(each.budget.module, each.target) for each in verdict.exceeded] == [("pkg.user", ""), ("other", "torch.nn")]


def test_a_budget_for_a_module_that_is_gone_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, HEAVY)
    budgets(tmp_path, '"pkg" = {}\n"pkg.lihgt" = { max-modules = 2 }\n')
    with pytest.raises(BadConfiguration, match=r"no module pkg\.lihgt") as error:
        check(tmp_path, load_options(tmp_path), cached=False)
    assert error.value.line == 3


def test_numbers_are_recorded_and_the_rest_stays() -> None:
    before = (
        b"# mine\r\n[project]\r\nname   =  'x' # keep\r\n\r\n[tool.codemods.import_cost.budgets]\r\n"
        b'"pkg.a" = { forbid = ["torch"],  max-modules = 60 }  # why\r\n"pkg.b" = { forbid = ["x"] }\r\n'
    )
    after = recorded(before, [("pkg.a", 48), ("pkg.b", 3)])
    assert after == before.replace(b"60", b"48").replace(b'["x"] }', b'["x"], max-modules = 3}')
    assert recorded(after, [("pkg.a", 48), ("pkg.b", 3)]) == after


@pytest.mark.parametrize(
    "before", ["", "[project]\nname = 'x'\n", "[tool.codemods.narrow_reexport]\nstrict = true\n", HEAD]
)
def test_a_first_budget_gets_its_table(tmp_path: Path, before: str) -> None:
    write(tmp_path, {"pyproject.toml": before})
    assert update(tmp_path, [("pkg.a", 48)])
    text = (tmp_path / "pyproject.toml").read_text()
    assert text.startswith(before)
    assert [(each.module, each.max_modules) for each in load_options(tmp_path).budgets] == [("pkg.a", 48)]
    assert not update(tmp_path, [("pkg.a", 48)])


def test_a_tree_without_a_pyproject_gets_one(tmp_path: Path) -> None:
    assert update(tmp_path, [("pkg.a", 48)])
    assert load_options(tmp_path).budgets == (Budget("pkg.a", (), 48, 2),)


def test_without_tomlkit_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tomlkit", None)
    with pytest.raises(CannotWrite, match="needs tomlkit"):
        recorded(b"", [("pkg", 1)])


def test_a_slip_in_what_is_forbidden_is_an_error_not_a_budget_that_always_holds(tmp_path: Path) -> None:
    rows = '"pkg" = { forbid = ["torch", "pkg.modells"] }\n'
    write(tmp_path, {**HEAVY, "pyproject.toml": HEAD + rows})
    with pytest.raises(BadConfiguration, match=r"forbids pkg\.modells: no module pkg\.modells in this tree") as error:
        check(tmp_path, load_options(tmp_path), cached=False)
    assert (error.value.line, error.value.hint) == (2, "did you mean pkg.models?")


@pytest.mark.parametrize("forbidden", ["pkg.models", "pkg._C", "pkg._C.ops", "torch.no.such.thing", "os.path"])
def test_compiled_modules_and_packages_of_others_may_be_forbidden(tmp_path: Path, forbidden: str) -> None:
    files = {**HEAVY, "pkg/user.py": "import pkg._C.ops\n"}
    write(tmp_path, {**files, "pyproject.toml": f'{HEAD}"pkg.light" = {{ forbid = ["{forbidden}"] }}\n'})
    verdict = check(tmp_path, load_options(tmp_path), cached=False)
    assert bool(verdict.exceeded) is (forbidden == "pkg.models")


def test_a_new_row_ends_like_the_lines_around_it() -> None:
    pytest.importorskip("tomlkit")
    before = (HEAD + "pkg = { max-modules = 3 }\n\n[project]\n").replace("\n", "\r\n").encode()
    after = recorded(before, [("pkg", 3), ("other", 4)])
    assert b"other = {max-modules = 4}\r\n" in after
    assert after.count(b"\n") == after.count(b"\r\n")
    assert recorded(before, [("pkg", 3)]) == before
