"""What the runtime reads of a model's settings: how text is read, what is answered, and the network's description."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from heedful.errors import ArtefactError, UsageError
from heedful.runtime.answers import LAYOUTS
from heedful.storage.manifest import CONFIG, REMEDY
from heedful.text.tokenize import TOKENIZERS, Markup
from heedful.text.wide_part import PhraseRule

PAIRS = ("pair", "relatedness", "pair-number")
"""Tasks whose examples are pairs."""
NUMBERS = ("number", "pair-number")
"""Tasks that answer with any number."""
UNNAMED = ("relatedness", *NUMBERS)
"""Tasks without labels."""
MISSING = "missing"
"""Key of a description that says why there is none."""


@dataclass(frozen=True)
class Settings:
    """What the runtime needs to know of a model.

    Attributes:
        task: one of `heedful.runtime.answers.LAYOUTS`.
        tokenizer: name of the tokenizer.
        markup: what becomes of HTML tags and links; see `heedful.text.tokenize`.
        max_tokens: longest text, in words.
        truncate: what a longer text does: "error", or "head" to read its beginning.
        temperature: what logits are divided by before the softmax.
        phrases: which features a wide part reads.
        wide: the weight of the wide part; 0 for none.
        network: the description of the network.
        encoder: its name, for explanations.
        pooling: the name of its pooling, for explanations.
        run: the settings of the run that made it, as they were saved.
        costs: what each answer costs by the class that is right; empty where the most probable class is answered.
        outputs: ``model.outputs``, which must be those of the network; None where it is not saved.
    """

    task: str
    tokenizer: str
    markup: Markup
    max_tokens: int
    truncate: str
    temperature: float
    phrases: PhraseRule
    wide: float
    network: Mapping[str, object]
    encoder: str
    pooling: str
    run: Mapping[str, object]
    costs: tuple[tuple[float, ...], ...] = ()
    outputs: object = None


def read_settings(config: Mapping[str, Any], path: Path) -> Settings:
    """Read the settings of a model folder.

    Args:
        config: its ``config.json``.
        path: the folder, for messages.

    Returns:
        The settings.

    Raises:
        ArtefactError: naming the first setting that is wrong.
        UsageError: if the model needs more than the runtime has.
    """
    for name in ("model", "text", "run"):
        if name not in config:
            raise ArtefactError(f"{path / CONFIG}: {name} is missing. {REMEDY}")
    model, text, network, run = (_table(config, name, path) for name in ("model", "text", "network", "run"))
    task = model.get("task", "text")
    if task in ("roles", "translation"):
        raise UsageError(
            f"{path}: this is a {task!r} model; the runtime runs {', '.join(LAYOUTS)}. Use heedful predict."
        )
    truncate, markup = text.get("truncate", "error"), text.get("markup", "keep")
    tokens, temperature = text.get("max_tokens", 400), config.get("temperature", 1.0)
    wide, costs = config.get("wide", 0.0), config.get("costs", [])
    checks = {
        "model.task": (task in tuple(LAYOUTS), task),
        "text.tokenizer": (text.get("tokenizer") in tuple(TOKENIZERS), text.get("tokenizer")),
        "text.markup": (markup in get_args(Markup), markup),
        "text.max_tokens": (type(tokens) is int and 1 <= tokens < 2**31, tokens),
        "text.truncate": (truncate in ("error", "head", "drop", "window"), truncate),
        "temperature": (_is_temperature(temperature), temperature),
        "costs": (_are_costs(costs), costs),
        "wide": (type(wide) in (int, float) and 0 <= wide < math.inf, wide),
    }
    for name, (good, value) in checks.items():
        if not good:
            raise ArtefactError(f"{path / CONFIG}: {name} cannot be {value!r:.80}. {REMEDY}")
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
        text["tokenizer"],
        markup,
        tokens,
        "head" if truncate == "head" else "error",
        float(temperature),
        _phrases(text.get("phrases", {}), path),
        float(wide),
        network,
        str(model.get("encoder", "")),
        str(model.get("pooling", "")),
        run,
        tuple(tuple(map(float, row)) for row in costs),
        model.get("outputs"),
    )


def _phrases(table: Any, path: Path) -> PhraseRule:
    try:
        return PhraseRule(**table)
    except (TypeError, UsageError) as error:
        raise ArtefactError(f"{path / CONFIG}: text.phrases: {error}. {REMEDY}") from error


def _table(config: Mapping[str, object], name: str, path: Path) -> Mapping[str, Any]:
    value = config.get(name, {})
    if not isinstance(value, Mapping):
        raise ArtefactError(f"{path / CONFIG}: {name}: must be a table; got {value!r:.80}. {REMEDY}")
    return value


def _are_costs(value: object) -> bool:
    """Say whether this is a square table of costs, or empty."""
    return isinstance(value, list) and all(
        isinstance(row, list)
        and len(row) == len(value)
        and all(type(cost) in (int, float) and 0 <= cost < math.inf for cost in row)
        for row in value
    )


def _is_temperature(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and 1e-6 <= value <= 1e6
