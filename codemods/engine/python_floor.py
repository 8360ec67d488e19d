"""The oldest Python that a project supports, and conditions that hold on every one of them.

Owns the reading of `requires-python` and its older spellings, and the answer to "is this test always true?".
Invariant: where nothing is said, Python 3 is all that is taken for granted; a test that is not understood may be false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection

from codemods.engine.scopes import Syntax

_FLOOR = re.compile(
    r"""^[ \t]*(?:"?requires-python"?|python_requires|python)[ \t]*=[ \t]*["']?(?P<range>[^\n"']*)""", re.M
)
_FROM = re.compile(r"(?:>=|~=|\^)[ \t]*(\d+)(?:\.(\d+))?")
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")


def oldest_python(path: str, paths: Collection[str], read: Callable[[str], bytes]) -> tuple[int, ...]:
    """The oldest version that the nearest project file above `path` allows, `(3,)` where none says it."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        said = []
        for name in _FILES:
            file = f"{folder}/{name}" if folder else name
            text = read(file).decode("utf-8", "replace") if file in paths else ""
            for match in _FLOOR.finditer(text):
                least = [tuple(int(part) for part in found if part) for found in _FROM.findall(match["range"])]
                said.append(max(least) if least else (3,))
        if said:
            return min(said)
    return (3,)


def always_holds(test: ast.expr, syntax: Syntax, floor: tuple[int, ...]) -> bool:
    """Whether a module-level test is true wherever the project runs."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp):
        answers = [always_holds(value, syntax, floor) for value in test.values]
        return all(answers) if isinstance(test.op, ast.And) else any(answers)
    # if not TYPE_CHECKING:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.unparse(test.operand) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    # if sys.version_info >= (3, 8):          if (3, 8) <= sys.version_info:
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    if isinstance(operator, (ast.LtE, ast.Lt)):
        left, right = right, left
    elif not isinstance(operator, (ast.GtE, ast.Gt)):
        return False
    strict = isinstance(operator, (ast.Gt, ast.Lt))
    spelled = ast.unparse(left)
    if not _is_sys(syntax) or not spelled.startswith("sys.version_info"):
        return False
    rest = spelled.removeprefix("sys.version_info")
    # sys.version_info[0] >= 3
    if rest in ("[0]", ".major") and isinstance(right, ast.Constant) and isinstance(right.value, int):
        return floor[0] > right.value or (floor[0] == right.value and not strict)
    if rest not in ("", "[:2]", "[:3]") or not isinstance(right, ast.Tuple):
        return False
    wanted = tuple(part.value for part in right.elts if isinstance(part, ast.Constant) and isinstance(part.value, int))
    if len(wanted) != len(right.elts) or not wanted:
        return False
    # the version itself is longer than `(3, 8)`, hence greater; a slice of it may be equal
    return floor > wanted if strict and rest else floor >= wanted


def _is_sys(syntax: Syntax) -> bool:
    found = syntax.module.bindings.get("sys", [])
    return bool(found) and all(isinstance(each.node, ast.alias) and each.node.name == "sys" for each in found)
