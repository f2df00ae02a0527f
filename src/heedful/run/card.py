"""The model card that training writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from heedful.config import RunConfig, to_toml
from heedful.tasks import AnyPrepared, task_named
from heedful.text.wide_part import WidePart

if TYPE_CHECKING:
    from heedful.run.run import RunResult


def model_card(
    config: RunConfig,
    prepared: AnyPrepared,
    result: RunResult,
    wide: WidePart | None = None,
) -> str:
    """Write the card.

    Args:
        config: the settings of the run.
        prepared: the data it was trained on.
        result: what was trained, and its figures.
        wide: what is added to the network's logits; None where there is nothing.

    Returns:
        Markdown.
    """
    name = config.name or f"{config.model.encoder} on {config.data.set or config.data.train}"
    task = task_named(prepared.task)
    train, labels = prepared.datasets["train"], ", ".join(prepared.labels)
    lines = [
        *_front_matter(config, name, task.hub_task, result),
        f"# {name}",
        "",
        f"A Heedful model ({config.model.encoder}, {result.parameters:,} parameters without word vectors). "
        f"It predicts {task.question}" + (f": {labels}." if labels else "."),
        "",
        "## Use",
        "",
        "```python",
        "import heedful",
        "",
        'model = heedful.from_pretrained("PATH OF THIS FOLDER")',
        task.usage,
        "```",
        "",
        "## Figures",
        "",
        f"Protocol: {prepared.protocol.sentence()}.",
        "",
        "| part | examples | " + " | ".join(result.dev.metrics) + " |",
        "| --- | --- |" + " --- |" * len(result.dev.metrics),
    ]
    for part, report in (("dev", result.dev), ("test", result.test)):
        if report is not None:
            values = " | ".join(f"{value:.4f}" for value in report.metrics.values())
            lines.append(f"| {part} | {report.count:,} | {values} |")
    lines += [
        "",
        f"Seed {config.train.seed}; best at step {result.fit.best_step:,} of {result.fit.steps:,}; training took "
        f"{result.fit.seconds:.0f} s.",
        *_about_wide(config, wide),
        "",
        "## Data",
        "",
        f"{len(train):,} training examples; {task.vocabulary_note(prepared.lexicon)}.",
        *[f"- {note}" for note in prepared.notes],
        *[f"- `{file}` SHA-256 `{digest}`" for file, digest in prepared.fingerprint.items()],
        "",
        "## Limits",
        "",
        task.limits(prepared.lexicon, result.predictor.network),
        "",
        "## Settings",
        "",
        "```toml",
        to_toml(config).rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _front_matter(config: RunConfig, name: str, hub_task: str, run: RunResult) -> list[str]:
    """Write what the Hugging Face Hub reads of a card; values are JSON, which YAML holds too."""
    measured = run.test or run.dev
    data = config.data.set or "own"
    result = {
        "task": {"type": hub_task},
        "dataset": {"type": data, "name": data, "split": "test" if run.test else "dev"},
        "metrics": [{"type": kind, "value": value} for kind, value in measured.metrics.items()],
    }
    values: dict[str, object] = {
        "library_name": "heedful",
        "pipeline_tag": hub_task,
        "tags": ["heedful", config.model.encoder],
        **({"datasets": [data]} if config.data.set else {}),
        "model-index": [{"name": name, "results": [result]}],
    }
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in values.items()), "---", ""]


def _about_wide(config: RunConfig, wide: WidePart | None) -> list[str]:
    if wide is not None:
        said = f"A wide part, a linear model over {len(wide.numbers):,} words, phrases and runs of characters, is added"
        return ["", f"{said} to the network's logits {wide.weight:.2f} times, which the dev split decided."]
    tried = config.model.wide != "none"
    return ["", "A wide part was tried and left out: it did not help on the dev split."] if tried else []
