"""`python -m codemods`: lists the commands, each with the first line of its docstring."""

import os
import sys

# see narrow_reexport/__main__.py: nothing of the working directory may be imported
sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != os.path.realpath(".")]

import ast
from pathlib import Path

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="codemods", prog_name="codemods")
def main() -> None:
    """List the commands of this package."""
    here = Path(__file__).parent
    for entry in sorted(here.glob("*/__main__.py")):
        doc = ast.get_docstring(ast.parse(entry.read_text(encoding="utf-8"))) or ""
        first = doc.splitlines()[0].partition(": ")[2]
        click.echo(f"python -m codemods.{entry.parent.name}\n    {first}")


if __name__ == "__main__":
    main(prog_name="python -m codemods")
