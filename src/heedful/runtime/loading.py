"""A model folder, read and checked without torch, with the sentence encoder that it may read itself."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError, UsageError
from heedful.model.decisions import (
    ClassDecision,
    Decision,
    GradeDecision,
    LabelColumnsDecision,
    LabelsDecision,
    NamedLabels,
    NumberDecision,
)
from heedful.model.decisions.reject import read_reject
from heedful.model.text_reading import Limits
from heedful.model.training_examples import read_kept_examples
from heedful.runtime.column_part import read_column_part
from heedful.runtime.encoder_states import EN_SENTENCES, KEPT, EncoderStates, has_sentence_encoder
from heedful.runtime.kernels import Floats
from heedful.runtime.model_parts import ModelParts
from heedful.runtime.program import Program
from heedful.runtime.row_cache import KeptRows
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.runtime_reading import RuntimeReading
from heedful.runtime.sentence_part import read_sentence_part
from heedful.runtime.sentence_vectors import SentenceVectors
from heedful.runtime.settings import RuntimeSettings, read_settings
from heedful.runtime.tag_model import PlacedReading, Tagger
from heedful.runtime.tag_part import read_tag_part, tags_decision
from heedful.runtime.training_texts import read_familiar
from heedful.runtime.weights import Weights, read_words_and_weights
from heedful.storage.fields import REMEDY, parsed, read_json
from heedful.storage.folders import read_settled
from heedful.storage.installed import kept
from heedful.storage.manifest import (
    CONFIG,
    LABELS,
    METRICS,
    MODEL_FILES,
    VOCABULARY,
    WEIGHTS,
    listed_checksum,
    read_labels,
    refuse_without_model,
    verify_manifest,
)
from heedful.storage.named_models import find_model, find_packaged
from heedful.text.bio import tags_problem
from heedful.text.vocabulary import Vocabulary, vocabulary_from_plain
from heedful.text.wide_part import WidePart


def load(folder: Path | str) -> RuntimeModel:
    """Read a model folder, checking every file against its checksum; torch is not needed.

    Args:
        folder: a model folder that ``heedful train`` or ``heedful export`` wrote, the run folder that holds it, or the
            name of a model of an installed package, such as "en-nli" of heedful-en.

    Returns:
        The model.

    Raises:
        ArtifactError: if a file is missing, altered, of another version or not finite; names it and says what to do.
        UsageError: if this model needs more than the runtime has; says what.
    """
    path = find_model(folder)
    inner = path / "model"
    if os.path.isdir(inner) and not os.path.exists(path / WEIGHTS):
        path = inner
    model = read_settled(path, _load)
    model.folder = path.absolute()
    return model


def _load(path: Path) -> RuntimeModel:
    refuse_without_model(path)
    verify_manifest(path, MODEL_FILES)
    config = read_json(path / CONFIG, dict)
    settings = read_settings(config, path)
    labels = read_labels(path)
    if settings.kind.of_words and (problem := tags_problem(labels)):
        raise ArtifactError(f"{path / LABELS}: {problem}. {REMEDY}")
    plain, weights = read_words_and_weights(path, config, "baseforms")
    vocabulary = _vocabulary(plain, path)
    try:
        program = _program(settings, vocabulary, weights)
        if program.texts != settings.kind.texts:
            raise UsageError(f"{settings.task!r}, and a network of {program.texts} text(s)")
        if settings.outputs not in (None, program.outputs):
            raise UsageError(f"model.outputs={settings.outputs!r:.80}, and a network of {program.outputs}")
        decision: Decision[Any] = _decision(settings, labels, weights, program)
        if (settings.wide or settings.sentence or settings.columns) and not settings.kind.joins_parts:
            raise UsageError(f"a task of {settings.task!r} has no parts beside the network")
        if settings.tagging and not settings.kind.of_words:
            raise UsageError(f"a task of {settings.task!r} has no linear part of tags")
        wide = _wide(settings, weights, program.outputs) if settings.wide else None
        sentence = None
        if settings.sentence:
            sentence = read_sentence_part(
                settings.sentence, weights.raw, program.outputs, program.texts, read_states
            )
        familiar = None
        if settings.reject:
            features = None if sentence is None else sentence.features
            familiar = read_familiar(weights.raw, features)
        columns = None
        if settings.columns:
            columns = read_column_part(settings.columns, weights.raw, program.outputs)
        tagging = None
        if settings.tagging:
            tagging = read_tag_part(settings.tagging, weights.raw, weights.floats, program.outputs)
        examples = None
        if settings.examples:
            examples = read_kept_examples(settings.examples, weights.raw, program.texts, program.outputs)
    except UsageError as error:
        raise ArtifactError(
            f"{path}: {CONFIG}, {VOCABULARY} and {WEIGHTS} do not belong together: {error}"
        ) from error
    if settings.kind.of_words:
        parts, decision = ModelParts(tagging=tagging), tags_decision(labels, tagging)
        return Tagger(PlacedReading(settings, vocabulary, parts), program, decision, parts)
    metrics = read_json(path / METRICS, dict)
    if settings.kind.outputs == "vector":
        return SentenceVectors(RuntimeReading(settings, vocabulary), program, decision, metrics=metrics)
    parts = ModelParts(wide, sentence, familiar=familiar, columns=columns)
    reading = RuntimeReading(settings, vocabulary, parts)
    return RuntimeModel(reading, program, decision, parts, metrics=metrics, examples=examples)


def _vocabulary(plain: dict[str, object], path: Path) -> Vocabulary:
    vocabulary = vocabulary_from_plain(plain, str(path / VOCABULARY))
    if not isinstance(vocabulary, Vocabulary):
        raise UsageError(f"{path}: the runtime has no pretrained encoders; use heedful predict")
    return vocabulary


def _program(settings: RuntimeSettings, vocabulary: Vocabulary, weights: Weights) -> Program:
    rows = (vocabulary.trainable_rows, vocabulary.frozen_rows, vocabulary.ngram_rows)
    return Program(settings.network, weights, rows)


def encoder_of_content(content: Mapping[str, NDArray[np.generic]]) -> SentenceVectors:
    """Return the sentence encoder that `content_of_encoder` gave the content of.

    Args:
        content: tensors by name.

    Returns:
        The encoder.

    Raises:
        UsageError: if the content is no sentence encoder.
        ArtifactError: if a setting or a tensor of it is wrong.
    """
    path = Path("the sentence encoder of the model")
    settings = read_settings(_table_of(content, "config"), path)
    if settings.kind.outputs != "vector":
        raise UsageError(f"sentence.texts: expected a sentence encoder; got a model of {settings.task!r}")
    vocabulary = _vocabulary(_table_of(content, "vocabulary"), path)
    own = {name.removeprefix(KEPT): each for name, each in content.items() if name.startswith(KEPT)}
    weights = Weights(path, own=own)
    program = _program(settings, vocabulary, weights)
    return SentenceVectors(
        RuntimeReading(settings, vocabulary), program, _decision(settings, (), weights, program)
    )


def _table_of(content: Mapping[str, NDArray[np.generic]], name: str) -> dict[str, object]:
    """Read a record of a sentence encoder, which stands in a tensor as JSON."""
    place = f"sentence.texts: {name} of the sentence encoder"
    if name not in content:
        raise UsageError(f"{place} is missing")
    return parsed(content[name].tobytes(), place, dict, UsageError)


def _decision(
    settings: RuntimeSettings, labels: Sequence[str], weights: Weights, program: Program
) -> Decision[Any]:
    """Read what turns the logits into answers, and check that it is there for each of them."""
    task, kind, outputs = settings.task, settings.kind, program.outputs
    wanted = outputs if kind.has_labels else 0
    single = kind.outputs == "number"
    if kind.of_words != (program.each == "word"):
        raise UsageError(f"{task!r}, and a network that answers for each {program.each}")
    if len(labels) != wanted or len(set(labels)) != len(labels) or (single and outputs != 1):
        raise UsageError(f"{task!r} with {len(labels)} labels, and a network of {outputs} outputs")
    costs = np.array(settings.costs, np.float64) if settings.costs else None
    if costs is not None and (kind.outputs != "classes" or len(costs) != outputs):
        raise UsageError(f"{task!r} with costs of {len(costs)} classes, and a network of {outputs} outputs")
    match kind.outputs:
        case "number":
            scale = _numbers_of(settings, weights, "scale", 4)
            return NumberDecision(least=float(scale[2]), greatest=float(scale[3]))
        case "vector":
            return NamedLabels((), settings.temperature)
        case "labels":
            thresholds = _numbers_of(settings, weights, "thresholds", outputs)
            return LabelsDecision(tuple(labels), thresholds.astype(np.float64))
        case "columns":
            return LabelColumnsDecision(tuple(labels))
        case "grades":
            return GradeDecision(tuple(str(grade) for grade in range(1, outputs + 1)))
    reject = read_reject(settings.reject, labels) if settings.reject else None
    return ClassDecision(tuple(labels), settings.temperature, costs, reject)


def _numbers_of(settings: RuntimeSettings, weights: Weights, role: str, count: int) -> Floats:
    """Return a small tensor that the description of the network names beside its steps."""
    name = settings.network.get(role)
    if not isinstance(name, str):
        raise UsageError(f"network: {role} must be the name of a tensor; got {name!r:.80}")
    if weights.raw(name).shape != (count,):
        raise UsageError(f"tensor {name!r:.200} must hold {count} numbers")
    return weights.floats(name)


def _wide(settings: RuntimeSettings, weights: Weights, outputs: int) -> WidePart:
    names = ("numbers", "rarity", "weights", "bias")
    numbers, rarity, table, bias = (np.array(weights.raw(f"wide.{name}")) for name in names)
    if numbers.dtype != np.int32 or {rarity.dtype, table.dtype, bias.dtype} != {np.dtype(np.float32)}:
        raise UsageError("the tensors of the wide part are of another kind of number")
    if bias.shape != (outputs,):
        raise UsageError(f"the wide part has {bias.shape} outputs, the network {outputs}")
    return WidePart(settings.phrases, numbers, rarity, table, bias, settings.wide)


def packaged_states(name: str = EN_SENTENCES) -> EncoderStates:
    """Read the sentence encoder of an installed package, once.

    Args:
        name: of the model.

    Returns:
        The features.

    Raises:
        UsageError: if no installed package has such a model, or it is no sentence encoder.
    """
    if not has_sentence_encoder(name):
        raise UsageError(
            f"no installed package has the sentence encoder {name!r:.80}: pip install 'heedful[en]', or "
            "./packages/heedful-en in a clone of Heedful"
        )
    folder = find_packaged(name)
    read = _of_weights(folder / WEIGHTS)
    if read is None:
        raise UsageError(f"{name}: is no sentence encoder; it predicts something else")
    return EncoderStates(name, *read, folder=folder, kept=_KEPT_ROWS.get(read[0]))


def keep_rows(rows: KeptRows, name: str = EN_SENTENCES) -> None:
    """Let this process keep what the sentence encoder of an installed package gives of texts.

    Args:
        rows: where they are kept, unless the process keeps them already.
        name: of the model; without such a package nothing is kept.
    """
    if has_sentence_encoder(name):
        _KEPT_ROWS.setdefault(packaged_states(name).sha256, rows)


def _read_encoder(weights: Path) -> tuple[str, SentenceVectors] | None:
    """Return the SHA-256 of the weights in a model folder, and its sentence encoder; None where it is none."""
    model = load(
        weights.parent
    )  # which computes the checksums of all files and compares them with the manifest
    return (listed_checksum(weights), model) if isinstance(model, SentenceVectors) else None


_of_weights = kept(_read_encoder, most=2)
_KEPT_ROWS = dict[str, KeptRows]()


def read_states(
    origin: dict[str, str], content: Callable[[], Mapping[str, NDArray[np.generic]]]
) -> EncoderStates:
    """Read the features that a model folder names or keeps.

    Args:
        origin: see `EncoderStates.origin`.
        content: returns what the folder keeps of the encoder, where it names none.

    Returns:
        The features.

    Raises:
        UsageError: if the encoder is not installed, or another version of it is.
    """
    if set(origin) != {"name", "sha256"}:
        raise UsageError(
            f"sentence.texts: expected the name and the sha256 of a sentence encoder; got {origin!r:.200}"
        )
    if not origin["name"]:
        own = content()
        return EncoderStates("", "", encoder_of_content(own), own)
    found = packaged_states(origin["name"])
    if found.sha256 != origin["sha256"]:
        raise UsageError(
            f"this model needs another version of {found.name} than the installed one (SHA-256 {origin['sha256']}); "
            "install the version of its package that it was trained with"
        )
    return found


def _of_pickle(origin: dict[str, str], content: Mapping[str, NDArray[np.generic]]) -> EncoderStates:
    return read_states(origin, lambda: content)


def _reduced(states: EncoderStates) -> tuple[Any, ...]:
    """Let copies and pickles name the encoder, or hold its tensors, as a model folder does."""
    return _of_pickle, (states.origin(), {name: np.array(part) for name, part in states.content.items()})


def _opened_again(folder: Path, limits: Limits, threads: int, state: Mapping[str, Any]) -> RuntimeModel:
    model = load(folder).limited(limits.max_tokens, limits.truncate).threaded(threads)
    vars(model).update(state)
    return model


def _named_by_folder(model: RuntimeModel) -> tuple[Any, ...]:
    """Let another process open the folder of a model, which it reads at once and shares with this one."""
    if model.folder is None:
        raise UsageError(
            "this model was changed after it was read from its folder: load the folder in each process, and change the "
            "model there"
        )
    limits = Limits(model.settings.max_tokens, "head" if model.settings.truncate == "head" else "error")
    chosen = {name: vars(model)[name] for name in ("promise", "tree") if name in vars(model)}
    return _opened_again, (model.folder, limits, model.threads, chosen)


copyreg.pickle(EncoderStates, _reduced)
for _kind in (RuntimeModel, SentenceVectors, Tagger):
    copyreg.pickle(_kind, _named_by_folder)
