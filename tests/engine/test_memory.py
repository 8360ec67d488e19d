"""How often the garbage collector looks."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from codemods.engine.memory import RARELY, collect_rarely

PROJECT = Path(__file__).resolve().parents[2]
AT_EXIT = """
import atexit, gc
before = gc.get_freeze_count()  # Python 3.12 has frozen some itself
atexit.register(lambda: print(gc.get_freeze_count() > before))
from codemods.engine.memory import collect_rarely
collect_rarely()
collect_rarely()
print(gc.get_freeze_count() > before)
"""


def test_the_collector_looks_rarely_from_then_on() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        assert gc.get_threshold() == RARELY
    finally:
        gc.set_threshold(*before)


def test_as_the_interpreter_ends_nothing_is_looked_through() -> None:
    done = subprocess.run([sys.executable, "-c", AT_EXIT], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
