"""What the models share that give every word of a text a tag: tagging in batches, spans as a person reads them.

For one tag, the contribution of each word of the text to it is explained.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Example
from heedful.explain import SYSTEMS, Explanation, SentenceView, System, explanation_from
from heedful.explain.assembling import explained_by
from heedful.explain.attribution import Attribution
from heedful.explain.legends import shared_place
from heedful.explain.methods import MethodChoice
from heedful.explain.methods.game import ChainedTags, game_of_word
from heedful.explain.tag_explanations import MANY, NOTE, place_of, tags_of, values_of_tag
from heedful.models.config import NO_NETWORK
from heedful.runtime.tag_paths import TagPaths
from heedful.structures import Batch, MapPlace, Maps, NetworkOutput, SideTrace
from heedful.tasks.saved_model import A_co, finite
from heedful.tasks.words.text_model import TextModel
from heedful.text.tokenize import Placed
from heedful.text.vocabulary import mask_of

if TYPE_CHECKING:
    from heedful.explain.methods.gradients import OnVectors
    from heedful.model.answers import TagsAnswer
    from heedful.tasks.words.tags_model import TagsModel


@dataclass(frozen=True)
class TaggedWords:
    """The tags of the words of examples, end to end.

    Attributes:
        numbers: of the tag of each word, [T] int64.
        probabilities: of that tag, each word by itself, [T] float32.
    """

    numbers: NDArray[np.int64]
    probabilities: NDArray[np.float32]


class TaggingModel(TextModel[A_co]):
    """A model that gives every word a tag; see `TextModel` for the arguments. Its labels are the tags."""

    @abstractmethod
    def padded(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> Batch:
        """Pad chosen examples to a batch on the model's device."""

    @abstractmethod
    def decode(self, scores: Tensor, valid: Tensor) -> Tensor:
        """Choose the tags, [B, L] int64, of log-probabilities [B, L, Y] where ``valid`` [B, L] is True."""

    @torch.inference_mode()
    def tag(self, dataset: EncodedDataset) -> TaggedWords:
        """Give every word its tag.

        Args:
            dataset: encoded examples.

        Returns:
            The most probable sequences of tags that fit together, in the rows of the data set.

        Raises:
            ArtifactError: if the network gives a number that is not finite.
        """
        self.network.eval()
        rows = dataset.sides[0]
        numbers = np.zeros(len(rows.values), np.int64)
        probabilities = np.zeros(len(rows.values), np.float32)
        for indices in self.batches(dataset):
            batch = self.padded(dataset, indices)
            valid = batch.sides[0].valid
            scores = torch.log_softmax(self.network(batch).logits.float(), dim=-1)
            tags = self.decode(scores, valid)
            places = rows.places(indices)
            numbers[places] = tags[valid].cpu().numpy()
            chosen = scores.gather(-1, tags[..., None])[..., 0].exp()
            probabilities[places] = chosen[valid].cpu().numpy()
        return TaggedWords(numbers, finite("prediction", probabilities))

    def words_of(self, example: Example, length: int) -> Placed:
        """Return what was read of a text.

        Args:
            example: the text.
            length: how many words were read.

        Returns:
            The words, their places in the text, and the text.
        """
        ready = example.words[0] if example.words else None
        return self.text.cutter.placed(example.texts[0] if ready is None else ready).head(length)

    def explained(
        self,
        batch: Batch,
        example: Example,
        tags: Sequence[str],
        said: str,
        *,
        truncated: bool,
        probabilities: Sequence[float] | None = None,
    ) -> Explanation:
        """Show what the model looked at when it gave the words of one text their tags.

        Args:
            batch: the text alone.
            example: likewise.
            tags: the answer.
            said: the answer in a line, which becomes the one label of the record.
            truncated: whether the text was cut.
            probabilities: of the tags; None for those of the network, each word by itself.

        Returns:
            The record that the pictures are drawn from.
        """
        with torch.inference_mode():
            output: NetworkOutput = self.network(batch, need_weights=True)
            scores = torch.log_softmax(output.logits[0].float(), dim=-1).exp().cpu()
        numbers = torch.tensor([self.labels.index(tag) for tag in tags], dtype=torch.int64)
        words, spans, text, written = self.words_of(example, len(tags))
        unknown = tuple(not self.knows(word) for word in words)
        own = (
            scores[torch.arange(len(numbers)), numbers]
            if probabilities is None
            else torch.tensor(probabilities, dtype=torch.float64)
        )
        return explanation_from(
            _with_means(output),
            0,
            [SentenceView("text", text, written, spans, unknown, truncated)],
            labels=(said,),
            probabilities=(float(own.mean()) if len(own) else 0.0,),
            tree_distances=[side.tree_distance for side in batch.sides],
            chosen=[policy.chosen for policy in output.policies] or None,
            system=SYSTEMS.get(self.model.encoder, System(self.model.encoder)),
            notes={"probability": NOTE},
        )


def _with_means(output: NetworkOutput) -> NetworkOutput:
    """Return the output with the maps of many heads averaged: eight heads in ten layers are too many pictures."""
    (trace,) = output.traces
    if len(trace.context.maps) <= MANY:
        return output
    context = replace(trace.context, maps=_means(trace.context.maps))
    return replace(output, traces=(SideTrace(context, trace.pooled),))


def _means(maps: Maps) -> dict[MapPlace, Tensor]:
    grouped: dict[MapPlace, list[Tensor]] = {}
    for place, weights in maps.items():
        plain = weights.mean(dim=-1) if weights.dim() > 3 else weights
        grouped.setdefault(shared_place(place), []).append(plain)
    return {place: torch.stack(own).mean(dim=0) for place, own in grouped.items()}


def explain_tag(
    model: TagsModel,
    explanation: Explanation,
    words: Sequence[str],
    answer: TagsAnswer,
    batch: Batch,
    choice: MethodChoice,
    word: int | str | None,
) -> Explanation:
    """Add what each word contributes to the tag of one word; the word itself is never deleted.

    Args:
        model: the model.
        explanation: of attention.
        words: of the text, as the vocabulary reads them.
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
    number = model.labels.index(answer.tags[place])

    def network(texts: list[tuple[str, ...]], places: list[int]) -> NDArray[np.float64]:
        return _logits(model, texts, np.array(places))

    alone = model.model.encoder == NO_NETWORK
    (row,) = network([tuple(words)], [place])
    part, chained, whole = model.about.tagging, None, row
    if part is not None:
        paths = TagPaths(model.labels, part.chain)
        chained = ChainedTags(part, lambda text: model.logits(_encoded(model, [text])), paths)
        whole = chained.marginal_logits(tuple(words))[place]
    values = values_of_tag(model.labels, whole, place, answer.words, number, choice.why)
    mask = mask_of(model.vocabulary)
    game = game_of_word(words, place, whole, None if alone else network, mask, chained)

    def problem() -> OnVectors:
        from heedful.explain.methods.gradients import log_odds, on_vectors

        beside = torch.from_numpy(whole - row).to(model.device)

        def odds(rows: Tensor) -> Tensor:
            return log_odds(rows[:, place].double() + beside, number)

        return on_vectors(model.network, batch, odds, values.value.of)

    def by_gradients(name: str) -> Callable[[], Attribution]:
        def way() -> Attribution:
            from heedful.explain.methods import gradients

            found: Attribution = getattr(gradients, name)(problem())
            return found

        return way

    further = {} if alone else {name: by_gradients(name) for name in ("gradient", "integrated")}
    explanation = replace(explanation, tags=tags_of(answer))
    return explained_by(explanation, choice, game, values, further, deletions=True)


def _encoded(model: TagsModel, texts: Sequence[tuple[str, ...]]) -> EncodedDataset:
    """Return texts whose words are given as they are."""
    reader = model.reading(
        replace(model.text, tokenizer="whitespace", markup="keep", normalize=False, truncate="head")
    )
    return reader.encode_examples([Example((" ".join(words),)) for words in texts])[0]


def _logits(
    model: TagsModel, texts: Sequence[tuple[str, ...]], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the logits at one place of each text, [N, Y]."""
    dataset = _encoded(model, texts)
    found = np.zeros((len(texts), len(model.labels)))
    with torch.inference_mode():
        for rows in model.batches(dataset):
            logits = model.network(model.padded(dataset, rows)).logits
            own = logits[torch.arange(len(rows)), torch.from_numpy(places[rows]).to(logits.device)]
            found[rows] = own.double().cpu().numpy()
    return found
