"""What a command says reaches the reader, or the reader has left: neither ends a run otherwise than it would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def said(code: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run code in a process of its own, with `shell` behind the command."""
    prologue = "import os, signal, sys\nfrom codemods.engine.streams import ending_well, put, say\n"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    full = plain | {"PYTHONPATH": str(PROJECT), "CODE": prologue + code, "PY": sys.executable} | environment
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$PY" -c "$CODE" {shell}'], env=full, capture_output=True, timeout=30
    )


LONG = "say(f'line {n}' for n in range(200000))\n"


@posix
@pytest.mark.parametrize("work", [LONG, "put(b'x' * 9_000_000)\n", "say(['a'] * 90000)\nsay(['b'] * 90000)\n"])
def test_a_reader_that_leaves_changes_no_exit_code(work: str) -> None:
    done = said(
        f"def work():\n    {work.strip().replace(chr(10), chr(10) + '    ')}\n    return 7\nsys.exit(ending_well(work))\n",
        "| head -c 5",
    )
    assert (done.returncode, done.stderr) == (7, b"")
    assert len(done.stdout) == 5


@posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_obstacle(closed: str) -> None:
    done = said("say(['a'])\nsay(['b'], err=True)\nput(b'c')\nsys.exit(7)\n", closed)
    assert done.returncode == 7
    assert b"Traceback" not in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_the_output_is_an_error_by_name() -> None:
    code = (
        "from codemods.engine.errors import CannotWrite\n"
        "try: say(['a'])\n"
        "except CannotWrite as error: say([str(error)], err=True)\n"
        "say(['goes nowhere'])\n"
        "sys.exit(3)\n"
    )
    done = said(code, "> /dev/full")
    assert (done.returncode, done.stderr) == (3, b"the standard output cannot be written: No space left on device\n")


@posix
@pytest.mark.parametrize("encoding", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"PYTHONUTF8": "1"}])
def test_what_the_encoding_lacks_is_escaped(encoding: dict[str, str]) -> None:
    done = said("say(['caf\\u00e9', 'caf\\udce9'])\nsay(['\\u4e00'], err=True)\nsys.exit(7)\n", **encoding)
    assert done.returncode == 7
    assert b"Traceback" not in done.stderr
    assert done.stdout.startswith(b"caf")


@posix
@pytest.mark.usefixtures("heeded_signals")
@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, b"Ctrl-C"), (signal.SIGTERM, b"SIGTERM"), (signal.SIGHUP, b"SIGHUP")]
)
def test_a_signal_ends_a_run_with_its_own_exit_code_and_no_traceback(number: signal.Signals, name: bytes) -> None:
    done = said(f"sys.exit(ending_well(lambda: os.kill(os.getpid(), {int(number)})))\n")
    assert done.returncode == 128 + number
    assert name in done.stderr and b"Traceback" not in done.stderr


@posix
def test_a_signal_waits_for_the_end_of_a_write(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from codemods.engine import disk\n"
        "def work():\n"
        f"    root = Path({str(tmp_path)!r})\n"
        "    with disk.locked(root):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        (root / 'whole').write_text('whole')\n"
        "    return 0\n"
        "sys.exit(ending_well(work))\n"
    )
    done = said(code)
    assert done.returncode in (128 + signal.SIGTERM, 128 + signal.SIGINT), done.stderr
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "whole").read_text() == "whole"


@posix
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    # nohup
    code = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    done = said(code + "sys.exit(ending_well(lambda: os.kill(os.getpid(), signal.SIGHUP) or 7))\n")
    assert done.returncode == 7


def test_escapes_are_right_in_json() -> None:
    code = "import json\ntext = 'caf\\u00e9 \\U0001f600 \\udce9'\nsay([json.dumps(text, ensure_ascii=False)])\n"
    done = said(code, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.stdout.isascii()
    assert json.loads(done.stdout) == "caf\u00e9 \U0001f600 \udce9"
