"""The small package that most tests narrow: `pkg` takes `sym` from `pkg.sub`, and `light` from `pkg.light`.

Owns that package before and after, and the shorthand for one consumer beside it.
Invariant: it asserts nothing itself; the verbs do.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests import oracle
from tests.narrow_reexport.verbs import Outcome, Tree, as_bytes, check_refused, check_rewritten, narrow
from tests.narrow_reexport.verbs import tree as laid

PKG: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .light import light\nfrom .sub import sym\n",
    "pkg/light.py": "def light(x):\n    return x\n",
    "pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\nclass Sym:\n    limit = 3\n",
}
NARROWED: dict[str, str | bytes] = {"pkg/__init__.py": "from .light import light\n"}

# The trap of the seed case: the function has the name of its module.
SAME: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .fused import fused\n",
    "pkg/fused.py": "def fused(x=1):\n    return x * 10\n\n\ndef other():\n    return 'other'\n",
}
SAME_NARROWED: dict[str, str | bytes] = {"pkg/__init__.py": ""}


def moves(
    before: str | bytes,
    after: str | bytes,
    *,
    path: str = "main.py",
    run: Sequence[str] = ("main",),
    more: Tree | None = None,
    says: str = "",
) -> Outcome:
    """One consumer of `pkg.sym` is rewritten, and still does what it did."""
    tree = {**PKG, **(more or {}), path: before}
    return check_rewritten(tree, "pkg", "sym", {**NARROWED, path: after}, run=run, unloaded=["pkg.sub"], says=says)


def stays(
    text: str | bytes,
    *,
    path: str = "main.py",
    run: Sequence[str] = ("main",),
    more: Tree | None = None,
    says: str = "",
) -> Outcome:
    """One file beside `pkg` is none of the codemod's business: the package is narrowed, the file keeps every byte."""
    return moves(text, text, path=path, run=run, more=more, says=says)


def same_moves(before: str, after: str, *, run: Sequence[str] = ("main",), more: Tree | None = None) -> Outcome:
    """The same as `moves` for the function that has the name of its module."""
    return check_rewritten(
        {**SAME, **(more or {}), "main.py": before},
        "pkg",
        "fused",
        {**SAME_NARROWED, "main.py": after},
        run=run,
        unloaded=["pkg.fused"],
    )


def blocks(text: str | bytes, reason: str, *, path: str = "main.py", more: Tree | None = None, at: str = "") -> Outcome:
    """One consumer stands in the way: nothing is written, and the message names it."""
    return check_refused({**PKG, **(more or {}), path: text}, "pkg", "sym", reason, at=at or f"{path}:")


def answered(
    text: str | bytes, site: str, *, path: str = "main.py", more: Tree | None = None, run: Sequence[str] = ("main",)
) -> Outcome:
    """A hard site may be refused, warned of, or rewritten rightly; what it may never be is broken in silence."""
    with laid({**PKG, **(more or {}), path: text}) as root:
        old = oracle.run_programs(root, run)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4), outcome.text
        if outcome.code == 4 or oracle.differences(old, oracle.run_programs(root, run)):
            assert site in outcome.text, f"{site} is not named:\n{outcome.text}"
        if outcome.code == 4:
            assert (root / path).read_bytes() == as_bytes(text)
    return outcome


def rewrites_strings(before: Tree, after: Tree, *, run: Sequence[str] = ("main",), says: str = "") -> None:
    """With `--rewrite-strings` files beside `pkg` become others, and still do what they did."""
    check_rewritten(
        {**PKG, **before},
        "pkg",
        "sym",
        {**NARROWED, **after},
        options=["--rewrite-strings"],
        run=run,
        unloaded=["pkg.sub"],
        says=says,
    )
