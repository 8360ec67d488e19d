"""What an expression of a lazy `__init__` is: literal tables, the text made from them, modules, and what is read from them.

Owns the values that a module `__getattr__` computes with, found by reading the code, never by running it.
Invariant: whatever is not understood raises `Unclear` with its line; no value is ever guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from codemods.engine.model import Module, Symbol, When
from codemods.engine.namespace import absolute
from codemods.engine.scopes import Binding, Syntax, last_name

READS = {"get", "items", "keys", "values", "copy", "index", "count"}
MAKERS = {"list", "tuple", "set", "frozenset", "sorted", "dict"}
_STEPS = 20_000


class Unclear(Exception):
    """The code does something whose outcome cannot be read off: what, and at which line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line


class Lacking(Exception):
    """A lookup that fails as it would at run time: KeyError."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module; `stated`: an import statement brought it."""

    name: str
    stated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a module binds under a name; `stated`: an import statement or an attribute read of one took it."""

    symbol: Symbol
    stated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Namespace:
    """`globals()` of the package: the name that is asked for is not in it."""


class Values:
    """Evaluates expressions of one file."""

    def __init__(self, package: Module, syntax: Syntax, locate: Callable[[str], Module | None]) -> None:
        self.package = package
        self.syntax = syntax
        self.locate = locate
        self.read: dict[str, tuple[ast.stmt, ...]] = {}  # tables that were looked into
        self.steps = 0
        self.asked = ""  # the name that `__getattr__` is asked for: it is not in the namespace
        self.own: dict[object, object] = {}  # what the code has put into the namespace since
        self.shared: set[str] = set()  # names declared global
        self._known: dict[str, object] = {}

    # Names

    def of_name(self, name: str, node: ast.expr) -> object:
        """The value of a module-level name."""
        if name in ("__name__", "__package__"):
            return self.package.name
        if name not in self._known:
            self._known[name] = self._module_level(name, node)
        return self._known[name]

    def _module_level(self, name: str, node: ast.expr) -> object:
        found = [
            binding
            for binding in self.syntax.module.bindings.get(name, [])
            if binding.block.when is not When.TYPING and not _bare(binding)
        ]
        if not found:
            raise Unclear(f"{name} is bound nowhere in the file", node.lineno)
        if len(found) > 1:
            raise Unclear(f"{name} is built over several statements", found[1].statement.lineno)
        binding = found[0]
        if isinstance(binding.node, ast.alias):
            return self.imported(binding.statement, binding.node)  # type: ignore[arg-type]
        line = binding.statement.lineno
        if not isinstance(binding.statement, (ast.Assign, ast.AnnAssign)) or binding.value is None:
            raise Unclear(f"{name} is no literal table", line)
        if binding.block.optional or binding.scope is not self.syntax.module or binding.block.when is When.LATE:
            raise Unclear(f"{name} is bound only under a condition", line)
        value = self.value(binding.value, {})
        if isinstance(value, (dict, list, set)):
            self._unchanged(name)
        self.read[name] = (binding.statement,)
        return value

    def _unchanged(self, name: str) -> None:
        """Raise where anything but a read may be done to a table."""
        for use in self.syntax.names:
            if not isinstance(use.node, ast.Name) or use.node.id != name or use.scope.owner(name) is None:
                continue
            if use.scope.owner(name) is not self.syntax.module:
                continue
            parent = use.parent
            changed = False
            if isinstance(parent, ast.Attribute):
                changed = parent.attr not in READS
            elif isinstance(parent, ast.Subscript) and parent.value is use.node:
                changed = not isinstance(parent.ctx, ast.Load)
            elif isinstance(parent, ast.AugAssign):
                changed = parent.target is use.node
            elif isinstance(parent, ast.Call):
                changed = last_name(parent.func) not in MAKERS | {
                    "len",
                    "iter",
                    "enumerate",
                    "zip",
                    "any",
                    "all",
                    "print",
                }
            elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return)):
                changed = not (isinstance(parent, ast.Assign) and _is_all(parent))
            if changed:
                raise Unclear(f"the table {name} is changed or handed on after it is made", use.node.lineno)

    def imported(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> object:
        """What one alias of an import statement binds."""
        if isinstance(statement, ast.Import):
            return Loaded(alias.name if alias.asname else alias.name.partition(".")[0], True)
        source = absolute(self.package, statement)
        if not source or alias.name == "*":
            raise Unclear("an import whose source cannot be read", statement.lineno)
        return self._from(source, alias.name)

    def _from(self, source: str, name: str) -> object:
        if source == self.package.name and self.locate(f"{source}.{name}") is not None:
            return Loaded(f"{source}.{name}", True)
        module = self.locate(source)
        if (module is None or module.is_package) and self.locate(f"{source}.{name}") is not None:
            return Loaded(f"{source}.{name}", True)
        return Taken(Symbol(source, name), True)

    # Expressions

    def value(self, node: ast.expr, names: dict[str, object]) -> object:
        """The value of an expression; `names` are the local ones."""
        self.steps += 1
        if self.steps > _STEPS:
            raise Unclear("it computes too much to be followed", node.lineno)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id] if node.id in names else self.of_name(node.id, node)
        if isinstance(node, ast.NamedExpr):
            names[node.target.id] = self.value(node.value, names)
            return names[node.target.id]
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._display(node, names)
        if isinstance(node, ast.Dict):
            return self._dict(node, names)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(part, names) for part in node.values)
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.truth(node.test, names) else node.orelse, names)
        if isinstance(node, ast.BoolOp):
            return self._bool(node, names)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.truth(node.operand, names)
        if isinstance(node, ast.BinOp):
            return self._binary(node, names)
        if isinstance(node, ast.Compare):
            return self._compare(node, names)
        if isinstance(node, ast.Subscript):
            return self._item(node, names)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, names)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension(node, names)
        if isinstance(node, ast.Call):
            return self._call(node, names)
        raise Unclear(f"it evaluates {ast.unparse(node)[:60]}", node.lineno)

    def truth(self, node: ast.expr, names: dict[str, object]) -> bool:
        """Whether an expression is true."""
        value = self.value(node, names)
        if not isinstance(value, Taken):
            return bool(value)
        raise Unclear(f"it depends on {value.symbol}", node.lineno)

    def _display(self, node: ast.List | ast.Tuple | ast.Set, names: dict[str, object]) -> object:
        items: list[object] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items += self.items(element.value, names)
            else:
                items.append(self.value(element, names))
        if isinstance(node, ast.List):
            return items
        return tuple(items) if isinstance(node, ast.Tuple) else self._hashed(items, node)

    def _hashed(self, items: list[object], node: ast.expr) -> set[object]:
        try:
            return set(items)
        except TypeError:
            raise Unclear("a set of things that cannot be in one", node.lineno) from None

    def _dict(self, node: ast.Dict, names: dict[str, object]) -> dict[object, object]:
        found: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.value(value, names)
                if not isinstance(inner, dict):
                    raise Unclear("a table takes in what is no literal table", value.lineno)
                found |= inner
                continue
            at = self.value(key, names)
            if isinstance(at, (list, dict, set)):
                raise Unclear("a table has a key that cannot be one", key.lineno)
            found[at] = self.value(value, names)
        return found

    def items(self, node: ast.expr, names: dict[str, object]) -> list[object]:
        """What a loop over an expression takes."""
        value = self.value(node, names)
        if isinstance(value, (list, tuple, set, dict, str)):
            return sorted(value, key=repr) if isinstance(value, set) else list(value)
        raise Unclear(f"it loops over {ast.unparse(node)[:60]}", node.lineno)

    def _part(self, part: ast.expr, names: dict[str, object]) -> str:
        if isinstance(part, ast.Constant):
            return str(part.value)
        assert isinstance(part, ast.FormattedValue)
        value = self.value(part.value, names)
        if part.format_spec is not None or part.conversion not in (-1, 115) or not isinstance(value, (str, int)):
            raise Unclear("it formats a name", part.lineno)
        return str(value)

    def _bool(self, node: ast.BoolOp, names: dict[str, object]) -> object:
        value: object = None
        for part in node.values:
            value = self.value(part, names)
            if isinstance(value, Taken):
                raise Unclear(f"it depends on {value.symbol}", part.lineno)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _binary(self, node: ast.BinOp, names: dict[str, object]) -> object:
        left, right = self.value(node.left, names), self.value(node.right, names)
        if isinstance(node.op, ast.Add):
            if isinstance(left, str) and isinstance(right, str):
                return left + right
            if isinstance(left, list) and isinstance(right, list):
                return left + right
            if isinstance(left, tuple) and isinstance(right, tuple):
                return left + right
        if isinstance(node.op, ast.BitOr):
            if isinstance(left, dict) and isinstance(right, dict):
                return left | right
            if isinstance(left, set) and isinstance(right, set):
                return left | right
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and isinstance(right, (str, tuple)):
            return left % right
        raise Unclear(f"it evaluates {ast.unparse(node)[:60]}", node.lineno)

    def _compare(self, node: ast.Compare, names: dict[str, object]) -> bool:
        left = self.value(node.left, names)
        for operator, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, names)
            if isinstance(left, Taken) or isinstance(right, Taken):
                if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, Taken):
                    raise Unclear(_elsewhere(part, right), node.lineno)
                raise Unclear(f"it compares {ast.unparse(node)[:60]}", node.lineno)
            if isinstance(operator, (ast.Eq, ast.Is)):
                holds = left == right
            elif isinstance(operator, (ast.NotEq, ast.IsNot)):
                holds = left != right
            elif isinstance(operator, (ast.In, ast.NotIn)):
                if isinstance(right, Namespace):
                    holds = self._holds(left, part, names)
                elif isinstance(right, (list, tuple, set, dict)):
                    holds = left in right
                elif isinstance(right, str) and isinstance(left, str):
                    holds = left in right
                else:
                    raise Unclear(f"it looks into {ast.unparse(part)[:60]}", part.lineno)
                holds = holds is isinstance(operator, ast.In)
            else:
                raise Unclear(f"it compares {ast.unparse(node)[:60]}", node.lineno)
            if not holds:
                return False
            left = right
        return True

    def _item(self, node: ast.Subscript, names: dict[str, object]) -> object:
        base = self.value(node.value, names)
        if isinstance(node.slice, ast.Slice) and isinstance(base, (str, list, tuple)):
            parts = [node.slice.lower, node.slice.upper, node.slice.step]
            ends = [None if part is None else self.value(part, names) for part in parts]
            if all(end is None or isinstance(end, int) for end in ends):
                return base[slice(*(end if isinstance(end, int) else None for end in ends))]
            raise Unclear(f"it reads {ast.unparse(node)[:60]}", node.lineno)
        key = self.value(node.slice, names)
        if isinstance(base, Namespace):
            return self._own(key, node, names)
        if isinstance(base, dict):
            if key not in base:
                raise Lacking
            return base[key]
        if isinstance(base, (str, list, tuple)) and isinstance(key, int) and -len(base) <= key < len(base):
            return base[key]
        if isinstance(base, Taken):
            raise Unclear(_elsewhere(node.value, base), node.lineno)
        raise Unclear(f"it reads {ast.unparse(node)[:60]}", node.lineno)

    def _own(self, key: object, node: ast.expr, names: dict[str, object]) -> object:
        # globals()[name]
        if key in self.own:
            return self.own[key]
        if key in self.shared and key in names:
            return names[str(key)]
        if key != self.asked:
            raise Unclear(f"it reads {ast.unparse(node)[:60]}", node.lineno)
        raise Lacking

    def _holds(self, key: object, node: ast.expr, names: dict[str, object]) -> bool:
        try:
            self._own(key, node, names)
        except Lacking:
            return False
        return True

    def _attribute(self, node: ast.Attribute, names: dict[str, object]) -> object:
        if ast.unparse(node) in ("__spec__.parent", "__spec__.name"):
            return self.package.name
        return self.read_from(self.value(node.value, names), node.attr, node)

    def read_from(self, base: object, name: str, node: ast.expr) -> object:
        """`base.name`, where the base is a module."""
        if isinstance(base, Loaded) and base.name != self.package.name:
            stated = base.stated and isinstance(node, ast.Attribute)
            dotted = f"{base.name}.{name}"
            module = self.locate(base.name)
            if module is not None and module.is_package and self.locate(dotted) is not None:
                return Loaded(dotted, stated)
            return Taken(Symbol(base.name, name), stated)
        raise Unclear(f"it reads {ast.unparse(node)[:60]}", node.lineno)

    def _comprehension(self, node: ast.expr, names: dict[str, object]) -> object:
        rows: list[dict[str, object]] = list(self._rows(node.generators, dict(names)))  # type: ignore[attr-defined]
        if isinstance(node, ast.DictComp):
            return {self.value(node.key, row): self.value(node.value, row) for row in rows}
        items = [self.value(node.elt, row) for row in rows]  # type: ignore[attr-defined]
        return self._hashed(items, node) if isinstance(node, ast.SetComp) else items

    def _rows(self, generators: list[ast.comprehension], names: dict[str, object]) -> Iterator[dict[str, object]]:
        if not generators:
            yield names
            return
        for item in self.items(generators[0].iter, names):
            row = dict(names)
            self.bind(generators[0].target, item, row)
            if all(self.truth(test, row) for test in generators[0].ifs):
                yield from self._rows(generators[1:], row)

    def bind(self, target: ast.expr, value: object, names: dict[str, object]) -> None:
        """Bind a target: a name, or a tuple of names."""
        if isinstance(target, ast.Name):
            names[target.id] = value
            return
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)):
            if len(value) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in target.elts):
                for part, item in zip(target.elts, value, strict=True):
                    self.bind(part, item, names)
                return
        raise Unclear(f"it assigns to {ast.unparse(target)[:60]}", target.lineno)

    def _call(self, node: ast.Call, names: dict[str, object]) -> object:
        raise Unclear(f"it calls {ast.unparse(node.func)}()", node.lineno)


def _elsewhere(node: ast.expr, found: Taken) -> str:
    return f"the table {ast.unparse(node)} comes from another module, {found.symbol.module}"


def _bare(binding: Binding) -> bool:
    # _LAZY: dict[str, str]
    return isinstance(binding.statement, ast.AnnAssign) and binding.statement.value is None


def _is_all(statement: ast.Assign) -> bool:
    return all(isinstance(target, ast.Name) and target.id == "__all__" for target in statement.targets)
