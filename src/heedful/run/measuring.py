"""Measure every method of explanation of a model, and two controls, on the texts of some data.

The result is written into the model folder and its card, so that the best method is the model's default.
"""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.explain.explainer import explain, question_about
from heedful.explain.measured_methods import CONTROLS, MEASURES, MeasuredMethods, TextMeasures, measure_text
from heedful.explain.method_ranking import KEY
from heedful.explain.methods import METHODS, MethodChoice, Question, Sampling
from heedful.explain.methods.deletion import leave_one_out
from heedful.explain.methods.method_names import DEFAULT, check_method
from heedful.model.answers import AnyAnswer
from heedful.storage import replace_folder
from heedful.storage.fields import read_json
from heedful.storage.layout import holds_run
from heedful.storage.lock import alone
from heedful.storage.manifest import (
    CARD,
    MANIFEST,
    METRICS,
    MODEL_FILES,
    read_card,
    verify_manifest,
    write_json,
    write_manifest,
)
from heedful.tables import markdown_table
from heedful.tasks import AnyModel, SentenceModel, task_of

Values = NDArray[np.float64]
_SIGNED = frozenset({DEFAULT, "gradient", "integrated", "occlusion", "shapley", CONTROLS[1]})
LIMIT, ORDERS = 200, 20
"""Texts that are measured by default, and random orders of the words for Shapley values."""


def measure_explanations(
    model: AnyModel,
    corpus: Corpus,
    on: str,
    *,
    methods: Sequence[str] = (),
    limit: int | None = LIMIT,
    sampling: Sampling | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> MeasuredMethods:
    """Measure explanations.

    Args:
        model: a model of classes or of labels.
        corpus: texts or pairs; gold is not looked at.
        on: what the data is called.
        methods: names; none for every method that the model has.
        limit: at most so many texts are measured, drawn at random; None for all.
        sampling: random orders of the words for Shapley values, `ORDERS` by default, and the seed of all random
            numbers.
        progress: called before each text with the number of texts done, and of all.

    Returns:
        The measures.

    Raises:
        UsageError: if the model has no probabilities of classes or labels, a method does not exist or is not one that
            it has, or no text can be measured.
    """
    if model.kind.outputs not in ("classes", "labels"):
        raise UsageError(
            "explanations are measured by the probability of a class or a label; this is a model of "
            f"{task_of(model).noun}"
        )
    measured = cast("SentenceModel[AnyAnswer]", model)
    for name in methods:
        check_method(name)
    examples = list(corpus.examples)
    sampling = sampling or Sampling(ORDERS)
    generator = np.random.default_rng(sampling.seed)
    if limit is not None and limit < len(examples):
        examples = [
            examples[place] for place in sorted(generator.permutation(len(examples))[:limit].tolist())
        ]
    chosen = tuple(methods)
    untrained = with_random_weights(measured, sampling.seed)
    found, skipped = list[dict[str, TextMeasures]](), 0
    for done, example in enumerate(examples):
        progress(done, len(examples))
        question, label = question_about(model, Corpus([example]))
        if len(question.places) < 2:
            skipped += 1
            continue
        if not found:
            chosen = _available(measured, example, question, chosen)
        orders_of = {name: _values(measured, example, question, name, sampling) for name in chosen}
        orders_of[CONTROLS[0]] = generator.permutation(len(question.places)).astype(np.float64)
        orders_of[CONTROLS[1]] = leave_one_out(question_about(untrained, Corpus([example]), label)[0])[0]
        found.append(measure_text(question, orders_of, _SIGNED))
    return MeasuredMethods(found, on, sampling.seed, skipped)


def _available(
    model: SentenceModel[AnyAnswer], example: Example, question: Question, asked: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the methods that a model has; those that were asked for must be among them."""
    if asked:
        return asked
    found = []
    for name in METHODS:
        try:
            _values(model, example, question, name, Sampling(1))
        except UsageError:
            continue
        found.append(name)
    return tuple(found)


def _values(
    model: SentenceModel[AnyAnswer], example: Example, question: Question, method: str, sampling: Sampling
) -> Values:
    if method == "occlusion":
        return leave_one_out(question)[0]
    explanation = explain(model, Corpus([example]), MethodChoice(method, sampling), faithfulness=False)
    added = len(model.network.prefix)
    said = explanation.attribution
    if said is not None:
        return question.flat([side[added:] for side in said.values])
    return question.flat([view.weights[added:] for view in explanation.sides if view.weights is not None])


def with_random_weights(model: SentenceModel[AnyAnswer], seed: int) -> SentenceModel[AnyAnswer]:
    """Return a model whose weights are those of another one in a random order, tensor by tensor.

    The sizes of the weights stay what they are, and nothing that was learned is left (Adebayo et al., 2018, "model
    parameter randomization"). Frozen word vectors stay.

    Args:
        model: the trained model, which is not changed.
        seed: of the orders.

    Returns:
        The other model, without parts beside the network.
    """
    network: nn.Module = copy.deepcopy(model.network)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    about = replace(model.about, wide=None, sentence=None, columns=None)
    return type(model)(network.eval(), model.model, model.vocabulary, model.labels, model.text, about)  # type: ignore[arg-type]


_TITLE = "## Explanations"
_SECTION = re.compile(rf"^{_TITLE}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_BEFORE = re.compile(r"^## (Limits|Settings)$", re.MULTILINE)


def keep_standing(folder: Path, measured: MeasuredMethods) -> None:
    """Write the order of the methods into a model folder.

    The folder is copied, the copy is checked against its checksums, its figures and its card are changed, and it takes
    the place of the old folder in one step; a reader meets the old one or the new one.

    Args:
        folder: the model folder itself.
        measured: the measures.

    Raises:
        ArtifactError: if the folder is not whole.
        OutputError: if it cannot be written; the old one stays.
        InUseError: if a run is writing it.
    """
    if holds_run(folder.parent):
        with alone(folder.parent, "run"):
            _replace(folder, measured)
    else:
        _replace(folder, measured)


def _replace(folder: Path, measured: MeasuredMethods) -> None:
    verify_manifest(folder, MODEL_FILES)
    with replace_folder(folder) as new:
        for name in {*MODEL_FILES, MANIFEST} - {CARD}:
            shutil.copyfile(folder / name, new / name)
        verify_manifest(new, MODEL_FILES)
        figures = read_json(new / METRICS, dict)
        write_json(new / METRICS, {**figures, KEY: measured.standing.as_dict()})
        card = with_section(read_card(folder), measured)
        (new / CARD).write_text(card, encoding="utf-8", newline="\n")
        write_manifest(new, MODEL_FILES)


def with_section(card: str, measured: MeasuredMethods) -> str:
    """Put the table of the measures into a model card, in the place of an older one.

    Args:
        card: the card.
        measured: the measures.

    Returns:
        The card.
    """
    rest = _SECTION.sub("", card)
    place = _BEFORE.search(rest)
    start = len(rest) if place is None else place.start()
    before = rest[:start].rstrip("\n")
    return f"{before}\n\n{section(measured)}\n{rest[start:]}"


def section(measured: MeasuredMethods) -> str:
    """Return the section of a card, Markdown that ends with a line end."""
    rows = (
        [name, *(str(measured.mean(name, measure)) for measure in MEASURES)]
        for name in (*measured.methods, *(each for each in measured.names if each not in measured.methods))
    )
    return "\n".join(
        [
            _TITLE,
            "",
            measured.standing.sentence(measured.methods[0]),
            f"`heedful explain` shows {measured.standing.default} by default. Measured by `heedful faithfulness`; ± is "
            f"half of the 95 % interval over texts, seed {measured.seed}.",
            "",
            *markdown_table(["method", *(name.replace("_", " ") for name in MEASURES)], rows),
            "",
        ]
    )
