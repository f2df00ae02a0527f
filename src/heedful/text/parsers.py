"""Dependency parsers, on the tokens of Heedful. The packages they need are imported when a parser is used.

``builtin`` is a small English model that runs in spaCy. The package heedful-en has it, and registers it as an entry
point of the group ``heedful.parsers``; docs/parser.md says how it was made.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from heedful.errors import ArtifactError, MissingExtraError, UsageError, needing
from heedful.storage.installed import PARSERS, installed_folder, readable
from heedful.storage.manifest import MANIFEST, verify_manifest
from heedful.text.dependency import Parse

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from stanza import Pipeline
    from stanza.models.common.doc import Sentence

BUILTIN = "builtin"
PARSER_FORMS = (
    f"spacy:MODEL (a name or a folder), stanza:LANGUAGE, {BUILTIN} (English), or a file that ends in .conllu"
)
_BATCH = 256
"""Sentences spaCy takes at once; it cuts them into quarters by length, and larger ones leave the processor's cache."""
_NOT_NEEDED = (
    "tokenizer",
    "tagger",
    "morphologizer",
    "attribute_ruler",
    "lemmatizer",
    "senter",
    "ner",
    "textcat",
)
"""Parts of a pipeline that are not loaded: the tokens are ours, and a parser reads none of the rest."""


PARSER_FILES = (
    *("NOTICE", "config.cfg", "meta.json", "tokenizer"),
    *(f"parser/{name}" for name in ("cfg", "model", "moves")),
    *(f"vocab/{name}" for name in ("key2row", "lookups.bin", "strings.json", "vectors", "vectors.cfg")),
)
"""The files of the built-in parser, which the manifest beside them lists."""


class DependencyParser(ABC):
    """Words to trees.

    Attributes:
        name: how it is written in settings.
    """

    name: str

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name and version, so that kept parses are used only for the parser that made them."""

    @abstractmethod
    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Parse.

        Args:
            sentences: tokens; they are used as they are. A sentence may be empty.

        Returns:
            One tree (or several roots) a sentence, over exactly these tokens.
        """


Loaded = TypeVar("Loaded")


class PackageParser(DependencyParser, Generic[Loaded]):
    """Base of the parsers of other packages, whose pipelines are loaded on first use and take no empty sentence."""

    @abstractmethod
    def load(self) -> Loaded:
        """Load the pipeline; says what is missing."""

    @abstractmethod
    def trees(self, sentences: Sequence[Sequence[str]]) -> Iterable[Parse]:
        """Parse sentences of which none is empty."""

    @cached_property
    def pipeline(self) -> Loaded:
        """The pipeline."""
        return self.load()

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """See `DependencyParser.parse`."""
        full = [words for words in sentences if len(words)]
        parsed = iter(self.trees(full) if full else ())
        return [next(parsed) if len(words) else Parse((), ()) for words in sentences]


class SpacyParser(PackageParser["Language"]):
    """A spaCy pipeline; of its components only the parser, and what the parser listens to, are run.

    Args:
        model: name of an installed package such as ``en_core_web_sm``, or a folder that spaCy wrote.
        name: how it is written in settings; default ``spacy:MODEL``.

    Raises:
        MissingExtraError: on first use, if spaCy is not installed.
        UsageError: on first use, if there is no such model, or it has no parser.
    """

    def __init__(self, model: str, name: str = "") -> None:
        self.name, self._model = name or f"spacy:{model}", model

    @property
    def identity(self) -> str:
        """See `DependencyParser.identity`; of a folder, the content counts."""
        folder = Path(self._model)
        if folder.is_dir():
            return f"spacy {_version('spacy')} {_digest(folder)}"
        return f"spacy {_version('spacy')} {self._model} {_version(self._model)}"

    def trees(self, sentences: Sequence[Sequence[str]]) -> Iterable[Parse]:
        """See `PackageParser.trees`."""
        pipeline = self.pipeline
        import spacy

        documents = (spacy.tokens.Doc(pipeline.vocab, words=[*map(_storable, words)]) for words in sentences)
        found = pipeline.pipe(documents, batch_size=_BATCH)
        return [_from_spacy(tuple(words), made) for words, made in zip(sentences, found, strict=True)]

    def load(self) -> Language:
        """See `PackageParser.load`."""
        with needing("spacy", "spacy", f"parser {self.name!r}"):
            import spacy
        try:
            pipeline = spacy.load(self._model, exclude=_NOT_NEEDED)
        except Exception as error:  # each reader that spaCy calls has its own for a damaged file
            if isinstance(error, OSError) and not os.path.lexists(self._model):
                raise UsageError(
                    f"parser {self.name!r}: spaCy finds no such model. Install its package, name the folder of one, "
                    f"or use {BUILTIN!r}, a small English one from the package heedful-en"
                ) from error
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise ArtifactError(
                f"parser {self.name!r}: spaCy cannot load this model ({why:.200}): it is damaged, or another version "
                "of spaCy wrote it; copy or install it again"
            ) from error
        if "parser" not in pipeline.pipe_names:
            raise UsageError(f"parser {self.name!r}: this model has no dependency parser")
        return pipeline


class StanzaParser(PackageParser):
    """Stanza's neural pipeline, given tokens; its model must have been downloaded.

    Args:
        language: code of the language, such as ``en``.

    Raises:
        MissingExtraError: on first use, if Stanza is not installed.
        UsageError: on first use, if there is no model of the language.
    """

    def __init__(self, language: str) -> None:
        self.name, self._language = f"stanza:{language}", language

    @property
    def identity(self) -> str:
        """See `DependencyParser.identity`."""
        return f"stanza {_version('stanza')} {self._language}"

    def trees(self, sentences: Sequence[Sequence[str]]) -> Iterable[Parse]:
        """See `PackageParser.trees`."""
        full = [list(words) for words in sentences]
        return [
            _from_stanza(words, made) for words, made in zip(full, self.pipeline(full).sentences, strict=True)
        ]

    def load(self) -> Pipeline:
        """See `PackageParser.load`."""
        with needing("stanza", "stanza", f"parser {self.name!r}"):
            import stanza
        try:
            return stanza.Pipeline(
                self._language,
                processors="tokenize,pos,lemma,depparse",
                tokenize_pretokenized=True,
                download_method=None,
                verbose=False,
            )
        except Exception as error:  # Stanza has an exception of its own for each thing that may be missing
            raise UsageError(
                f"parser {self.name!r}: Stanza cannot load it ({error}); "
                f"get it with stanza.download({self._language!r})"
            ) from error


_KINDS: dict[str, type[SpacyParser] | type[StanzaParser]] = {"spacy": SpacyParser, "stanza": StanzaParser}


def dependency_parser(name: str) -> DependencyParser:
    """Return a parser by name; nothing is loaded before it is used.

    Args:
        name: ``builtin``, ``spacy:MODEL`` or ``stanza:LANGUAGE``.

    Returns:
        The parser.

    Raises:
        UsageError: if the name is of another form.
        MissingExtraError: if it is the built-in one and the package heedful-en is not installed.
    """
    if name == BUILTIN:
        return SpacyParser(str(_builtin_folder()), name)
    kind, _, model = name.partition(":")
    if kind not in _KINDS or not model:
        raise UsageError(f"parser {name!r} is unknown; expected {PARSER_FORMS}")
    return _KINDS[kind](model)


def _builtin_folder() -> Path:
    """Ask the companion package where its parser is, and check its files."""
    folder = installed_folder(PARSERS, BUILTIN)
    if folder is None:
        raise MissingExtraError(
            "heedful-en",
            "",
            f"parser {BUILTIN!r}",
            install="heedful-en (in a clone of Heedful: pip install ./packages/heedful-en)",
        )
    if os.path.lexists(folder / MANIFEST):  # packages before 0.2 have none
        verify_manifest(folder, PARSER_FILES)
    return folder


def _storable(word: str) -> str:
    """Return the word as spaCy can keep it: without lone surrogates, and not empty."""
    return word.encode("utf-8", "replace").decode("utf-8") or "_"


def _from_spacy(words: tuple[str, ...], document: Doc) -> Parse:
    heads = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in document)
    return Parse(words, heads, tuple(token.dep_.lower() or "_" for token in document))


def _from_stanza(words: list[str], sentence: Sentence) -> Parse:
    return Parse(
        tuple(words), tuple(w.head for w in sentence.words), tuple(w.deprel or "_" for w in sentence.words)
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST):
        digest.update(file.relative_to(folder).as_posix().encode())
        with readable(file):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
