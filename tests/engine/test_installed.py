"""Where an interpreter's packages lie: virtual environments, `.pth` lines, and what is never run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codemods.engine.errors import UnknownPackage, Unreadable
from codemods.engine.installed import installed_package, places_of

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def environment(folder: Path, config: str = "") -> Path:
    """A virtual environment as `venv` lays it out; gives its site-packages."""
    site = folder / "lib" / VERSION / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n{config}")
    (folder / "bin" / "python").symlink_to(sys.executable)
    return site


def package(folder: Path, name: str, text: str = "") -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)


@pytest.mark.parametrize("spelled", ["venv", "venv/bin/python"])
def test_a_package_is_found_in_a_virtual_environment(tmp_path: Path, spelled: str) -> None:
    site = environment(tmp_path / "venv")
    package(site, "pkg")
    assert installed_package("pkg", str(tmp_path / spelled)) == site


def test_a_real_environment_answers_alike(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "real"], check=True)
    python = tmp_path / "real" / "bin" / "python"
    said = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True)
    assert str(places_of(str(python)).folders[0]) == said.stdout.decode().strip()


def test_without_a_path_the_running_interpreter_is_asked() -> None:
    site = installed_package("libcst")
    assert (site / "libcst" / "__init__.py").is_file()


def test_a_script_that_stands_for_an_interpreter_is_asked_like_one(tmp_path: Path) -> None:
    site = environment(tmp_path / "venv")
    package(site, "pkg")
    script = tmp_path / "venv" / "bin" / "wrapped"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    assert installed_package("pkg", str(script)) == site


def test_a_path_line_is_followed_and_a_line_of_code_is_not_run(tmp_path: Path) -> None:
    site = environment(tmp_path / "venv")
    package(tmp_path / "checkout" / "src", "pkg")
    (site / "a.pth").write_text(f"# a comment\n\n../../nowhere\n{tmp_path}/checkout/src\n")
    (site / "b.pth").write_text(f"import os; open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert installed_package("pkg", str(tmp_path / "venv")) == tmp_path / "checkout" / "src"
    with pytest.raises(UnknownPackage) as caught:
        installed_package("other", str(tmp_path / "venv"))
    assert str(site) in caught.value.detail and "b.pth" in caught.value.hint and "without -e" in caught.value.hint
    assert not (tmp_path / "ran").exists()


def test_neither_the_package_nor_sitecustomize_is_imported(tmp_path: Path) -> None:
    site = environment(tmp_path / "venv")
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    package(site, "pkg", code)
    (site / "sitecustomize.py").write_text(code)
    assert installed_package("pkg", str(tmp_path / "venv")) == site
    assert not (tmp_path / "ran").exists()


def test_an_environment_that_shares_the_systems_packages_is_looked_through_to_them(tmp_path: Path) -> None:
    environment(tmp_path / "apart")
    environment(tmp_path / "shared", "include-system-site-packages = true\n")
    apart = places_of(str(tmp_path / "apart/bin/python")).folders
    shared = places_of(str(tmp_path / "shared/bin/python")).folders
    assert len(shared) > len(apart) == 1


def test_a_module_is_no_package(tmp_path: Path) -> None:
    site = environment(tmp_path / "venv")
    (site / "pkg.py").write_text("")
    with pytest.raises(UnknownPackage):
        installed_package("pkg", str(tmp_path / "venv"))


@pytest.mark.parametrize("text", ["", "#!/bin/sh\necho '{}'\n", "#!/bin/sh\nexit 1\n"])
def test_what_is_no_interpreter_is_named(tmp_path: Path, text: str) -> None:
    script = tmp_path / "python"
    script.write_text(text)
    script.chmod(0o755 if text else 0o644)
    with pytest.raises(Unreadable) as caught:
        installed_package("pkg", str(script))
    assert str(script) in str(caught.value)
