"""`make real-packages`: narrow random re-exports of real packages on a copy, and let the interpreter judge.

Owns the packages (fetched from the index, kept under `.cache/`), the random choice, and the comparison: every module of the
package is imported before and after, the touched ones each in a process of its own; they must end alike, with the same
objects bound, and the imports and attribute paths inside their functions must lead to the same objects.
Invariant: it never changes the fetched trees, and it exits 1 if any run is wrong.

    python benchmarks/real_packages.py [PACKAGE ...] [-n 30] [--seed 1] [--json FILE] [--markdown FILE] [--rewrite-strings]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import kind_of, packages_of, reexports_of

from codemods.narrow_reexport.session import Session

CACHE = Path(__file__).resolve().parent.parent / ".cache"
PROBE = Path(__file__).resolve().parent / "probe.py"
TIMEOUT = 3600


@dataclass(frozen=True)
class Package:
    """A package of the index: what to fetch, what its imports need, and what must have run before its modules load."""

    top: str
    requirement: str
    needs: tuple[str, ...] = ()
    setup: str = ""
    leave_out: str = r"\.__main__$"  # modules that must not be imported: they run a program


DJANGO = """
import django.conf
django.conf.settings.configure(INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sites",
    "django.contrib.sessions", "django.contrib.admin", "django.contrib.messages", "django.contrib.redirects",
    "django.contrib.flatpages"], DATABASES={}, SECRET_KEY="x", SITE_ID=1)
import django
django.setup()
"""

PACKAGES = {
    "click": Package("click", "click==8.3.1"),
    "rich": Package("rich", "rich==14.2.0", ("pygments", "markdown-it-py", "attrs")),
    "sqlalchemy": Package("sqlalchemy", "sqlalchemy==2.0.45", ("typing-extensions", "greenlet")),
    "sympy": Package("sympy", "sympy==1.14.0", ("mpmath",)),
    "networkx": Package("networkx", "networkx==3.6.1", ("numpy", "scipy")),
    "django": Package("django", "django==5.2.8", ("asgiref", "sqlparse"), DJANGO),
    "sklearn": Package("sklearn", "scikit-learn==1.7.2", ("numpy", "scipy", "joblib", "threadpoolctl", "pandas")),
    "transformers": Package(
        "transformers",
        "transformers==4.57.1",
        (
            "numpy",
            "huggingface-hub<1",
            "pyyaml",
            "regex",
            "tqdm",
            "tokenizers>=0.22,<=0.23.0",
            "safetensors",
            "requests",
            "filelock",
            "packaging",
        ),
    ),
}


@dataclass
class Run:
    """One symbol: what the command did, and what was wrong with it."""

    package: str
    symbol: str
    outcome: str = ""
    kinds: list[str] = field(default_factory=list)
    files: int = 0
    modules: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)  # modules whose import failed before, and works now or fails later

    @property
    def narrowed(self) -> set[tuple[str, str]]:
        return {(self.package, self.symbol)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=["sympy", "networkx", "django", "sklearn", "transformers"])
    parser.add_argument("-n", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--rewrite-strings", action="store_true")
    parser.add_argument("--only", nargs="*", default=[], metavar="PACKAGE:SYMBOL")
    given = parser.parse_args()
    lines: list[str] = []
    failed = False
    for name in given.packages:
        runs = judged(PACKAGES[name], given)
        failed = failed or any(run.wrong for run in runs)
        lines += summary(PACKAGES[name], runs)
        print("\n".join(summary(PACKAGES[name], runs)), flush=True)
    if given.markdown:
        given.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


def judged(package: Package, given: argparse.Namespace) -> list[Run]:
    pristine = fetched(package)
    dependencies = CACHE / "real" / f"{package.top}-needs"
    chosen = given.only and [tuple(each.split(":")) for each in given.only if each.startswith(f"{package.top}")]
    if not chosen:
        chosen = in_random_order(Session(pristine, remember=True), package.top, given.seed)[: given.n]
    modules = modules_of(pristine, package)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="codemods-real-") as scratch:
        work = Path(scratch) / "tree"
        shutil.copytree(pristine, work)
        judge = Judge(package, pristine, work, dependencies, modules)
        for where, symbol in chosen:
            run = judge.run(where, symbol, ["--rewrite-strings"] if given.rewrite_strings else [])
            runs.append(run)
            print(
                f"  {where}:{symbol} {run.outcome} {run.files or ''} {'; '.join(run.kinds)[:100]} {run.wrong[:3] or ''}",
                flush=True,
            )
            if given.json:
                with given.json.open("a", encoding="utf-8") as sink:
                    print(json.dumps({"top": package.top, **vars(run)}), file=sink)
    return runs


def in_random_order(session: Session, top: str, seed: int) -> list[tuple[str, str]]:
    """Every re-export of a tree, by package and name."""
    every = [(each, name) for each in packages_of(session, top) for name, _ in reexports_of(session, top, each)]
    random.Random(seed).shuffle(every)
    return every


class Judge:
    """The copy of one package that runs work on, and what its modules were like before."""

    def __init__(self, package: Package, pristine: Path, work: Path, dependencies: Path, modules: list[str]) -> None:
        self.package = package
        self.pristine = pristine
        self.work = work
        self.dependencies = dependencies
        self.modules = modules
        self.texts = {path: path.read_text("utf-8", "replace") for path in pristine.rglob("*.py")}
        self.text_of = {name_of(str(path.relative_to(pristine))): text for path, text in self.texts.items()}
        self.known = frozenset(modules)
        self.together = self.probe(pristine, modules, [])["together"]
        if (said := self.together[package.top]["outcome"]) != "imported":
            # every module of it would end alike, before and after
            raise RuntimeError(f"import {package.top} fails before anything is narrowed: {said}")
        self.fresh: dict[str, dict[str, object]] = {}
        again = self.probe(pristine, modules, [])["together"]
        # SESSION_ID = uuid4().hex: another value in each process
        self.random = {
            (module, key)
            for module, old in self.together.items()
            for key, value in dict(old.get("names") or {}).items()  # type: ignore[call-overload]
            if dict(again[module].get("names") or {}).get(key) != value  # type: ignore[call-overload]
        }
        # the same where a function leads to it: SESSION_ID as SESSION_ID = ...
        self.random |= {
            (module, each.rpartition(" = ")[0])
            for module, old in self.together.items()
            for each in set(old.get("leads") or ()) - set(again[module].get("leads") or ())  # type: ignore[call-overload]
        }

    def run(self, where: str, symbol: str, options: list[str]) -> Run:
        run = Run(where, symbol)
        start = time.perf_counter()
        done = self.command(where, symbol, options)
        run.seconds = round(time.perf_counter() - start, 2)
        try:
            told = json.loads(done.stdout)
        except ValueError:
            told = {}
        if done.returncode not in (0, 3, 4) or not told or "Traceback" in done.stderr:
            run.outcome, run.wrong = "crash", [f"exit {done.returncode}: {done.stderr[-300:]}"]
        elif done.returncode:
            run.outcome = "refused" if done.returncode == 4 else "cannot"
            reasons = [each["reason"] for each in told["refusals"]] or [each["detail"] for each in told["errors"]]
            run.kinds = list(dict.fromkeys(map(kind_of, reasons)))
            changed = self.changed()
            run.wrong = [f"a refusal wrote {changed[:3]}"] if changed else []
        else:
            run.outcome = "rewritten"
            changed = [path for path in self.changed() if path != "narrowed.toml"]
            run.files = len(changed)
            dropped = {each["module"]: each["names"] for each in told.get("dropped_star_names", [])}
            self.compare(run, changed, {name for names in dropped.values() for name in names})
            again = self.command(where, symbol, options)
            if again.returncode or [path for path in self.changed() if path != "narrowed.toml"] != changed:
                run.wrong.append(f"the second run: exit {again.returncode}")
        self.restore()
        return run

    def compare(
        self, run: Run, changed: list[str], dropped: set[str], *, touched: int = 10, near: int = 5, every: bool = True
    ) -> None:
        """Import the package, so many of the touched modules and of those that spell the symbol, each for itself.

        With `every`, import every module, too, one after the other in one process.
        """
        edited = [name_of(path) for path in changed if path.endswith(".py")]
        spelled = re.compile(rf"\b{re.escape(run.symbol)}\b")
        others = [
            name_of(str(path.relative_to(self.pristine)))
            for path, text in (self.texts.items() if near else ())
            if spelled.search(text)
        ]
        chosen = random.Random(1).sample(others, min(len(others), near))
        fresh = dict.fromkeys([self.package.top, run.package, *edited[:touched], *chosen])
        self.against(run, [name for name in fresh if name in self.known], frozenset(edited), dropped, every=every)

    def against(self, run: Run, fresh: list[str], edited: frozenset[str], dropped: set[str], *, every: bool) -> None:
        missing = [name for name in fresh if name not in self.fresh]
        self.fresh |= self.probe(self.pristine, [], missing)["fresh"] if missing else {}
        after = self.probe(self.work, self.modules if every else [], fresh)
        run.modules = len(self.modules if every else fresh)
        together = self.together if every else {}
        for kind, before in (("together", together), ("fresh", {name: self.fresh[name] for name in fresh})):
            for name, old in before.items():
                other = {key for module, key in self.random if module == name}
                left = dropped | other | self.starred(name, run)
                run.wrong += differences(name, old, after[kind][name], run, left, name in edited, other)
        run.wrong = list(dict.fromkeys(run.wrong))

    def starred(self, name: str, run: Run) -> set[str]:
        """The narrowed names that a module takes by a star and never spells."""
        # from pkg import *
        text = self.text_of.get(name, "")
        return {
            symbol
            for package, symbol in run.narrowed
            if f"from {package} import *" in text and not re.search(rf"\b{re.escape(symbol)}\b", text)
        }

    def probe(self, tree: Path, together: list[str], fresh: list[str]) -> dict[str, dict[str, dict[str, object]]]:
        top = "" if self.package.setup else self.package.top
        asked = json.dumps({"setup": self.package.setup, "top": top, "together": together, "fresh": fresh})
        path = os.pathsep.join([str(tree), str(self.dependencies)])
        env = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "HF_HUB_OFFLINE": "1",
        }
        done = subprocess.run(
            [sys.executable, "-S", str(PROBE)],  # nothing but the tree and what it needs
            input=asked,
            capture_output=True,
            text=True,
            env=env,
            cwd="/",
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode or not done.stdout:
            raise RuntimeError(f"the probe of {self.package.top} failed: {done.stderr[-500:]}")
        told: dict[str, dict[str, dict[str, object]]] = json.loads(done.stdout.replace(str(tree), "<tree>"))
        return told

    def command(self, where: str, symbol: str, options: list[str]) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "codemods.narrow_reexport", where, symbol, "--output-format", "json", *options]
        return subprocess.run(line, cwd=self.work, capture_output=True, text=True, timeout=TIMEOUT, check=False)

    def changed(self) -> list[str]:
        found = []
        for path in sorted(self.work.rglob("*")):
            relative = path.relative_to(self.work)
            old = self.pristine / relative
            if path.is_file() and (not old.exists() or path.stat().st_mtime_ns != old.stat().st_mtime_ns):
                if not old.exists() or path.read_bytes() != old.read_bytes():
                    found.append(str(relative))
        return found

    def restore(self) -> None:
        for path in self.changed():
            if (self.pristine / path).exists():
                shutil.copy2(self.pristine / path, self.work / path)
            else:
                (self.work / path).unlink()


def differences(
    name: str, old: dict[str, object], new: dict[str, object], run: Run, left: set[str], touched: bool, other: set[str]
) -> list[str]:
    """What one module is or does otherwise than before, apart from what was asked for and what differs each time (`other`)."""
    if old["outcome"] not in ("imported", new["outcome"]):
        # it no longer loads what cannot be loaded here; it may come to something else that cannot
        run.freed.append(name)
        return []
    if old["outcome"] != new["outcome"]:
        return [f"{name}: {old['outcome']} -> {new['outcome']}"]
    if old["outcome"] != "imported":
        return []
    found = []
    was, now = old["names"], new["names"]
    assert isinstance(was, dict) and isinstance(now, dict)
    for key, value in was.items():
        if now.get(key) == value or (key in left and key in now) or (name, key) in run.narrowed:
            continue
        if key not in now and key in left:
            continue  # names that a star took along and nobody reads
        if key not in now and touched and value.startswith("module "):
            continue  # an import that nothing reads any more went
        if key not in now and value.startswith("module ") and value.rpartition(".")[2] == key:
            continue  # a star took along a submodule that its package has loaded no more; who reads it is seen to
        found.append(f"{name}.{key}: {value} -> {now.get(key, 'gone')}")
    for package, symbol in run.narrowed:
        if name == package and symbol in now and not str(now[symbol]).startswith("module "):
            found.append(f"{name} still binds {symbol}")
    fails = set(new["fails"]) - set(old["fails"])  # type: ignore[call-overload]
    found += [f"{name}: inside a function {each}" for each in sorted(fails)]
    led = [each.rpartition(" = ") for each in old["leads"] if each.rpartition(" = ")[0] not in other]  # type: ignore[attr-defined]
    lost = {what for _, _, what in led} - {each.rpartition(" = ")[2] for each in new["leads"]}  # type: ignore[attr-defined]
    lost -= {was[symbol] for package, symbol in run.narrowed if package == name and symbol in was}
    # an import that nothing reads any more went, or what is left are the plain names of an edited file
    lost = {each for each in lost if not touched or ("." in each and not each.startswith("module "))}
    found += [f"{name}: nothing leads to {each} any more" for each in sorted(lost)]
    return found


def name_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def modules_of(tree: Path, package: Package) -> list[str]:
    names = {name_of(str(path.relative_to(tree))) for path in (tree / package.top).rglob("*.py")}
    return sorted(name for name in names if "-" not in name and not re.search(package.leave_out, name))


def fetched(package: Package) -> Path:
    """The unpacked wheel, and beside it what its imports need.

    Both have bytecode that counts by the source's hash, so that an edited copy is compiled and nothing else is.
    """
    tree, needs = CACHE / "real" / package.top, CACHE / "real" / f"{package.top}-needs"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
    if not tree.exists():
        subprocess.run([*pip, "--no-deps", "--target", str(tree), package.requirement], check=True)
    if package.needs and not needs.exists():
        subprocess.run([*pip, "--target", str(needs), *package.needs], check=True)
    for folder in (tree, needs):
        if folder.exists() and not (folder / ".compiled").exists():
            compile_it = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "checked-hash", str(folder)]
            subprocess.run(compile_it, check=False, capture_output=True)  # a template of the package may be no Python
            (folder / ".compiled").touch()
    return tree.resolve()


def summary(package: Package, runs: list[Run]) -> list[str]:
    outcomes = Counter(run.outcome for run in runs)
    wrong = [run for run in runs if run.wrong]
    kinds = Counter(kind for run in runs for kind in run.kinds)
    lines = [
        f"## {package.requirement.replace('==', ' ')}: {len(runs)} random re-exports",
        "",
        f"{outcomes['rewritten']} rewritten, {outcomes['refused']} refused, {outcomes['cannot']} cannot, {len(wrong)} wrong.",
        "",
    ]
    lines += [f"- {count} x {kind}" for kind, count in kinds.most_common()]
    lines += [f"- wrong: {run.package}:{run.symbol}: {'; '.join(run.wrong[:4])}" for run in wrong]
    return [*lines, ""]


if __name__ == "__main__":
    sys.exit(main())
