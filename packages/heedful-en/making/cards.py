"""The model cards of the package: the card of the training, with what became of the model and its sources."""

from __future__ import annotations

from collections.abc import Mapping

from heedful.errors import ArtifactError
from heedful.storage.model_folder import ModelFolder

Figures = Mapping[str, Mapping[str, float]]
"""Split to metric to value."""
LOSS = 0.002
"""The most that 8 bits may cost in the metric that selects."""
NUMBERBATCH = "ConceptNet Numberbatch (Speer, Chin and Havasi, 2017), 41,353 English words, CC BY-SA 4.0"
EWT = "Universal Dependencies English EWT, release 2.2, CC BY-SA 4.0"
SOURCES = {
    "en-nli": (
        "the Stanford Natural Language Inference corpus (Bowman et al., 2015), 102,511 pairs, CC BY-SA 4.0",
    ),
    "en-upos": (),
    "en-roles": ("the PropBank annotation of EWT (propbank/propbank-release), CC BY-SA 4.0",),
}
"""What each model was trained on beside Numberbatch and EWT, whose lemmas all of them use."""


def card_of(name: str, trained: ModelFolder, small: Figures) -> str:
    """Write the card of a model in the package.

    Args:
        name: of the model.
        trained: the folder that training wrote, with its card and figures.
        small: the figures of the folder in 8 bits.

    Returns:
        Markdown.

    Raises:
        ArtifactError: if 8 bits cost more than `LOSS` of the metric that selects.
    """
    metric = trained.config["run"]["train"]["metric"]
    parts = {part: trained.metrics[part]["metrics"] for part in small}
    lines = ["| split | metric | float32 | in 8 bits, as shipped |", "| --- | --- | ---: | ---: |"]
    for part, found in small.items():
        before, after = parts[part][metric], found[metric]
        if before - after > LOSS:
            raise ArtifactError(
                f"{name}: {metric} on {part} falls from {before:.4f} to {after:.4f} in 8 bits"
            )
        lines.append(f"| {part} | {metric} | {before:.4f} | {after:.4f} |")
    further = [
        "## In the package heedful-en",
        "",
        "The matrices and word vectors are kept in 8 bits. This folder has no vectors of words that training left as",
        "they were: heedful-en keeps them once for all its models. Their SHA-256 is checked when the model is read.",
        "",
        *lines,
        "",
        "Both were measured as `heedful evaluate` does. `packages/heedful-en/making/make_models.py` made the model: it",
        f"trains the recipe `{name}.toml` beside it with one thread. Nothing was chosen by the test split.",
        "",
        "## Sources and license",
        "",
        "This model is derived from the sources below and is offered under CC BY-SA 4.0. It holds no sentence of them.",
        "",
        *(f"- {source}" for source in (*SOURCES[name], EWT, NUMBERBATCH)),
        "",
        "## Data",
    ]
    card = trained.card.replace('heedful.from_pretrained("PATH OF THIS FOLDER")', f'heedful.load("{name}")')
    card = card.replace("---\n", '---\nlicense: "cc-by-sa-4.0"\nlanguage: "en"\n', 1)
    return card.replace("## Data", "\n".join(further), 1)
