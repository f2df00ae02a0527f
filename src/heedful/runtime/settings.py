"""What the runtime reads of a model's settings: how text is read, what is answered, and the network's description."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeGuard, TypeVar, get_args

from heedful.errors import ArtifactError, UsageError
from heedful.model.decisions import KINDS, Kind
from heedful.model.decisions.reject import REJECT
from heedful.model.kept_examples import EXAMPLES
from heedful.runtime.column_part import COLUMNS
from heedful.runtime.sentence_part import SENTENCE
from heedful.runtime.tag_part import TAGGING
from heedful.storage.manifest import CONFIG, REMEDY
from heedful.text.tokenize import TOKENIZERS, Markup, Tokenizer
from heedful.text.tokenize import tokenizer as find_tokenizer
from heedful.text.wide_part import PhraseRule

MISSING = "missing"
"""Key of a description that says why there is none."""


@dataclass(frozen=True)
class Settings:
    """What the runtime needs to know of a model.

    Attributes:
        task: one of `heedful.model.decisions.KINDS`.
        tokenizer: name of the tokenizer.
        markup: what becomes of HTML tags and links; see `heedful.text.tokenize`.
        max_tokens: longest text, in words.
        truncate: what a longer text does: "error", or "head" to read its beginning.
        temperature: what logits are divided by before the softmax.
        phrases: which features a wide part reads.
        wide: the weight of the wide part; 0 for none.
        sentence: what config.json says of the sentence part; empty for none.
        network: the description of the network.
        encoder: its name, for explanations.
        pooling: the name of its pooling, for explanations.
        run: the settings of the run that made it, as they were saved.
        costs: what each answer costs by the class that is right; empty where the most probable class is answered.
        outputs: ``model.outputs``, which must be those of the network; None where it is not saved.
        normalize: whether text is normalized before it is cut into words; see `heedful.text.normalization`.
        tagging: what config.json says of the linear part of tags; empty for none.
        examples: what it says of the training examples that are kept; empty for none.
        reject: likewise of when none of the classes is answered.
        columns: what config.json says of the column part; empty for none.
    """

    task: str
    tokenizer: str
    markup: Markup
    max_tokens: int
    truncate: str
    temperature: float
    phrases: PhraseRule
    wide: float
    sentence: Mapping[str, object]
    network: Mapping[str, object]
    encoder: str
    pooling: str
    run: Mapping[str, object]
    costs: tuple[tuple[float, ...], ...] = ()
    outputs: object = None
    normalize: bool = False
    tagging: Mapping[str, object] = field(default_factory=dict)
    examples: Mapping[str, object] = field(default_factory=dict)
    reject: Mapping[str, object] = field(default_factory=dict)
    columns: Mapping[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """What is known of the answers of the task."""
        return KINDS[self.task]

    @property
    def cutter(self) -> Tokenizer:
        """What cuts texts into words."""
        return find_tokenizer(self.tokenizer, self.markup, normalize=self.normalize)


def read_settings(config: Mapping[str, object], path: Path) -> Settings:
    """Read the settings of a model folder.

    Args:
        config: its ``config.json``.
        path: the folder, for messages.

    Returns:
        The settings.

    Raises:
        ArtifactError: naming the first setting that is wrong.
        UsageError: if the model needs more than the runtime has.
    """
    for name in ("model", "text", "run"):
        if name not in config:
            raise ArtifactError(f"{path / CONFIG}: {name} is missing. {REMEDY}")
    model, text, network, run = (_table(config, name, path) for name in ("model", "text", "network", "run"))
    task = model.get("task", "text")
    if isinstance(task, str) and task not in KINDS and re.fullmatch(r"[a-z][a-z0-9-]{0,40}", task):
        raise UsageError(
            f"{path}: this is a {task!r} model; the runtime runs {', '.join(KINDS)}. Use heedful predict."
        )
    one_of = partial(_one_of, path)
    task = one_of("model.task", task, tuple(KINDS))
    tokenizer = one_of("text.tokenizer", text.get("tokenizer"), tuple(TOKENIZERS))
    markup: Markup = one_of("text.markup", text.get("markup", "keep"), get_args(Markup))
    normalize = text.get("normalize", False)
    if type(normalize) is not bool:
        raise _unusable(path, "text.normalize", normalize)
    tokens = text.get("max_tokens", 400)
    if not (type(tokens) is int and 1 <= tokens < 2**31):
        raise _unusable(path, "text.max_tokens", tokens)
    truncate = one_of("text.truncate", text.get("truncate", "error"), ("error", "head", "drop", "window"))
    temperature, costs, wide = (
        config.get("temperature", 1.0),
        config.get("costs", []),
        config.get("wide", 0.0),
    )
    if not (isinstance(temperature, float) and math.isfinite(temperature) and 1e-6 <= temperature <= 1e6):
        raise _unusable(path, "temperature", temperature)
    if not _are_costs(costs):
        raise _unusable(path, "costs", costs)
    if isinstance(wide, bool) or not isinstance(wide, int | float) or not 0 <= wide < math.inf:
        raise _unusable(path, "wide", wide)
    if text.get("parser"):
        raise UsageError(
            f"{path}: text.parser={text['parser']!r:.80}: the runtime has no parser of sentences. Use heedful predict."
        )
    if not network:
        raise UsageError(
            f"{path}: was saved by a version of heedful that did not describe the network. Describe it: heedful export "
            f"{path} --float32 NEW-FOLDER"
        )
    if MISSING in network:
        raise UsageError(
            f"{path}: the runtime cannot run this model: {network[MISSING]!s:.300}. Use heedful predict."
        )
    return Settings(
        task,
        tokenizer,
        markup,
        tokens,
        "head" if truncate == "head" else "error",
        temperature,
        _phrases(text.get("phrases", {}), path),
        float(wide),
        _table(config, SENTENCE, path),
        network,
        str(model.get("encoder", "")),
        str(model.get("pooling", "")),
        run,
        tuple(tuple(map(float, row)) for row in costs),
        model.get("outputs"),
        normalize,
        _table(config, TAGGING, path),
        _table(config, EXAMPLES, path),
        _table(config, REJECT, path),
        _table(config, COLUMNS, path),
    )


Name = TypeVar("Name", bound=str)


def _one_of(path: Path, setting: str, value: object, names: tuple[Name, ...]) -> Name:
    """Return the name that a setting is."""
    found = next((name for name in names if name == value), None)
    if found is None:
        raise _unusable(path, setting, value)
    return found


def _unusable(path: Path, setting: str, value: object) -> ArtifactError:
    return ArtifactError(f"{path / CONFIG}: {setting} cannot be {value!r:.80}. {REMEDY}")


def _phrases(table: object, path: Path) -> PhraseRule:
    try:
        if not isinstance(table, Mapping):
            raise UsageError(f"must be a table; got {table!r:.80}")
        return PhraseRule(**table)
    except (TypeError, UsageError) as error:
        raise ArtifactError(f"{path / CONFIG}: text.phrases: {error}. {REMEDY}") from error


def _table(config: Mapping[str, object], name: str, path: Path) -> Mapping[str, object]:
    value = config.get(name, {})
    if not isinstance(value, Mapping):
        raise ArtifactError(f"{path / CONFIG}: {name}: must be a table; got {value!r:.80}. {REMEDY}")
    return value


def _are_costs(value: object) -> TypeGuard[list[list[float]]]:
    """Return whether this is a square table of costs, or empty."""
    return isinstance(value, list) and all(
        isinstance(row, list)
        and len(row) == len(value)
        and all(type(cost) in (int, float) and 0 <= cost < math.inf for cost in row)
        for row in value
    )
