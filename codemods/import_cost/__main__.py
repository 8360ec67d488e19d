"""`python -m codemods.import_cost PACKAGE|MODULE`: what an import loads, and which re-export is to blame."""

import os
import sys

# As in every command: a folder `click/` in the target must not be imported in place of the library.
sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != os.path.realpath(".")]

# Ctrl-C while modules are loaded: no traceback, and the exit code of a signal.
sys.excepthook = lambda kind, *rest: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)

import click

from codemods.import_cost import cli

_FORMATS = click.Choice(["text", "json", "github", "sarif"])


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a budget is exceeded or a forbidden call was made, 2 bad arguments, 3 cannot.",
)
@click.argument("module", required=False)
@click.option("--why", metavar="MODULE", help="Show by which chains MODULE (or a third-party package) is loaded.")
@click.option(
    "--what-if", multiple=True, metavar="PKG:NAME", help="What is loaded once these are narrowed. Repeatable."
)
@click.option("--everywhere", is_flag=True, help="Rank all re-exports of the tree (below MODULE, if given).")
@click.option("--unused", is_flag=True, help="List the re-exports that nobody in the tree reads through the package.")
@click.option("--include-public", is_flag=True, help="With --unused: those that are public in a library, too.")
@click.option("--tree", "show_tree", is_flag=True, help="Show who brings what as a tree; each module stands once.")
@click.option("--depth", type=click.IntRange(1), help="How deep --tree (default: 3) and --dot (default: all) go.")
@click.option("--check", is_flag=True, help="Verify the budgets in pyproject.toml; exit 1 if one is exceeded.")
@click.option("--update", is_flag=True, help="Record today's numbers as max-modules of the budgets.")
@click.option("--html", metavar="FILE", help="Draw it as one self-contained page, before and after narrowing.")
@click.option(
    "--plan-out", metavar="FILE", help="Write rows for `narrow-reexport --plan FILE`: of --everywhere, or of MODULE."
)
@click.option("--dot", "show_dot", is_flag=True, help="Print it for Graphviz.")
@click.option(
    "--collapse",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With --dot: draw packages of N parts as one node.",
)
@click.option("--measure", is_flag=True, help="RUN the import in the target's interpreter, and show milliseconds.")
@click.option("--python", metavar="PATH", help="With --measure: that interpreter. Default: the one that runs this.")
@click.option("--runs", type=click.IntRange(0), default=5, show_default=True, help="With --measure: how often.")
@click.option(
    "--forbid-call", multiple=True, metavar="CALL", help="With --measure: exit 1 if the import calls this. Repeatable."
)
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, help="Show so many.")
@click.option("--output-format", type=_FORMATS, default="text", show_default=True, help="How to report.")
@click.option("--source-root", multiple=True, metavar="DIR", help="A folder that stands on sys.path. Repeatable.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out. Repeatable.")
@click.option("--no-cache", is_flag=True, help="Read everything afresh, remember nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Show all, cut no list.")
@click.version_option(package_name="codemods", prog_name="import_cost")
def main(**arguments: object) -> None:
    """Say what `import MODULE` loads, and which of its imports is to blame.

    Run it at the root of a checkout. MODULE is a dotted name, or the path of a file. Nothing is imported but with --measure.
    """
    sys.exit(cli.run(arguments))


if __name__ == "__main__":
    main(prog_name="python -m codemods.import_cost")
