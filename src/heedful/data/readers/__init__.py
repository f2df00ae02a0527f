"""Readers: one short file a format, each ``read_<format>(path, ...) -> Corpus``.

A reader leaves no row out in silence: what it skips is counted by reason in `Corpus.skipped`, and what it cannot
understand is a `DataError` that names file, row and field.
"""
