"""Measurements whose figures the documents give, run by hand as ``python -m heedful_lab.studies.NAME``."""
