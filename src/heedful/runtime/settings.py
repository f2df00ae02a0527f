"""What the runtime reads of a model's settings: how text is read, what is answered, and the network's description."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard, get_args

from heedful.errors import UsageError
from heedful.model.decisions import KINDS, Kind
from heedful.model.decisions.reject import REJECT
from heedful.model.training_examples import EXAMPLES
from heedful.runtime.column_part import COLUMNS
from heedful.runtime.sentence_part import SENTENCE
from heedful.runtime.tag_part import TAGGING
from heedful.storage.fields import Fields, damaged_model
from heedful.storage.manifest import CONFIG
from heedful.text.markup import Markup
from heedful.text.tokenize import TOKENIZERS, Tokenizer
from heedful.text.tokenize import tokenizer as find_tokenizer
from heedful.text.wide_part import PhraseRule

MISSING = "missing"
"""Key of a description that says why there is none."""


@dataclass(frozen=True)
class RuntimeSettings:
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


def read_settings(config: Mapping[str, object], path: Path) -> RuntimeSettings:
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
    fields = Fields(config, str(path / CONFIG), error=damaged_model)
    model, text, run = (fields.part(name) for name in ("model", "text", "run"))
    network = fields.table("network", {})
    task = model.record.get("task", "text")
    if isinstance(task, str) and task not in KINDS and re.fullmatch(r"[a-z][a-z0-9-]{0,40}", task):
        raise UsageError(
            f"{path}: this is a {task!r} model; the runtime runs {', '.join(KINDS)}. Use heedful predict."
        )
    task = model.one_of("task", KINDS, "text")
    tokenizer = text.one_of("tokenizer", TOKENIZERS)
    markup: Markup = text.one_of("markup", get_args(Markup), "keep")
    normalize = text.flag("normalize", False)
    tokens = text.whole("max_tokens", 400)
    if not 1 <= tokens < 2**31:
        raise text.wrong("max_tokens", f"cannot be {tokens!r:.80}")
    truncate = text.one_of("truncate", ("error", "head", "drop", "window"), "error")
    temperature, wide = (
        _within(fields, "temperature", 1.0, 1e-6, 1e6),
        _within(fields, "wide", 0.0, 0.0, math.inf),
    )
    if not _are_costs(costs := fields.items("costs", ())):
        raise fields.wrong("costs", f"cannot be {costs!r:.80}")
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
    return RuntimeSettings(
        task,
        tokenizer,
        markup,
        tokens,
        "head" if truncate == "head" else "error",
        temperature,
        _phrases(text.part("phrases", {})),
        wide,
        fields.table(SENTENCE, {}),
        network,
        model.text("encoder", ""),
        model.text("pooling", ""),
        run.record,
        tuple(tuple(map(float, row)) for row in costs),
        model.record.get("outputs"),
        normalize,
        fields.table(TAGGING, {}),
        fields.table(EXAMPLES, {}),
        fields.table(REJECT, {}),
        fields.table(COLUMNS, {}),
    )


def _phrases(fields: Fields) -> PhraseRule:
    """Read which features a wide part has."""
    names = ("words", "shortest", "longest")
    fields.only(*names)
    try:
        return PhraseRule(**{name: fields.whole(name) for name in names if name in fields})
    except UsageError as error:
        raise fields.refused(str(error)) from error


def _within(fields: Fields, name: str, default: float, least: float, most: float) -> float:
    """Read a finite number of a range."""
    value = fields.number(name, default)
    if not (math.isfinite(value) and least <= value <= most):
        raise fields.wrong(name, f"cannot be {value!r:.80}")
    return float(value)


def _are_costs(value: tuple[object, ...]) -> TypeGuard[tuple[list[float], ...]]:
    """Return whether this is a square table of costs, or empty."""
    return all(
        isinstance(row, list)
        and len(row) == len(value)
        and all(type(cost) in (int, float) and 0 <= cost < math.inf for cost in row)
        for row in value
    )
