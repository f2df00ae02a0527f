"""English models for Heedful, under CC BY-SA 4.0."""

from pathlib import Path

_HERE = Path(__file__).parent


def parser_folder() -> Path:
    """Return the folder of the English dependency parser, as spaCy wrote it."""
    return _HERE / "english_parser"


def vectors_folder() -> Path:
    """Return the folder of the word vectors in 8 bits and of the base forms of inflected words."""
    return _HERE / "word_vectors"


def sentences_folder() -> Path:
    """Return the model folder of en-sentences: sentences as vectors."""
    return _HERE / "en_sentences"


def nli_folder() -> Path:
    """Return the model folder of en-nli: entailment, neutral or contradiction."""
    return _HERE / "en_nli"


def upos_folder() -> Path:
    """Return the model folder of en-upos: the part of speech of each word."""
    return _HERE / "en_upos"


def roles_folder() -> Path:
    """Return the model folder of en-roles: who did what to whom, for each predicate."""
    return _HERE / "en_roles"
