"""A failing tree becomes a small one: files, statements and lines go as long as it fails in the same way.

Owns the search and the folder that a failure is saved in.
Invariant: the small tree fails as the large one did (the same property).
"""

from __future__ import annotations

import ast
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.fuzz.judge import Judge
from tests.fuzz.properties import Verdict, judged
from tests.fuzz.trees import RandomTree

_SECONDS = 25


def shrunk(tree: RandomTree, verdict: Verdict, scratch: Path, judge: Judge, depth: int) -> tuple[RandomTree, Verdict]:
    """The smallest tree found in some seconds."""
    end = time.monotonic() + _SECONDS
    again = True
    while again and time.monotonic() < end:
        again = False
        for smaller in _smaller(tree):
            if time.monotonic() > end:
                break
            found = judged(smaller, scratch, judge, depth=depth)
            if found.kind == verdict.kind:
                tree, verdict, again = smaller, found, True
                break
    return tree, verdict


def _smaller(tree: RandomTree) -> Iterator[RandomTree]:
    for path in sorted(tree.files, key=lambda path: -len(tree.files[path])):
        files = {name: data for name, data in tree.files.items() if name != path}
        gone = path.removesuffix(".py").replace("/", ".")
        yield replace(tree, files=files, programs=tuple(each for each in tree.programs if each != gone))
    for symbol in tree.symbols if len(tree.symbols) > 1 else ():
        yield replace(tree, symbols=tuple(each for each in tree.symbols if each != symbol))
    for path, data in tree.files.items():
        for text in _cut(path, data):
            yield replace(tree, files={**tree.files, path: text})


def _cut(path: str, data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    if path.endswith(".py"):
        try:
            parsed = ast.parse(data)
        except (SyntaxError, ValueError):
            return
        spans = []
        for node in ast.walk(parsed):
            if isinstance(node, ast.stmt):
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
                spans.append((first - 1, node.end_lineno or node.lineno))
        spans.sort(key=lambda span: span[0] - span[1])
        for start, end in spans:
            yield b"".join(lines[:start] + lines[end:])
    for at, line in enumerate(lines):
        if not path.endswith(".py") or not line.strip() or line.lstrip().startswith(b"#"):
            yield b"".join(lines[:at] + lines[at + 1 :])


def save(tree: RandomTree, verdict: Verdict, folder: Path, command: str) -> None:
    """A folder with the tree, what is wrong with it, and the commands that show it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tree.lay(folder / "before")
    line = shlex.join([tree.package, *tree.symbols, *tree.options])
    told = [
        f"# {verdict.kind}",
        "",
        *(f"    {row}" for each in verdict.details for row in each.splitlines()),
        "",
        "The run, on a copy of `before/`:",
        "",
        f"    python -m codemods.narrow_reexport {line}",
        "",
        "The whole tree that this was cut down from:",
        "",
        f"    {command}",
        "",
        f"imports start from: {', '.join(tree.roots)}; forms: {', '.join(tree.forms) or 'none'}",
        "",
        *(f"--- {path}\n{data.decode('utf-8', 'replace')}" for path, data in sorted(tree.files.items())),
    ]
    (folder / "FAILURE.md").write_text("\n".join(told), encoding="utf-8")
