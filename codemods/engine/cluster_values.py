"""A value that every worker of a Dask cluster holds, also one that joins later or is started again.

Owns the plugin that brings the value to a worker, and the worker's way to it.
Invariant: it runs where `distributed` is installed, and the value goes to a worker once, not with every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from distributed import WorkerPlugin

from codemods.engine.executors import Packed

_held: dict[str, Packed] = {}


class Bringer(WorkerPlugin):  # type: ignore[misc]  # distributed is an extra, and its types are not asked for
    """Scattered data would be lost with the workers that hold it; a plugin comes with every worker."""

    def __init__(self, packed: Packed) -> None:
        self.packed = packed

    def setup(self, worker: object) -> None:
        """The worker is there."""
        _held[self.packed.key] = self.packed

    def teardown(self, worker: object) -> None:
        """The value is needed no more."""
        _held.pop(self.packed.key, None)


@dataclass(frozen=True, slots=True)
class Held:
    """What stands for the value in a call."""

    key: str

    def value(self) -> Any:
        """The value, in a worker. Raises OSError where it has not come yet."""
        packed = _held.get(self.key)
        if packed is None:
            raise OSError("the worker was not given the value")
        return packed.value()
