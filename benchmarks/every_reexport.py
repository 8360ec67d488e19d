"""`make every-reexport`: plan the narrowing of every re-export of every package of a tree, in one process, writing nothing.

Owns the list of a tree's re-exports and the table of verdicts: a plan, or a refusal with its reason.
Invariant: it never writes into the tree, and it exits 1 if any run ends in a failure of our own or a traceback.

    python benchmarks/every_reexport.py TREE TOP [--json FILE] [--only PACKAGE ...] [--markdown FILE]

TREE is a checkout, or a release such as vllm-0.33.0 whose source archive is fetched once; TOP is the import package in
it (vllm, sympy, ...). Each name that an `__init__` below TOP binds by an import, an alias or a star, and whose origin lies
in TOP, is asked for by itself, as a person would: `narrow_reexport PACKAGE NAME`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_vllm import CACHE, fetch, unpack

from codemods.engine.errors import CodemodError
from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.resolve import resolve
from codemods.narrow_reexport.session import Session


@dataclass(frozen=True)
class Verdict:
    """What became of one re-export."""

    package: str
    name: str
    star: bool
    outcome: str  # plan, refused, cannot, failure, crash
    kinds: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    files: int = 0
    seconds: float = 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("top")
    parser.add_argument("--json", type=Path, help="write every verdict there, one JSON object a line")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    parser.add_argument("--only", nargs="*", default=[], help="these packages alone")
    parser.add_argument("--limit", type=int, default=0, help="stop after so many re-exports")
    given = parser.parse_args()
    if not given.tree.is_dir():
        given.tree = released(str(given.tree))
    start = time.perf_counter()
    session = Session(given.tree, remember=True)
    verdicts: list[Verdict] = []
    sink = given.json.open("w", encoding="utf-8") if given.json else None
    for package in packages_of(session, given.top):
        if given.only and package not in given.only:
            continue
        for name, star in reexports_of(session, given.top, package):
            verdict = one(session, given.tree, package, name, star)
            verdicts.append(verdict)
            if sink is not None:
                print(json.dumps(asdict(verdict)), file=sink, flush=True)
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\x1b[K{len(verdicts)} {package}:{verdict.name} {verdict.outcome}")
            if given.limit and len(verdicts) >= given.limit:
                break
        if given.limit and len(verdicts) >= given.limit:
            break
    text = table(given.top, verdicts, time.perf_counter() - start)
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
    return 1 if any(verdict.outcome in ("failure", "crash") for verdict in verdicts) else 0


def released(release: str) -> Path:
    """The unpacked source archive of a release, under `.cache/`."""
    folder = CACHE / "every" / release
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            unpack(fetch(release), Path(scratch)).replace(folder)
    return folder


def packages_of(session: Session, top: str) -> list[str]:
    """The packages below `top`, by the place of their `__init__.py`."""
    layout, _, _ = session.view(top, ())
    found = []
    for path in session.tree.paths:
        if path.endswith("/__init__.py"):
            module = layout.module_at(path)
            if f"{module.name}.".startswith(f"{top}.") and layout.locate(module.name) == module:
                found.append(module.name)
    return found


def reexports_of(session: Session, top: str, package: str) -> list[tuple[str, bool]]:
    """The re-exported names of one package, and whether a star brings them."""
    layout, namespaces, _ = session.view(package, ())
    module = layout.locate(package)
    assert module is not None
    try:
        every = resolve(module, ("*",), namespaces, {})
    except CodemodError:
        return []  # it binds nothing
    reexports = [found.symbol.name for found in every.resolutions if f"{found.origin.module}.".startswith(f"{top}.")]
    stars = {found.symbol.name for found in every.resolutions if found.stars}
    reexports += [refusal.symbol.rpartition(":")[2] for refusal in every.refusals]
    # more than one origin, defined here and bound again, and the like: imports that the resolver turns down
    syntax = namespaces.syntax(module)
    imported = (
        {name for name, found in syntax.module.bindings.items() if any(b.is_import for b in found)} if syntax else {}
    )
    reexports += [
        name for name, reason in every.skipped if name in imported and "not a re-exported symbol" not in reason
    ]
    return [(name, name in stars) for name in dict.fromkeys(reexports)]


def one(session: Session, root: Path, package: str, name: str, star: bool) -> Verdict:
    start = time.perf_counter()
    try:
        result = run(Request(root, package, (name,)), session)
    except CodemodError as error:
        kind = kind_of(error.detail)
        return Verdict(package, name, star, "cannot", (kind,), (), 0, time.perf_counter() - start)
    except Exception:  # noqa: BLE001 - a crash is a row of the table
        last = traceback.format_exc().strip().splitlines()
        return Verdict(package, name, star, "crash", (last[-1],), tuple(last[-6:]))
    took = time.perf_counter() - start
    if result.failures:
        sites = tuple(f"{failure.path}: {failure.detail}" for failure in result.failures)
        return Verdict(package, name, star, "failure", tuple({f.check for f in result.failures}), sites, 0, took)
    if result.refusals:
        kinds = tuple(dict.fromkeys(kind_of(refusal.reason) for refusal in result.refusals))
        sites = tuple(f"{refusal.site} {refusal.reason}" for refusal in result.refusals[:6])
        return Verdict(package, name, star, "refused", kinds, sites, 0, took)
    return Verdict(package, name, star, "plan", (), (), result.files, took)


def kind_of(reason: str) -> str:
    """A reason without the names in it: what is told apart in the table."""
    text = re.split(r": (?=line \d|\w+(?:\.\w+)+ ->)", reason)[0]
    text = re.sub(r"'[^']*'", "…", text)
    text = re.sub(r"\b\w+(?:[.:/]\w+)+\b(?:\(\))?", "…", text)
    text = re.sub(r"\b\d+\b", "N", text)
    text = re.sub(r"\buses \w+ (?=at|for)", "uses the name ", text)
    return re.sub(r"^\w+ (?=has more|is (?:defined|bound|imported|deleted|rebound|the module))", "the name ", text)


def table(top: str, verdicts: list[Verdict], seconds: float) -> str:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    kinds: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        for kind in verdict.kinds:
            kinds[verdict.outcome, kind].append(verdict)
    lines = [
        f"## {top}: {len(verdicts):,} re-exports",
        "",
        f"{outcomes['plan']:,} with a verified plan, {outcomes['refused']:,} refused, {outcomes['cannot']:,} cannot, "
        f"{outcomes['failure'] + outcomes['crash']:,} failures of our own; {seconds:,.0f} s in one process.",
        "",
        "| outcome | reason | re-exports | for example |",
        "|---|---|---|---|",
    ]
    for (outcome, kind), found in sorted(kinds.items(), key=lambda item: (item[0][0], -len(item[1]))):
        example = f"`{found[0].package}:{found[0].name}`"
        lines.append(f"| {outcome} | {kind.replace('|', '/')} | {len(found):,} | {example} |")
    eligible = [v for v in verdicts if v.outcome != "cannot" and not any("__init__ itself uses" in k for k in v.kinds)]
    planned = sum(verdict.outcome == "plan" for verdict in eligible)
    if eligible:
        share = 100 * planned / len(eligible)
        of = f"Of the {len(eligible):,} that have one origin and that their `__init__` does not use at import time"
        lines += ["", f"{of}: {share:.1f} % get a plan."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
