"""A symbol that the package does not bind, and whose origin no row tells: it is what one module below the package defines.

Owns what may not be done on such a guess: to change code that does well without the symbol.
Invariant: a call site moves only if it fails as it stands.
"""

from __future__ import annotations

import ast

from codemods.engine.scopes import Block
from codemods.narrow_reexport.resolve import Resolution

HINT = "write its row into narrowed.toml if it came from there, or accept the site"


def goes_on_without(block: Block) -> bool:
    """Whether the code stands in a `try` that may catch what it raises."""
    # try: from pkg import sym
    # except ImportError: sym = None        that is what runs today
    at: Block | None = block
    while at is not None:
        if isinstance(at.owner, ast.Try) or type(at.owner).__name__ == "TryStar":
            if at.statements is getattr(at.owner, "body", None):
                return True
        at = at.parent
    return False


def reason(found: Resolution) -> str:
    """Why a place is left alone."""
    package, name = found.symbol.module, found.symbol.name
    return f"{package} binds no {name}, and this goes on without it; with the one of {found.origin.module} it would not"


def note(found: Resolution) -> str:
    """What a person should know of a guess."""
    return (
        f"{found.symbol.module} binds no {found.symbol.name}, and no row says where it came from: "
        f"{found.origin.module} is the one module below it that defines one"
    )
