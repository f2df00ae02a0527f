"""Learning on: a run that begins with what another model has learned, and adds what new rows teach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.model.decisions import kind_of
from heedful.run.continued_network import settings_of_network
from heedful.run.run_config import RunConfig
from heedful.storage.manifest import answers_checksum
from heedful.tasks import Corpora, Source, load_model
from heedful.tasks.prepared import LearnedFrom
from heedful.tasks.sentences.fitting_wide import MOST_CLASSES
from heedful.tasks.sentences.limit_options import rejects
from heedful.text.boundaries import AUTO
from heedful.text.vocabulary import Vocabulary

ROWS = "training_rows"
"""Where the figures of a model say from how many rows it learned, those of the models before included."""


def learned_from(config: RunConfig) -> LearnedFrom | None:
    """Read the model that the settings name to begin with; None where they name none.

    Args:
        config: the settings.

    Returns:
        The model, and which of its training examples are learned again.

    Raises:
        ArtifactError: if it cannot be read.
        UsageError: if it cannot learn on; says why.
    """
    name = config.data.learn_from
    if not name:
        return None
    return of_model(load_model(name), name, answers_checksum(Path(name)))


def of_model(model: Any, name: str, checksum: str = "") -> LearnedFrom:
    """Return a model as what another one begins with.

    Args:
        model: the model.
        name: what the card and messages call it.
        checksum: of what it answers with (`answers_checksum`); empty for a model in memory.

    Returns:
        The model, and which of its training examples are learned again: all of those whose texts it keeps.

    Raises:
        UsageError: if it cannot learn on; says why.
    """
    if kind_of(model.task).outputs != "classes":
        raise UsageError(f"{name}: a model of {model.noun} does not learn on; train it anew with all rows")
    if model.model.pretrained.name:
        raise UsageError(
            f"{name}: has a pretrained encoder, and of networks those on word vectors learn on; train it anew with all "
            "rows"
        )
    kept = model.examples
    count = model.about.metrics.get(ROWS)
    seen = count if isinstance(count, int) else 0 if kept is None else len(kept)
    if not seen and model.about.sums is not None:
        seen = round(model.about.sums.rows)
    examples: tuple[Example, ...] = ()
    each = 1.0
    if kept is not None and kept.texts is not None:
        each = max(seen / len(kept), 1.0) if len(kept) else 1.0
        weights = [1.0] * len(kept) if kept.weights is None else kept.weights.tolist()
        places = zip(kept.texts, kept.gold.tolist(), kept.rows.tolist(), weights, strict=True)
        examples = tuple(
            Example(texts, model.labels[gold], row=row, weight=own * each) for texts, gold, row, own in places
        )
    whole = bool(examples) and len(examples) >= seen
    return LearnedFrom(name, model, examples, seen, whole=whole, checksum=checksum, each=each)


def continued(config: RunConfig, source: Source, before: LearnedFrom) -> tuple[dict[str, object], Source]:
    """Return settings and data with what a run needs to go on from a model.

    Args:
        config: the settings.
        source: the new rows.
        before: the model.

    Returns:
        What settings become, by their dotted names: the tokenizer is that of the model, and so is a network. And the
        source, of which the labels are those of the model and the new ones.

    Raises:
        UsageError: if task, tokenizer or the name of a class contradicts the model.
    """
    model, name = before.model, before.name
    if config.model.task != model.task:
        raise UsageError(
            f"{name}: is a model of the task {model.task!r}, and the new rows are for {config.model.task!r}"
        )
    reads_columns = bool(config.data.features) or model.about.columns is not None
    for options in (config.model.task_options, model.model.task_options):
        refuse_beside_texts(options, name, columns=reads_columns)
    own = {"tokenizer": model.text.tokenizer, "markup": model.text.markup, "normalize": model.text.normalize}
    given, settings = {key: getattr(config.text, key) for key in own}, dict[str, object]()
    if given["tokenizer"] == AUTO:
        settings["text.tokenizer"] = given["tokenizer"] = own["tokenizer"]
    for key, value in given.items():
        if value != own[key]:
            raise UsageError(
                f"text.{key}={value!r}: {name} reads texts with {own[key]!r}, which learning on cannot change"
            )
    examples = source.load()["train"].examples
    targets = (example.target for example in examples)
    new = source.labels or tuple(sorted({each for each in targets if isinstance(each, str)}))
    labels = with_new_labels(model.labels, new, name)
    if set(labels) == set(source.labels):  # in the order of an estimator's classes
        labels = source.labels
    if len(labels) > MOST_CLASSES and not before.whole:
        raise UsageError(
            f"{name}: learning on is for at most {MOST_CLASSES:,} classes; with the new ones there are {len(labels):,}"
        )
    vocabulary = model.reading.vocabulary
    known = vocabulary.trainable if isinstance(vocabulary, Vocabulary) else ()
    often = known * max(config.text.min_count, 1)  # no known word is too rare
    words = Corpus([Example((" ".join(often),), words=(often,))])
    if before.recalls:
        further = len(labels) > len(model.labels)
        settings |= settings_of_network(config, before, len(examples), new_classes=further)
    return settings, replace(source, labels=labels, unlabeled=words, before=before)


def refuse_beside_texts(options: Mapping[str, object], name: str, *, columns: bool) -> None:
    """Refuse what learning on does not have: an answer for texts of no class, and columns beside the texts.

    Args:
        options: ``model.task_options``.
        name: what learns on, for messages.
        columns: whether columns are read beside the texts.

    Raises:
        UsageError: naming the setting.
    """
    if rejects(options):
        raise UsageError(
            f"{name}: learning on has no answer for texts of no class; leave model.task_options.reject out"
        )
    if columns:
        raise UsageError(
            f"{name}: learning on reads texts alone, without columns beside them; leave data.features out"
        )


def with_new_labels(old: Sequence[str], new: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the labels of a model and further ones, sorted.

    Raises UsageError if a further one is written like one of the model but for case, spaces and signs.
    """
    alike = {_plain(label): label for label in old}
    for label in new:
        if label not in old and (other := alike.get(_plain(label))) is not None:
            raise UsageError(
                f"class {label!r:.80} of the new rows is called {other!r:.80} in {name}: write it like that"
            )
    return tuple(sorted({*old, *new})) if set(new) - set(old) else tuple(old)


def _plain(label: str) -> str:
    return "".join(character for character in label.casefold() if character.isalnum()) or label


def replaying(load: Callable[[], Corpora], before: LearnedFrom | None) -> Callable[[], Corpora]:
    """Return what also reads the old examples that are learned again, behind the new ones."""
    if before is None or not before.examples:
        return load

    def read() -> Corpora:
        parts = load()
        training = parts["train"]
        return {**parts, "train": replace(training, examples=[*training.examples, *before.examples])}

    return read


def about_learning_on(
    before: LearnedFrom | None, rows: int, *, sums: bool = False, settings_of: int = 0
) -> list[str]:
    """Say on a card from what a model learned; nothing for one that began with nothing.

    Args:
        before: the model that it began with.
        rows: its training examples, those that were learned again included.
        sums: whether it learned from sums over all rows.
        settings_of: how many rows had chosen the settings of its linear parts, if those were kept; 0 if not.

    Returns:
        Lines of Markdown.
    """
    if before is None:
        return []
    again = len(before.examples)
    checksum = f" (manifest SHA-256 `{before.checksum}`)" if before.checksum else ""
    replayed = f", and {again:,} of its training examples were learned again" if again else ""
    seen = (
        f"had learned from {before.seen:,} rows"
        if before.seen
        else "does not say from how many rows it learned"
    )
    how = "its weights were learned on"
    if before.whole:
        how = "all rows together were learned anew"
        if settings_of:
            how += f", in the settings that {settings_of:,} rows had chosen,"
    elif before.has_network:
        beside = ", and all rows by the sums over them that it keeps beside it," if sums else ""
        how = f"its network was trained on, with its own answers beside the new labels{beside}"
    elif sums:
        how = "all rows were learned by the sums over them that it keeps,"
    return [
        "",
        f"It began with `{before.name}`{checksum}, which {seen}: {how} with "
        f"{rows - again:,} new rows{replayed}.",
        "",
    ]
