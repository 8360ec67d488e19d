"""The trees that `make bench` runs on: vLLM with one re-export put back, and a generated tree of any size.

Owns how they are made.
Invariant: the released tree itself is never changed; the generated tree depends on its size alone.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from real_vllm import CACHE, DIRECT, FUSED, OPS_INIT, THROUGH_PACKAGE, replace_once

CALL_SITES = (
    "vllm/models/deepseek_v32/amd/model.py",
    "vllm/models/deepseek_v32/nvidia/model.py",
    "vllm/models/deepseek_v32/nvidia/mtp.py",
    "vllm/models/kimi_k3/nvidia/dspark_mla.py",
)
_MODULE = '''"""Module {number} of a generated tree."""

import os
from dataclasses import dataclass


@dataclass
class Record{number}:
    name: str
    size: int = {number}

    def path(self, root: str) -> str:
        return os.path.join(root, self.name, str(self.size))


def total(records: list[Record{number}]) -> int:
    return sum(record.size for record in records if record.name)
'''


def with_seed(released: Path, tree: Path) -> Path:
    """A copy of vLLM 0.33.0 in which the package exports the fused operator again, and four modules take it from there."""
    shutil.copytree(released, tree, symlinks=True)
    if f"import {FUSED}\n" not in (tree / OPS_INIT).read_text(encoding="utf-8"):
        first = "from .fused_qk_rmsnorm import "
        replace_once(tree / OPS_INIT, first, f"from .{FUSED} import {FUSED}\n{first}")
        replace_once(tree / OPS_INIT, "__all__ = [\n", f'__all__ = [\n    "{FUSED}",\n')
        for path in CALL_SITES:
            replace_once(tree / path, DIRECT, THROUGH_PACKAGE)
    return tree


def generated(files: int) -> Path:
    """A tree of so many modules in packages of 100, two in a hundred of which import the symbol; kept in `.cache/`."""
    tree = CACHE / f"generated-{files}"
    if tree.is_dir():
        return tree
    making = tree.with_name(f"{tree.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    top = making / "big"
    (top / "core").mkdir(parents=True)
    (top / "__init__.py").write_text("")
    (top / "core" / "__init__.py").write_text('from .engine import Engine\n\n__all__ = ["Engine"]\n')
    (top / "core" / "engine.py").write_text("class Engine:\n    pass\n")
    for number in range(files):
        folder = top / f"part{number // 10_000}" / f"group{number // 100}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
            for each in (folder.parent, folder):
                (each / "__init__.py").write_text("")
        text = _MODULE.format(number=number)
        if number % 50 == 0:
            text = text.replace("import os\n", "import os\nfrom big.core import Engine\n") + "\n\nENGINE = Engine()\n"
        (folder / f"module{number}.py").write_text(text)
    making.replace(tree)
    return tree
