"""What `import pkg` drags in, which re-export is to blame, and a budget that holds.

    python -m codemods.import_cost PACKAGE|MODULE

Counted are the modules that an import executes in a fresh interpreter: what stands at module level, in class bodies and in
`if` and `try` there, and the packages around each module, whose `__init__` runs first. Imports in functions, under
`TYPE_CHECKING` and lazy ones weigh nothing. The code is read, never imported; `--measure` alone runs it, and says so.
"""
