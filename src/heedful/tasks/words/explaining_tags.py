"""What each word of a text contributes to the tag of one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.explain import Explanation
from heedful.explain.assembling import explained_by
from heedful.explain.attribution import Attribution
from heedful.explain.methods import MethodChoice
from heedful.explain.tag_question import asked_about_tag, place_of
from heedful.structures import Batch
from heedful.text.vocabulary import mask_of

if TYPE_CHECKING:
    from heedful.explain.methods.gradients import OnVectors
    from heedful.tasks.tags import TagsAnswer, TagsModel


def explain_tag(
    model: TagsModel,
    explanation: Explanation,
    answer: TagsAnswer,
    batch: Batch,
    choice: MethodChoice,
    word: int | str | None,
) -> Explanation:
    """Add what each word contributes to the tag of one word; the word itself is never deleted.

    Args:
        model: the model.
        explanation: of attention.
        answer: the tags of the text.
        batch: the text alone.
        choice: the method.
        word: the word whose tag is explained, as itself or as its number from 1; None for the least certain tag.

    Returns:
        The explanation, with the deletion test of the contributions.

    Raises:
        UsageError: if the text has no such word, or there is no such method.
    """
    place = place_of(answer.words, answer.probabilities, word)
    tag = answer.tags[place]
    number = model.labels.index(tag)

    def shares(texts: list[tuple[str, ...]], places: list[int]) -> NDArray[np.float64]:
        return _probabilities(model, texts, np.array(places), number)

    question = asked_about_tag(answer.words, place, tag, shares, mask_of(model.vocabulary))

    def problem() -> OnVectors:
        from heedful.explain.methods.gradients import on_vectors

        return on_vectors(
            model.network, batch, lambda rows: rows[:, place].double().softmax(dim=-1)[:, number], question.of
        )

    def by_gradients(name: str) -> Callable[[], Attribution]:
        def way() -> Attribution:
            from heedful.explain.methods import gradients

            found: Attribution = getattr(gradients, name)(problem())
            return found

        return way

    further = {name: by_gradients(name) for name in ("gradient", "integrated")}
    return explained_by(explanation, choice, question, further, deletions=True)


def _probabilities(
    model: TagsModel, texts: Sequence[tuple[str, ...]], places: NDArray[np.int64], number: int
) -> NDArray[np.float64]:
    """Return the probability of a tag at one place of each text, each word by itself, [N]."""
    reader = model.reading(replace(model.text, tokenizer="whitespace", markup="keep", truncate="head"))
    dataset, _ = reader.encode_examples([Example((" ".join(words),)) for words in texts])
    found = np.zeros(len(texts))
    with torch.inference_mode():
        for rows in model.batches(dataset):
            logits = model.network(model.padded(dataset, rows)).logits
            own = logits[torch.arange(len(rows)), torch.from_numpy(places[rows]).to(logits.device)]
            found[rows] = own.double().softmax(dim=-1)[:, number].cpu().numpy()
    return found
