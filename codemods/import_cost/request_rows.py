"""A ranking becomes a request: the file that `narrow-reexport --plan` takes, one row for each package.

Owns the format of that file and the reasons, as far as the package's own text tells them, why a name cannot be narrowed.
Invariant: the file runs as it is; a name is left out only for a reason that stands beside it as a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from codemods.engine.model import Module, When
from codemods.engine.namespace import Namespaces
from codemods.engine.report import counted
from codemods.engine.scopes import Syntax
from codemods.import_cost.ranking import Ranked
from codemods.import_cost.tree import Opened

_LATE = (When.LATE, When.TYPING)


def request_rows(opened: Opened, ranked: Sequence[Ranked], limit: int, command: str) -> tuple[str, int, int]:
    """The file, how many rows it has, and how many symbols. At most `limit` rows, 0 for all; `command` runs them."""
    packages: dict[str, list[Ranked]] = {}
    for each in ranked:
        packages.setdefault(each.package, []).append(each)
    namespaces = Namespaces(opened.layout.locate, opened.tree.read)
    blocks: list[str] = []
    rows = symbols = 0
    for package, own in packages.items():
        if limit and rows == limit:
            break
        left_out = _left_out(namespaces, package, own)
        count = sum(name not in left_out for each in own for name in each.names)
        blocks.append("".join(f"{line}\n" for line in _block(package, own, left_out, count)))
        rows, symbols = rows + bool(count), symbols + count
    head = (
        "# The re-exports that cost most, the worst first:\n"
        "# modules that `import PACKAGE` would no longer load x importers that do not need them, each for itself.\n"
        f"# {command}\n"
        "version = 1\n"
    )
    return "\n".join([head if rows else f"{head}narrow = []\n", *blocks]), rows, symbols


def _block(package: str, own: Sequence[Ranked], left_out: Mapping[str, str], count: int) -> Iterator[str]:
    if count:
        yield "[[narrow]]"
        yield f"package = {json.dumps(package, ensure_ascii=False)}"
        yield "symbols = ["
    else:
        yield f"# {package}: no name here that can be narrowed as it stands"
    lead = "    " if count else ""
    for each in own:
        place = f"{each.path}:{each.line}"
        shown = place if place.isprintable() else ascii(place)
        yield f"{lead}# {each.saved:,} x {each.importers:,} for {each.origin} ({shown})"
        for name in each.names:
            if name in left_out:
                yield f"{lead}#   not {name}: {left_out[name]}"
            else:
                yield f"{lead}{json.dumps(name, ensure_ascii=False)},"
    if count:
        yield "]"


def _left_out(namespaces: Namespaces, package: str, own: Sequence[Ranked]) -> dict[str, str]:
    """The names that are known not to be narrowable, with the reason."""
    located = namespaces.locate(package)
    syntax = namespaces.syntax(located) if located is not None else None
    names = dict.fromkeys(name for each in own for name in each.names)
    if located is None or syntax is None:
        return dict.fromkeys(names, "the __init__ cannot be read")
    found = {name: _reason(name, package, located, namespaces, syntax) for name in names}
    return {name: reason for name, reason in found.items() if reason}


def _reason(name: str, package: str, located: Module, namespaces: Namespaces, syntax: Syntax) -> str:
    if name == "*":
        return "a star: list the names that it brings"
    if name.startswith("__") and name.endswith("__"):
        return "tools read names like this from the package"
    bindings = namespaces.bindings(package, name)
    origins = [namespaces.origin(located, binding) for binding in bindings]
    defined = {namespaces.definition(origin) if origin is not None else None for origin in origins}
    if len(defined) > 1:
        # try: from .fast import f        except ImportError: f = None
        lines = sorted({binding.statement.lineno for binding in bindings})
        return f"it has more than one origin ({_lines(lines)})"
    own = [
        use.node.lineno
        for use in syntax.names
        if getattr(use.node, "id", "") == name
        and not use.annotation
        and use.scope.kind in ("module", "class")
        and use.block.when not in _LATE
    ]
    return f"the __init__ needs it as it is imported ({_lines(sorted(set(own)))})" if own else ""


def _lines(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:5]))
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{' and more' if len(lines) > 5 else ''}"


def wrote(rows: int, symbols: int, file: str) -> str:
    """What is said once the file is there."""
    return f"wrote {counted(rows, 'row')} with {counted(symbols, 'symbol')} to {file}"
