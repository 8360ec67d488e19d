"""What stars take from the standard library is read from its source."""

from __future__ import annotations

import sys

import pytest

from codemods.engine.standard_library import standard_star


@pytest.mark.parametrize("module", ["dataclasses", "json", "os.path", "json.decoder"])
def test_the_names_are_those_that_the_star_brings(module: str) -> None:
    found = standard_star(module)
    if module == "os.path":  # which of two modules it is the running system decides
        assert found is None
        return
    space: dict[str, object] = {}
    exec(f"from {module} import *", space)
    assert found is not None
    assert {*found.certain} == space.keys() - {"__builtins__"}


@pytest.mark.parametrize("module", ["sys", "_thread", "os", "no_such_module", "numpy", "pytest", "json.no_such"])
def test_what_has_no_source_or_a_computed_list_is_unknown(module: str) -> None:
    assert standard_star(module) is None


def test_nothing_is_imported() -> None:
    gone = sys.modules.pop("antigravity", None)
    standard_star("antigravity")
    assert "antigravity" not in sys.modules and gone is None
