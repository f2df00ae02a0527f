"""The loss of a tagger: tags around a predicate, and which words are predicates."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from heedful.objectives.sequence import sequence_cross_entropy


def role_loss(logits: Tensor, predicate_logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Add the label-smoothed cross-entropy of the tags to the binary one of the predicates.

    Each is divided by the mean number of counted words an example, so that the mean over a batch's examples is the mean
    over its counted words, as published: long sentences weigh more.

    Args:
        logits: scores of the tags, [B, L, Y].
        predicate_logits: score of each word to be a predicate, [B, L].
        targets: [B, L, 2] int64: the tag, and whether the word is a predicate; -1 where that is not counted.
        smoothing: of the tags, in [0, 1).

    Returns:
        Loss of each example, [B].
    """
    tags, predicates = targets.unbind(dim=-1)
    of_tags = sequence_cross_entropy(logits, tags, smoothing)
    counted = predicates >= 0
    of_words = functional.binary_cross_entropy_with_logits(
        predicate_logits, predicates.clamp(min=0).to(predicate_logits.dtype), reduction="none"
    )
    of_predicates = of_words.masked_fill(~counted, 0).sum(dim=1)
    return of_tags / _words_an_example(tags >= 0) + of_predicates / _words_an_example(counted)


def _words_an_example(counted: Tensor) -> Tensor:
    return counted.sum().clamp(min=1) / len(counted)
