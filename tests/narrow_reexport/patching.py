"""A consumer that reads `pkg.sym` late, and the shorthand for a test program beside it that patches.

Owns stand-ins for pytest's monkeypatch and pytest-mock, which are not installed where the programs run.
Invariant: a program is only taken where its patch reaches someone; the verbs assert the rest.
"""

from __future__ import annotations

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Outcome, Tree, check_refused, check_rewritten
from tests.narrow_reexport.verbs import tree as laid

PATCH = (
    "from unittest import mock\n\n"
    "import engine\n\n"
    'with mock.patch("pkg.sym", return_value="mocked"):\n'
    "    print(engine.run(1))\n"
)

ENGINE: Tree = {"engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x)\n"}
ENGINE_AFTER: Tree = {"engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.sym(x)\n"}
LOCAL: Tree = {"engine.py": "def run(x):\n    from pkg import sym\n\n    return sym(x)\n"}
LOCAL_AFTER: Tree = {"engine.py": "def run(x):\n    from pkg.sub import sym\n\n    return sym(x)\n"}
MOCKER = """
from unittest import mock


class _Patcher:
    def __call__(self, target, *args, **kwargs):
        return mock.patch(target, *args, **kwargs).start()

    def object(self, target, name, *args, **kwargs):
        return mock.patch.object(target, name, *args, **kwargs).start()

    def dict(self, target, *args, **kwargs):
        return mock.patch.dict(target, *args, **kwargs).start()

    def multiple(self, target, **kwargs):
        return mock.patch.multiple(target, **kwargs).start()


class Mocker:
    patch = _Patcher()

    def spy(self, obj, name):
        real = getattr(obj, name)
        return mock.patch.object(obj, name, side_effect=lambda *args: ("spied", real(*args))).start()

    def stopall(self):
        mock.patch.stopall()
"""

# pytest is not installed where the programs run; this goes by attributes, as its own does
MONKEY: Tree = {
    "monkey.py": """
import importlib

_GONE = object()


def _resolve(path):
    parts = path.split(".")
    used = parts.pop(0)
    found = importlib.import_module(used)
    for part in parts:
        used += "." + part
        if not hasattr(found, part):
            importlib.import_module(used)
        found = getattr(found, part)
    return found


class MonkeyPatch:
    def __init__(self):
        self.saved = []

    def setattr(self, target, name, value=_GONE, raising=True):
        if isinstance(target, str):
            target, name, value = _resolve(target.rpartition(".")[0]), target.rpartition(".")[2], name
        self.saved.append((target, name, getattr(target, name)))
        setattr(target, name, value)

    def delattr(self, target, name=None):
        if name is None:
            target, name = _resolve(target.rpartition(".")[0]), target.rpartition(".")[2]
        self.saved.append((target, name, getattr(target, name)))
        delattr(target, name)

    def undo(self):
        while self.saved:
            setattr(*self.saved.pop())
"""
}


def moves(
    test: str,
    after: str,
    *,
    engine: Tree | None = None,
    engine_after: Tree | None = None,
    more: Tree | None = None,
    more_after: Tree | None = None,
    symbols: str = "sym",
    shows: str = "mocked",
    says: str = "",
) -> Outcome:
    """The patches of one program move with the readers in `engine.py`, and it prints what it printed."""
    tree = {**PKG, **(ENGINE if engine is None else engine), **(more or {}), "main.py": test}
    wanted = {
        **NARROWED,
        **(ENGINE_AFTER if engine is None else engine_after or {}),
        **(more_after or {}),
        "main.py": after,
    }
    sees(tree, shows)
    return check_rewritten(tree, "pkg", symbols, wanted, run=["main"], unloaded=["pkg.sub"], says=says)


def sees(tree: Tree, shows: str) -> None:
    """The program works, and its patch reaches someone: no test here can pass because nothing was patched."""
    with laid(tree) as root:
        (ran,) = oracle.run_programs(root, ["main"])
        assert ran.exit_code == 0, ran.error
        assert shows in ran.output, ran.output


def refused(test: str, reason: str, *, at: str = "main.py", more: Tree | None = None, engine: Tree = ENGINE) -> None:
    """The program's patch cannot move, and the refusal names it."""
    check_refused({**PKG, **engine, **(more or {}), "main.py": test}, "pkg", "sym", reason, at=at)
