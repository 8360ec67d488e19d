"""Questions to `sys.modules` about a module that only the package's import loaded."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, blocks
from tests.narrow_reexport.verbs import check_rewritten


def test_a_lookup_that_would_raise_is_refused() -> None:
    reason = r"reads pkg\.sub from sys\.modules"
    blocks("import sys\nimport pkg\nprint(sys.modules['pkg.sub'].Sym)\n", reason, at="main.py:3")


@pytest.mark.parametrize(
    "asks", ["'pkg.sub' in sys.modules", "sys.modules.get('pkg.sub')", "sys.modules.pop('pkg.sub', None)"]
)
def test_a_question_whose_answer_may_change_is_said(asks: str) -> None:
    text = f"import sys\nimport pkg\nkept = {asks}\n"
    says = r"warning: main.py:3: import of the package no longer loads pkg\.sub"
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", NARROWED, says=says)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nimport pkg.sub\nprint(sys.modules['pkg.sub'].Sym)\n",
        "import sys\nimport pkg\nprint(sys.modules['pkg'].light(1))\n",
        "import sys\nimport pkg\nprint('pkg.light' in sys.modules)\n",
    ],
)
def test_modules_that_are_still_loaded_are_no_matter(text: str) -> None:
    outcome = check_rewritten({**PKG, "main.py": text}, "pkg", "sym", NARROWED, run=["main"])
    assert "warning:" not in outcome.text
