"""The judge's interpreter: a bare Python that runs the programs of a tree, each in a fork, and tells what came of them.

Owns what a program is, and how its output, its names, its annotations and its doctests are put into words. It is run as a script
(`python -S -E interpreter.py`); each line on standard input is one question in JSON, each line on standard output the answer.
Invariant: it imports nothing of `codemods`, and nothing of a tree is loaded in the process that forks.
"""

from __future__ import annotations

import contextlib
import doctest
import gc
import importlib
import importlib.machinery
import inspect
import io
import json
import os
import pathlib
import runpy
import signal
import sys
import types
import typing
import unittest.mock  # noqa: F401  # loaded once, and not in each fork
import warnings

# loaded once, and not in each fork: what many trees import
_READY = ("functools", "operator", "pkgutil", "logging", "dataclasses", "enum", "textwrap")
_SECONDS = 10


class MonkeyPatch:
    """What a test needs of pytest's fixture."""

    def __init__(self) -> None:
        self._undo: list[tuple[object, str, object]] = []

    def setattr(self, target: object, name: object, *value: object) -> None:
        if isinstance(target, str):
            path, _, attribute = target.rpartition(".")
            found, new = _resolved(path), name
        else:
            found, attribute, new = target, str(name), value[0]
        self._undo.append((found, attribute, getattr(found, attribute)))
        setattr(found, attribute, new)

    def undo(self) -> None:
        for found, attribute, value in reversed(self._undo):
            setattr(found, attribute, value)
        self._undo.clear()


def _resolved(path: str) -> object:
    parts = path.split(".")
    found: object = importlib.import_module(parts[0])
    for number, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:number]))
        found = getattr(found, part)
    return found


def described(value: object, depth: int = 0) -> str:
    """One value in words that do not change from process to process."""
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return f"{type(value).__name__} {value.__module__}.{value.__qualname__}"
    if isinstance(value, (bool, int, float, str, bytes, type(None), complex)):
        return repr(value)
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 3:
        shown = [described(each, depth + 1) for each in value]
        return f"{type(value).__name__}{sorted(shown) if isinstance(value, (set, frozenset)) else shown}"
    if isinstance(value, dict) and depth < 3:
        return f"dict{ {str(key): described(each, depth + 1) for key, each in value.items()} }"
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" + ("" if " at 0x" in text or " id=" in text else text)


def names_of(module: types.ModuleType) -> dict[str, str]:
    return {
        name: described(value)
        for name, value in vars(module).items()
        if not (name.startswith("__") and name != "__all__") and name != "annotations"
    }


def hints_of(module: types.ModuleType) -> dict[str, str]:
    """The annotations of a module and of what it defines, evaluated."""
    found = {}
    values = [("", module), *vars(module).items()]
    for name, value in values:
        if value is not module and getattr(value, "__module__", None) != module.__name__:
            continue
        if (value is module and not name) or isinstance(value, (types.FunctionType, type)):
            try:
                hints = typing.get_type_hints(value)
            except Exception:  # noqa: BLE001  # an annotation for type checkers only
                continue
            found[name] = described(hints) if hints else ""
    return {name: text for name, text in found.items() if text}


def called(module: types.ModuleType) -> None:
    """Call each `run_*` and `test_*` of a module, in order, and print how it ends."""
    for name, value in list(vars(module).items()):
        if not name.startswith(("run_", "test_")) or not isinstance(value, types.FunctionType):
            continue
        if value.__module__ != module.__name__:
            continue
        patch = MonkeyPatch()
        try:
            wanted = [patch] if "monkeypatch" in inspect.signature(value).parameters else []
            print(name, described(value(*wanted)))
        except Exception as error:  # noqa: BLE001  # how it fails is part of what it does
            print(name, f"{type(error).__name__}: {error}")
        finally:
            patch.undo()


def run(question: dict[str, typing.Any], program: list[typing.Any]) -> dict[str, object]:
    """One program: how its imports end, what it prints, what its modules hold."""
    kind, argument = program
    ends: list[str] = []
    names: dict[str, dict[str, str]] = {}
    hints: dict[str, dict[str, str]] = {}
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        if kind == "main":
            sys.argv = [argument]
            try:
                runpy.run_module(argument, run_name="__main__", alter_sys=True)
                ends.append("done")
            except BaseException as error:  # noqa: BLE001
                ends.append(f"{type(error).__name__}: {error}")
        else:
            loaded = []
            for name in argument:
                try:
                    module = importlib.import_module(name)
                except BaseException as error:  # noqa: BLE001
                    ends.append(f"{name}: {type(error).__name__}: {error}")
                else:
                    ends.append(f"{name}: imported")
                    loaded.append(module)
            for module in loaded if kind == "use" else ():
                called(module)
            for module in loaded:
                names[module.__name__] = names_of(module)
                hints[module.__name__] = hints_of(module)
            for module in loaded if kind == "use" else ():
                if module.__name__ in question["doctests"]:
                    print("doctests", module.__name__, doctest.testmod(module, verbose=False, report=False).failed)
            for page in question["pages"] if kind == "use" else ():
                tested = doctest.testfile(page, module_relative=False, verbose=False, report=False, encoding="utf-8")
                print("page", page, tested.failed)
    mine = sorted(name for name in sys.modules if name.partition(".")[0] in question["tops"])
    return {"ends": ends, "output": out.getvalue(), "names": names, "hints": hints, "loaded": mine}


def turn(question: dict[str, typing.Any]) -> list[dict[str, object]]:
    """Some programs one after the other, each with no more modules loaded than the first."""
    os.chdir(question["root"])
    sys.path[:0] = [os.path.normpath(os.path.join(question["root"], each)) for each in question["roots"]]  # noqa: PTH118
    sys.dont_write_bytecode = True
    kept, path = dict(sys.modules), sys.path[:]
    found = []
    for program in question["programs"]:
        found.append(run(question, program))
        sys.path[:] = path
        for name in [name for name in sys.modules if sys.modules[name] is not kept.get(name)]:
            del sys.modules[name]
        sys.modules.update(kept)
    return found


class Compiled:
    """The code of module texts, compiled before a fork, so that the forks need not do it again and again."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, bytes], types.CodeType] = {}
        self._compile = importlib.machinery.SourceFileLoader.source_to_code
        importlib.machinery.SourceFileLoader.source_to_code = self._source_to_code  # type: ignore[method-assign,assignment]
        self.root = ""

    def read(self, root: str) -> None:
        """Compile what lies in a tree."""
        self.root = root
        if len(self._code) > 4000:
            self._code.clear()
        for folder, _, names in os.walk(root):
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(folder, name)  # noqa: PTH118
                    with open(path, "rb") as stream, contextlib.suppress(SyntaxError, ValueError):  # noqa: PTH123
                        self._source_to_code(stream.read(), path)

    def _source_to_code(self, data: bytes, path: str, **options: typing.Any) -> types.CodeType:
        key = (path.removeprefix(self.root), bytes(data))
        if key not in self._code:
            self._code[key] = self._compile(None, data, path)  # type: ignore[arg-type]
        return self._code[key]


def answer(question: dict[str, typing.Any], compiled: Compiled) -> list[dict[str, object]]:
    """What the programs do: all in one fork, or with `apart` each in a fork of its own."""
    compiled.read(question["root"])
    if not question["apart"]:
        found = forked(question)
        if found is not None:
            return found
    hung: dict[str, object] = {"ends": ["killed"], "output": "", "names": {}, "hints": {}, "loaded": []}
    return [(forked({**question, "programs": [program]}) or [hung])[0] for program in question["programs"]]


def forked(question: dict[str, typing.Any]) -> list[dict[str, object]] | None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(_SECONDS)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)  # what a program starts says nothing here
        with os.fdopen(writing, "w") as stream:
            json.dump(turn(question), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    ended = os.waitpid(child, 0)[1]
    told: list[dict[str, object]] | None = json.loads(text) if not ended and text else None
    return told


def main() -> None:
    warnings.simplefilter("ignore")
    for name in _READY:
        importlib.import_module(name)
    here = pathlib.Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry).resolve() != here]
    compiled = Compiled()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), compiled)), flush=True)


if __name__ == "__main__":
    main()
