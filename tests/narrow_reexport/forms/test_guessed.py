"""A name that the package does not bind, and that no row tells the origin of."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, narrow, tree

GONE: Tree = {"pkg/__init__.py": "", "pkg/sub.py": "def sym():\n    return 1\n"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("try:\n    from pkg import sym\nexcept ImportError:\n    sym = None\nprint(sym)\n", 2),
        (
            "def f():\n    try:\n        with x: from pkg import sym\n    except Exception:\n        sym = 0\n    return sym\n",
            3,
        ),
        ("import pkg\n\ntry:\n    print(pkg.sym())\nexcept AttributeError:\n    pass\n", 4),
        ("import pkg\n\nprint(hasattr(pkg, 'sym'))\n", 3),
        ("import pkg\n\nprint(getattr(pkg, 'sym', None))\n", 3),
    ],
)
def test_what_goes_on_without_the_name_is_left_alone(text: str, line: int) -> None:
    reason = r"pkg binds no sym, and this goes on without it; with the one of pkg\.sub it would not"
    check_refused({**GONE, "a.py": text}, "pkg", "sym", reason, at=f"a.py:{line}")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("from pkg import sym\n", "from pkg.sub import sym\n"),
        ("try:\n    pass\nexcept ImportError:\n    from pkg import sym\n", "    from pkg.sub import sym\n"),
    ],
)
def test_what_fails_as_it_stands_moves_and_the_guess_is_told(text: str, after: str) -> None:
    with tree({**GONE, "a.py": text}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (root / "a.py").read_text().endswith(after)
        assert "note: pkg binds no sym, and no row says where it came from: pkg.sub is the one module" in outcome.text
        assert "no longer loads" not in outcome.text  # it did not before


def test_a_row_is_no_guess() -> None:
    row = 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'
    site = "try:\n    from pkg import sym\nexcept ImportError:\n    sym = None\n"
    with tree({**GONE, "narrowed.toml": row, "a.py": site}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0 and "note:" not in outcome.text
        assert "from pkg.sub import sym" in (root / "a.py").read_text()
