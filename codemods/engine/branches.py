"""Which branches of an `if` run as a module is imported, as far as the test itself says.

Owns the tests that decide: `TYPE_CHECKING`, `__name__ == "__main__"`, constants, and `not`, `and`, `or` of them.
Invariant: a branch counts as run unless its test rules it out in every interpreter.
"""

from __future__ import annotations

import ast


def branches(test: ast.expr) -> tuple[bool, bool]:
    """Whether the body of `if test:` runs at import, and whether what follows in the chain does."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        body_runs, rest_runs = branches(test.operand)
        return rest_runs, body_runs
    if isinstance(test, ast.BoolOp):
        # if TYPE_CHECKING and sys.version_info >= (3, 11):
        runs = [branches(operand) for operand in test.values]
        if isinstance(test.op, ast.And):
            return all(body for body, _ in runs), any(rest for _, rest in runs)
        return any(body for body, _ in runs), all(rest for _, rest in runs)
    if isinstance(test, ast.Constant) and (test.value is None or isinstance(test.value, int)):
        # if False:        if 0:
        return bool(test.value), not test.value
    if isinstance(test, ast.Name):
        return test.id != "TYPE_CHECKING", True
    if isinstance(test, ast.Attribute):
        return test.attr != "TYPE_CHECKING", True
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, test.comparators[0])
        names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
        return not (names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)), True
    return True, True
