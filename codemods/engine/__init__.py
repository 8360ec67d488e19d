"""What codemods share; it knows no codemod by name."""
