"""Which file is which module."""

from __future__ import annotations

import pytest

from codemods.engine.errors import UnknownPackage
from codemods.engine.model import Module
from codemods.engine.modules import Layout


def test_a_package_at_the_root_is_found() -> None:
    layout = Layout(["pkg/__init__.py", "pkg/sub.py", "main.py"], "pkg")
    assert layout.locate("pkg") == Module("pkg", "pkg/__init__.py", True)
    assert layout.locate("pkg.sub") == Module("pkg.sub", "pkg/sub.py", False)
    assert layout.locate("main") == Module("main", "main.py", False)
    assert layout.locate("pkg.nothing") is None


@pytest.mark.parametrize(
    ("path", "name", "is_package"),
    [
        ("src/pkg/__init__.py", "pkg", True),
        ("src/pkg/a/b.py", "pkg.a.b", False),
        ("src/pkg/a/__init__.pyi", "pkg.a", True),
        ("tests/test_it.py", "test_it", False),
        ("tests/deep/conftest.py", "conftest", False),
        ("other/__init__.py", "other", True),
        ("other/x.py", "other.x", False),
    ],
)
def test_each_file_is_the_module_that_python_makes_of_it(path: str, name: str, is_package: bool) -> None:
    paths = [
        "src/pkg/__init__.py",
        "src/pkg/a/__init__.py",
        "src/pkg/a/b.py",
        "src/pkg/a/__init__.pyi",
        "tests/test_it.py",
        "tests/deep/conftest.py",
        "other/__init__.py",
        "other/x.py",
    ]
    assert Layout(paths, "pkg").module_at(path) == Module(name, path, is_package)


def test_a_package_wins_over_a_module_of_the_same_name() -> None:
    layout = Layout(["pkg/__init__.py", "pkg/sub.py", "pkg/sub/__init__.py"], "pkg")
    found = layout.locate("pkg.sub")
    assert found is not None
    assert found.is_package


def test_a_namespace_package_has_no_file() -> None:
    layout = Layout(["space/pkg/__init__.py", "space/loose.py"], "space.pkg")
    assert layout.locate("space") == Module("space", "", True)
    assert layout.locate("space.loose") == Module("space.loose", "space/loose.py", False)


def test_the_portions_of_a_namespace_package_belong_together() -> None:
    layout = Layout(["space/pkg/__init__.py", "plugin/space/extra.py", "plugin/setup.py"], "space.pkg")
    assert layout.module_at("plugin/space/extra.py").name == "space.extra"
    assert layout.locate("space.extra") == Module("space.extra", "plugin/space/extra.py", False)


def test_src_is_preferred_to_other_folders() -> None:
    assert Layout(["examples/pkg/__init__.py", "src/pkg/__init__.py"], "pkg").root == "src"


def test_the_root_is_preferred_to_src() -> None:
    assert Layout(["pkg/__init__.py", "src/pkg/__init__.py"], "pkg").root == ""


def test_a_package_inside_another_is_not_taken_for_a_top_level_one() -> None:
    with pytest.raises(UnknownPackage, match="no package ops"):
        Layout(["app/__init__.py", "app/ops/__init__.py"], "ops")


def test_two_roots_are_ambiguous_and_one_can_be_given() -> None:
    paths = ["one/pkg/__init__.py", "two/pkg/__init__.py"]
    with pytest.raises(UnknownPackage, match="more than one package"):
        Layout(paths, "pkg")
    assert Layout(paths, "pkg", ["two"]).root == "two"
    assert Layout(paths, "pkg", ["./two/"]).root == "two"


@pytest.mark.parametrize(
    ("package", "message"), [("pkg.sub", "is a module"), ("space", "namespace"), ("nothing", "no package nothing")]
)
def test_what_is_no_package_is_said_to_be_something_else(package: str, message: str) -> None:
    with pytest.raises(UnknownPackage, match=message):
        Layout(["pkg/__init__.py", "pkg/sub.py", "space/x.py"], package)


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(UnknownPackage) as caught:
        Layout(["kernels/__init__.py"], "kernel")
    assert "kernels" in caught.value.hint


def test_a_neighbour_of_a_script_shadows_the_package_for_it_alone() -> None:
    layout = Layout(["pkg/__init__.py", "scripts/pkg.py", "scripts/run.py", "main.py", "pkg/user.py"], "pkg")
    assert layout.shadowed_by("scripts/run.py") == "scripts/pkg.py"
    assert layout.shadowed_by("main.py") == ""
    assert layout.shadowed_by("pkg/user.py") == ""


def test_another_checkout_looks_the_package_up_in_the_first() -> None:
    base = Layout(["pkg/__init__.py", "pkg/sub.py"], "pkg")
    other = Layout(["app.py", "plugin/__init__.py", "plugin/x.py"], "pkg", (), base=base)
    assert other.locate("pkg.sub") == Module("pkg.sub", "pkg/sub.py", False)
    assert other.module_at("plugin/x.py") == Module("plugin.x", "plugin/x.py", False)
