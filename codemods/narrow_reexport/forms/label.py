"""Strings that nobody resolves: the name of a logger, a message, one side of a comparison.

Owns the question whether the place of a string shows that it is only a text.
Invariant: a place that hands the string to code it does not know is none of these.
"""

from __future__ import annotations

import ast
import builtins
import re

from codemods.engine.scopes import Use, last_name

_LOGGERS = {"getLogger", "get_logger"}
_LEVELS = {"debug", "info", "warn", "warning", "error", "exception", "critical"}
_WRITERS = re.compile(r"_?(?:log|logger|logging|warnings)\Z", re.I)
_ASSERTIONS = re.compile(r"assert(?:Not)?(?:Equals?|In|Regex|Is)\Z")
_TEXT_TESTS = {"startswith", "endswith", "count", "index", "find"}
_ERRORS = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}


def is_text(use: Use) -> bool:
    """Whether the string is written out, or names a logger: what it says changes nothing but what people read."""
    if isinstance(use.parent, ast.Assert):
        return use.parent.msg is use.node  # assert x, "pkg.sym"
    call = _call_of(use)
    if call is None:
        return False
    function = call.func
    name = last_name(function)
    if name in _LOGGERS:
        return call.args[0] is use.node  # logging.getLogger("pkg.sym")
    if isinstance(function, ast.Name):
        return name == "print" or name in _ERRORS  # print("pkg.sym")      raise ValueError("pkg.sym")
    # warnings.warn("pkg.sym")      self.logger.info("pkg.sym")
    owner = last_name(function.value) if isinstance(function, ast.Attribute) else ""
    return name in _LEVELS and _WRITERS.match(owner) is not None


def is_compared(use: Use) -> bool:
    """Whether the string is only compared with another: that one may be resolved, and is judged where it stands."""
    if isinstance(use.parent, ast.Compare):
        # repr(x) == "pkg.sym"        in `path in ("pkg.sym",)` the string is part of a tuple
        plain = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
        return all(isinstance(operator, plain) for operator in use.parent.ops)
    call = _call_of(use)
    if call is None or not isinstance(call.func, ast.Attribute):
        return False
    # self.assertEqual(path, "pkg.sym")        path.startswith("pkg.sym")
    return _ASSERTIONS.match(call.func.attr) is not None or call.func.attr in _TEXT_TESTS


def names_module(use: Use) -> bool:
    """Whether the string can only be the name of a module."""
    # sys.modules["pkg.f"]     import_module("pkg.f")     find_spec("pkg.f")
    if isinstance(use.parent, ast.Subscript):
        return isinstance(use.parent.value, ast.Attribute) and use.parent.value.attr == "modules"
    call = use.parent if isinstance(use.parent, ast.Call) else None
    name = call.func.attr if call is not None and isinstance(call.func, ast.Attribute) else ""
    return name in ("import_module", "find_spec", "reload", "run_module")


def _call_of(use: Use) -> ast.Call | None:
    return use.parent if isinstance(use.parent, ast.Call) and use.node in use.parent.args else None
