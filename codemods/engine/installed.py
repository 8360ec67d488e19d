"""Where an interpreter keeps its installed packages: its site-packages, and the folders that `.pth` files add.

Owns the question to the interpreter, the reading of `pyvenv.cfg` and of `.pth` files.
Invariant: the interpreter answers from its own standard library (`-I -S`); no installed code, no `.pth` line and no
`sitecustomize` runs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.engine.errors import UnknownPackage, Unreadable

_ASK = """
import json, os, sys, sysconfig
prefix = sys.argv[1]
names = sysconfig.get_scheme_names()
if prefix:
    plain = "nt" if os.name == "nt" else "posix_prefix"
    asked = [("venv" if "venv" in names else plain, {"base": prefix, "platbase": prefix})]
else:
    default = getattr(sysconfig, "get_default_scheme", None) or sysconfig._get_default_scheme
    asked = [(name, None) for name in (os.name + "_user", default(), "deb_system") if name in names]
print(json.dumps([sysconfig.get_path(key, name, given) for name, given in asked for key in ("purelib", "platlib")]))
"""


@dataclass(frozen=True, slots=True)
class Places:
    """Folders in which imports are looked up, in order, and `.pth` files that would run code to add more."""

    folders: tuple[Path, ...]
    running: tuple[Path, ...]


def installed_package(package: str, python: str = "") -> Path:
    """The folder on the interpreter's path that holds an installed package. Raises UnknownPackage with all folders."""
    interpreter = _interpreter(python)
    places = places_of(interpreter)
    below = package.replace(".", "/")
    for folder in places.folders:
        if (folder / below / "__init__.py").is_file():
            return folder
    looked = ", ".join(str(folder) for folder in places.folders) or "no folder that is there"
    hint = "name the interpreter that has it with --python"
    if places.running:
        names = ", ".join(str(path) for path in places.running)
        hint += f"; an editable install behind {names} is found by code, which is not run: install it without -e"
    raise UnknownPackage(f"no package {package} is installed for {interpreter}: looked in {looked}", hint=hint)


def places_of(interpreter: str) -> Places:
    """Where an interpreter looks for installed packages."""
    environment = _environment(Path(interpreter))
    folders: list[Path] = []
    if environment is not None:
        folders += _asked(interpreter, str(environment))
        if _shares(environment / "pyvenv.cfg"):
            folders += _asked(interpreter, "")
    else:
        folders += _asked(interpreter, "")
    folders = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    added: list[Path] = []
    running: list[Path] = []
    for folder in folders:
        for file in sorted(folder.glob("*.pth")):
            paths, runs = _path_lines(file)
            added += paths
            running += [file] if runs else []
    return Places(tuple(dict.fromkeys([*folders, *added])), tuple(running))


def _interpreter(spelled: str) -> str:
    if not spelled:
        return sys.executable
    for below in ("bin/python", "Scripts/python.exe"):
        if Path(spelled).is_dir() and (Path(spelled) / below).is_file():
            return str(Path(spelled) / below)
    found = shutil.which(spelled)
    if found is None:
        raise Unreadable("is no interpreter that can be run", path=spelled, hint="--python takes the path of a python")
    return found


def _environment(interpreter: Path) -> Path | None:
    """The virtual environment that an interpreter belongs to, by its `pyvenv.cfg`. A symlink is not followed."""
    for folder in (interpreter.absolute().parent, interpreter.absolute().parent.parent):
        if (folder / "pyvenv.cfg").is_file():
            return folder
    return None


def _shares(config: Path) -> bool:
    # include-system-site-packages = true
    rows = (row.partition("=") for row in config.read_text(encoding="utf-8", errors="replace").splitlines())
    return any(
        key.strip().lower() == "include-system-site-packages" and value.strip().lower() == "true"
        for key, _, value in rows
    )


def _asked(interpreter: str, prefix: str) -> list[Path]:
    command: Sequence[str] = [interpreter, "-I", "-S", "-c", _ASK, prefix]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
        answer = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        answer = None
    if not (isinstance(answer, list) and all(isinstance(each, str) for each in answer)):
        raise Unreadable("does not say where its packages are installed", path=interpreter)
    return [Path(each) for each in answer]


def _path_lines(file: Path) -> tuple[list[Path], bool]:
    """The folders that a `.pth` file adds, and whether a line of it would run code."""
    try:
        text = file.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=str(file)) from error
    found: list[Path] = []
    runs = False
    for line in text.splitlines():
        # ../checkout/src            import __editable___pkg_finder; ...
        if line.startswith(("import ", "import\t")):
            runs = True
        elif line.strip() and not line.startswith("#") and (file.parent / line.rstrip()).is_dir():
            found.append((file.parent / line.rstrip()).resolve())
    return found, runs
