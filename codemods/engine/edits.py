"""Edits become text, and text becomes the file's bytes.

Owns the splice: edits in, new text out.
Invariant: what lies outside the edits is the same, character for character.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.engine.model import Edit, Failure
from codemods.engine.source import Source


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits applied; they must not overlap. Raises ValueError where they do."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError(f"edits overlap at offset {edit.start}")
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def edited(source: Source, edits: Sequence[Edit]) -> bytes | Failure:
    """The bytes of a file with edits applied; a Failure where they overlap or the file's encoding lacks a character."""
    try:
        return source.encode(apply(source.text, edits))
    except ValueError as error:  # UnicodeEncodeError is one
        return Failure("edits", source.path, str(error))
