"""Small checkouts on disk, and the command run on them in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codemods.import_cost.tree import Opened, open_tree

_path = sys.path[:]
from codemods.import_cost.__main__ import main  # noqa: E402  # it takes the working directory off the path

sys.path[:] = _path

# The package is heavy for all by one re-export, `big`; `shared` is loaded either way; `light` and its user need neither.
HEAVY = {
    "pkg/__init__.py": "from .light import small\nfrom .heavy import big, bigger\n",
    "pkg/light.py": "import pkg.shared\nsmall = 1\n",
    "pkg/shared.py": "import numpy\n",
    "pkg/heavy.py": "from pkg import shared\nfrom pkg.models import model\nimport torch.nn\nbig = bigger = 1\n",
    "pkg/models/__init__.py": "",
    "pkg/models/model.py": "from transformers import AutoModel\n",
    "pkg/user.py": "from pkg.light import small\n",
    "app.py": "from pkg import big\n\n\ndef late():\n    import pkg\n\n    return pkg.bigger\n",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What one invocation said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def opened(root: Path, files: Mapping[str, str], name: str = "pkg") -> Opened:
    return open_tree(write(root, files), name, cached=False)


def cost(root: Path, *arguments: str, cache: bool = False) -> Said:
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(root)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([*arguments, *([] if cache else ["--no-cache"])], prog_name="import_cost")
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
    finally:
        os.chdir(before)
    return Said(code, out.getvalue(), err.getvalue())
