"""A model's prediction for one input, with what led to it.

Single features of the attention of one word, and how a policy opened masks, are read off what the model recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from heedful.explain.assembling import Reader, ValuesExplained, explained_by, side_names, with_quantity
from heedful.explain.attribution import Attribution
from heedful.explain.explained_value import ExplainedValue
from heedful.explain.from_output import on_words
from heedful.explain.legends import NO_NETWORK, caption
from heedful.explain.methods import MethodChoice, Question
from heedful.explain.methods.game import Examples, Game, game_of
from heedful.explain.policy_steps import PolicySteps
from heedful.explain.standing import by_default
from heedful.explain.word_features import FeatureMap, FeatureShares, WordFeatures, feature_map, feature_shares
from heedful.runtime.parts import Parts
from heedful.structures import SideTrace
from heedful.tasks.saved_model import finite
from heedful.tasks.schema import AnyAnswer
from heedful.text.vocabulary import mask_of
from heedful.text.wide_part import PhraseRule

if TYPE_CHECKING:
    from heedful.explain.methods.gradients import OnVectors
    from heedful.tasks.sentences.sentence_model import SentenceModel


def explain(
    predictor: SentenceModel[AnyAnswer], example: Example, choice: MethodChoice, *, faithfulness: bool
) -> Explanation:
    """Show what each word contributes, and what a model looked at.

    Args:
        predictor: the model.
        example: one text or one pair.
        choice: the method that says what each word contributes.
        faithfulness: with a method other than the default, also delete the heaviest words of a classified example and
            see what happens.

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
    asked = _ask(predictor, example, dataset, choice.why)
    shown = asked.values.shown
    places = [_places(predictor, side[0]) for side in dataset.places]
    explanation = explanation_from(
        output,
        0,
        [_of_pieces(place) for place in places] or asked.views,
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
    explanation = replace(explanation, quantity=shown.quantity)
    if predictor.model.encoder == NO_NETWORK:  # whose weights of words say nothing
        explanation = replace(explanation, sides=tuple(asked.views), notes={})
    if places:
        summary = predictor.network.sentence_encoder.embedding.summary_width > 0
        explanation = on_words(explanation, asked.views, places, summary=summary)
    return explained_by(
        replace(explanation, standing=standing) if standing else explanation,
        choice,
        asked.game,
        asked.values,
        None
        if predictor.model.encoder == NO_NETWORK  # which has no gradients
        else _by_gradients(predictor, dataset, asked.values.value),
        deletions=faithfulness and shown.deletable,
        added=len(predictor.network.prefix),
    )


@dataclass(frozen=True)
class _Asked:
    """The words of an example, the model as a game of them, and what is explained."""

    views: list[SentenceView]
    game: Game
    values: ValuesExplained


def _ask(
    predictor: SentenceModel[AnyAnswer], example: Example, dataset: EncodedDataset, why: str | None = None
) -> _Asked:
    text, network = predictor.text, predictor.network
    names = side_names(predictor.about.run, len(example.texts))
    reader = Reader(text.cutter, predictor.knows, network.prefix, names)
    lengths = dataset.words()[0].tolist()
    views = reader.views(example.texts, lengths)
    whole = finite("prediction", predictor.run(dataset)[0])[0]
    about = predictor.about
    game = game_of(
        reader.sides(example.texts, lengths),
        whole,
        None if predictor.model.encoder == NO_NETWORK else _logits_of_words(predictor),
        Parts(about.wide, about.sentence),
        mask_of(predictor.vocabulary),
    )
    return _Asked(views, game, ValuesExplained.of(with_quantity(predictor.shown(whole), about.run), why))


def question_about(
    predictor: SentenceModel[AnyAnswer], example: Example, why: str | None = None
) -> tuple[Question, str]:
    """Ask a model about the probability that it answers, for any choice of the words of an example.

    Args:
        predictor: the model.
        example: one text or one pair.
        why: the class or label that is asked about; None for that of the answer.

    Returns:
        The question, and the class that it is about.
    """
    dataset, _ = predictor.encode_examples([example])
    asked = _ask(predictor, example, dataset, why)
    value = asked.values.value
    return asked.game.question(value, as_shown=True), value.label


def _by_gradients(
    predictor: SentenceModel[AnyAnswer], dataset: EncodedDataset, value: ExplainedValue
) -> dict[str, Callable[[], Attribution]]:
    """Return the methods that need the gradients of the network; what stands beside the network is held fixed."""
    from heedful.explain.methods.gradients import gradient, integrated, log_odds, on_vectors

    beside = predictor.beside(dataset)

    def explained(rows: Tensor) -> Tensor:
        wide = rows.double() / value.temperature
        if value.kind == "class":
            return log_odds(wide, value.column)
        if value.kind == "grade":
            return wide.softmax(dim=-1) @ torch.arange(1.0, wide.shape[1] + 1, dtype=wide.dtype)
        return wide[:, value.column]

    def problem() -> OnVectors:
        fixed = 0 if beside is None else torch.from_numpy(beside).to(predictor.device)
        batch = collate(dataset, np.array([0]), predictor.device)
        return on_vectors(predictor.network, batch, lambda rows: explained(rows + fixed), value.of)

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
    return tuple(predictor.text.cutter.words(text)[:length]), output.traces[0]


def _places(predictor: SentenceModel[AnyAnswer], pieces: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the place of each token's word among the words of its side, where the network may put tokens in front."""
    added = len(predictor.network.prefix)
    return np.concatenate([np.arange(added), added + pieces.astype(np.int64)])


def _of_pieces(places: NDArray[np.int64]) -> SentenceView:
    """Return the view of a sentence whose words are the pieces."""
    return SentenceView.from_words("pieces", [str(number) for number in range(len(places))])


def _logits_of_words(predictor: SentenceModel[AnyAnswer]) -> Callable[[Examples], NDArray[np.float32]]:
    """Return a function from examples, given as words of each side, to the logits of the network alone, [N, Y]."""
    cut: Truncate = "window" if predictor.text.truncate == "window" else "head"
    as_words = replace(
        predictor.text,
        tokenizer="whitespace",
        markup="keep",
        normalize=False,
        truncate=cut,
        phrases=PhraseRule(),
        keeps_words=False,
    )
    reader = predictor.reading(as_words)

    def logits(examples: Examples) -> NDArray[np.float32]:
        texts = [Example(tuple(" ".join(words) for words in example)) for example in examples]
        dataset, _ = reader.encode_examples(texts)
        return predictor.run_network(dataset)[0]

    return logits


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
