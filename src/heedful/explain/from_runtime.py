"""Explanations without torch: what `heedful.runtime` looked at, and its logits for any choice of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heedful.errors import UsageError
from heedful.explain.assembling import (
    Reader,
    ValuesExplained,
    assembled,
    explained_by,
    side_names,
    with_looked,
    with_quantity,
)
from heedful.explain.explanation import Explanation
from heedful.explain.legends import NO_NETWORK, POOLINGS, SYSTEMS, System, by_caption, caption
from heedful.explain.methods import WITH_TORCH, MethodChoice
from heedful.explain.methods.game import Examples, game_of
from heedful.explain.standing import by_default
from heedful.explain.tag_explanations import explain_tags
from heedful.machine.canceling import in_steps
from heedful.runtime.asking import texts_of
from heedful.runtime.kernels import Floats
from heedful.runtime.model import Model, finite
from heedful.runtime.tag_model import Tagger
from heedful.text.vocabulary import mask_of

_STEP = 64
"""Examples that are computed before it is looked whether the explanation is still waited for."""


def explain(
    model: Model,
    request: str | Sequence[str],
    choice: MethodChoice | None = None,
    word: int | str | None = None,
    *,
    faithfulness: bool = True,
) -> Explanation:
    """Show what each word contributes to an answer, and what the model looked at.

    Args:
        model: a model of `heedful.runtime.load`.
        request: a text, a pair of texts, or for a model of tags also a sequence of ready-made words.
        choice: the method that says what each word contributes; by default the model's own, or the best one that was
            measured among those that need no torch.
        word: for tags the word whose tag is explained; see `heedful.explain.tag_explanations.place_of`.
        faithfulness: with a method other than the default, also delete the heaviest words of a classified example and
            see what happens.

    Returns:
        The record that the pictures are drawn from.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtifactError: if the network gives a number that is not finite.
        UsageError: if the folder does not say what an explanation shows, or the method is not one that the runtime has.
    """
    choice, standing = by_default(choice or MethodChoice(), model.metrics, without=WITH_TORCH)
    if choice.method in WITH_TORCH:
        raise UsageError(
            f"the method {choice.method} needs torch; choose contributions, occlusion or shapley"
        )
    if isinstance(model, Tagger):
        return explain_tags(model, request, choice, word)
    program, settings = model.program, model.settings
    if program.shown is None or settings.pooling not in POOLINGS:
        raise UsageError("this folder does not say what an explanation shows; use heedful explain")
    texts = texts_of(request, 1, program.texts)
    words = [model.asking.words(text, 1, place, len(texts)) for place, text in enumerate(texts, start=1)]
    sight = program.look([(each.ids, each.ngrams) for each in words])
    # the logits of the answer itself, which may round in another way than those of the steps one by one
    (whole,) = model.logits_of([(1, tuple(words))])
    shown = with_quantity(model.decision.shown(finite("prediction", whole, 1)), settings.run)
    prefix = program.shown.prefix
    names = side_names(settings.run, len(texts))
    reader = Reader(settings.cutter, model.asking.knows, prefix, names)
    plain = reader.views(texts, [len(each.kept) for each in words])
    alone = settings.encoder == NO_NETWORK
    explanation = assembled(
        plain
        if alone
        else [with_looked(view, looked) for view, looked in zip(plain, sight.texts, strict=True)],
        shown,
        SYSTEMS.get(settings.encoder, System(settings.encoder)),
        settings.pooling,
        alignments=by_caption(sight.alignments),
        averaged={caption(place): place.axis or "features" for place in sight.averaged},
    )

    def network(examples: Examples) -> list[Floats]:
        starts = in_steps(range(0, len(examples), _STEP))
        return [row for start in starts for row in model.network_logits(examples[start : start + _STEP])]

    sides = [each.kept for each in words]
    game = game_of(sides, whole, None if alone else network, model.parts, mask_of(model.asking.vocabulary))
    return explained_by(
        replace(explanation, standing=standing) if standing else explanation,
        choice,
        game,
        ValuesExplained.of(shown, choice.why),
        deletions=faithfulness and shown.deletable,
        added=len(prefix),
    )
