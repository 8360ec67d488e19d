"""How often the garbage collector looks."""

from __future__ import annotations

import gc

import pytest

from codemods.engine.memory import RARELY, collecting_rarely


def test_the_collector_looks_rarely_meanwhile_and_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), collecting_rarely():
        assert gc.get_threshold() == RARELY
        raise KeyError
    assert gc.get_threshold() == before
