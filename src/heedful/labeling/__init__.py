"""Labeling in the browser: texts of a pool, one at a time, into a file that `heedful train` takes (docs/label.md)."""
