"""A model's prediction for one input, with what led to it.

Single features of the attention of one word, and how a policy opened masks, are read off what the model recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset, Truncate
from heedful.data.examples import Example
from heedful.errors import UsageError
from heedful.explain import SYSTEMS, Explanation, SentenceView, System, explanation_from
from heedful.explain.assembling import Reader, asked_about, explained_by
from heedful.explain.attribution import Attribution
from heedful.explain.from_output import on_words
from heedful.explain.legends import caption
from heedful.explain.methods import MethodChoice, Question
from heedful.explain.policy_steps import PolicySteps
from heedful.explain.standing import by_default
from heedful.explain.word_features import FeatureMap, FeatureShares, WordFeatures, feature_map, feature_shares
from heedful.runtime.answers import Shown
from heedful.structures import SideTrace
from heedful.tasks.saved_model import finite
from heedful.tasks.schema import AnyAnswer
from heedful.text.tokenize import tokenize
from heedful.text.vocabulary import mask_of

if TYPE_CHECKING:
    from heedful.explain.methods.gradients import OnVectors
    from heedful.tasks.sentences.sentence_model import SentenceModel


def explain(
    predictor: SentenceModel[AnyAnswer], example: Example, choice: MethodChoice, *, faithfulness: bool
) -> Explanation:
    """Show what a model looked at, and what each word contributes.

    Args:
        predictor: the model.
        example: one text or one pair.
        choice: the method that says what each word contributes.
        faithfulness: also delete the heaviest words of a classified example and see what happens.

    Returns:
        The record that the pictures are drawn from.

    Raises:
        UsageError: if there is no such method, or this model cannot be explained by it.
    """
    choice, standing = by_default(choice, predictor.about.metrics)
    dataset, _ = predictor.encode_examples([example])
    with torch.inference_mode():
        batch = collate(dataset, np.array([0]), predictor.device)
        output = predictor.network(batch, need_weights=True)
    own = finite("prediction", output.logits.float().cpu().numpy())
    beside = predictor.beside(dataset)
    shown = predictor.shown((own if beside is None else own + beside)[0])
    text = predictor.text
    reader = Reader(text.tokenizer, text.markup, predictor.vocabulary.knows, predictor.network.prefix)
    views = reader.views(example.texts, dataset.words()[0].tolist())
    places = [_places(predictor, side[0]) for side in dataset.places]
    explanation = explanation_from(
        output,
        0,
        [_of_pieces(place) for place in places] or views,
        labels=shown.labels,
        probabilities=shown.probabilities,
        answered=shown.answered,
        score=shown.score,
        score_range=shown.score_range,
        # A token that the network puts in front has no place in a tree.
        tree_distances=None if predictor.network.prefix else [side.tree_distance for side in batch.sides],
        chosen=[policy.chosen for policy in output.policies] or None,
        alignments=output.alignments,
        system=SYSTEMS.get(predictor.model.encoder, System(predictor.model.encoder)),
        pooling=predictor.model.pooling,
    )
    if places:
        summary = predictor.network.sentence_encoder.embedding.summary_width > 0
        explanation = on_words(explanation, views, places, summary=summary)
    explanation = replace(
        explanation, wide=predictor.said([view.words for view in views], own[0], shown.best)
    )
    added = len(predictor.network.prefix)
    predict, mask = _answers_of_words(predictor), mask_of(predictor.vocabulary)
    question = asked_about([v.words for v in views], shown, predict, added=added, mask=mask)
    if standing:
        explanation = replace(explanation, standing=standing)
    return explained_by(
        explanation,
        choice,
        question,
        _by_gradients(predictor, dataset, shown, question.of),
        deletions=faithfulness and shown.deletable,
        added=added,
    )


def question_about(
    predictor: SentenceModel[AnyAnswer], example: Example, column: int | None = None
) -> tuple[Question, int]:
    """Ask a model about its answer for any choice of the words of an example; see `asked_about`.

    Args:
        predictor: the model.
        example: one text or one pair.
        column: of the probabilities, which one is asked about; None for that of the answer.

    Returns:
        The question, and which of the probabilities it is about.
    """
    dataset, _ = predictor.encode_examples([example])
    shown = predictor.shown(finite("prediction", predictor.run(dataset)[0])[0])
    text = predictor.text
    reader = Reader(text.tokenizer, text.markup, predictor.vocabulary.knows)
    sides = [view.words for view in reader.views(example.texts, dataset.words()[0].tolist())]
    if column is not None:
        shown = replace(shown, answered=column)
    best = shown.best if shown.score is None else 0
    predict, mask = _answers_of_words(predictor), mask_of(predictor.vocabulary)
    return asked_about(sides, shown, predict, mask=mask), best


def _by_gradients(
    predictor: SentenceModel[AnyAnswer], dataset: EncodedDataset, shown: Shown, of: str
) -> dict[str, Callable[[], Attribution]]:
    """Return the methods that need the gradients of the network; what stands beside the network is held fixed."""
    from heedful.explain.methods.gradients import gradient, integrated, on_vectors

    beside = predictor.beside(dataset)
    column = 0 if shown.score is not None else shown.best

    def problem() -> OnVectors:
        fixed = 0 if beside is None else torch.from_numpy(beside).to(predictor.device)
        batch = collate(dataset, np.array([0]), predictor.device)
        return on_vectors(
            predictor.network, batch, lambda rows: predictor.explained(rows + fixed)[:, column], of
        )

    return {"gradient": lambda: gradient(problem()), "integrated": lambda: integrated(problem())}


def trace_sentence(predictor: SentenceModel[AnyAnswer], text: str) -> tuple[tuple[str, ...], SideTrace]:
    """Return the words of a sentence and everything that a model recorded while it read it, feature by feature.

    Args:
        predictor: a model that reads each text alone; one of pairs reads the sentence as both of its sides.
        text: the sentence.

    Returns:
        The words, n of them, and the trace, with B = 1 and L = n.

    Raises:
        UsageError: if the model reads word pieces, or reads the sides of a pair together.
    """
    dataset, _ = predictor.encode_examples([Example((text,) * predictor.network.sides)])
    if dataset.places or predictor.network.prefix:
        raise UsageError(
            f"expected a model that reads the words of each sentence alone; this one is {predictor.model.encoder} "
            f"{'on word pieces' if dataset.places else 'for pairs read together'}"
        )
    with torch.inference_mode():
        output = predictor.network(collate(dataset, np.array([0]), predictor.device), need_weights=True)
    length = int(dataset.lengths()[0, 0])
    return tokenize(text, predictor.text.tokenizer, predictor.text.markup).words[:length], output.traces[0]


def _places(predictor: SentenceModel[AnyAnswer], pieces: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the place of each token's word among the words of its side, where the network may put tokens in front."""
    added = len(predictor.network.prefix)
    return np.concatenate([np.arange(added), added + pieces.astype(np.int64)])


def _of_pieces(places: NDArray[np.int64]) -> SentenceView:
    """Return the view of a sentence whose words are the pieces."""
    return SentenceView.from_words("pieces", [str(number) for number in range(len(places))])


def _answers_of_words(
    predictor: SentenceModel[AnyAnswer],
) -> Callable[[Sequence[Sequence[Sequence[str]]]], NDArray[np.float64]]:
    """Return a function from examples, given as words of each side, to probabilities [N, Y] or numbers [N, 1]."""
    cut: Truncate = "window" if predictor.text.truncate == "window" else "head"
    as_words = replace(predictor.text, tokenizer="whitespace", markup="keep", truncate=cut)
    reader = predictor.reading(as_words)

    def answers(examples: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.float64]:
        texts = [Example(tuple(" ".join(words) for words in example)) for example in examples]
        dataset, _ = reader.encode_examples(texts)
        found = [predictor.shown(row) for row in predictor.run(dataset)[0]]
        return np.array([each.probabilities if each.score is None else (each.score,) for each in found])

    return answers


def read_features(
    predictor: SentenceModel[AnyAnswer], word: str, texts: Sequence[str], count: int = 8
) -> WordFeatures:
    """Read the weights of one word feature by feature, in every sentence that has it.

    Args:
        predictor: a model that reads each text alone.
        word: the word, as it is written or in another case.
        texts: sentences; those without the word are left out.
        count: how many features are kept of each attention: those that differ most from the mean over all features.

    Returns:
        The features.

    Raises:
        UsageError: if no sentence has the word, or the model has no weights feature by feature.
    """
    if count < 1:
        raise UsageError(f"count must be 1 or more; got {count}")
    read = [trace_sentence(predictor, text) for text in texts]
    found = [(words, trace, place) for words, trace in read if (place := _place(words, word)) is not None]
    if not found:
        named = " ".join(read[0][0]) if read else ""
        raise UsageError(f"no text has the word {word!r}; the first one is read as: {named:.300}")
    traces = [(trace, place, len(words)) for words, trace, place in found]
    maps, shares = _maps(traces, count), _shares(traces, count)
    if not maps and shares is None:
        raise UsageError(
            f"this model ({predictor.model.encoder}) has one weight for each pair of words and none for single "
            "features; train one with model.encoder=disan, mtsa or mdman"
        )
    return WordFeatures(
        found[0][0][found[0][2]],
        tuple(words for words, _, _ in found),
        tuple(place for _, _, place in found),
        maps,
        shares,
    )


_Read = Sequence[tuple[SideTrace, int, int]]
"""Of each sentence what was recorded, the place of the word, and the number of words."""


def _place(words: Sequence[str], word: str) -> int | None:
    """Return where a word is; a word that is written in just this way goes first."""
    for same in (word.__eq__, lambda each: each.casefold() == word.casefold()):
        for place, each in enumerate(words):
            if same(each):
                return place
    return None


def _maps(read: _Read, count: int) -> tuple[FeatureMap, ...]:
    first = read[0][0].context.maps
    return tuple(
        feature_map(
            caption(place),
            place.axis or "features",
            [_array(trace.context.maps[place][0, at, :length]) for trace, at, length in read],
            count,
        )
        for place, weights in first.items()
        if weights.ndim > 3
    )


def _shares(read: _Read, count: int) -> FeatureShares | None:
    weights = [trace.pooled.weights for trace, _, _ in read]
    rows = [
        _array(each[0, at])
        for each, (_, at, _) in zip(weights, read, strict=True)
        if each is not None and each.ndim > 2
    ]
    return feature_shares(rows, count) if rows else None


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.double().cpu().numpy()


def read_policy(predictor: SentenceModel[AnyAnswer], texts: Mapping[str, str]) -> tuple[PolicySteps, ...]:
    """Read how the policy of a model opened the masks of sentences.

    Args:
        predictor: an MDMAN model.
        texts: sentences by their names.

    Returns:
        The steps of each sentence.

    Raises:
        UsageError: if the model has no such policy, or the policy does not act yet.
    """
    found = []
    for name, text in texts.items():
        words, trace = trace_sentence(predictor, text)
        policy = trace.context.policy
        if predictor.model.encoder != "mdman" or policy is None:
            raise UsageError(
                f"expected a model with a policy that opens masks (model.encoder=mdman); this one is "
                f"{predictor.model.encoder}"
            )
        if policy.chances is None:
            raise UsageError(
                "the policy of this model does not act yet, so no pair was opened; train for more steps than "
                "encoder_steps of the encoder"
            )
        query, key = policy.chances[0, : len(words)].double().cpu().numpy().T
        opened = policy.chosen[0, : len(words), : len(words)].cpu().numpy()
        found.append(PolicySteps(name, words, query, key, opened))
    return tuple(found)
