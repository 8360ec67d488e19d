"""`python -m codemods.check_narrowed [PATHS]`: report what reaches a narrowed name through its package again, and fix it."""

import os
import sys

# see narrow_reexport/__main__.py: nothing of the working directory may be imported
sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != os.path.realpath(".")]

# Ctrl-C while modules are loaded: no traceback, and the exit code of a signal.
sys.excepthook = lambda kind, *rest: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)

import click

from codemods.check_narrowed import cli

_FORMATS = click.Choice(["text", "json", "github", "sarif"])


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 offences, 2 bad arguments, 3 cannot.",
)
@click.argument("paths", nargs=-1)
@click.option("--fix", is_flag=True, help="Write what narrow-reexport would write; exit 1 if something is left.")
@click.option("--diff", "show_diff", is_flag=True, help="Print what would be written, for `git apply`; write nothing.")
@click.option("--output-format", type=_FORMATS, default="text", show_default=True, help="How to report.")
@click.option(
    "--stdin-filename", metavar="FILE", help="Check standard input as the content of FILE; --fix prints the fixed text."
)
@click.option(
    "--baseline", metavar="FILE", help="Accept so many offences as FILE says.  [default: from pyproject.toml]"
)
@click.option("--update-baseline", is_flag=True, help="Lower the baseline's numbers to today's; none rises.")
@click.option(
    "--add",
    "add_symbols",
    multiple=True,
    metavar="PKG:SYMBOL",
    help="Ban a symbol that is still re-exported, and others that follow; --baseline FILE accepts today's offences.",
)
@click.option("--prune", "prune_rows", is_flag=True, help="Take out the rows whose origin or package is gone.")
@click.option(
    "--rename",
    "rename_rows",
    nargs=2,
    metavar="OLD NEW",
    help="Rewrite the rows after a module (pkg.sub) or a symbol (pkg.sub:name) got another name.",
)
@click.option(
    "--emit", type=click.Choice(["ruff"]), help="Write the rows that ruff's TID251 can enforce to its settings."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but offences and errors.")
@click.version_option(package_name="codemods", prog_name="check_narrowed")
def main(**arguments: object) -> None:
    """Check that what was narrowed stays narrowed: nobody imports a name through a package that narrowed.toml bans there.

    PATHS are files or folders, by default all files of the tree: the folder with narrowed.toml, here or above.
    """
    sys.exit(cli.run(arguments))


if __name__ == "__main__":
    main(prog_name="python -m codemods.check_narrowed")
