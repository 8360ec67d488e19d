"""Small trees as mappings of paths to source text."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.engine.graph import ImportGraph
from codemods.engine.modules import Layout
from codemods.import_cost.loads import Loads

# A package whose `__init__` is heavy for all by one of its names. `shared` is loaded either way.
HEAVY = {
    "pkg/__init__.py": "from .light import small\nfrom .heavy import big\nimport json\n",
    "pkg/light.py": "import pkg.shared\nsmall = 1\n",
    "pkg/shared.py": "import numpy.linalg\n",
    "pkg/heavy.py": "from pkg import shared\nfrom pkg.models import model\nimport torch.nn\nimport torch\nbig = 1\n",
    "pkg/models/__init__.py": "",
    "pkg/models/model.py": "import pkg._C\nfrom transformers import AutoModel\n",
}


def loads_of(files: Mapping[str, str], package: str = "pkg") -> Loads:
    data = {path: text.encode() for path, text in files.items()}
    return Loads(ImportGraph(Layout(list(data), package).locate, data.get))
