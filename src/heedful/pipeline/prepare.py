"""Parts of a data set to ids and word vectors, cached on disk so that a second start is immediate."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from heedful.config import RunConfig, TextConfig
from heedful.data import catalogue
from heedful.data.cache import PreparedData, cache_key, load_or_prepare, load_or_read_vectors
from heedful.data.encode import EncodedDataset, collect_labels, encode
from heedful.data.examples import Corpus
from heedful.data.readers.opening import find_file
from heedful.data.tokens import tokenise_corpus
from heedful.pipeline.sources import GENERATED, Parts, load_parts
from heedful.text.vectors import Table, WordVectors, initial_table, read_baseforms
from heedful.text.vocabulary import Vocabulary

_log = logging.getLogger("heedful")


@dataclass(frozen=True)
class Prepared:
    """A data set ready for training.

    Attributes:
        datasets: "train", "dev" and, where there is one, "test".
        vocabulary: words to ids.
        labels: class names in the order of their numbers; empty for scores.
        kind: "text", "pair" or "score".
        table: initial word vectors and how many words they cover.
        notes: what was left out or cut, as lines for a person.
        protocol: one sentence that says how the parts came about.
        fingerprint: file to SHA-256 of what was read.
    """

    datasets: dict[str, EncodedDataset]
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    kind: str
    table: Table
    notes: tuple[str, ...]
    protocol: str
    fingerprint: dict[str, str]


def prepare(config: RunConfig, folder: Path | None, cache: Path | None = None) -> Prepared:
    """Read, tokenise and encode what the settings name, or take it from the cache.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        cache: the cache folder; None for the default.

    Returns:
        Everything training needs from the data side.

    Raises:
        UsageError: if the settings are wrong.
        DataError: if a file is missing or wrong.
    """
    root = None
    if config.data.set != GENERATED and (config.data.set or folder is not None):
        root = catalogue.data_folder(folder)
    return prepare_corpora(config, load_parts(config, root), root, cache)


def prepare_corpora(
    config: RunConfig, parts: Parts, folder: Path | None, cache: Path | None = None
) -> Prepared:
    """Tokenise and encode examples already at hand; see `prepare`.

    Args:
        config: the settings.
        parts: the examples.
        folder: where the vectors' path is relative to; None for the working folder.
        cache: the cache folder; None for the default.

    Returns:
        Everything training needs from the data side.
    """
    corpora = {"train": parts.train, "dev": parts.dev}
    if parts.test is not None:
        corpora["test"] = parts.test
    labels = parts.labels
    if parts.kind != "score" and not labels:
        labels = collect_labels(parts.train.examples, parts.train.source)
    vectors, baseforms = _vectors(config.text, folder, cache)
    vocabulary, datasets = _encode(config, corpora, parts.kind, labels, vectors, baseforms)
    table = initial_table(
        vocabulary,
        vectors,
        baseforms=baseforms,
        seed=config.train.seed,
        random=config.text.random,
        width=config.model.width,
        unit_norm=config.text.unit_norm,
    )
    notes = tuple(_notes(corpora, datasets))
    return Prepared(
        datasets, vocabulary, labels, parts.kind, table, notes, parts.protocol, parts.fingerprint
    )


def _vectors(
    text: TextConfig, folder: Path | None, cache: Path | None
) -> tuple[WordVectors | None, Mapping[str, str] | None]:
    if not text.vectors:
        return None, None
    root = folder or Path()
    vectors = load_or_read_vectors(find_file(root / text.vectors), cache, lowercase=text.lowercase)
    baseforms = read_baseforms(find_file(root / text.baseforms)) if text.baseforms else None
    return vectors, baseforms


def _encode(
    config: RunConfig,
    corpora: Mapping[str, Corpus],
    kind: str,
    labels: tuple[str, ...],
    vectors: WordVectors | None,
    baseforms: Mapping[str, str] | None,
) -> tuple[Vocabulary, dict[str, EncodedDataset]]:
    text = config.text
    tokenised = {
        name: tokenise_corpus(corpus.examples, text.tokenizer, corpus.source) for name, corpus in corpora.items()
    }
    vocabulary = Vocabulary.build(
        tokenised["train"].counts(),
        min_count=text.min_count,
        lowercase=text.lowercase,
        pretrained=vectors.words if vectors is not None and text.extra_words else (),
        baseforms=baseforms,
        oov=text.oov,
    )
    datasets = {
        name: encode(
            corpus,
            vocabulary,
            kind="score" if kind == "score" else "class",
            labels=labels,
            max_tokens=config.data.max_tokens,
            truncate=config.data.truncate,
        )
        for name, corpus in tokenised.items()
    }
    return vocabulary, datasets


def _notes(corpora: Mapping[str, Corpus], datasets: Mapping[str, EncodedDataset]) -> list[str]:
    notes = []
    for name, corpus in corpora.items():
        skipped: Counter[str] = corpus.skipped
        notes += [f"{name}: left out {count:,} row(s): {reason}" for reason, count in skipped.items() if count]
        report = datasets[name].report
        if report.truncated:
            notes.append(f"{name}: cut {report.truncated:,} text(s), {report.tokens_cut:,} tokens lost")
        if report.without_gold:
            notes.append(f"{name}: left out {report.without_gold:,} example(s) without gold")
        if report.empty:
            notes.append(f"{name}: {report.empty:,} text(s) without words")
    return notes
