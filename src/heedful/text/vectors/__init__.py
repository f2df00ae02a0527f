"""Pretrained word vectors: reading every common format, and filling the embedding tables with them."""

from heedful.text.vectors.initial import InitialTables, Speller, WordVectors, initial_ngrams, initial_table
from heedful.text.vectors.plain import read_baseforms
from heedful.text.vectors.vector_files import files_of, find_vectors, read_vectors, vector_format

__all__ = [
    "InitialTables",
    "Speller",
    "WordVectors",
    "files_of",
    "find_vectors",
    "initial_ngrams",
    "initial_table",
    "read_baseforms",
    "read_vectors",
    "vector_format",
]
