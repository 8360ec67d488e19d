"""What people install: the wheel and the source archive, built, looked into, and used from a clean environment.

Building and installing fetch from the package index, so these tests run where INSTALLS=1 is set, as `make dist` does.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPTS = sorted(PYPROJECT["project"]["scripts"])
BIN = "Scripts" if os.name == "nt" else "bin"

pytestmark = [
    pytest.mark.skipif(not os.environ.get("INSTALLS"), reason="installs from the package index: set INSTALLS=1"),
    pytest.mark.skipif(not importlib.util.find_spec("build"), reason="build is not installed"),
]

# For Fixit, and for the workers of a Dask cluster.
OF_EXTRAS = ("codemods/rules/", "codemods/engine/cluster_values.py")

# What a project would write that uses the library; both modules are made for it.
USER = """\
from pathlib import Path

from codemods.import_cost.testing import assert_import_budget
from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.request import Request, Result


def narrowed(root: Path) -> Result:
    return run(Request(root, "pkg", ("sym",)))


def test_light(root: Path) -> None:
    assert_import_budget("pkg", forbid=["torch"], max_modules=9, root=root)


files: int = narrowed(Path()).files
"""
WRONG = 'wrong: str = narrowed(Path()).files\nassert_import_budget("pkg", max_modules="9")\n'


@dataclass(frozen=True)
class Installed:
    """The two files, the unpacked source archive, and the interpreter of an environment with nothing but the wheel."""

    wheel: Path
    sdist: Path
    unpacked: Path
    python: Path

    def run(self, *line: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return subprocess.run([str(part) for part in line], cwd=cwd, env=kept, capture_output=True, text=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("distribution")
    # the wheel is built from the source archive: what is not in there is not in the wheel
    checked(sys.executable, "-m", "build", "--outdir", folder / "dist", PROJECT)
    (wheel,), (sdist,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    venv.create(folder / "clean", with_pip=True)
    python = folder / "clean" / BIN / "python"
    checked(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    return Installed(wheel, sdist, folder / sdist.name.removesuffix(".tar.gz"), python)


def checked(*line: str | Path) -> None:
    done = subprocess.run([str(part) for part in line], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def tracked(*under: str) -> set[str]:
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *under], cwd=PROJECT, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return set(done.stdout.splitlines())


def test_the_wheel_holds_the_package_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    own = {name for name in names if ".dist-info/" not in name}
    assert own == tracked("codemods")
    assert "codemods/py.typed" in own
    told = {name.partition(".dist-info/")[2] for name in names - own}
    assert told == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_the_source_archive_holds_what_is_tracked_and_nothing_else(installed: Installed) -> None:
    found = {p.relative_to(installed.unpacked).as_posix() for p in installed.unpacked.rglob("*") if p.is_file()}
    meant = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    wanted = tracked(*(path.removeprefix("/") for path in meant))
    assert found - wanted == {"PKG-INFO", "README.md", "LICENSE", "pyproject.toml", ".gitignore"}
    assert wanted <= found


def test_the_wheel_says_what_it_needs(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = archive.read(name).decode().partition("\n\n")[0].splitlines()
    needed = {
        line.removeprefix("Requires-Dist: ")
        for line in told
        if line.startswith("Requires-Dist") and "extra" not in line
    }
    assert {requirement.partition(">")[0] for requirement in needed} == {"click", "libcst", "pathspec", "tomli"}
    assert f"Requires-Python: {PYPROJECT['project']['requires-python']}" in told


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_console_script_starts(installed: Installed, script: str, tmp_path: Path) -> None:
    helped = installed.run(installed.python.parent / script, "--help", cwd=tmp_path)
    assert helped.returncode == 0 and helped.stdout.startswith("Usage: "), helped.stderr
    version = installed.run(installed.python.parent / script, "--version", cwd=tmp_path)
    assert version.returncode == 0 and PYPROJECT["project"]["version"] in version.stdout


def test_every_module_is_imported_without_the_extras(installed: Installed, tmp_path: Path) -> None:
    names = sorted(
        path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for path in tracked("codemods")
        if path.endswith(".py") and not path.startswith(OF_EXTRAS)
    )
    program = f"import importlib\nfor name in {names}: importlib.import_module(name)\n"
    done = installed.run(installed.python, "-W", "error", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_demo_runs_from_the_source_archive(installed: Installed) -> None:
    done = installed.run(installed.python, "fixtures/narrow_reexport/demo.py", cwd=installed.unpacked)
    assert done.returncode == 0, done.stdout + done.stderr
    here = subprocess.run(
        [sys.executable, PROJECT / "fixtures/narrow_reexport/demo.py"], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.stdout == here.stdout


def test_the_page_of_import_cost_is_packed(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("import json\n")
    done = installed.run(installed.python.parent / "import-cost", "pkg", "--html", "out.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert all(part in text for part in ("<style>", "<script>"))


@pytest.mark.parametrize(("more", "errors"), [("", 0), (WRONG, 2)], ids=["right", "wrong"])
def test_a_strict_type_checker_reads_the_installed_types(
    installed: Installed, tmp_path: Path, more: str, errors: int
) -> None:
    (tmp_path / "user.py").write_text(USER + more, encoding="utf-8")
    line = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        installed.python,
        "--cache-dir",
        tmp_path / "c",
    ]
    done = installed.run(*line, "user.py", cwd=tmp_path)
    assert done.stdout.count("error:") == errors, done.stdout + done.stderr
    assert (done.returncode == 0) == (errors == 0)
