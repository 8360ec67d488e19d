"""`python -m codemods.narrow_reexport PACKAGE SYMBOL...`: remove a re-export, point every call site at the origin."""

import os
import sys

# A folder `click/` or `libcst/` in the target must not be imported in place of the library: `python -m` has put the
# working directory first on the path. It goes before anything is imported. Our own package is found by its `__path__`.
sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != os.path.realpath(".")]

# Ctrl-C while modules are loaded: no traceback, and the exit code of a signal.
sys.excepthook = lambda kind, *rest: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)

import click

from codemods.narrow_reexport import bulk_cli, cli, shards_cli

_FORMATS = click.Choice(["text", "json", "github"])
_FOLDER = click.Path(exists=True, file_okay=False)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 --check would change something, 2 bad arguments, 3 cannot, 4 refused, "
    "5 a bug of ours.",
)
@click.argument("package", required=False)
@click.argument("symbols", nargs=-1)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Narrow each name in __all__, else each name imported from the same distribution.",
)
@click.option("--diff", "show_diff", is_flag=True, help="Print a diff for `git apply`; write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if something would change.")
@click.option("--output-format", type=_FORMATS, default=None, help="How to report.  [default: text]")
@click.option(
    "--keep-going",
    is_flag=True,
    default=None,
    help="Leave refused symbols out and write the rest (exit 4 all the same).",
)
@click.option(
    "--callers-only",
    is_flag=True,
    default=None,
    help="Move the call sites and drop the __all__ entry; the __init__ keeps its import.",
)
@click.option(
    "--shim",
    is_flag=True,
    default=None,
    help="For callers outside the tree, leave a __getattr__ that imports the name late and warns.",
)
@click.option("--shim-removal", metavar="VERSION", default=None, help="The version in which the shim will go.")
@click.option(
    "--from-shims",
    metavar="PACKAGE",
    help="Move this checkout's call sites by the shims in an installed PACKAGE, which is read and never imported.",
)
@click.option(
    "--python", metavar="PATH", help="The interpreter whose site-packages --from-shims reads.  [default: this one]"
)
@click.option(
    "--also", multiple=True, type=_FOLDER, metavar="DIR", help="Another checkout whose call sites follow. Repeatable."
)
@click.option(
    "--source-root",
    multiple=True,
    metavar="DIR",
    help="A folder that stands on sys.path. Repeatable.  [default: found]",
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out. Repeatable.")
@click.option("--accept", multiple=True, metavar="FILE:LINE", help="Take a site on: it is left as it is. Repeatable.")
@click.option(
    "--accept-side-effects",
    is_flag=True,
    default=None,
    help="Take on what the import of an origin did for others: registrations, patches of other modules.",
)
@click.option(
    "--rewrite-strings",
    is_flag=True,
    default=None,
    help="Rewrite strings and settings that are the symbol's path, and code in strings.",
)
@click.option("--strict", is_flag=True, default=None, help="Turn warnings into refusals.")
@click.option(
    "--to-definition", is_flag=True, default=None, help="Follow further re-exports to the module that defines the name."
)
@click.option("--cost", is_flag=True, help="Say how many modules `import PACKAGE` loads before and after.")
@click.option("--no-ban", is_flag=True, help="Write no row to narrowed.toml.")
@click.option("--abort", "abort_run", is_flag=True, help="Take back a run that was killed while writing.")
@bulk_cli.bulk_options
@click.option("--profile", is_flag=True, help="Say where the time went, stage by stage, and the peak of memory.")
@shards_cli.shard_options
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but refusals and errors.")
@click.option("-v", "--verbose", count=True, help="List everything.")
@click.version_option(package_name="codemods", prog_name="narrow_reexport")
def main(**arguments: object) -> None:
    """Remove the re-export of SYMBOLS from PACKAGE's __init__ and __all__, import them from their origin everywhere.

    Run it at the root of a checkout. SYMBOLS may be globs ('fused_*'). Either every call site moves, or nothing is
    written and each site in the way is named.
    """
    sys.exit(cli.run(arguments))


def merge_plans() -> None:
    """The console script `merge-plans PART...`: the same as `narrow-reexport --merge-plans PART...`."""
    main(["--merge-plans", *sys.argv[1:]])


if __name__ == "__main__":
    main(prog_name="python -m codemods.narrow_reexport")
