"""What holds for all tests: caches of their own and, where that is asked for, the same random examples each time."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# An integration run should fail for what changed, not for what it happened to draw; by hand the examples are new each time.
settings.register_profile("steady", derandomize=True)
if os.environ.get("CODEMODS_STEADY"):
    settings.load_profile("steady")

_SIGNALS = [signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


@pytest.fixture(scope="session", autouse=True)
def _own_caches() -> Iterator[None]:
    """What a person's caches know of a tree changes what is said: a test must not meet them."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("CODEMODS_CACHE_DIR")
        os.environ["CODEMODS_CACHE_DIR"] = folder
        yield
        if before is None:
            del os.environ["CODEMODS_CACHE_DIR"]
        else:
            os.environ["CODEMODS_CACHE_DIR"] = before


@pytest.fixture
def heeded_signals() -> Iterator[None]:
    """Programs that the test starts heed Ctrl-C and a hangup, though `nohup` and `&` made this process ignore them."""
    ignored = [each for each in _SIGNALS if signal.getsignal(each) == signal.SIG_IGN]
    for each in ignored:
        signal.signal(each, signal.SIG_DFL)
    yield
    for each in ignored:
        signal.signal(each, signal.SIG_IGN)
