"""Codemods for packages whose `__init__` has become heavy.

narrow_reexport/   a codemod: removes a re-export and points every call site at the origin
engine/            what codemods share: files, scopes, references, the import graph, bans, reports

This file imports nothing and re-exports nothing: we obey our own rule.
"""
