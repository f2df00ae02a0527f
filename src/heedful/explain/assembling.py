"""The parts of an explanation that are the same wherever its numbers come from. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.explain.captions import by_caption, caption
from heedful.explain.explanation import Array, Explanation, SentenceView
from heedful.explain.faithfulness import Predict, deletion_score
from heedful.explain.legends import System, default_notes
from heedful.explain.wide import SignedPhrase, WideView
from heedful.runtime.answers import Shown
from heedful.runtime.kernels import Floats
from heedful.runtime.looking import Looked
from heedful.text.tokenize import tokenizer
from heedful.wide import WidePart
from heedful.wide.saying import contributions

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
        score=shown.score,
        score_range=shown.score_range,
        alignments=alignments,
        method=system.name,
        notes={**own, **(notes or {})},
    )


def with_deletions(explanation: Explanation, predict: Predict) -> Explanation:
    """Add what deleting the heaviest words does; nothing where the words have no weights.

    Args:
        explanation: of a classified example.
        predict: see `heedful.explain.deletion_score`.

    Returns:
        The explanation.
    """
    weights = [side.weights for side in explanation.sides if side.weights is not None]
    if len(weights) < len(explanation.sides):
        return explanation
    words = [side.words for side in explanation.sides]
    return replace(explanation, faithfulness=deletion_score(predict, words, weights))


def said_beside(wide: WidePart, sides: Sequence[Sequence[str]], row: Floats, *, added: int) -> WideView:
    """Say what each word adds to an answer, signed for the predicted class, against the average of the others.

    Args:
        wide: the wide part.
        sides: the words of each text of one request.
        row: what the network itself gave for it, [Y].
        added: words that the network puts in front of each text, which the wide part does not read.

    Returns:
        Signed words and phrases.
    """
    made = contributions(wide, [words[added:] for words in sides])
    total = row + made.total
    best = int(total.argmax())
    signs = np.full(len(total), -1 / max(1, len(total) - 1))
    signs[best] = 1.0
    return WideView(
        tuple(np.concatenate([np.zeros(added), words @ signs]) for words in made.words),
        tuple(SignedPhrase(p.side, p.text, float(p.values @ signs)) for p in made.phrases),
        float(made.bias @ signs),
        float(row.astype(np.float64) @ signs),
    )
