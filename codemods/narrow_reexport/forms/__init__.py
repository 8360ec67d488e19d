"""One file per family of forms: how it looks, what is decided, how it is cut."""
