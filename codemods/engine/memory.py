"""How often the garbage collector looks: syntax trees are many objects, and few of them are garbage.

Owns the thresholds, for a command and for its workers.
Invariant: what is garbage while a command works is found all the same, only later.
"""

from __future__ import annotations

import atexit
import gc

RARELY = (200_000, 20, 50)  # a tenth of the CPU time went into looking through trees that are kept anyway


def collect_rarely() -> None:
    """Let the collector look less often from here on, and not at all as the interpreter ends: the system takes it all back."""
    gc.set_threshold(*RARELY)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
