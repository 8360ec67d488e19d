"""How often the garbage collector looks: syntax trees are many objects, and few of them are garbage.

Owns the thresholds, for a command and for its workers.
Invariant: what is garbage while a command works is found all the same, only later.
"""

from __future__ import annotations

import atexit
import gc

RARELY = (20_000, 20, 50)  # 1.5 of 6.4 CPU seconds went into collections where 300 modules are parsed


def collect_rarely() -> None:
    """Let the collector look less often from here on, and not at all as the interpreter ends: the system takes it all back."""
    gc.set_threshold(*RARELY)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
