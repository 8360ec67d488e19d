"""Which names a module's `__all__` holds, as far as they are written down: what a star import takes.

Owns reading `__all__` from bytes: the plain list by a pattern, anything else by `ast`.
Invariant: it lists strings that stand in a statement about `__all__` at import time, in their order; it computes nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

_ALL = re.compile(rb"^(?:\xef\xbb\xbf)?__all__(?:\s*:[^=\n]*)?\s*=\s*[\[(]([^\])#\\]*)[\])]\s*$", re.MULTILINE)
_QUOTED = re.compile(rb"""["'](\w+)["']""")


def listed_names(data: bytes) -> tuple[str, ...]:
    """The names in `__all__`; none where there is no `__all__`, or the file does not parse."""
    mentions = data.count(b"__all__")
    if not mentions:
        return ()
    # __all__ = ["a", "b"]
    found = _ALL.search(data) if mentions == 1 else None
    if found:
        return tuple(name.decode("utf-8", "replace") for name in _QUOTED.findall(found[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            body = ast.parse(data).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()
    return tuple(dict.fromkeys(_strings(body)))


def _strings(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        # __all__ = ["a"] + sub.__all__        __all__ += ["a"]        __all__: list[str] = ["a"]        __all__[0:0] = ["a"]
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(map(_is_all, targets)) and node.value is not None:
                yield from _constants(node.value)
        # __all__.append("a")        __all__.extend(["a"])
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _adds(node.value.func):
            for argument in node.value.args:
                yield from _constants(argument)
        else:
            # if sys.platform == "win32": __all__ += ["a"]
            for block in ("body", "handlers", "orelse", "finalbody", "cases"):
                for each in getattr(node, block, ()):
                    yield from _strings([each] if isinstance(each, ast.stmt) else each.body)


def _is_all(target: ast.expr) -> bool:
    if isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and target.id == "__all__"


def _adds(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("append", "extend", "insert")
        and _is_all(function.value)
    )


def _constants(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
