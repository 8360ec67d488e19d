"""From the command line's arguments to an answer and an exit code.

Owns which question is asked, and which stream says what.
Invariant: only `CodemodError` is caught here; nothing is written but by `--update`, `--html` and `--plan-out`, and the cache.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from codemods.engine.errors import CannotWrite, CodemodError
from codemods.engine.report import error_lines, paint
from codemods.engine.streams import ending_well, say
from codemods.import_cost.tree import Opened, known, open_tree

if TYPE_CHECKING:
    from codemods.engine.model import Symbol
    from codemods.import_cost.budgets import Options
    from codemods.import_cost.formats import Finding
    from codemods.import_cost.measure import Measured
    from codemods.import_cost.ranking import Ranked

DONE, EXCEEDED, CANNOT = 0, 1, 3
_DEPTH = 3  # of `--tree`


def run(arguments: Mapping[str, object]) -> int:
    """One invocation; returns the exit code."""
    root = Path.cwd()
    questions = [
        name
        for name in ("why", "what_if", "everywhere", "unused", "show_tree", "check", "update", "show_dot", "measure")
        if arguments[name]
    ]
    _fit_together(arguments, questions)
    if len(questions) > 1 and set(questions) != {"everywhere", "unused"}:
        spelled = " and ".join(f"--{name.removeprefix('show_').replace('_', '-')}" for name in questions)
        raise click.UsageError(f"{spelled} ask different questions: pass one of them")
    question = questions[0] if questions else "answer"
    return ending_well(lambda: _asked(question, root, arguments))


def _asked(question: str, root: Path, arguments: Mapping[str, object]) -> int:
    try:
        return _ASK[question](root, arguments)
    except CodemodError as error:
        say(error_lines(error, paint), err=True)
        return CANNOT


def _fit_together(arguments: Mapping[str, object], questions: Sequence[str]) -> None:
    """What makes no sense is said before anything is read, run or written."""
    for name in ("module", "why", "html", "python"):
        if arguments[name] == "":
            raise click.UsageError(f"{'MODULE' if name == 'module' else '--' + name} is empty")
    if arguments["forbid_call"] and not arguments["measure"]:
        raise click.UsageError("--forbid-call watches a run: pass --measure with it")
    if arguments["python"] and not arguments["measure"]:
        raise click.UsageError("--python is the interpreter of a run: pass --measure with it")
    if arguments["measure"] and not arguments["runs"] and not arguments["forbid_call"]:
        raise click.UsageError("--runs 0 times nothing: pass --forbid-call with it")
    if arguments["depth"] and not (arguments["show_tree"] or arguments["show_dot"]):
        raise click.UsageError("--depth is for --tree and --dot")
    if arguments["collapse"] and not arguments["show_dot"]:
        raise click.UsageError("--collapse is for --dot")
    if arguments["include_public"] and not arguments["unused"]:
        raise click.UsageError("--include-public is for --unused")
    if arguments["plan_out"] and (set(questions) - {"everywhere", "unused"} or questions == ["unused"]):
        raise click.UsageError("--plan-out is for --everywhere and for the plain answer")
    output, drawn = arguments["output_format"], arguments["html"]
    if drawn and set(questions) - {"what_if", "measure"}:
        raise click.UsageError("--html draws the plain answer, --what-if or --measure")
    if drawn == "-" and output != "text":
        raise click.UsageError(f"--html - and --output-format {output} both want the standard output")
    if output != "text" and arguments["show_dot"]:
        raise click.UsageError("--dot prints for Graphviz; for --output-format ask for --tree")
    if output in ("github", "sarif") and set(questions) - {"unused", "check"}:
        raise click.UsageError(f"--output-format {output} is for the plain answer, --unused and --check")


def _answer(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost.answer import answer
    from codemods.import_cost.report import answer_lines

    opened, module = _open(root, arguments)
    found = answer(opened, module)
    if arguments["output_format"] == "text":
        top, verbose = cast(int, arguments["top"]), bool(arguments["verbose"])
        if not _on_stdout(arguments):
            say(answer_lines(found, top=top, verbose=verbose, paint=paint))
    else:
        from codemods.import_cost import formats

        _for_machines(arguments, "answer", formats.answer_fields(found), formats.answer_findings(found))
    _draw(arguments, opened, module)
    if arguments["plan_out"]:
        from codemods.import_cost.ranking import rank

        _plan_out(arguments, opened, [each for each in rank(opened, module) if each.package == module])
    return DONE


def _why(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import formats, questions
    from codemods.import_cost.chains import why

    opened, module = _open(root, arguments)
    target = _dotted(root, str(arguments["why"]))
    known(opened, target)
    chains = why(opened.loads, module, target)
    if arguments["output_format"] == "text":
        shown = len(chains) if arguments["verbose"] else cast(int, arguments["top"])
        say(questions.why_lines(module, target, chains, opened.tree.read, shown, paint))
    else:
        fields = {"module": module, "target": target, "chains": [formats.chain_fields(chain) for chain in chains]}
        _for_machines(arguments, "why", fields)
    return DONE


def _what_if(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.engine.model import Symbol
    from codemods.import_cost import formats, questions
    from codemods.import_cost.what_if import what_if

    symbols = []
    for spelled in cast("tuple[str, ...]", arguments["what_if"]):
        package, _, listed = spelled.partition(":")
        names = [name.strip() for name in listed.split(",")]
        if not package.strip() or not all(names):
            raise click.UsageError(f"--what-if takes PKG:NAME[,NAME], not {spelled!r}")
        symbols += [Symbol(_dotted(root, package.strip()), name) for name in names]
    opened, module = _open(root, arguments, default=symbols[0].module)
    found = what_if(opened.loads, module, symbols)
    if arguments["output_format"] == "text":
        if not _on_stdout(arguments):
            say(questions.what_if_lines(found, symbols, bool(arguments["verbose"]), paint))
    else:
        _for_machines(arguments, "what-if", formats.what_if_fields(found))
    _draw(arguments, opened, module, symbols)
    return DONE


def _tree(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import formats, questions
    from codemods.import_cost.brought import dominator_tree

    opened, module = _open(root, arguments)
    found = dominator_tree(opened.loads, module)
    if arguments["output_format"] == "text":
        few = 0 if arguments["verbose"] else 2 * cast(int, arguments["top"])
        say(questions.tree_lines(found, cast("int | None", arguments["depth"]) or _DEPTH, few))
    else:
        _for_machines(arguments, "tree", {"tree": formats.node_fields(found)})
    return DONE


def _dot(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost.dot import dot

    opened, module = _open(root, arguments)
    depth, collapse = cast("int | None", arguments["depth"]), cast(int, arguments["collapse"])
    say([dot(opened.loads, module, depth=depth, collapse=collapse).rstrip("\n")])
    return DONE


def _measure(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost.drawings import Timing, before_picture, timed
    from codemods.import_cost.times import times_fields, times_text

    opened, module = _open(root, arguments)
    calls = cast("tuple[str, ...]", arguments["forbid_call"])
    python = str(arguments["python"] or sys.executable)
    found = timed(opened, module, Timing(python, cast(int, arguments["runs"]), calls))
    drawn = before_picture(opened, module)
    if arguments["output_format"] == "text":
        # with `--html -` on the standard error: that code was run is said in any case
        say([times_text(found, drawn, 3 * cast(int, arguments["top"]))], err=_on_stdout(arguments))
    else:
        _for_machines(arguments, "measure", times_fields(found, drawn))
    _draw(arguments, opened, module, measured=found)
    if any(probe.times for probe in found.probes):
        return EXCEEDED
    # a function that was renamed must not pass as one that is not called
    return CANNOT if any(probe.loaded and not probe.found for probe in found.probes) else DONE


def _on_stdout(arguments: Mapping[str, object]) -> bool:
    """Whether the page takes the standard output for itself."""
    return arguments["html"] == "-"


def _draw(
    arguments: Mapping[str, object],
    opened: Opened,
    module: str,
    symbols: Sequence[Symbol] = (),
    measured: Measured | None = None,
) -> None:
    target = str(arguments["html"] or "")
    if not target:
        return
    from codemods.import_cost.drawings import html

    text = html(opened, module, symbols, measured)
    try:
        with click.open_file(target, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(f"cannot be written: {error.strerror}", path=target) from error


def _everywhere(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import formats, questions
    from codemods.import_cost.ranking import rank
    from codemods.import_cost.tree import main_package
    from codemods.import_cost.unused import unused

    opened, below = _open(root, arguments, default=str(arguments["module"] or main_package(root)))
    ranked = rank(opened, below)
    if arguments["unused"]:
        nobody = {(each.package, each.name) for each in unused(opened, below)[0]}
        ranked = tuple(each for each in ranked if all((each.package, name) in nobody for name in each.names))
    if arguments["output_format"] == "text":
        shown = ranked if arguments["verbose"] else ranked[: 2 * cast(int, arguments["top"])]
        say(questions.ranked_lines(below, shown, len(ranked), paint))
    else:
        _for_machines(arguments, "everywhere", {"reexports": formats.ranked_fields(ranked)})
    _plan_out(arguments, opened, ranked)
    return DONE


def _plan_out(arguments: Mapping[str, object], opened: Opened, ranked: Sequence[Ranked]) -> None:
    file = str(arguments["plan_out"] or "")
    if not file:
        return
    from codemods.engine.project import deliver
    from codemods.import_cost.request_rows import request_rows, wrote

    command = ["narrow-reexport", "--plan", file, "--keep-going"]
    for name in ("source_root", "exclude"):
        command += [
            word for each in cast("tuple[str, ...]", arguments[name]) for word in (f"--{name.replace('_', '-')}", each)
        ]
    limit = 0 if arguments["verbose"] else cast(int, arguments["top"])
    text, rows, symbols = request_rows(opened, ranked, limit, shlex.join(command))
    deliver(Path(file), text.encode("utf-8"))
    say([wrote(rows, symbols, file)], err=True)


def _unused(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import formats, questions
    from codemods.import_cost.tree import main_package
    from codemods.import_cost.unused import unused

    opened, below = _open(root, arguments, default=str(arguments["module"] or main_package(root)))
    every, looked_at = unused(opened, below)
    found = every if arguments["include_public"] else tuple(each for each in every if not each.public)
    if arguments["output_format"] == "text":
        say(questions.unused_lines(below, found, len(every) - len(found), looked_at))
    else:
        fields = {"reexports": looked_at, "unused": formats.unused_fields(found)}
        _for_machines(arguments, "unused", fields, formats.unused_findings(found))
    return DONE


def _check(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import budgets, formats, questions

    if arguments["module"]:
        raise click.UsageError("--check verifies all budgets; it takes no MODULE")
    options = _budget_options(root, arguments)
    verdict = budgets.check(root, options, cached=not arguments["no_cache"])
    if arguments["output_format"] == "text":
        bad = bool(verdict.exceeded)
        say(questions.verdict_lines(verdict, paint), err=bad)
    else:
        _for_machines(arguments, "check", formats.verdict_fields(verdict), formats.verdict_findings(verdict))
    return EXCEEDED if verdict.exceeded else DONE


def _update(root: Path, arguments: Mapping[str, object]) -> int:
    from codemods.import_cost import budgets, questions

    options = _budget_options(root, arguments)
    if arguments["module"]:
        name = _dotted(root, str(arguments["module"]))
        known = [each for each in options.budgets if each.module == name]
        options = replace(options, budgets=tuple(known) or (budgets.Budget(name),))
    verdict = budgets.check(root, options, cached=not arguments["no_cache"])
    numbers = [(budget.module, count) for budget, count in verdict.counted]
    budgets.update(root, numbers)
    if arguments["output_format"] == "text":
        say(questions.updated_lines(verdict))
    else:
        _for_machines(arguments, "update", {"budgets": dict(numbers)})
    return DONE


def _budget_options(root: Path, arguments: Mapping[str, object]) -> Options:
    from codemods.import_cost.budgets import load_options

    options = load_options(root)
    roots = cast("tuple[str, ...]", arguments["source_root"]) or options.source_root
    exclude = (*options.exclude, *cast("tuple[str, ...]", arguments["exclude"]))
    return replace(options, source_root=roots, exclude=exclude)


def _for_machines(
    arguments: Mapping[str, object],
    command: str,
    fields: Mapping[str, object],
    findings: Iterator[Finding] | None = None,
) -> None:
    from codemods.import_cost import formats

    output = arguments["output_format"]
    if output == "json":
        say([formats.as_json(command, **fields)])
    else:
        assert findings is not None  # see `_fit_together`
        say(formats.as_github(findings) if output == "github" else [formats.as_sarif(findings)])


def _open(root: Path, arguments: Mapping[str, object], default: str = "") -> tuple[Opened, str]:
    spelled = str(arguments["module"] or default)
    if not spelled:
        raise click.UsageError("Missing argument 'MODULE'.")
    name = _dotted(root, spelled)
    options = _budget_options(root, arguments)
    opened = open_tree(
        root,
        name,
        exclude=options.exclude,
        source_roots=options.source_root,
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
    "why": _why,
    "what_if": _what_if,
    "everywhere": _everywhere,
    "unused": _unused,
    "show_tree": _tree,
    "check": _check,
    "update": _update,
    "show_dot": _dot,
    "measure": _measure,
}
