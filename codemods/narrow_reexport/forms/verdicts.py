"""The verdicts on text, as they come, and the comment with which a person takes a site on.

Owns the type that the forms of reflection, strings, settings and documents answer with.
Invariant: it decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Mention, Refusal, Warned

_ACCEPT = re.compile(r"#\s*codemods:\s*accept\s+narrow_reexport\b")


@dataclass(slots=True)
class TextPlan:
    """Verdicts on one file's strings and reflection."""

    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


def accepts(line: str) -> bool:
    """Whether a source line carries the accept comment."""
    return _ACCEPT.search(line) is not None
