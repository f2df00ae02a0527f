"""Predictions for more rows than one process should handle: files in parts, and the engines of clusters.

Importing this package loads neither torch nor pyarrow.
"""
