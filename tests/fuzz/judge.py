"""What the programs of a tree do before and after, in words: one warm interpreter, a fork for each program.

Owns the process behind `interpreter.py`, the list of programs of a tree, and the comparison of two answers.
Invariant: a difference is only reported where the program did something definite before.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.trees import RandomTree

_SCRIPT = Path(__file__).resolve().parent / "interpreter.py"
Answer = dict[str, Any]
Program = tuple[str, Any]


class Judge:
    """One bare interpreter that waits for questions."""

    def __init__(self) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-B", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
            text=True,
        )

    def ask(self, root: Path, tree: RandomTree, programs: Sequence[Program], *, apart: bool = False) -> list[Answer]:
        """What each of these programs does in the tree at `root`; `apart` gives each a process of its own."""
        assert self._process.stdin is not None and self._process.stdout is not None
        tops = sorted({name.partition(".")[0] for name in tree.modules})
        pages = [
            path for path in sorted(tree.files) if path.endswith((".md", ".rst", ".txt")) and b">>>" in tree.files[path]
        ]
        doctests = [tree.module_at(path) for path in tree.files if path.endswith(".py") and b">>>" in tree.files[path]]
        question = {
            "root": str(root),
            "roots": list(tree.roots),
            "programs": programs,
            "tops": tops,
            "pages": pages,
            "doctests": doctests,
            "apart": apart,
        }
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the judge's interpreter died"
        found: list[Answer] = json.loads(line.replace(json.dumps(str(root))[1:-1], "<tree>"))
        return found

    def close(self) -> None:
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait(timeout=10)
        assert self._process.stdout is not None
        self._process.stdout.close()


def programs_of(tree: RandomTree) -> list[Program]:
    """The package alone, each module alone, all of them in two orders, and the programs that are run."""
    modules = tree.modules
    return [
        ("import", [tree.package]),
        ("use", list(modules)),
        ("use", list(reversed(modules))),
        *(("use", [name]) for name in modules[1:]),
        *(("main", name) for name in tree.programs),
    ]


def compared(
    judge: Judge, tree: RandomTree, programs: Sequence[Program], before: Path, after: Path, may: Allowed
) -> tuple[list[Answer], list[Answer], list[str]]:
    """The answers of both sides, and where they differ. A difference counts if processes of their own show it, too."""
    was, now = judge.ask(before, tree, programs), judge.ask(after, tree, programs)
    if differences(programs, was, now, may):
        was, now = judge.ask(before, tree, programs, apart=True), judge.ask(after, tree, programs, apart=True)
    return was, now, differences(programs, was, now, may)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be otherwise after a run."""

    package: str
    symbols: frozenset[str]
    touched: frozenset[str]  # modules whose files were edited
    starring: frozenset[str] = frozenset()  # modules with a star import
    dropped: frozenset[str] = frozenset()
    narrowed: bool = True  # the re-export is gone
    paths: tuple[tuple[str, str], ...] = ()  # the path of a symbol before and after


def differences(programs: Sequence[Program], old: Sequence[Answer], new: Sequence[Answer], may: Allowed) -> list[str]:
    """Where the same programs do something else, in words."""
    found: list[str] = []
    for program, was, now in zip(programs, old, new, strict=True):
        what = f"{program[0]} {program[1] if isinstance(program[1], str) else ', '.join(program[1])}"
        changed = [(a, b) for a, b in zip(was["ends"], now["ends"], strict=False) if a != b and works(a)]
        if changed:
            found += [f"[{what}] {a} -> {b}" for a, b in changed]
            continue
        shown = "Failed example:" in was["output"]  # doctest prints the text of what fails before and after
        if was["output"] != now["output"] and all(map(works, was["ends"])) and not shown:
            lines = zip(*(_said(each["output"]) for each in (was, now)), strict=False)
            failed = any(map(_failed, was["output"].splitlines()))
            a, b = next(((a, b) for a, b in lines if a != b and not failed), ("", ""))
            if a != b:
                found.append(f"[{what}] prints {a!r} -> {b!r}")
        for module, names in was["names"].items():
            if module not in now["names"]:
                continue  # said above
            found += [f"[{what}] {module}.{each}" for each in _names(module, names, now["names"][module], may)]
            for name, text in was["hints"][module].items():
                if now["hints"][module].get(name) != text:
                    other = now["hints"][module].get(name, "nothing")
                    found.append(f"[{what}] annotations of {module}.{name}: {text} -> {other}")
    return list(dict.fromkeys(found))


def _moved(text: str, may: Allowed) -> str:
    for old, new in may.paths:
        text = text.replace(old, new).replace(":".join(old.rsplit(".", 1)), ":".join(new.rsplit(".", 1)))
    return text


def _failed(line: str) -> bool:
    # run_3 KeyError: 'roar'        it did nothing of use before
    return re.match(r"(run|test)_\w+ \w+(Error|Exception): ", line) is not None


def _said(output: str) -> list[str]:
    """The lines of an output, without those that show the program's own text, such as its docstring."""
    output = re.sub(r"0x[0-9a-f]+", "0x", output)
    return [line for line in output.splitlines() if not re.match(r"\s+(from|import|>>>) |File ", line)] + [""]


def works(end: str) -> bool:
    """Whether an import or a program came to its end."""
    return end.endswith((": imported", "done"))


def _names(module: str, was: dict[str, str], now: dict[str, str], may: Allowed) -> list[str]:
    found = []
    for name, value in was.items():
        if now.get(name) == value:
            continue
        if module == may.package and (name in may.symbols or name in may.dropped or name == "__all__"):
            continue
        if module == may.package and any(repr(symbol) in value for symbol in may.symbols):
            continue  # a table of lazy names
        if name == "__all__" and sorted(value) == sorted(now.get(name, "")):
            continue  # a star takes names in any order
        if value == f"module {module}.{name}" and name not in now:
            continue  # a submodule that nothing has loaded by now
        if name in now and (_moved(value, may) == now[name] or ("import" in value and value[:1] in "\"'")):
            continue  # a string that is the path, or code
        if (name.startswith("_") and name.isupper()) or ("import" in value and value.startswith("list")):
            continue  # a table of lazy names; code in strings
        if name not in now and module in may.starring and value.startswith("module "):
            continue  # a submodule that a star took along
        if module == may.package and name.startswith("_"):
            continue  # what served the re-export
        if name not in now and ((name in may.symbols and module in may.starring) or name in may.dropped):
            continue  # a star took it along; who reads it is told from those that do not by what the programs do
        if name not in now and module in may.touched and value.startswith("module "):
            continue  # an import that nothing reads any more went
        if name in may.symbols and module in may.starring and now[name].startswith("module "):
            continue
        found.append(f"{name}: {value} -> {now.get(name, 'gone')}")
    if module == may.package and may.narrowed:
        for name in may.symbols:
            if name in now and name in was and not now[name].startswith("module "):
                found.append(f"{name} is still bound")
            if repr(name) in now.get("__all__", ""):
                found.append(f"{name} is still listed")
    return found
