"""The guard for a whole repository: what was narrowed stays narrowed.

    python -m codemods.check_narrowed [PATHS]

`narrowed.toml` says which names are imported from where. Reported is each place where the pattern has come back:

    from .impl import sym          in the package's __init__: the re-export itself, in any form, and its `__all__` entry
    from pkg import sym            a call site through the package: from-imports, attributes, stars, patch targets
    from pkg import f; f()         the same-name trap: the name is bound to the module f now

The verdicts and the fixes are those of `narrow_reexport`, and of the Fixit rule. A file that cannot matter is told by its
bytes and not parsed.
"""
