"""Numbers and names of parts: given once, and kept while the plan changes."""

from __future__ import annotations

from pathlib import Path

from codemods.narrow_reexport.numbered import laid_out, numbered, refreshed
from codemods.narrow_reexport.plan_io import ALONE, LAST, TOGETHER, Plan, PlannedFile, PlannedPart

ROWS = ((".", "pkg:sym", "pkg.sub:sym"),)


def plan_for(
    *paths: str,
    groups: tuple[tuple[str, ...], ...] = (),
    last: tuple[str, ...] = ("pkg/__init__.py",),
    rows: tuple[tuple[str, str, str], ...] = ROWS,
    parts: tuple[PlannedPart, ...] = (),
    guard: bool = False,
) -> Plan:
    together = {path for group in groups for path in group}
    lands = {path: TOGETHER if path in together else ALONE for path in paths} | dict.fromkeys(last, LAST)
    files = tuple(PlannedFile(".", path, "b", "a", lands[path], 1, (), ()) for path in sorted(lands))
    return Plan("pkg", (), (), files, groups, rows, (), last, split="directory", parts=parts, guard=guard)


def folder(path: str) -> str:
    return path.partition("/")[0]


def told(parts: tuple[PlannedPart, ...]) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(part.number, part.name, part.files) for part in parts]


def test_parts_are_counted_by_name_and_the_removal_is_the_last() -> None:
    assert told(laid_out(plan_for("b/x.py", "a/y.py"), folder)) == [
        (1, "a", ("a/y.py",)),
        (2, "b", ("b/x.py",)),
        (3, "removal", ("pkg/__init__.py",)),
    ]
    guarded = laid_out(plan_for("a/y.py", guard=True), folder)
    assert [(part.number, part.kind) for part in guarded] == [(1, "guard"), (2, "call-sites"), (3, "removal")]


def test_a_plan_remembers_its_parts_unless_it_is_split_another_way(tmp_path: Path) -> None:
    parts = (PlannedPart(7, "a", "call-sites", ("a/y.py",)),)
    plan = plan_for("a/y.py", parts=parts)
    assert numbered(plan, tmp_path) == numbered(plan, tmp_path, "directory") == parts
    assert told(numbered(plan, tmp_path, "count:1"))[0] == (1, "1-of-1", ("a/y.py",))


def test_a_number_is_never_given_twice(tmp_path: Path) -> None:
    old = plan_for("a/x.py", "b/x.py", "c/x.py")
    first = refreshed(plan_for("b/x.py", "c/x.py", "d/x.py"), old, tmp_path, landed={1})
    assert [(part.number, part.name, part.landed) for part in first] == [
        (1, "a", True),
        (2, "b", False),
        (3, "c", False),
        (4, "d", False),
        (5, "removal", False),
    ]
    # b lands as well, a has a new file, and d is gone
    second = refreshed(
        plan_for("a/new.py", "c/x.py"), plan_for("b/x.py", "c/x.py", "d/x.py", parts=first), tmp_path, landed={2}
    )
    assert [(part.number, part.name, part.landed) for part in second] == [
        (1, "a", True),
        (2, "b", True),
        (3, "c", False),
        (4, "d", True),
        (5, "a", False),
        (6, "removal", False),
    ]
    # the removal has landed, and somebody comes back
    none = plan_for(last=(), rows=())
    third = refreshed(none, plan_for("c/x.py", parts=second), tmp_path, landed={3, 5})
    assert third[-1] == PlannedPart(6, "removal", "removal", (), True)
    fourth = refreshed(plan_for("c/y.py", last=(), rows=()), plan_for(parts=third), tmp_path)
    assert [(part.number, part.name) for part in fourth if not part.landed] == [(7, "c")]


def test_a_group_that_forms_later_lands_where_most_of_it_is(tmp_path: Path) -> None:
    old = plan_for("a/x.py", "b/x.py", "b/y.py")
    new = plan_for("a/x.py", "b/x.py", "b/y.py", groups=(("a/x.py", "b/x.py", "b/y.py"),))
    assert told(refreshed(new, old, tmp_path)) == [
        (1, "a", ()),
        (2, "b", ("a/x.py", "b/x.py", "b/y.py")),
        (3, "removal", ("pkg/__init__.py",)),
    ]


def test_a_file_that_has_moved_stays_in_its_part(tmp_path: Path) -> None:
    old = plan_for("a/x.py", "b/x.py")
    found = refreshed(plan_for("a/x.py", "a/moved.py"), old, tmp_path, moved={"a/moved.py": "b/x.py"})
    assert told(found)[:2] == [(1, "a", ("a/x.py",)), (2, "b", ("a/moved.py",))]


def test_the_guard_has_landed_once_no_row_is_to_be_added(tmp_path: Path) -> None:
    old = plan_for("a/x.py", guard=True)
    assert [part.landed for part in refreshed(plan_for("a/x.py", guard=True, rows=()), old, tmp_path)] == [
        True,
        False,
        False,
    ]
