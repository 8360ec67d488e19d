"""`--measure`: how long an import takes, and whether it calls what it should not. THIS RUNS THE TARGET'S CODE.

The only part of this project that does, and only when asked to: `import MODULE`, in subprocesses of the target's interpreter.

Owns the clean subprocess, its `-X importtime` lines, and the probes for calls.
Invariant: nothing is imported into this process, and nothing is written into the tree: bytecode goes to a folder that is
thrown away. One run that is not counted fills it, so that the counted ones load bytecode, as production does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import median

from codemods.engine.errors import CodemodError

SAYS_SO = "This ran the target's code: `import {module}`, {times}, with {python}."
_BEGIN, _END = "codemods: the import begins", "codemods: the import has ended"
_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \| ( *)(.*)$")
_LAST_LINES = 12
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

_TIMED = f"""\
import sys
module, error = sys.argv.pop(), sys.stderr
print({_BEGIN!r}, file=error, flush=True)
__import__(module)
print(chr(10) + {_END!r}, file=error, flush=True)
"""


class ImportFailed(CodemodError):
    """The target's interpreter is not there, or its import of the module failed or took too long."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One module that was loaded: microseconds of its own code, and its depth in the order of loading (0: the module asked for)."""

    name: str
    self_us: int
    depth: int


@dataclass(frozen=True, slots=True)
class Step:
    """One frame of the stack of a call, outermost first."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether the import called `call`; `loaded` says whether its module was loaded, `found` whether there is such a callable."""

    call: str
    loaded: bool
    found: bool
    times: int
    stack: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Each module's median over the runs, in the order in which the modules were finished; `took` is the sum of each run."""

    module: str
    python: str
    took: tuple[int, ...]
    modules: tuple[Timed, ...]
    probes: tuple[Probed, ...]

    @property
    def runs(self) -> int:
        return len(self.took)

    @property
    def total_us(self) -> int:
        """The sum of the medians: one module that was slow in one run does not show, as it does in the sum of a run."""
        return sum(each.self_us for each in self.modules)

    @property
    def says(self) -> str:
        """The sentence that a report of this must hold."""
        count = self.runs + bool(self.runs) + bool(self.probes)
        times = "once" if count == 1 else f"{count} times"
        return SAYS_SO.format(module=self.module, times=times, python=self.python)


def measure(
    module: str,
    *,
    root: Path,
    python: str = sys.executable,
    runs: int = 5,
    calls: Sequence[str] = (),
    beside: Sequence[Path] = (),
    timeout: float = 600,
) -> Measured:
    """Import `module` with `python`, in fresh processes with `root` (the source root) as working directory.

    `beside` are more folders of `sys.path`; `calls` are dotted names of callables to watch in a run of their own;
    with no `runs` nothing is timed.
    """
    for name in (module, *calls):
        if not _MODULE.fullmatch(name):
            raise ImportFailed(f"`{name}` is no dotted name")
    with tempfile.TemporaryDirectory(prefix="import-cost-") as folder:
        program = python if Path(python).name == python else str(Path(python).absolute())
        process = _Process(program, root, clean_environment(os.environ, beside), Path(folder), timeout)
        if runs:
            process.run(module, "-c", _TIMED, module)
        found = [parse(process.run(module, "-X", "importtime", "-c", _TIMED, module)) for _ in range(runs)]
        if not all(found):
            raise ImportFailed(
                f"`import {module}` left no times: it is loaded already, or takes the standard error away"
            )
        probes: tuple[Probed, ...] = ()
        if calls:
            report = Path(folder) / "probes.json"
            prologue = resources.files("codemods.import_cost").joinpath("probe_prologue.py").read_text(encoding="utf-8")
            process.run(module, "-c", prologue, module, str(report), *calls)
            if not report.exists():
                raise ImportFailed(f"`import {module}` ends its process: what it called is not known")
            probes = probed(report.read_text(encoding="utf-8"))
    took = tuple(sum(each.self_us for each in run) for run in found)
    return Measured(module, python, took, medians(found), probes)


def clean_environment(environment: Mapping[str, str], beside: Sequence[Path] = ()) -> dict[str, str]:
    """The environment without what steers Python, so that neither this process nor its caller changes what is measured."""
    kept = {name: value for name, value in environment.items() if not name.startswith(("PYTHON", "__PYVENV"))}
    if beside:
        kept["PYTHONPATH"] = os.pathsep.join(map(str, beside))
    return kept | {"PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8:backslashreplace"}


def parse(text: str) -> tuple[Timed, ...]:
    """The modules of `-X importtime` from the beginning of the import on; what the interpreter starts with is not counted.

    import time:       123 |        456 |     pkg.sub      (two blanks a level; a module stands below what it loads)
    """
    found = []
    begun = False
    for line in text.splitlines():
        if line == _END:
            break  # what runs as the process ends is none of the import
        begun = begun or line.endswith(_BEGIN)
        # a line that the target printed without its end stands before ours
        match = _LINE.match(line[max(line.find("import time:"), 0) :]) if begun else None
        if match:
            found.append(Timed(match[3], int(match[1]), len(match[2]) // 2))
    return tuple(found)


def medians(runs: Sequence[Sequence[Timed]]) -> tuple[Timed, ...]:
    """Each module's median; one that a run did not load took it no time. Order and depth are those of the first run."""
    times: dict[str, list[int]] = {}
    first: dict[str, Timed] = {}
    for run in runs:
        for each in run:
            times.setdefault(each.name, []).append(each.self_us)
            first.setdefault(each.name, each)
    return tuple(
        Timed(name, _middle(found + [0] * (len(runs) - len(found))), first[name].depth) for name, found in times.items()
    )


def probed(report: str) -> tuple[Probed, ...]:
    """The probes that the prologue wrote as JSON."""
    return tuple(
        Probed(each["call"], each["loaded"], each["found"], each["times"], tuple(Step(*step) for step in each["stack"]))
        for each in json.loads(report)
    )


def _middle(values: Sequence[int]) -> int:
    return round(median(values)) if values else 0


@dataclass(frozen=True, slots=True)
class _Process:
    """How the target's interpreter is started."""

    program: str
    root: Path
    environment: Mapping[str, str]
    folder: Path
    timeout: float

    def run(self, module: str, *arguments: str) -> str:
        """Run it once; what it wrote to the standard error. Raises ImportFailed where it fails."""
        command = [self.program, "-X", f"pycache_prefix={self.folder / 'bytecode'}", *arguments]
        said = self.folder / "stderr"  # not a pipe: a program that the import leaves running would hold it open
        try:
            with said.open("wb") as file:
                done = subprocess.run(
                    command,
                    cwd=self.root,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=file,
                    timeout=self.timeout,
                    check=False,
                )
        except subprocess.TimeoutExpired:
            detail = f"`import {module}` takes more than {self.timeout:g} seconds with {self.program}"
            raise ImportFailed(detail) from None
        except OSError as error:
            detail = f"cannot run {self.program}: {error.strerror}"
            raise ImportFailed(detail, hint="name the target's interpreter with --python") from None
        text = said.read_bytes().decode("utf-8", "replace")
        if done.returncode:
            last = [line for line in text.splitlines() if not line.startswith(("import time:", _BEGIN))][-_LAST_LINES:]
            detail = "\n".join([f"`import {module}` fails with {self.program} (exit {done.returncode}):", *last])
            raise ImportFailed(detail, hint="name an interpreter that can import it with --python")
        return text
