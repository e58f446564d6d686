"""Image files of a symbol, one format a module."""
