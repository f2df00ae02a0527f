"""The parts of an explanation that are the same wherever its numbers come from. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from heedful.errors import UsageError
from heedful.explain.attribution import Attribution, with_prefix
from heedful.explain.explanation import Array, Explanation, SentenceView
from heedful.explain.faithfulness import PairOfWords, deletion_of
from heedful.explain.legends import System, by_caption, caption, default_notes
from heedful.explain.methods.method_names import MethodChoice, attribute, check_method
from heedful.explain.methods.question import Question, question_of_words
from heedful.explain.wide import SignedPhrase, WideView, contributions
from heedful.runtime.answers import Shown
from heedful.runtime.kernels import Floats
from heedful.runtime.looking import Looked
from heedful.text.tokenize import tokenizer
from heedful.text.wide_part import WidePart

SIDE_NAMES = {1: ("text",), 2: ("premise", "hypothesis")}


@dataclass(frozen=True)
class Reader:
    """How texts were cut into the words that an explanation names.

    Attributes:
        tokenizer: its name.
        markup: what becomes of HTML tags and links.
        knows: whether the model knows a word.
        prefix: tokens that the network puts in front of every text.
    """

    tokenizer: str
    markup: str
    knows: Callable[[str], bool]
    prefix: tuple[str, ...] = ()

    def views(self, texts: Sequence[str], lengths: Sequence[int]) -> list[SentenceView]:
        """Return the words of the texts of one example, with nothing that was looked at.

        Args:
            texts: one, or both of a pair.
            lengths: how many words of each were read.

        Returns:
            A view of each text.
        """
        return [
            self._view(name, text, length)
            for name, text, length in zip(SIDE_NAMES[len(texts)], texts, lengths, strict=True)
        ]

    def _view(self, name: str, text: str, length: int) -> SentenceView:
        tokens = tokenizer(self.tokenizer, self.markup).tokens(text)  # type: ignore[arg-type]
        own, added = tokens.words[:length], self.prefix
        return SentenceView(
            name,
            text,
            (*added, *own),
            (*((0, 0) for _ in added), *tokens.spans[:length]),
            (*(False for _ in added), *(not self.knows(word) for word in own)),
            length < len(tokens.words),
        )


def with_looked(view: SentenceView, looked: Looked) -> SentenceView:
    """Add to a view what the runtime's network looked at."""
    return replace(
        view,
        maps=by_caption(looked.maps),
        gates=by_caption(looked.gates),
        fusion=by_caption(looked.fusion),
        places={caption(place): place for place in looked.maps},
        weights=looked.weights,
        chosen=looked.chosen,
    )


def assembled(
    views: Sequence[SentenceView],
    shown: Shown,
    system: System,
    pooling: str,
    *,
    alignments: Mapping[str, Array],
    averaged: Mapping[str, str],
    notes: Mapping[str, str] | None = None,
) -> Explanation:
    """Put an explanation together, with its legends.

    Args:
        views: the sides, with what was looked at.
        shown: the answer.
        system: how the network's paper speaks of it.
        pooling: what made the sentence vectors.
        alignments: attention between the sides, [n1, n2], by caption.
        averaged: caption of a map to what it is an average over.
        notes: further or other notes than `heedful.explain.legends` gives.

    Returns:
        The explanation.
    """
    own = default_notes(views, alignments, system, averaged=averaged, pooling=pooling)
    return Explanation(
        sides=tuple(views),
        labels=shown.labels,
        probabilities=shown.probabilities,
        answered=None if shown.answered is None else shown.labels[shown.answered],
        score=shown.score,
        score_range=shown.score_range,
        alignments=alignments,
        method=system.name,
        notes={**own, **(notes or {})},
    )


def asked_about(
    sides: Sequence[Sequence[str]],
    shown: Shown,
    predict: Callable[[list[PairOfWords]], ArrayLike],
    *,
    added: int = 0,
    mask: str | None = None,
) -> Question:
    """Ask a model about its answer for any choice of the words of an example.

    Args:
        sides: the words of each text.
        shown: the answer: of labels the one that is answered is asked about, of a number the number.
        predict: takes examples, each a tuple with one list of words a side; returns probabilities [N, Y], or numbers
            [N, 1].
        added: words that the network puts in front of each text itself.
        mask: what stands in the place of a word that is taken away; None deletes it.

    Returns:
        The question.
    """
    own = [tuple(words[added:]) for words in sides]
    if shown.score is not None:
        return question_of_words(own, predict, 0, "the predicted number", mask)
    best = shown.best
    return question_of_words(own, predict, best, f"the probability of “{shown.labels[best]}”", mask)


def explained_by(
    explanation: Explanation,
    choice: MethodChoice,
    question: Question,
    further: Mapping[str, Callable[[], Attribution]] | None = None,
    *,
    deletions: bool,
    added: int = 0,
) -> Explanation:
    """Add what each word contributes by a method, and the deletion test of it.

    Args:
        explanation: of attention.
        choice: the method; attention leaves the weights of the words as they are.
        question: what is asked.
        further: methods that need the network.
        deletions: whether to delete the heaviest words and see what happens.
        added: words that the network puts in front of each text itself.

    Returns:
        The explanation.

    Raises:
        UsageError: if there is no such method, or this model cannot be explained by it.
    """
    method = choice.method or "attention"
    check_method(method)
    weights: list[Array] = [view.weights for view in explanation.sides if view.weights is not None]
    if method == "attention":
        if len(weights) < len(explanation.sides):
            if choice.method:
                raise UsageError(
                    "this model has no attention weights of words; choose the method occlusion or shapley"
                )
            return explanation
        weights = [column[added:] for column in weights]
    else:
        attribution = attribute(method, question, choice.sampling, further)
        weights = list(attribution.values)
        explanation = replace(explanation, attribution=with_prefix(attribution, added))
    return replace(explanation, faithfulness=deletion_of(question, weights)) if deletions else explanation


def said_beside(
    wide: WidePart, sides: Sequence[Sequence[str]], row: Floats, best: int, *, added: int
) -> WideView:
    """Say what each word adds to an answer, signed for the predicted class, against the average of the others.

    Args:
        wide: the wide part.
        sides: the words of each text of one request.
        row: what the network itself gave for it, [Y].
        best: the number of the predicted class.
        added: words that the network puts in front of each text, which the wide part does not read.

    Returns:
        Signed words and phrases.
    """
    made = contributions(wide, [words[added:] for words in sides])
    signs = np.full(len(row), -1 / max(1, len(row) - 1))
    signs[best] = 1.0
    return WideView(
        tuple(np.concatenate([np.zeros(added), words @ signs]) for words in made.words),
        tuple(SignedPhrase(p.side, p.text, float(p.values @ signs)) for p in made.phrases),
        float(made.bias @ signs),
        float(row.astype(np.float64) @ signs),
    )
