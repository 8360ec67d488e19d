"""Cycles that an edit lays bare by an attribute that is read too early."""

from __future__ import annotations

from codemods.engine.cycles import risky_entries, unmasked_cycles
from codemods.engine.graph import Fault
from tests.engine.test_graph import graph_of, names_of

# pkg loads sub first: x finds it begun, and sub finds x finished
MASKED = {
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "from . import x\nsym = 1\nY = x.X\n",
    "pkg/x.py": "import pkg.sub\nX = 1\n",
}
UNMASKED = MASKED | {"pkg/__init__.py": ""}
FAULT = Fault("pkg.sub", "pkg/sub.py", 3, "X", "pkg.x", ("pkg.x", "pkg.sub"))


def test_an_attribute_that_is_read_too_early_is_a_fault() -> None:
    before, after = graph_of(MASKED), graph_of(UNMASKED)
    entries = risky_entries(after, names_of(UNMASKED))
    assert entries == ("pkg.sub", "pkg.x")
    assert unmasked_cycles(before, after, entries) == (FAULT,)
    assert unmasked_cycles(after, after, entries) == ()


def test_an_edited_graph_shares_what_it_watches() -> None:
    before = graph_of(MASKED)
    after = before.edited({"pkg/__init__.py": b""})
    assert unmasked_cycles(before, after, risky_entries(after, names_of(UNMASKED))) == (FAULT,)


def test_a_read_in_a_function_or_after_the_name_is_none() -> None:
    late = UNMASKED | {"pkg/sub.py": "from . import x\nsym = 1\ndef f():\n    return x.X\n"}
    assert risky_entries(graph_of(late), names_of(late)) == ()
    below = UNMASKED | {"pkg/x.py": "X = 1\nimport pkg.sub\n"}
    before, after = graph_of(MASKED | below), graph_of(below)
    assert unmasked_cycles(before, after, names_of(below)) == ()


def test_a_name_that_the_module_never_binds_is_not_waited_for() -> None:
    odd = UNMASKED | {"pkg/sub.py": "from . import x\nsym = 1\nY = x.set_by_somebody\n"}
    assert (
        unmasked_cycles(graph_of(odd | {"pkg/__init__.py": MASKED["pkg/__init__.py"]}), graph_of(odd), ["pkg.x"]) == ()
    )


def test_a_caught_read_raises_nothing() -> None:
    caught = UNMASKED | {
        "pkg/sub.py": "from . import x\nsym = 1\ntry:\n    Y = x.X\nexcept AttributeError:\n    Y = 0\n"
    }
    before = graph_of(caught | {"pkg/__init__.py": MASKED["pkg/__init__.py"]})
    assert unmasked_cycles(before, graph_of(caught), ["pkg.x", "pkg.sub"]) == ()
