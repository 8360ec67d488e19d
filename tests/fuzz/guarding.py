"""The rule, the check and the codemod agree: call sites put back into the narrowed tree are mended to the same bytes.

Owns the comparison for one random tree. What no row is about (a submodule that the package had loaded, a star, a string) is
left out by its place.
Invariant: a narrowed tree is clean; a file that is put back is never silently different from what the codemod writes.
"""

from __future__ import annotations

from pathlib import Path

from codemods.check_narrowed.fixes import Fixer
from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.verdicts import offences
from codemods.engine.bans import FILE_NAME
from codemods.engine.discover import is_code
from tests.fuzz.trees import RandomTree

try:
    import fixit
except ImportError:  # an extra
    fixit = None  # type: ignore[assignment]


def guarded(
    tree: RandomTree, after: Path, changes: dict[str, bytes], inits: set[str], *, linted: bool, lazy: bool
) -> dict[str, bytes]:
    """Put the call sites of before back into `after`, and let the three mend them.

    The narrowed tree no longer shows everything (that a re-export was lazy, that the package deleted its submodule), so the
    bytes may be others than the codemod's. Those that are get judged by the interpreter: they are the answer.
    """
    from tests.fuzz.properties import Broken, shown

    if FILE_NAME not in changes or {"--callers-only", "--rewrite-strings", "--shim", "--exclude"} & {*tree.options}:
        return {}
    rows = read_rows(after)
    guard = Guard(after, rows)
    now = {**tree.files, **changes}
    dirty = [f"{e.site}: {e.message}" for path in now if is_code(path) for e in offences(guard, path, now[path])]
    if dirty and not lazy:  # a star never took a lazy name, which the narrowed tree no longer shows
        raise Broken("the narrowed tree offends the check", dirty)
    sites = [path for path in changes if is_code(path) and path in tree.files and path not in inits]
    sites = [path for path in sites if guard.view_of_init(path) is None]
    for path in sites:
        (after / path).write_bytes(tree.files[path])
    guard = Guard(after, rows)
    fixer = Fixer(guard)
    others: dict[str, bytes] = {}
    for path in sites:
        before = tree.files[path]
        checked = [each.site.line for each in offences(guard, path, before)]
        if not checked:
            continue  # a lost submodule, a star: no row is about it
        fixed, left = fixer.file(path, before)
        if left:
            continue
        again = [f"{each.site}: {each.message}" for each in offences(guard, path, fixed)]
        if again:
            raise Broken("what the check has mended offends it again", [*again, shown(before, fixed)])
        if fixed != changes[path] and path.endswith(".py"):
            others[path] = fixed
        if linted and fixit is not None:
            from tests.rules.linting import lint

            found = lint(after, path, before)
            if sorted(found.lines) != sorted(checked):
                raise Broken("the rule flags other lines than the check", [path, f"{found.lines} {checked}"])
            if found.fixed not in (fixed, before):
                raise Broken("the rule mends otherwise than the check", [path, shown(fixed, found.fixed)])
    return others
