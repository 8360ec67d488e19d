"""Opening a tree: where a module lies, whatever the layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.errors import UnknownPackage
from codemods.import_cost.loads import third_party
from codemods.import_cost.tree import main_package, open_tree
from tests.import_cost.checkouts import opened, write


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        ({"pkg/__init__.py": "import pkg.a\n", "pkg/a.py": ""}, "pkg", {"pkg", "pkg.a"}),
        ({"src/pkg/__init__.py": "import pkg.a\n", "src/pkg/a.py": ""}, "pkg", {"pkg", "pkg.a"}),
        (
            {"src/pkg/__init__.py": "", "src/pkg/a.py": "from . import b\n", "src/pkg/b.py": ""},
            "pkg.a",
            {"pkg.a", "pkg", "pkg.b"},
        ),
        ({"ns/a.py": "from ns.b import f\n", "ns/b.py": ""}, "ns.a", {"ns.a", "ns.b"}),
        ({"ns/p/__init__.py": "import ns.p.b\n", "ns/p/b.py": ""}, "ns.p", {"ns.p", "ns.p.b"}),
        ({"run.py": "import beside\n", "beside.py": ""}, "run", {"run", "beside"}),
        ({"tools/run.py": "import pkg\n", "pkg/__init__.py": ""}, "run", {"run", "pkg"}),
        ({"projects/one/pkg/__init__.py": "import pkg.a\n", "projects/one/pkg/a.py": ""}, "pkg", {"pkg", "pkg.a"}),
        (
            {"pkg/__init__.py": "import other\n", "lib/other/__init__.py": "import other.x\n", "lib/other/x.py": ""},
            "pkg",
            {"pkg", "other", "other.x"},
        ),
    ],
)
def test_modules_are_found_in_every_layout(
    tmp_path: Path, files: dict[str, str], name: str, expected: set[str]
) -> None:
    loads = opened(tmp_path, files, name).loads
    assert {each for each in loads.closure(name) if loads.in_tree(each)} == expected


def test_what_only_has_the_name_of_an_installed_package_is_not_that(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "import docker, types, torch, helper, beside\n",
        "docker/build.py": "",
        "scripts/types.py": "import pkg.a\n",
        "types.py": "",
        "csrc/torch/x.py": "",
        "scripts/helper.py": "",
        "beside.py": "",
        "pkg/a.py": "",
    }
    loads = opened(tmp_path, files).loads
    whole = loads.closure("pkg")
    assert {each for each in whole if loads.in_tree(each)} == {"pkg", "beside"}
    assert third_party(whole, loads) == ("docker", "helper", "torch")


def test_a_module_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "", "pkg/light.py": ""})
    with pytest.raises(UnknownPackage, match=r"no module pkg\.ligth") as error:
        open_tree(tmp_path, "pkg.ligth", cached=False)
    assert error.value.hint == "did you mean pkg.light?"


def test_two_of_one_name_ask_for_a_source_root(tmp_path: Path) -> None:
    write(tmp_path, {"one/pkg/__init__.py": "import a\n", "two/pkg/__init__.py": "import b\n"})
    with pytest.raises(UnknownPackage, match="more than one module"):
        open_tree(tmp_path, "pkg", cached=False)
    assert "b" in open_tree(tmp_path, "pkg", source_roots=("two",), cached=False).loads.closure("pkg")


def test_many_files_are_read_by_several_processes_alike(tmp_path: Path) -> None:
    files = {f"pkg/m{n}.py": f"import pkg.m{(n * 7) % 300}\nfrom pkg import m{n // 2}\n" for n in range(300)}
    files["pkg/__init__.py"] = "import pkg.m1\n"
    found = opened(tmp_path, files)
    few = {path: text for path, text in files.items() if path in ("pkg/__init__.py", "pkg/m7.py")}
    assert found.loads.closure("pkg") >= {"pkg.m1", "pkg.m7"}
    assert len(found.modules) == 301
    other = opened(tmp_path / "few", few)
    assert other.loads.graph.outline("pkg.m7") == found.loads.graph.outline("pkg.m7")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pkg/__init__.py": "", "tests/__init__.py": "", "pkg/sub/__init__.py": ""}, "pkg"),
        ({"src/pkg/__init__.py": ""}, "pkg"),
    ],
)
def test_a_checkout_has_one_main_package(tmp_path: Path, files: dict[str, str], name: str) -> None:
    assert main_package(write(tmp_path, files)) == name


def test_of_two_packages_one_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownPackage) as error:
        main_package(write(tmp_path, {"a/__init__.py": "", "b/__init__.py": ""}))
    assert error.value.hint == "name one: a, b"
