"""Where a lazy package's names come from, as its imports for type checkers tell.

    if TYPE_CHECKING:
        from .sub import Name             def __getattr__(name): ...

Owns the reading of these imports from bytes. A lazy package that has none is not understood here.
Invariant: it says nothing of a package that shows no sign of giving names out lazily.
"""

from __future__ import annotations

from codemods.engine.import_lines import import_lines
from codemods.engine.model import Module

_SIGNS = (b"__getattr__", b"LazyModule(", b"lazy_loader", b"attach(")
Twins = tuple[tuple[str, frozenset[str]], ...]


def lazy_twins(data: bytes, module: Module) -> Twins:
    """The from-imports of a lazy package, those for type checkers among them: (module, names), `*` for a star."""
    if b"TYPE_CHECKING" not in data or not any(sign in data for sign in _SIGNS):
        return ()
    found = []
    for line in import_lines(data):
        if line.module is not None:
            source = module.absolute(line.module.decode("utf-8", "replace"))
            if source and source != module.name:
                names = ((alias or name).decode("utf-8", "replace") for name, alias in line.names)
                found.append((source, frozenset(names)))
            elif source:
                # from . import sub
                found += [
                    (
                        f"{source}.{name.decode('utf-8', 'replace')}",
                        frozenset({(alias or name).decode("utf-8", "replace")}),
                    )
                    for name, alias in line.names
                    if name != b"*"
                ]
    return tuple(found)
