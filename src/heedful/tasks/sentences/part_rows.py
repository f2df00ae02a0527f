"""What the linear parts of a model read of examples: words and characters, and features of whole texts."""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Ragged, joined
from heedful.model.answers import AnyAnswer
from heedful.model.decisions.named_labels import name_as_text
from heedful.models.config import NO_NETWORK
from heedful.models.config import SentenceFeatures as Reads
from heedful.runtime.encoder_states import EN_SENTENCES
from heedful.runtime.loading import packaged_states
from heedful.runtime.pair_features import ExampleFeatures, Pairing
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.growing_arrays import GrowingArray
from heedful.storage.shared_rows import SharedRows
from heedful.tasks.schema import About
from heedful.tasks.sentences.column_rows import BESIDE, column_rows
from heedful.tasks.sentences.cross_validation import FOLDS, PartRows
from heedful.tasks.sentences.fitting_wide import (
    DENSE_STRENGTHS,
    PAIR_STRENGTHS,
    FitSetting,
    Fitter,
    best_fit,
    empty_part,
    feature_rows,
    of_new_texts,
    wide_settings,
    with_fit,
)
from heedful.tasks.sentences.joint_fit import evened, forms, may_join, together
from heedful.tasks.sentences.linear_fits import GAIN, LinearFit
from heedful.tasks.sentences.linear_targets import LinearTargets
from heedful.tasks.sentences.part_weights import Joining
from heedful.tasks.sentences.principal_rows import MOST_DIRECTIONS, in_blocks
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.tables import is_symmetric
from heedful.text.english import ENGLISH, package_of
from heedful.training.stages import stage

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


@dataclass(frozen=True, eq=False)
class TaughtRows:
    """Texts that a teacher alone has answered, which linear parts learn from too.

    Attributes:
        dataset: the texts.
        targets: the teacher's answers as gold.
    """

    dataset: EncodedDataset
    targets: LinearTargets


WORDS_AND_CHARACTERS = "words and characters"
MOST_READ = 100_000
"""Training examples of which the features of whole texts are read at most: of more, so many are drawn."""
_log = logging.getLogger(__name__)
_BLOCK = 1024
_BESIDE = 300
COLUMN_SHARES = (0.1, 1.0)
"""What the products of the columns beside the text count there; both are tried."""
SHARE = 0.3
"""What the products of words and characters count beside those of dense features, in one fit over both."""
MORE = 5.0
"""What else they may count: of code, product numbers and other texts that no vectors know they tell nearly all."""
_CLEARLY = 0.1
"""Log-likelihood that this must bring an example: of 100 lines of code it was .2 to .3, of as many questions .08."""


def few(config: RunConfig, training: EncodedDataset) -> bool:
    """Return whether a run has so few rows that cross-validation chooses, as it does where linear parts learn on."""
    if config.data.learn_from:
        return config.model.encoder == NO_NETWORK
    return len(training) < config.data.few_rows


def texts_of(dataset: EncodedDataset) -> list[Hashable]:
    """Return what is equal for examples with equal words."""
    assert dataset.kept is not None  # the settings of a run with parts keep the words
    forms = [form.lower() for form in dataset.kept.forms]
    sides = dataset.kept.sides
    return [tuple(tuple(forms[word] for word in side[row]) for side in sides) for row in range(len(dataset))]


def part_rows(
    config: RunConfig,
    model: SentenceModel[AnyAnswer],
    targets: LinearTargets,
    training: EncodedDataset,
    dev: EncodedDataset | None,
    taught: TaughtRows | None = None,
) -> list[PartRows]:
    """Return what each part that the settings ask for reads of the examples.

    Args:
        config: the settings of the run.
        model: the model that the parts are for.
        targets: gold of the training examples; where it does not vary, no part has anything to learn.
        training: the examples that the parts learn from.
        dev: further examples that choose; None where there are none.
        taught: further examples that a teacher has answered; None without a teacher.

    Returns:
        The parts; none where none is asked for.
    """
    found: list[PartRows] = []
    if not targets.varies:
        return found
    if model.text.phrases.reads:
        found.append(_wide_rows(model, targets, training, dev, taught))
    most = len(training) if dev is None or few(config, training) else MOST_READ
    return found + sentence_rows(config, model, training, dev, most, taught)


def sentence_rows(
    config: RunConfig,
    model: SentenceModel[AnyAnswer],
    training: EncodedDataset,
    dev: EncodedDataset | None,
    most: int | None = None,
    taught: TaughtRows | None = None,
) -> list[PartRows]:
    """Return what the parts read of whole texts alone, without words and characters; see `part_rows`.

    Args:
        config: the settings of the run.
        model: the model that the parts are for.
        training: the examples that the parts learn from.
        dev: further examples that choose; None where there are none.
        most: training examples of which whole texts are read at most, drawn from more; None for all.
        taught: see `part_rows`; all of them are read.

    Returns:
        The parts.
    """
    found: list[PartRows] = []
    drawn = None
    if most is not None and len(training) > most:
        drawn = np.sort(np.random.default_rng(config.train.seed).permutation(len(training))[:most])
    symmetric = is_symmetric(config.model)
    for reads in _readings(config.model.sentence, pairs=model.is_pair):
        if features := sentence_features(config, reads, symmetric=symmetric, own=model.file_vectors):
            named = rows_of_names(model.labels, features)
            found.append(_sentence_rows(features, reads, training, dev, named, drawn, taught))
    if (columns := column_rows(config.data.features, training, dev)) is not None:
        found.append(columns)
    return found


def rows_of_names(labels: Sequence[str], features: ExampleFeatures) -> NDArray[np.float32] | None:
    """Return the features of the names of classes.

    Args:
        labels: the names.
        features: of single texts; what pairs are is not said by a name alone.

    Returns:
        [Y, n]; None if one of the names says nothing: it has no word of letters, or none that the features know.
    """
    if features.sides != 1 or not labels:
        return None
    words = [[word.lower() for word in name_as_text(name).split()] for name in labels]
    rows = features.of([[name] for name in words])
    letters = all(any(word.isalpha() for word in name) for name in words)
    return rows if letters and rows.any(axis=1).all() else None


def _readings(reads: Reads, *, pairs: bool) -> tuple[Reads, ...]:
    """Return what the sentence part reads, each by a linear model of its own."""
    return ("mean", EN_SENTENCES) if reads == EN_SENTENCES and not pairs else (reads,)


def in_one(
    parts: Sequence[PartRows], targets: LinearTargets, wanted: Collection[str] = ()
) -> list[list[PartRows]]:
    """Return several parts of few examples as one, in every form that it may have.

    From `_BESIDE` examples on, words and characters stand beside the one as well, for settings that only they have, and
    join it if they make other examples likelier. A single part, and parts of many examples, stay as they are, but for
    classes, which may count alike in words and characters too.

    Args:
        parts: what may join.
        targets: gold of the training examples.
        wanted: names of the forms of texts alone that are wanted; see `forms`.

    Returns:
        The parts, each in the forms that it may have.
    """
    if not may_join(parts):
        return [[evened(part, targets)] if part.name == WORDS_AND_CHARACTERS else [part] for part in parts]
    texts = [part for part in parts if part.name != BESIDE]
    if len(texts) < len(parts):  # columns that tell nothing are to cost nothing: without them is a form too
        bare = in_one(texts, targets) if texts else []
        beside = [
            form
            for share in COLUMN_SHARES
            for form in forms(parts, {WORDS_AND_CHARACTERS: SHARE, BESIDE: share}, targets)
        ]
        return [[*bare[0], *beside], *bare[1:]]
    words = [part for part in parts if part.name == WORDS_AND_CHARACTERS]
    found = forms(parts, {WORDS_AND_CHARACTERS: SHARE}, targets, wanted)
    if len(targets) >= _BESIDE:
        return [found, *([part] for part in words)]
    name = f"{found[0].name}, {WORDS_AND_CHARACTERS} times {MORE / SHARE:.0f}"
    if words and (not wanted or name in wanted):
        more = together(parts, {WORDS_AND_CHARACTERS: MORE}, targets)
        found.append(replace(more, name=name, lacks=max(GAIN, _CLEARLY * len(targets))))
    return [found]


def on_dev(parts: Sequence[PartRows], targets: LinearTargets, held: LinearTargets) -> Joining:
    """Fit every part in every setting, and keep the setting under which the dev split is likeliest.

    Args:
        parts: what may join, with the rows of the dev split.
        targets: gold of the training examples.
        held: gold of the dev split.

    Returns:
        The parts, which wait for the network.
    """
    found = []
    with stage("fitting linear parts", sum(len(part.settings) for part in parts)) as fits:
        for part in parts:
            assert part.held is not None  # the rows of dev
            end = fits.count + len(part.settings)
            own = targets if part.drawn is None else targets.of(part.drawn)
            if part.drawn is not None:
                _log.info("%s: fitted on %d drawn rows of %d", part.name, len(own), len(targets))
            fit = best_fit(Fitter(part.rows, part.learned(own)), part.settings, part.held, held, fits.step)
            found.append(part.of_fit(fit, fit.logits(part.held)))
            fits.reach(end)
    drawn = min((len(part.drawn) for part in parts if part.drawn is not None), default=0)
    return Joining(held, tuple(found), drawn)


def sentence_features(
    config: RunConfig, reads: Reads, *, symmetric: bool, own: MeanOfVectors | None = None
) -> ExampleFeatures | None:
    """Return the features that ``model.sentence`` names; None for none.

    Args:
        config: the settings, which name word vectors.
        reads: what is read.
        symmetric: whether the order of the texts of a pair says nothing.
        own: the vectors of a file that the settings name; None for none.

    Returns:
        The features.
    """
    if reads in ("none", "auto"):
        return None
    from heedful.tasks.task_table import task_named

    pairing: Pairing = "none"
    if task_named(config.model.task).sides == 2:
        pairing = "symmetric" if symmetric else "ordered"
    if reads == EN_SENTENCES:
        return ExampleFeatures(packaged_states(), pairing)
    if reads == "mean" and own is not None:
        return ExampleFeatures(own, pairing)
    name = config.text.vectors if package_of(config.text.vectors) else package_of(ENGLISH)
    if reads == "mean" and name:
        return ExampleFeatures(MeanOfVectors.packaged(name), pairing)
    return None if pairing == "none" else ExampleFeatures(_no_vectors(), pairing)


def _no_vectors() -> MeanOfVectors:
    """Return features of no word, for pairs of which only the overlap is read."""
    return MeanOfVectors(SharedRows(("",), np.zeros((1, 1), np.int8), np.zeros(1, np.float32)), "")


def _wide_rows(
    model: SentenceModel[AnyAnswer],
    targets: LinearTargets,
    training: EncodedDataset,
    dev: EncodedDataset | None,
    taught: TaughtRows | None,
) -> PartRows:
    own = phrases_of(training)
    if taught is not None:
        own = joined((own, phrases_of(taught.dataset)))
    known = None if model.before is None else model.before.blank()
    empty = empty_part(model.text.phrases, own, targets.outputs) if known is None else known

    # Only a number is wrong if its scale is; the likeliest class is the same.
    rescales = dev is None and known is None and targets.membership() is None
    shares = of_new_texts(empty, own) if rescales else np.ones(1)

    def put(about: About, fit: LinearFit, weight: float) -> About:
        part = with_fit(empty, replace(fit, weights=fit.weights * shares[:, None]), weight)
        return replace(about, wide=part if about.wide is None else about.wide.beside(part))

    held = None if dev is None else feature_rows(empty, phrases_of(dev))
    rows = feature_rows(empty, own)
    values = (rows.nnz + 5 * rows.shape[1]) * (FOLDS if dev is None else 1)
    lessons = None if taught is None else taught.targets
    settings = wide_settings(targets, values, few=rows.shape[0] <= MOST_DIRECTIONS)
    return PartRows(WORDS_AND_CHARACTERS, rows, settings, put, held, lessons)


def phrases_of(dataset: EncodedDataset) -> Ragged:
    """Return the features of words and characters of each example."""
    assert dataset.phrases is not None  # the settings of a run with a wide part read them
    return dataset.phrases


def _sentence_rows(
    features: ExampleFeatures,
    reads: str,
    training: EncodedDataset,
    dev: EncodedDataset | None,
    named: NDArray[np.float32] | None,
    drawn: NDArray[np.int64] | None,
    taught: TaughtRows | None,
) -> PartRows:
    def put(about: About, fit: LinearFit, weight: float) -> About:
        weights, bias = fit.weights.astype(np.float32), fit.bias.astype(np.float32)
        part = SentencePart(features, weights, bias, weight)
        return replace(about, sentence=part if about.sentence is None else about.sentence.beside(part))

    held = None if dev is None else in_blocks(_features(features, dev))
    settings = tuple(map(FitSetting, DENSE_STRENGTHS if features.sides == 1 else PAIR_STRENGTHS))
    name = {"mean": "mean of word vectors", "overlap": "overlap of the texts"}.get(reads, reads)
    vector = features.texts.blocks[-1] if reads == EN_SENTENCES and features.sides == 1 else 0
    read, lessons = _features(features, training, drawn), None
    if taught is not None:
        read, lessons = np.concatenate([read, _features(features, taught.dataset)]), taught.targets
    blocks = features.texts.blocks if features.sides == 1 else ()
    return PartRows(name, in_blocks(read), settings, put, held, lessons, named, vector, drawn, blocks=blocks)


def _features(
    features: ExampleFeatures, dataset: EncodedDataset, drawn: NDArray[np.int64] | None = None
) -> NDArray[np.float32]:
    kept = dataset.kept
    assert kept is not None  # the settings of a run with a sentence part keep the words
    places = range(len(dataset)) if drawn is None else drawn.tolist()
    rows = GrowingArray(np.float32, features.width)
    with stage("reading texts for the linear parts", len(places)) as read:
        for first in range(0, len(places), _BLOCK):
            rows.append(features.of(kept.examples(places[first : first + _BLOCK])))
            read.step(_BLOCK)
    return rows.finished()
