"""Runs in the target's interpreter as `-c` text: `import MODULE`, and reports which watched callables the import called.

    PYTHON -c TEXT MODULE REPORT CALL...

Owns the watching of calls. It stands alone, for any Python from 3.8 on, and loads `json` after the import, not before.
Invariant: it replaces nothing in the target: a profile function sees each call, and compares the code that is run.
"""

from __future__ import annotations

import sys
import threading
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType

_DEEPEST = 20  # decorators around a function


class Watched:
    """One dotted name: what it has been bound to so far, how often that was called, and the first stack that did."""

    def __init__(self, call: str) -> None:
        self.call = call
        parts = call.split(".")
        # torch.cuda.init        an attribute of torch.cuda; where that is a class, the attribute `cuda.init` of torch
        self.places = [(".".join(parts[:end]), parts[end:]) for end in range(len(parts) - 1, 0, -1)]
        self.modules = {module for module, _ in self.places}
        self.targets: list[object] = []  # kept alive, so that identity means something
        self.functions: list[tuple[FunctionType, object]] = []
        self.times = 0
        self.stack: list[tuple[str, int, str]] = []

    def look(self) -> None:
        """Find what the name is bound to by now, without running any `__getattr__`."""
        for module, attributes in self.places:
            found: object = sys.modules.get(module)
            for name in attributes:
                found = bound(found, name)
            if found is not None:
                if not any(found is each for each in self.targets):
                    self.targets.append(found)
                    self.functions += functions_of(found)
                return

    def can_be_seen(self) -> bool:
        return bool(self.functions) or any(isinstance(each, BuiltinFunctionType) for each in self.targets)

    def sees_call(self, frame: FrameType) -> None:
        for function, receiver in self.functions:
            if function.__code__ is frame.f_code and same_function(function, receiver, frame):
                self.count(frame)
                return

    def sees_builtin(self, frame: FrameType, called: object) -> None:
        if any(called is each for each in self.targets):
            self.count(frame)

    def count(self, frame: FrameType) -> None:
        self.times += 1
        at: FrameType | None = frame if self.times == 1 else None
        while at is not None:
            name = at.f_code.co_filename
            if name != "<string>" and "importlib._bootstrap" not in name:
                self.stack.insert(0, (name, at.f_lineno, at.f_code.co_name))
            at = at.f_back


def bound(owner: object, name: str) -> object:
    """What `owner.name` is by the dictionaries alone."""
    for each in owner.__mro__ if isinstance(owner, type) else (owner,):
        try:
            names = object.__getattribute__(each, "__dict__")
        except AttributeError:
            return None
        if name in names:
            found: object = names[name]
            return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    return None


def functions_of(found: object) -> list[tuple[FunctionType, object]]:
    """The functions that run when it is called, each with the receiver that it must have (None: any)."""
    receiver: object = None
    for _ in range(_DEEPEST):
        # @functools.wraps(init)
        # def wrapper(*args): ...        decorators share one code: what is inside is its own
        inner = bound(found, "__wrapped__")
        if isinstance(found, MethodType):
            receiver, inner = found.__self__, found.__func__
        elif isinstance(found, type):
            made = [bound(found, name) for name in ("__init__", "__new__")]
            return [(each, found) for each in made if isinstance(each, FunctionType)]
        elif inner is None and isinstance(found, FunctionType):
            return [(found, receiver)]
        elif inner is None:
            # _lazy = Initialiser()          an object with a `__call__` of its own
            called = bound(type(found), "__call__")
            return [(called, found)] if isinstance(called, FunctionType) else []
        found = inner
    return []


def same_function(function: FunctionType, receiver: object, frame: FrameType) -> bool:
    """Whether a frame runs this very function: closures of one `def` share their code, methods that of a base class."""
    names = frame.f_locals
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):  # noqa: B905 - Python 3.8
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if names.get(name) is not value:
            return False
    if receiver is None or not function.__code__.co_argcount:
        return True
    first = names.get(function.__code__.co_varnames[0])
    if isinstance(receiver, type):
        return receiver in (first.__mro__ if isinstance(first, type) else type(first).__mro__)
    return first is receiver


def main() -> None:
    module, report, *calls = sys.argv[1:]
    watched = [Watched(call) for call in calls]

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            above = frame.f_back.f_globals if frame.f_back else {}
            for each in watched:
                # def init(): ...
                # init()                 as its own module is imported, before the body has ended
                if not each.targets and {frame.f_globals.get("__name__"), above.get("__name__")} & each.modules:
                    each.look()
                each.sees_call(frame)
        elif event == "c_call":
            for each in watched:
                each.sees_builtin(frame, argument)
        elif event == "return" and frame.f_code.co_name == "<module>":
            for each in watched:
                each.look()

    sys.argv[:] = ["-c"]
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        __import__(module)
    finally:
        sys.setprofile(None)
    import json

    for each in watched:
        each.look()
    found = [
        {
            "call": each.call,
            "loaded": each.places[0][0] in sys.modules or bool(each.targets),
            "found": each.can_be_seen(),
            "times": each.times,
            "stack": each.stack,
        }
        for each in watched
    ]
    with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(found, file)


if __name__ == "__main__":
    main()
