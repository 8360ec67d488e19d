"""`json.attr = f`, `os.environ["X"] = "1"`, `codecs.register(f)`: an import that changes what other modules see.

Owns the statements with which a module, as it is imported, changes the state of other modules or of the process.
Invariant: it never edits; a change of state that the module itself owns is never reported, and a `certain` one is seen
in the tree or documented by the standard library.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Site
from codemods.engine.namespace import Namespaces, module_statements
from codemods.narrow_reexport.forms.callees import STANDARD, Callees, top_of
from codemods.narrow_reexport.forms.frames import OBJECT, Class, Frame, Function, Outside, Space, Value, place
from codemods.narrow_reexport.forms.keeping import MUTATORS, Trace, is_harmless
from codemods.narrow_reexport.forms.registration import running

_DEPTH = 2  # functions that the module calls, and those that they call

# What the standard library is documented to keep, for others to look up. Nothing of it happens without the import.
_KEEPS = re.compile(
    r"(atexit\.register|signal\.signal|codecs\.register(_error)?|copyreg\.(pickle|constructor|add_extension)"
    r"|logging\.(addLevelName|setLoggerClass|setLogRecordFactory)|sys\.(meta_path|path_hooks)\.(append|insert|extend)"
    r"|sys\.modules\.(setdefault|update|pop)|mimetypes\.add_type|webbrowser\.register|os\.register_at_fork"
    r"|sqlite3\.register_(adapter|converter)|shutil\.register_(un)?(archive|pack)_format|gc\.callbacks\.append"
    r"|xml\.etree\.ElementTree\.register_namespace|doctest\.register_optionflag|sys\.(settrace|setprofile|addaudithook))\Z"
)
# Settings of the process: who depends on them is not known.
_SETS = re.compile(
    r"(warnings\.(filterwarnings|simplefilter|resetwarnings)|os\.(environ\.(setdefault|update|pop)|putenv|unsetenv|chdir|umask)"
    r"|sys\.(setrecursionlimit|setswitchinterval|path\.(append|insert|extend|remove))|locale\.setlocale|random\.seed"
    r"|logging\.(basicConfig|disable|captureWarnings|config\.\w+)|socket\.setdefaulttimeout|site\.addsitedir"
    r"|multiprocessing\.set_start_method|gc\.(disable|enable|freeze|set_threshold)|faulthandler\.(enable|register)"
    r"|decimal\.setcontext|resource\.setrlimit|threading\.(setprofile|settrace|stack_size)|tracemalloc\.start)\Z"
)
_TALKS = re.compile(r"(debug|info|warn|warning|error|exception|critical|log|print|write|flush)\Z")


@dataclass(frozen=True, slots=True)
class StateChange:
    """A statement that changes another module's state; `certain` where it is known to, False where it may matter."""

    site: Site
    said: str
    certain: bool


def state_changes(module: Module, namespaces: Namespaces) -> tuple[StateChange, ...]:
    """What the module changes elsewhere as it is imported, in source order."""
    syntax = namespaces.syntax(module)
    if syntax is None:
        return ()
    top = Frame(module, None)
    watcher = _Watcher(namespaces, top)
    found: list[StateChange] = []
    for statement in running(syntax.tree.body):
        try:
            changes = [*watcher.changes(statement, top, 0)]
            for decorator, said in watcher.kept_by_decorators(statement, top):
                found.append(StateChange(syntax.source.site_of(decorator), said, True))
        except RecursionError:
            continue
        # one finding a statement, the certain one first
        for said, certain in sorted(changes, key=lambda change: not change[1])[:1]:
            found.append(StateChange(syntax.source.site_of(statement), said, certain))
    return tuple(found)


class _Watcher(Callees):
    """Tells whose state a statement changes."""

    def changes(self, statement: ast.stmt, frame: Frame, depth: int) -> Iterator[tuple[str, bool]]:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            if isinstance(statement, ast.AnnAssign) and statement.value is None:
                return
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                yield from self._stored(target, frame, depth, "sets")
            if isinstance(statement, ast.AugAssign):
                yield from self._grown(statement, frame)
        elif isinstance(statement, ast.Delete):
            for target in statement.targets:
                yield from self._stored(target, frame, depth, "deletes")
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield from self._called(statement.value, frame, depth)

    def kept_by_decorators(self, statement: ast.stmt, frame: Frame) -> Iterator[tuple[ast.expr, str]]:
        # @atexit.register
        # def close(): ...
        for decorator in getattr(statement, "decorator_list", ()):
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            if any(isinstance(value, Outside) and _KEEPS.match(value.name) for value in self.values(func, frame)):
                yield decorator, f"calls {ast.unparse(func)}(), which keeps what it gets"

    def _stored(self, target: ast.expr, frame: Frame, depth: int, verb: str) -> Iterator[tuple[str, bool]]:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else ():
            yield from self._stored(part, frame, depth, verb)
        # other.attr = f              Other.attr = 1                   registry["x"] = 1
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            return
        said = f"{verb} {ast.unparse(target)}"
        for value in self.values(target.value, frame):
            if isinstance(value, Outside):
                plain = "()" not in value.name and not value.name.startswith("?")
                is_module = isinstance(target, ast.Subscript) or value.name.islower()
                if plain and (is_module or top_of(value.name) not in STANDARD):
                    yield said, value.name == "sys.modules"
            elif self._is_elsewhere(value, frame):
                # def _setup(): TABLE["x"] = f         a function of this module fills a table of another
                own = self._is_own(frame)
                if own or (isinstance(value, (Space, Class)) and isinstance(target, ast.Attribute)):
                    yield said, True

    def _grown(self, statement: ast.AugAssign, frame: Frame) -> Iterator[tuple[str, bool]]:
        # TABLE |= {"x": f}       LIST += [f]        in place, where the name is another module's container
        shown = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
        if isinstance(statement.target, ast.Name) and isinstance(statement.value, shown):
            for value in self.values(ast.Name(statement.target.id, ast.Load()), frame):
                if place(value) is not None and self._is_elsewhere(value, frame):
                    yield f"fills {statement.target.id}, a container of another module", True

    def _called(self, call: ast.Call, frame: Frame, depth: int) -> Iterator[tuple[str, bool]]:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        said = f"calls {ast.unparse(call.func)}(), which"
        if method in MUTATORS and isinstance(call.func, ast.Attribute) and self._is_own(frame):
            # TABLE.update(x=1)       where TABLE is another module's
            for value in self.values(call.func.value, frame):
                if place(value) is not None and self._is_elsewhere(value, frame) and call.args + call.keywords:
                    yield f"{said} fills a container of another module", True
        for value in self.values(call.func, frame):
            if isinstance(value, Outside):
                yield from self._outside(value.name, call, frame, depth, said)
            elif isinstance(value, Function) and depth < _DEPTH and not isinstance(value.node, ast.Lambda):
                # _patch()            def _patch(): json.dumps = fast
                if depth == 0 and self._keeps_values(value, call):
                    yield f"{said} keeps what it gets in another module", False
                inner = self.enter(value, call, frame)
                for statement in module_statements(value.node.body):
                    for _, certain in self.changes(statement, inner, depth + 1):
                        yield f"{said} changes another module", certain

    def _outside(self, name: str, call: ast.Call, frame: Frame, depth: int, said: str) -> Iterator[tuple[str, bool]]:
        if name == "builtins.setattr" and len(call.args) == 3:
            # setattr(other, "attr", 1)
            for value in self.values(call.args[0], frame):
                target = ast.Attribute(call.args[0], "", ast.Store())
                if isinstance(value, Outside) or self._is_elsewhere(value, frame):
                    for _, certain in self._stored(target, frame, depth, "sets"):
                        yield f"sets an attribute of {ast.unparse(call.args[0])}", certain
        elif _KEEPS.match(name):
            yield f"{said} keeps what it gets", True
        elif _SETS.match(name):
            yield f"{said} is a setting of the process", False
        elif top_of(name) not in STANDARD and depth == 0 and not name.startswith("?"):
            # matplotlib.use("Agg")           a call for its effect alone, whose body cannot be seen
            own = "()" in name and not name.startswith(
                "torch.library."
            )  # app = Typer(); app.command(): an object of its own
            if not own and not _TALKS.match(name.rpartition(".")[2]) and not is_harmless(name):
                yield f"{said} cannot be seen, and may change something", False

    def _keeps_values(self, function: Function, call: ast.Call) -> bool:
        # register("name", "pkg.sub:f")       a plain value, kept like an object would be
        if not any(isinstance(part, ast.Constant) for part in (*call.args, *(k.value for k in call.keywords))):
            return False
        stands_in = ast.Name(OBJECT, ast.Load())
        args = [stands_in if isinstance(part, ast.Constant) else part for part in call.args]
        keywords = [
            ast.keyword(k.arg, stands_in if isinstance(k.value, ast.Constant) else k.value) for k in call.keywords
        ]
        trace = Trace(self.namespaces, Frame(self.top.module, None, given={OBJECT}))
        trace.apply(function, ast.Call(call.func, args, keywords), trace.top)
        return trace.into is not None

    def _is_own(self, frame: Frame) -> bool:
        return frame.module.name == self.top.module.name

    def _is_elsewhere(self, value: Value, frame: Frame) -> bool:
        """Whether a thing belongs to a module other than the one that is imported, or than the function's own."""
        own = {self.top.module.name, frame.module.name}
        if isinstance(value, Space):
            return value.name not in own
        if isinstance(value, (Class, Function)):
            return value.module.name not in own and not (isinstance(value, Function) and value.frame is not None)
        at = place(value)
        return at is not None and at.module not in own
