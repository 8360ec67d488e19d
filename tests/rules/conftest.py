"""Every test here needs Fixit, which is an extra; REQUIRE_FIXIT makes its absence an error."""

from __future__ import annotations

import os

import pytest

if os.environ.get("REQUIRE_FIXIT"):
    import fixit as fixit
else:
    pytest.importorskip("fixit")
