"""Under which conditions a name is re-exported, and whether it stays what it was.

Owns guards, branches, later rebinding and `__module__`: the reasons why one origin is not all there is to say.
Invariant: a condition that is not understood is an error that names its line.
"""

from __future__ import annotations

import ast
import re

from codemods.engine.errors import NotAReexport, Unreadable
from codemods.engine.graph import GIVEN
from codemods.engine.model import Module, Refusal, Symbol, When
from codemods.engine.namespace import Namespaces, all_values
from codemods.engine.python_floor import always_holds
from codemods.engine.scopes import Binding, Block
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import catches_import_error, suppresses_import_error
from codemods.narrow_reexport.forms.module_name import says_package

_DYNAMIC = re.compile(
    r"\b(?:globals|vars|locals|exec|eval|setattr|attach|attach_stub)\(|sys\.modules|__dict__|__path__|_LazyModule|\blazy\b"
)


def may_be_missing(package: Module, namespaces: Namespaces, name: str, found: list[Binding]) -> bool:
    """Whether the name may be missing: a guard without a fallback. Raises NotAReexport for other conditions."""
    optional = False
    for binding in found:
        if not binding.block.optional or _runs_anyway(binding.block, package, namespaces):
            continue
        owner = binding.block.owner
        if isinstance(owner, ast.With) and suppresses_import_error(owner):
            optional = True  # with contextlib.suppress(ImportError): from .sub import sym
            continue
        if isinstance(owner, ast.Try) and binding.statement in owner.body and catches_import_error(owner):
            # try: from .sub import sym        no fallback, no flag: the guard is part of the meaning
            # except ImportError: pass
            flags = [
                s
                for s in (*owner.body, *owner.orelse)
                if not isinstance(s, (ast.Import, ast.ImportFrom, ast.Pass)) and not all_values(s)
            ]
            if not flags and only_raises(binding) and not (binding.block.parent and binding.block.parent.optional):
                continue  # without the name the package cannot be imported at all
            handled = [s for handler in owner.handlers for s in handler.body if not isinstance(s, (ast.Pass, ast.Expr))]
            if not flags and not handled and (binding.block.parent is None or not binding.block.parent.optional):
                optional = True
                continue
            at = (flags or handled)[0].lineno if flags or handled else owner.lineno
            raise no_reexport(
                package,
                namespaces,
                f"{name} is imported in a try whose outcome the __init__ records or replaces (line {at}), so it has more than one origin",
                binding.statement.lineno,
                "settle in the __init__ what callers get first",
            )
        certain = namespaces.star(package.name)
        if certain is not None and name in certain.certain:
            continue
        raise no_reexport(
            package,
            namespaces,
            f"{name} is bound only under a condition (line {getattr(owner, 'lineno', 0)}): more than one origin, or none",
            binding.statement.lineno,
            "where the condition is false nobody gets the name today, and its origin might still give it; if it always holds, "
            "take the import out of it first"
            if isinstance(owner, ast.If)
            else "",
        )

    return optional


def only_raises(binding: Binding) -> bool:
    """Whether the name is bound in a `try` whose handlers do nothing but raise."""
    # try: from .sub import sym        except ImportError as error: raise RuntimeError("...") from error
    owner = binding.block.owner
    return (
        isinstance(owner, ast.Try)
        and bool(owner.handlers)
        and all(
            isinstance(handler.body[-1], ast.Raise)
            and all(isinstance(s, (ast.Expr, ast.Pass)) for s in handler.body[:-1])
            for handler in owner.handlers
        )
    )


def _runs_anyway(block: Block | None, package: Module, namespaces: Namespaces) -> bool:
    # if sys.version_info >= (3, 8): from .sub import sym        true on every Python that the project supports
    syntax = namespaces.syntax(package)
    while syntax is not None and block is not None and block.optional:
        owner = block.owner
        if not isinstance(owner, ast.If) or block.statements is not owner.body:
            return False
        if not always_holds(owner.test, syntax, namespaces.floor):
            return False
        block = block.parent
    return True


def rebound_later(package: Module, namespaces: Namespaces, name: str, origin: Symbol) -> Refusal | None:
    """Why the origin is not all there is to the name: rebound later, or said to live in the package. Raises NotAReexport."""
    symbol = f"{package.name}:{name}"
    bound = namespaces.bindings(package.name, name)
    if bound and origin.module != package.name and lacks(namespaces, origin):
        detail = f"{name} is imported from {origin.module}, which does not define {origin.name}"
        raise no_reexport(package, namespaces, detail, bound[0].statement.lineno)
    module = namespaces.locate(origin.module)
    syntax = namespaces.syntax(module) if module else None
    if module is None or syntax is None:
        return None
    around = f"{package.name}.".startswith(f"{origin.module}.") and origin != Symbol(package.name, name)
    for binding in namespaces.bindings(origin.module, origin.name):
        submodule = around and namespaces.is_submodule(origin.module, origin.name)
        if submodule and namespaces.origin(module, binding) != origin:
            # from . import sub as sym; from .other import f as sub        one import gets the module, a later one f
            return Refusal(
                syntax.source.site(binding.statement.lineno),
                symbol,
                f"{origin.dotted} is the submodule for some imports, and for later ones what this line binds to its name",
                "give one of the two another name first",
            )
        # global sym; sym = ...        the package kept an early copy
        if binding.scope.kind != "module" and binding.block.when is When.LATE:
            return Refusal(
                syntax.source.site(binding.statement.lineno),
                symbol,
                f"{origin.module} rebinds the global {origin.name} later, so the package's early copy and the live value differ",
                "export a function that returns the value first",
            )
    return says_package(Symbol(package.name, name), origin, namespaces)


def lacks(namespaces: Namespaces, origin: Symbol) -> bool:
    """Whether the origin's module is in the tree, can be read, and does not bind the name in any way."""
    module = namespaces.locate(origin.module)
    syntax = namespaces.syntax(module) if module is not None else None
    if module is None or syntax is None or not module.path.endswith(".py"):
        return False
    if origin.name in syntax.module.bindings or origin.name in GIVEN or namespaces.has_getattr(module.name):
        return False
    starred = any(isinstance(s, ast.ImportFrom) and s.names[0].name == "*" for s, _ in syntax.imports)
    dynamic = starred or _DYNAMIC.search(syntax.source.text) is not None
    return not dynamic and not namespaces.is_submodule(module.name, origin.name)


def no_reexport(package: Module, namespaces: Namespaces, detail: str, line: int, hint: str = "") -> NotAReexport:
    """The error for a name that is no re-export, with its place in the `__init__`."""
    syntax = namespaces.syntax(package)
    text = syntax.source.site(line).text if syntax is not None else ""
    return NotAReexport(detail, path=package.path, line=line, text=text, hint=hint)


def unreadable(package: Module, namespaces: Namespaces) -> Unreadable:
    """The error for an `__init__` that does not parse."""
    try:
        parse(decode(namespaces.bytes_of(package), package.path))
    except NotPython as error:
        return Unreadable(error.reason, path=package.path, line=error.line, hint="the package's __init__ must parse")
    hint = "split its longest expression or chain of branches up"
    return Unreadable("it is nested too deeply to be followed", path=package.path, hint=hint)
