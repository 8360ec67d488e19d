"""Rules for Fixit: `enable = ["codemods.rules.narrow_reexport"]`. Fixit is the extra `codemods[fixit]`."""
