"""Names that one guard binds together, or not at all."""

from __future__ import annotations

from tests.narrow_reexport.verbs import Tree, check_rewritten

GUARDED = "try:\n    from .a import sym\n    from .b import other\nexcept ImportError:\n    pass\n"
FILES: Tree = {"pkg/__init__.py": GUARDED, "pkg/a.py": "sym = 1\n", "pkg/b.py": "other = 2\n"}


def test_a_name_that_is_bound_once_its_neighbour_is_gone_is_said() -> None:
    after = {"pkg/__init__.py": GUARDED.replace("    from .a import sym\n", "")}
    check_rewritten(
        FILES, "pkg", "sym", after, says=r"pkg/__init__.py:3: other will be bound even where `from \.a import sym`"
    )


def test_a_name_whose_neighbour_stays_is_said_too() -> None:
    after = {"pkg/__init__.py": GUARDED.replace("    from .b import other\n", "")}
    check_rewritten(FILES, "pkg", "other", after, says=r"other was bound only where `from \.a import sym` did not fail")


def test_names_of_one_module_do_not_depend_on_each_other() -> None:
    tree = {**FILES, "pkg/__init__.py": GUARDED.replace(".b", ".a"), "pkg/a.py": "sym = 1\nother = 2\n"}
    after = {"pkg/__init__.py": GUARDED.replace("    from .a import sym\n", "").replace(".b", ".a")}
    outcome = check_rewritten(tree, "pkg", "sym", after)
    assert "warning:" not in outcome.text


def test_the_first_import_of_a_guard_depends_on_none() -> None:
    after = {"pkg/__init__.py": GUARDED.replace("    from .a import sym\n", "")}
    outcome = check_rewritten(FILES, "pkg", "sym", after)
    assert "sym was bound only" not in outcome.text
