"""The cache in the user's cache folder: what earlier runs found out about the files of a tree.

Owns the place of the cache, its reading and its writing. It is never a source file, so it does not go through
`engine/project.py`.
Invariant: it never writes into the tree that is looked at, never fails a run (a cache that cannot be read or written
is none), and is replaced as a whole, so that two runs at once leave one of two whole files.
"""

# ruff: noqa: PTH105
from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from codemods.import_cost.records import Record, decode, encode

_VARIABLE = "CODEMODS_CACHE_DIR"


def cache_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where this user's caches stand: `CODEMODS_CACHE_DIR`, or what the platform has for it."""
    if given := environment.get(_VARIABLE):
        return Path(given)
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Caches" / "codemods"
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "codemods" / "Cache"
    above = environment.get("XDG_CACHE_HOME", "")
    # the XDG specification: a relative path is invalid and is to be ignored
    return Path(above if Path(above).is_absolute() else home / ".cache") / "codemods"


def cache_file(root: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The cache of one tree."""
    name = hashlib.blake2b(os.fsencode(root.resolve()), digest_size=12).hexdigest()
    return cache_folder(environment) / "import_cost" / f"{name}.bin"


def load(file: Path) -> dict[str, Record]:
    """The records; none where there is no cache that this version can read."""
    try:
        data = file.read_bytes()
    except OSError:
        return {}
    return decode(data, reader_version())


def store(file: Path, records: Mapping[str, Record]) -> None:
    """Replace the cache. Where that does not work the next run is as slow as this one, and that is all."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=file.stem, suffix=".tmp", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(encode(records, reader_version()))
            os.replace(temporary, file)
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


@functools.cache
def reader_version() -> str:
    """A fingerprint of this version: of the modules that decide what is found in a file."""
    # A checkout changes without a new version number, and to look the number up costs more than the whole load.
    own = Path(__file__).resolve().parents[1]
    stamps = []
    for name in (
        "engine/model.py",
        "engine/outline.py",
        "engine/branches.py",
        "engine/blanking.py",
        "engine/import_lines.py",
        "import_cost/records.py",
    ):
        with contextlib.suppress(OSError):
            state = (own / name).stat()
            stamps.append(f"{name}:{state.st_size}:{state.st_mtime_ns}")
    return hashlib.blake2b(" ".join(stamps).encode(), digest_size=8).hexdigest()
