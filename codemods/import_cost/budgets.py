"""Budgets: what the import of a module may load, written down in `pyproject.toml` and verified.

    [tool.codemods.import_cost.budgets]
    "pkg.ops" = { forbid = ["torch.cuda", "pkg.config"], max-modules = 60 }

Owns `[tool.codemods.import_cost]`, the verdict on each budget, and recording today's numbers.
Invariant: an unknown key, or a module that is not in the tree, is an error with its line; only `max-modules` is ever rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, cast

from codemods.engine.disk import read_file
from codemods.engine.errors import BadConfiguration, CannotWrite, UnknownPackage, Unreadable
from codemods.engine.model import FileChange
from codemods.engine.project import save
from codemods.engine.toml import did_you_mean, line_of_key, parse_toml
from codemods.import_cost.chains import Chain, Shortest
from codemods.import_cost.loads import Loads
from codemods.import_cost.tree import Opened, known, open_tree

FILE = "pyproject.toml"
SECTION = "tool.codemods.import_cost"
TABLE = f"{SECTION}.budgets"
_KEYS = ("source-root", "exclude", "budgets")
_BUDGET = ("forbid", "max-modules")


@dataclass(frozen=True, slots=True)
class Budget:
    """What one module may load: no module of `forbid` nor anything below it, at most `max_modules` of the tree."""

    module: str
    forbid: tuple[str, ...] = ()
    max_modules: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """`[tool.codemods.import_cost]`."""

    source_root: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A budget that does not hold. `chain` leads to the forbidden module, or to the last straw, `target`."""

    budget: Budget
    target: str
    loaded: int
    chain: Chain

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        module = self.budget.module
        if self.target:
            return f"import {module} loads {self.target}, which its budget forbids"
        return f"import {module} loads {self.loaded:,} modules of the tree, its budget is {self.budget.max_modules:,}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """All budgets of a tree, what was counted for each, and those that do not hold."""

    counted: tuple[tuple[Budget, int], ...]
    exceeded: tuple[Exceeded, ...]


def verify(loads: Loads, budget: Budget) -> tuple[int, tuple[Exceeded, ...]]:
    """The number of modules of the tree that are loaded, and what is wrong with that."""
    whole = loads.closure(budget.module)
    count = sum(map(loads.in_tree, whole))
    shortest = Shortest(loads.graph.edges, budget.module)
    found = []
    for forbidden in budget.forbid:
        hits = [name for name in whole if name == forbidden or name.startswith(f"{forbidden}.")]
        hits = [name for name in hits if name != budget.module]
        if hits:
            chains = ((shortest.to(name), name) for name in hits)
            chain, name = min(chains, key=lambda each: (len(each[0]), each[1]))
            found.append(Exceeded(budget, name, count, chain))
    if budget.max_modules is not None and count > budget.max_modules:
        found.append(Exceeded(budget, "", count, ()))
    return count, tuple(found)


def check(root: Path, options: Options, *, cached: bool = True) -> Verdict:
    """Verify all budgets of a tree. Raises BadConfiguration where one is about, or forbids, what is not there."""
    opened: dict[str, Opened] = {}
    counted: list[tuple[Budget, int]] = []
    exceeded: list[Exceeded] = []
    for budget in options.budgets:
        at = _opened(root, options, budget, opened, cached)
        for forbidden in budget.forbid:
            try:
                known(at, forbidden)
            except UnknownPackage as error:  # it would be kept for ever
                detail = f'"{budget.module}" in [{TABLE}] forbids {forbidden}: {error.detail}'
                raise BadConfiguration(detail, path=FILE, line=budget.line, hint=error.hint) from error
        count, wrong = verify(at.loads, budget)
        counted.append((budget, count))
        exceeded += wrong
    return Verdict(tuple(counted), tuple(exceeded))


def _opened(root: Path, options: Options, budget: Budget, opened: dict[str, Opened], cached: bool) -> Opened:
    top = budget.module.partition(".")[0]
    try:
        if top not in opened:
            opened[top] = open_tree(
                root, budget.module, exclude=options.exclude, source_roots=options.source_root, cached=cached
            )
        elif opened[top].loads.graph.module(budget.module) is None:
            raise UnknownPackage(f"no module {budget.module} in this tree")
    except UnknownPackage as error:
        text = f'"{budget.module}" in [{TABLE}]' if budget.line else budget.module
        path = FILE if budget.line else ""
        raise BadConfiguration(f"{text}: {error.detail}", path=path, line=budget.line, hint=error.hint) from error
    return opened[top]


# --- reading ---


def load_options(root: Path) -> Options:
    """The options of a tree, the defaults where it has none. Raises BadConfiguration with the line."""
    try:
        data = read_file(root / FILE)
    except FileNotFoundError:
        return Options()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=FILE) from error
    table: object = parse_toml(data, FILE)
    text = data.decode("utf-8")
    at = ""
    for key in SECTION.split("."):
        table = _table(table, at or "the file", text).get(key, {})
        at = f"{at}.{key}" if at else key
    found: dict[str, tuple[str, ...]] = {}
    budgets: tuple[Budget, ...] = ()
    for key, value in _table(table, SECTION, text).items():
        if key not in _KEYS:
            _complain(text, key, SECTION, f"unknown key `{key}` in [{SECTION}]", did_you_mean(key, _KEYS))
        if key == "budgets":
            budgets = tuple(_budget(module, each, text) for module, each in _table(value, TABLE, text).items())
        else:
            found[key.replace("-", "_")] = _strings(value, key, SECTION, text)
    return Options(**found, budgets=budgets)


def _budget(module: str, value: object, text: str) -> Budget:
    line = line_of_key(text, module, TABLE)
    section = f"{TABLE}.{module}"
    if not isinstance(value, dict) or not all(part.isidentifier() for part in module.split(".")):
        hint = f'"{module}" = {{ max-modules = 60 }}'
        detail = f"`{module}` in [{TABLE}] must be a module's dotted name with a table"
        if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
            hint = f'put the dotted name in quotes: [{TABLE}."{module}.…"]'
        _complain(text, module, TABLE, detail, f"write `{hint}`")
    forbid: tuple[str, ...] = ()
    most: int | None = None
    for key, each in value.items():
        if key not in _BUDGET:
            if isinstance(each, dict):  # pkg.ops = {...} without quotes is a table in a table
                hint = f'put the dotted name in quotes: "{module}.{key}"'
                _complain(text, key, section, f"unknown key `{key}` in the budget of {module}", hint)
            hint = did_you_mean(key, _BUDGET)
            _complain(text, key, section, f"unknown key `{key}` in the budget of {module}", hint)
        if key == "forbid":
            forbid = _strings(each, key, section, text)
        elif isinstance(each, int) and not isinstance(each, bool) and each > 0:
            most = each
        else:
            _complain(text, key, section, f"`max-modules` of {module} must be a number above 0", "")
    return Budget(module, forbid, most, line)


def _strings(value: object, key: str, section: str, text: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    return _complain(text, key, section, f"`{key}` in [{section}] must be a list of strings", "")


def _table(value: object, section: str, text: str) -> Mapping[str, object]:
    if isinstance(value, dict):
        return value
    return _complain(text, section.rpartition(".")[2], section.rpartition(".")[0], f"[{section}] must be a table", "")


def _complain(text: str, key: str, section: str, detail: str, hint: str) -> NoReturn:
    line = line_of_key(text, key, section)
    shown = text.split("\n")[line - 1].rstrip("\r") if line else ""
    raise BadConfiguration(detail, path=FILE, line=line, text=shown, hint=hint)


# --- recording ---


def update(root: Path, numbers: Sequence[tuple[str, int]]) -> bool:
    """Write these numbers as `max-modules`, a new row for each module that has none; False where nothing changes."""
    path = root / FILE
    before = read_file(path) if path.exists() else b""
    after = recorded(before, numbers)
    if after == before:
        return False
    save(root, [FileChange(FILE, before, after)])
    return True


def recorded(data: bytes, numbers: Iterable[tuple[str, int]]) -> bytes:
    """The file with the numbers in it, everything else as it is."""
    try:
        import tomlkit
        from tomlkit.items import InlineTable
    except ImportError as error:
        hint = "pip install tomlkit, or codemods[update]"
        raise CannotWrite("--update needs tomlkit, which is not installed", path=FILE, hint=hint) from error
    document = tomlkit.parse(data.decode("utf-8"))
    tool = _inner(document, "tool", tomlkit.table(is_super_table=True))
    ours = _inner(tool, "codemods", tomlkit.table(is_super_table=True))
    cost = _inner(ours, "import_cost", tomlkit.table(is_super_table=True))
    budgets = _inner(cost, "budgets", tomlkit.table())
    for module, count in numbers:
        if module not in budgets:
            row: InlineTable = tomlkit.inline_table()
            row.update({"max-modules": count})
            budgets[module] = row
        elif cast("Mapping[str, object]", budgets[module]).get("max-modules") != count:
            cast("MutableMapping[str, object]", budgets[module])["max-modules"] = count
    after = tomlkit.dumps(document).encode("utf-8")
    if data.count(b"\r\n") == data.count(b"\n") > 0:  # a new row ends like those around it
        after = after.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return after


def _inner(table: MutableMapping[str, object], key: str, new: object) -> MutableMapping[str, object]:
    if key not in table:
        table[key] = new
    return cast("MutableMapping[str, object]", table[key])
