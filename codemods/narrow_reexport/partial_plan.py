"""A partial plan as a file: what one of several machines has found out about its share of the files.

Owns the schema of partial plans, and the fingerprint of a `Context`.
Invariant: a plan that is read back equals the one that was written; anything else than a partial plan is an error. It is
plain JSON, since it comes from another machine.
"""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from codemods.engine.config import NarrowOptions
from codemods.engine.errors import BadConfiguration
from codemods.engine.modules import Layout
from codemods.engine.project import digest
from codemods.narrow_reexport.context import Context, FilePlan

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of one file, and the fingerprint of the bytes that it was made from."""

    path: str
    text: str
    plan: FilePlan


@dataclass(frozen=True, slots=True)
class Stage:
    """The plans that were made in one context; those of the second pass are made from edited files."""

    context: str
    verifying: bool
    files: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run was asked for."""

    package: str
    symbols: tuple[str, ...]
    every: bool
    options: NarrowOptions


@dataclass(frozen=True, slots=True)
class PartialPlan:
    """The plans of a share of the files."""

    shard: str
    release: str
    request: Asked
    stages: tuple[Stage, ...]

    @property
    def contexts(self) -> tuple[Stage, ...]:
        """The stages in which files were planned: one for each checkout."""
        return tuple(stage for stage in self.stages if not stage.verifying)


def fingerprint(context: Context) -> str:
    """The same for two contexts that make the same plan of every file, on any machine."""
    return digest(json.dumps(_canonical(context)).encode("ascii"))


def encode(part: PartialPlan) -> bytes:
    """The partial plan as a file."""
    told = {"schema_version": SCHEMA_VERSION, "command": "narrow_reexport", **_told(part)}
    return (json.dumps(told, indent=1, sort_keys=True) + "\n").encode("ascii")


def decode(data: bytes, path: str) -> PartialPlan:
    """The partial plan in a file. Raises BadConfiguration for anything else."""
    try:
        told = json.loads(data)
        version = told.pop("schema_version")
        if told.pop("command") != "narrow_reexport" or "shard" not in told:
            raise ValueError("it is none")
        if version != SCHEMA_VERSION:
            detail = f"a partial plan of version {version}; this command reads version {SCHEMA_VERSION}"
            raise BadConfiguration(detail, path=path)
        part = _read(PartialPlan, told)
        assert isinstance(part, PartialPlan)
        for file in (file for stage in part.stages for file in stage.files):
            if {file.path} != {file.plan.path, *(edit.path for edit in file.plan.edits)}:
                raise ValueError(f"{file.path} has the plan of another file")
            if not all(0 <= edit.start <= edit.end for edit in file.plan.edits):
                raise ValueError(f"{file.path} has an edit that ends before it starts")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadConfiguration(f"is no partial plan: {error}", path=path) from error
    return part


def _canonical(value: object) -> object:
    if isinstance(value, Layout):
        return _canonical(value.facts())
    if is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            *([field.name, _canonical(getattr(value, field.name))] for field in fields(value)),
        ]
    if isinstance(value, frozenset):
        return sorted((_canonical(each) for each in value), key=json.dumps)
    if isinstance(value, tuple):
        return [_canonical(each) for each in value]
    if value is None or isinstance(value, (str, int)):
        return value
    raise TypeError(f"a context holds a {type(value).__name__}, which has no fingerprint")


def _told(value: object) -> Any:
    """As JSON; fields that have their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name) for field in fields(value)}
        given = {field.name: field.default for field in fields(value)}
        return {name: _told(each) for name, each in found.items() if given[name] is MISSING or given[name] != each}
    if isinstance(value, tuple):
        return [_told(each) for each in value]
    return value


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(kind: Any, told: object) -> object:
    """The value of that type. Raises ValueError, TypeError or KeyError."""
    if is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(told, Mapping):
            raise ValueError(f"{told!r} is no {kind.__name__}")
        hints = _hints(kind)
        unknown = told.keys() - hints.keys()
        if unknown:
            raise ValueError(f"{sorted(unknown)} are no fields of a {kind.__name__}")
        return kind(**{name: _read(hints[name], each) for name, each in told.items()})
    if typing.get_origin(kind) is tuple:
        if not isinstance(told, list):
            raise ValueError(f"{told!r} is no list")
        return tuple(_read(typing.get_args(kind)[0], each) for each in told)
    if type(told) is not kind:
        raise ValueError(f"{told!r} is no {kind.__name__}")
    return told
