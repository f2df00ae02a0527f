"""What the runtime reads of a model's settings: how text is read, what is answered, and the network's description."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard, TypeVar, get_args

from heedful.errors import ArtifactError, UsageError
from heedful.model.decisions import KINDS, Kind
from heedful.model.decisions.reject import REJECT
from heedful.model.kept_examples import EXAMPLES
from heedful.runtime.column_part import COLUMNS
from heedful.runtime.sentence_part import SENTENCE
from heedful.runtime.tag_part import TAGGING
from heedful.storage.fields import Fields
from heedful.storage.manifest import CONFIG, REMEDY
from heedful.text.markup import Markup
from heedful.text.tokenize import TOKENIZERS, Tokenizer
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
        markup: what becomes of HTML tags and links; see `heedful.text.markup`.
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
    fields = Fields(config, str(path / CONFIG), error=lambda problem: ArtifactError(f"{problem}. {REMEDY}"))
    model, text, run = (fields.part(name) for name in ("model", "text", "run"))
    network = fields.table("network", {})
    task = model.record.get("task", "text")
    if isinstance(task, str) and task not in KINDS and re.fullmatch(r"[a-z][a-z0-9-]{0,40}", task):
        raise UsageError(
            f"{path}: this is a {task!r} model; the runtime runs {', '.join(KINDS)}. Use heedful predict."
        )
    task = _one_of(model, "task", tuple(KINDS), "text")
    tokenizer = _one_of(text, "tokenizer", tuple(TOKENIZERS))
    markup: Markup = _one_of(text, "markup", get_args(Markup), "keep")
    normalize = text.flag("normalize", False)
    tokens = text.whole("max_tokens", 400)
    if not 1 <= tokens < 2**31:
        raise _unusable(text, "max_tokens", tokens)
    truncate = _one_of(text, "truncate", ("error", "head", "drop", "window"), "error")
    temperature, costs, wide = (
        config.get("temperature", 1.0),
        config.get("costs", []),
        config.get("wide", 0.0),
    )
    if not (isinstance(temperature, float) and math.isfinite(temperature) and 1e-6 <= temperature <= 1e6):
        raise _unusable(fields, "temperature", temperature)
    if not _are_costs(costs):
        raise _unusable(fields, "costs", costs)
    if isinstance(wide, bool) or not isinstance(wide, int | float) or not 0 <= wide < math.inf:
        raise _unusable(fields, "wide", wide)
    if parser := text.record.get("parser"):
        raise UsageError(
            f"{path}: text.parser={parser!r:.80}: the runtime has no parser of sentences. Use heedful predict."
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
        _phrases(text.record.get("phrases", {}), path),
        float(wide),
        fields.table(SENTENCE, {}),
        network,
        str(model.record.get("encoder", "")),
        str(model.record.get("pooling", "")),
        run.record,
        tuple(tuple(map(float, row)) for row in costs),
        model.record.get("outputs"),
        normalize,
        fields.table(TAGGING, {}),
        fields.table(EXAMPLES, {}),
        fields.table(REJECT, {}),
        fields.table(COLUMNS, {}),
    )


Name = TypeVar("Name", bound=str)


def _one_of(fields: Fields, name: str, names: tuple[Name, ...], default: Name | None = None) -> Name:
    """Return the name that a setting is."""
    value = fields.value(name) if default is None else fields.record.get(name, default)
    found = next((each for each in names if each == value), None)
    if found is None:
        raise _unusable(fields, name, value)
    return found


def _unusable(fields: Fields, name: str, value: object) -> Exception:
    return fields.wrong(name, f"cannot be {value!r:.80}")


def _phrases(table: object, path: Path) -> PhraseRule:
    try:
        if not isinstance(table, Mapping):
            raise UsageError(f"must be a table; got {table!r:.80}")
        return PhraseRule(**table)
    except (TypeError, UsageError) as error:
        raise ArtifactError(f"{path / CONFIG}: text.phrases: {error}. {REMEDY}") from error


def _are_costs(value: object) -> TypeGuard[list[list[float]]]:
    """Return whether this is a square table of costs, or empty."""
    return isinstance(value, list) and all(
        isinstance(row, list)
        and len(row) == len(value)
        and all(type(cost) in (int, float) and 0 <= cost < math.inf for cost in row)
        for row in value
    )
