"""Narrow a re-export: remove it from a package's `__init__`, and import the symbol from its origin everywhere.

Before: `pkg/__init__.py` says `from .sub import sym`, callers say `from pkg import sym` or `pkg.sym`.
After: the `__init__` and its `__all__` no longer name it; callers say `from pkg.sub import sym` or `pkg.sub.sym`.
Preserved: what every name is bound to and when; comments, order, guards, laziness; every byte outside the edits.
Refused: each site whose behaviour would change or cannot be proved to stay (docs/forms.md lists the forms).
"""
