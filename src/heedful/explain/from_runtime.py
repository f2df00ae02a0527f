"""Explanations without torch: what `heedful.runtime` looked at, as the record that the pictures are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.explain.assembling import Reader, asked_about, assembled, explained_by, said_beside, with_looked
from heedful.explain.explanation import Explanation
from heedful.explain.faithfulness import PairOfWords
from heedful.explain.legends import POOLINGS, SYSTEMS, System, by_caption, caption
from heedful.explain.methods import WITH_TORCH, MethodChoice
from heedful.explain.standing import by_default
from heedful.explain.tag_explanations import explain_tags
from heedful.runtime.asking import Asking, texts_of
from heedful.runtime.model import Model, finite
from heedful.runtime.tag_model import Tagger
from heedful.text.vocabulary import mask_of


def explain(
    model: Model,
    request: str | Sequence[str],
    choice: MethodChoice | None = None,
    word: int | str | None = None,
    *,
    faithfulness: bool = True,
) -> Explanation:
    """Show what a model looked at, and what each word contributes.

    Args:
        model: a model of `heedful.runtime.load`.
        request: a text, a pair of texts, or for a model of tags also a sequence of ready-made words.
        choice: the method that says what each word contributes; by default the model's own, or the best one that was
            measured among those that need no torch.
        word: for tags the word whose tag is explained; see `heedful.explain.tag_explanations.place_of`.
        faithfulness: also delete the heaviest words of a classified example and see what happens.

    Returns:
        The record that the pictures are drawn from.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtefactError: if the network gives a number that is not finite.
        UsageError: if the folder does not say what an explanation shows, or the method is not one that the runtime has.
    """
    choice, standing = by_default(choice or MethodChoice(), model.metrics, without=WITH_TORCH)
    if choice.method in WITH_TORCH:
        raise UsageError(f"the method {choice.method} needs torch; choose attention, occlusion or shapley")
    if isinstance(model, Tagger):
        return explain_tags(model, request, choice, word)
    program, settings = model.program, model.settings
    if program.shown is None or settings.pooling not in POOLINGS:
        raise UsageError("this folder does not say what an explanation shows; use heedful explain")
    texts = texts_of(request, 1, program.texts)
    words = [model.asking.words(text, 1, place, len(texts)) for place, text in enumerate(texts, start=1)]
    sight = program.look([(each.ids, each.ngrams) for each in words])
    own = finite("prediction", sight.logits, 1)
    shown = model.decision.shown(model.added(own, words))
    reader = Reader(settings.tokenizer, settings.markup, model.asking.vocabulary.knows, program.shown.prefix)
    plain = reader.views(texts, [len(each.kept) for each in words])
    views = [with_looked(view, looked) for view, looked in zip(plain, sight.texts, strict=True)]
    explanation = assembled(
        views,
        shown,
        SYSTEMS.get(settings.encoder, System(settings.encoder)),
        settings.pooling,
        alignments=by_caption(sight.alignments),
        averaged={caption(place): place.axis or "features" for place in sight.averaged},
    )
    if model.parts.wide is not None:
        sides = [view.words for view in views]
        said = said_beside(model.parts.wide, sides, own, shown.best, added=len(program.shown.prefix))
        explanation = replace(explanation, wide=said)
    if standing:
        explanation = replace(explanation, standing=standing)
    added = len(program.shown.prefix)
    mask = mask_of(model.asking.vocabulary)
    question = asked_about(
        [view.words for view in views], shown, _answers_of_words(model), added=added, mask=mask
    )
    deletions = faithfulness and shown.deletable
    return explained_by(explanation, choice, question, deletions=deletions, added=added)


def _answers_of_words(model: Model) -> Callable[[list[PairOfWords]], NDArray[np.float64]]:
    """Return a function from examples, given as words of each side, to probabilities [N, Y] or numbers [N, 1]."""
    settings = replace(model.settings, tokenizer="whitespace", markup="keep", truncate="head")
    reader = Model(Asking(settings, model.asking.vocabulary), model.program, model.decision, model.parts)

    def answers(examples: list[PairOfWords]) -> NDArray[np.float64]:
        joined = [tuple(" ".join(words) for words in example) for example in examples]
        logits = reader.logits(texts if len(texts) > 1 else texts[0] for texts in joined)
        scores = [model.decision.score(row) for row in logits]
        if scores[0] is None:
            return model.probabilities(logits)
        return np.array(scores, np.float64)[:, None]

    return answers
