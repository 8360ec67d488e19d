"""Which code this is: results from several machines can be put together only if the same code made them.

Owns the fingerprint of the installed `codemods`, and of the Python that runs it.
Invariant: two processes with the same fingerprint give the same answer to the same question.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from codemods.engine.errors import CodemodError

_FOLDER = Path(__file__).parents[1]


class OtherRelease(CodemodError):
    """Another version of `codemods`, or of Python, is at work on another machine."""


@functools.cache
def release() -> str:
    """The version of `codemods` with a fingerprint of its source, and that of Python, whose grammar decides what parses."""
    try:
        number = version("codemods")
    except PackageNotFoundError:  # run from a checkout that is not installed
        number = "unknown"
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(_FOLDER.rglob("*.py")):
        found.update(path.relative_to(_FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"codemods {number} ({found.hexdigest()}), Python {sys.version_info.major}.{sys.version_info.minor}"
