"""Which systems a data set gets: the linear ones by its task, what is installed, and Heedful's that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from sklearn.linear_model import Ridge

from heedful.baselines.library_systems import FastTextBaseline, SpacyBaseline
from heedful.baselines.linear import (
    CHARACTER_SVM,
    NB_SVM,
    TFIDF_LOGISTIC,
    TFIDF_RIDGE,
    LinearBaseline,
    Sides,
    word_tfidf,
)
from heedful.baselines.mean_vectors import CosineBaseline, MeanVectors
from heedful.baselines.rivals import (
    CHARACTER_COSINE,
    WORDS_AND_CHARACTERS,
    WORDS_AND_CHARACTERS_RIDGE,
    frozen_encoder,
    logistic,
    mean_of_package,
)
from heedful.baselines.systems import System, heedful_system
from heedful.data.cache import load_or_read_vectors
from heedful.data.readers.class_folders import find_named
from heedful.errors import UsageError, nearest
from heedful.model.decisions import kind_of
from heedful.models import ENCODERS
from heedful.run.run_config import RunConfig, TextConfig
from heedful.text.english import ENGLISH, package_of
from heedful.text.vectors import read_baseforms

AUTO_VECTORS = "auto"
"""What ``text.vectors`` says where the texts decide."""
OPTIONAL = {
    "fasttext": "pip install 'heedful[baselines-fasttext]', which builds it from source",
    "spacy": "pip install 'heedful[spacy]'",
}
"""Package to how it is installed."""


def roster(
    config: RunConfig,
    task: str,
    root: Path | None,
    encoders: Sequence[str] = (),
    without: Sequence[str] = (),
    frozen: Sequence[Path] = (),
) -> tuple[list[System], dict[str, str]]:
    """List the systems for a data set.

    Args:
        config: the settings of the data set; its word vectors are those of the mean-vector rows.
        task: what its gold is for, ``model.task``.
        root: the folder of data sets, where the vectors are.
        encoders: Heedful's networks to train, by the names of their encoders.
        without: parts of the names of systems to leave out.
        frozen: folders of pretrained encoders, whose vectors a linear model reads.

    Returns:
        The systems, and name to reason for those that are left out.

    Raises:
        UsageError: if an encoder is unknown.
        DataError: if a folder holds no pretrained encoder.
    """
    unknown = [name for name in encoders if name not in ENCODERS]
    if unknown:
        raise UsageError(
            f"--with: there is no encoder {unknown[0]!r}; {nearest(unknown[0], tuple(ENCODERS))}"
        )
    systems: list[System] = (
        [TFIDF_RIDGE, WORDS_AND_CHARACTERS_RIDGE]
        if kind_of(task).is_score
        else [TFIDF_LOGISTIC, CHARACTER_SVM, NB_SVM, WORDS_AND_CHARACTERS]
    )
    skipped: dict[str, str] = {}
    if kind_of(task).is_score:
        systems += [
            CosineBaseline("TF-IDF (words 1-2), cosine", lambda: Sides(word_tfidf())),
            CHARACTER_COSINE,
        ]
    if config.text.vectors == AUTO_VECTORS:
        if package_of(ENGLISH):
            systems.append(mean_of_package(task))
    elif config.text.vectors:
        systems += _mean_vectors(config, task, root)
    else:
        skipped["mean of word vectors"] = "no word vectors: name a file with --set text.vectors=FILE"
    if not kind_of(task).is_score:
        for package, found in _optional(config, task).items():
            if find_spec(package):
                systems += found
            else:
                skipped |= {
                    system.name: f"{package} is not installed: {OPTIONAL[package]}" for system in found
                }
    systems += [frozen_encoder(task, folder) for folder in frozen]
    left_out = [system for system in systems if any(part in system.name for part in without)]
    unwanted = [name for name in skipped if any(part in name for part in without)]
    skipped |= dict.fromkeys((*(system.name for system in left_out), *unwanted), "left out by --without")
    kept = [system for system in systems if system not in left_out]
    own = replace(config, text=_found(config.text, root))
    return [*kept, *(heedful_system(name, own) for name in encoders)], skipped


def _found(text: TextConfig, root: Path | None) -> TextConfig:
    """Return the settings with the files of word vectors where they are, rather than relative to the data folder."""
    vectors, baseforms = (
        str(find_named(file, root)) if file and file != AUTO_VECTORS else file
        for file in (text.vectors, text.baseforms)
    )
    return replace(text, vectors=vectors, baseforms=baseforms)


def _optional(config: RunConfig, task: str) -> dict[str, list[System]]:
    found: dict[str, list[System]] = {"fasttext": [FastTextBaseline()]}
    if kind_of(task).texts == 1:
        found["spacy"] = [SpacyBaseline("bag of words"), SpacyBaseline("ensemble")]
    return found


def _mean_vectors(config: RunConfig, task: str, root: Path | None) -> list[System]:
    text = config.text
    vectors = load_or_read_vectors(find_named(text.vectors, root), lowercase=True)
    baseforms = read_baseforms(find_named(text.baseforms, root)) if text.baseforms else {}

    def features() -> MeanVectors:
        return MeanVectors(vectors, baseforms, text.tokenizer)

    if not kind_of(task).is_score:
        return [
            LinearBaseline(
                "mean of word vectors + logistic regression",
                features,
                logistic,
                (1.0, 10.0, 100.0, 1000.0),
            )
        ]
    ridge = LinearBaseline(
        "mean of word vectors + ridge regression",
        features,
        lambda strength: Ridge(alpha=1 / strength),
        (0.01, 0.1, 1.0, 10.0, 100.0),
    )
    return [ridge, CosineBaseline("mean of word vectors, cosine", features)]
