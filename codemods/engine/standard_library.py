"""What `from MODULE import *` binds where MODULE belongs to the standard library: by its source, which is never imported.

Owns the reading of the running Python's own library.
Invariant: what cannot be read there (built-in and compiled modules) is unknown, not empty.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path

from codemods.engine.model import Module
from codemods.engine.namespace import Namespaces, StarNames


@cache
def standard_star(module: str) -> StarNames | None:
    """What the star takes; None where that cannot be read, and for every other module."""
    folder = Path(sysconfig.get_path("stdlib"))

    def locate(name: str) -> Module | None:
        below = name.replace(".", "/")
        for path, is_package in ((f"{below}/__init__.py", True), (f"{below}.py", False)):
            if name.partition(".")[0] in sys.stdlib_module_names and (folder / path).is_file():
                return Module(name, path, is_package)
        return None

    return Namespaces(locate, lambda path: (folder / path).read_bytes()).star(module)
