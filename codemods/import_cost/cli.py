"""From the command line's arguments to an answer and an exit code.

Owns which question is asked, and which stream says what.
Invariant: only `CodemodError` is caught here; nothing is written but by `--update`, and the cache.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

import click

from codemods.engine.errors import CodemodError
from codemods.engine.report import wants_colour
from codemods.import_cost.tree import Opened, open_tree

DONE, EXCEEDED, CANNOT = 0, 1, 3


def run(arguments: Mapping[str, object]) -> int:
    """One invocation; returns the exit code."""
    root = Path.cwd()
    questions = [name for name in ("why", "what_if", "everywhere", "unused", "show_tree", "check", "update") if arguments[name]]
    if len(questions) > 1 and set(questions) != {"everywhere", "unused"}:
        spelled = " and ".join(f"--{name.removeprefix('show_').replace('_', '-')}" for name in questions)
        raise click.UsageError(f"{spelled} ask different questions: pass one of them")
    question = questions[0] if questions else "answer"
    try:
        return _ASK[question](root, arguments)
    except CodemodError as error:
        where = f"{error.path}:{error.line}: " if error.line else f"{error.path}: " if error.path else ""
        _echo([f"{paint('error', 'red')}: {where}{error.detail}"], err=True)
        if error.text:
            _echo([f"    {error.text}"], err=True)
        if error.hint:
            _echo([f"  {error.hint}"], err=True)
        return CANNOT


def _answer(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost.answer import answer
    from codemods.import_cost.report import answer_lines

    opened, module = _open(root, arguments)
    found = answer(opened, module)
    if arguments["output_format"] == "text":
        top, verbose = cast(int, arguments["top"]), bool(arguments["verbose"])
        _echo(answer_lines(found, top=top, verbose=verbose, paint=paint))
    else:
        from codemods.import_cost import formats

        _echo(formats.answer(found, str(arguments["output_format"]), top=cast(int, arguments["top"])))
    return DONE


def _open(root: Path, arguments: Mapping[str, object], default: str = "") -> tuple[Opened, str]:
    spelled = str(arguments["module"] or default)
    if not spelled:
        raise click.UsageError("Missing argument 'MODULE'.")
    name = _dotted(root, spelled)
    opened = open_tree(
        root,
        name,
        exclude=cast("tuple[str, ...]", arguments["exclude"]),
        source_roots=cast("tuple[str, ...]", arguments["source_root"]),
        cached=not arguments["no_cache"],
    )
    return opened, name


def _dotted(root: Path, spelled: str) -> str:
    """The dotted name of a module; a file is one of its own, below the packages that it lies in."""
    if not spelled.endswith(".py") and "/" not in spelled:
        if not all(part.isidentifier() for part in spelled.split(".")):
            raise click.UsageError(f"{spelled!r} is no dotted module name")
        return spelled
    path = (root / spelled).resolve()
    if not path.is_relative_to(root.resolve()) or not path.exists():
        raise click.UsageError(f"{spelled!r} is no file below this folder")
    parts = [path.stem] if path.is_file() and path.stem != "__init__" else []
    folder = path.parent if path.is_file() else path
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if not parts:
        raise click.UsageError(f"{spelled!r} is a folder without __init__.py: give its dotted name")
    return ".".join(parts)


_ASK: dict[str, Callable[[Path, Mapping[str, object]], int]] = {
    "answer": _answer,
}

_STYLES: Mapping[str, Callable[[str], str]] = {
    "bold": lambda text: click.style(text, bold=True),
    "red": lambda text: click.style(text, fg="red", bold=True),
    "yellow": lambda text: click.style(text, fg="yellow"),
}


def paint(text: str, style: str) -> str:
    """A text in one of our styles; `_echo` takes them off where there is no colour."""
    return _STYLES[style](text)


def _echo(lines: Iterable[str], *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    click.echo("\n".join(lines), err=err, color=wants_colour(stream.isatty()))
