"""The value that a worker of a cluster holds: there from the moment the worker is, and gone afterwards."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("distributed")

from codemods.engine.cluster_values import Bringer, Held
from codemods.engine.executors import Packed


def test_a_worker_holds_the_value_as_long_as_the_plugin_is_on() -> None:
    packed = Packed.of({"more": 3})
    bringer, held = pickle.loads(pickle.dumps((Bringer(packed), Held(packed.key))))
    with pytest.raises(OSError, match="was not given the value"):
        held.value()
    bringer.setup(None)
    assert held.value() is held.value()
    assert held.value() == {"more": 3}
    bringer.teardown(None)
    bringer.teardown(None)
    with pytest.raises(OSError, match="was not given the value"):
        held.value()
