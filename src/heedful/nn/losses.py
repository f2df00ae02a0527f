"""Cross-entropy, one value an example."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def cross_entropy(
    logits: Tensor, targets: Tensor, smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Return ``-w_target sum_y q_y log softmax(logits)_y`` for each example.

    q puts ``1 - smoothing`` on the target and spreads the rest evenly over all Y (Szegedy et al., 2016); without
    smoothing and weights this is ``-log softmax(logits)[target]``.

    Args:
        logits: [B, Y].
        targets: class numbers, [B] int64.
        smoothing: in [0, 1).
        weights: w, how much the examples of each class count, [Y]; None for 1.

    Returns:
        Loss of each example, [B].
    """
    losses = functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    return losses if weights is None else losses * weights.to(losses)[targets]


def softened(probabilities: Tensor, temperature: float) -> Tensor:
    """Return ``p^(1/T) / sum p^(1/T)``, what the softmax at temperature T makes of the logits behind p.

    Args:
        probabilities: [B, Y], each row summing to 1; a row of zeros stays one.
        temperature: T, above 0.

    Returns:
        [B, Y].
    """
    powers = probabilities.pow(1 / temperature)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(powers.dtype).tiny)


def divergence(logits: Tensor, taught: Tensor, temperature: float) -> Tensor:
    """Return ``T² KL(q || s)`` for each example, with q the teacher's and s the student's answer at temperature T.

    The factor keeps the gradient's size whatever T is (Hinton et al., 2015).

    Args:
        logits: of the student, [B, Y].
        taught: probabilities of the teacher, [B, Y]; a row of zeros, which no teacher answered, gives 0.
        temperature: T, above 0.

    Returns:
        Loss of each example, [B].
    """
    teacher = softened(taught.to(logits.dtype), temperature)
    student = torch.log_softmax(logits / temperature, dim=-1)
    return temperature**2 * (torch.xlogy(teacher, teacher) - teacher * student).sum(dim=-1)


_SMALLEST = 1e-10


def grade_distribution(score: Tensor, grades: int = 5) -> Tensor:
    """Spread a score over the two grades next to it, so that the expectation gives it back.

    A score r with k = floor(r) puts ``k + 1 - r`` on grade k and ``r - k`` on grade k + 1: 3.7 gives (0, 0, .3, .7, 0).

    Args:
        score: [B], each within 1 to ``grades``.
        grades: K.

    Returns:
        [B, K]; rows sum to 1.
    """
    grade = torch.arange(1, grades + 1, device=score.device, dtype=score.dtype)
    return torch.clamp(1 - torch.abs(score[:, None] - grade), min=0)


def relatedness_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return KL(target distribution || softmax(logits)) for each example, both clipped to [1e-10, 1].

    Args:
        logits: [B, K].
        targets: scores, [B].

    Returns:
        Loss of each example, [B].
    """
    target = grade_distribution(targets.to(logits.dtype), logits.shape[1]).clamp(_SMALLEST, 1)
    predicted = torch.softmax(logits, dim=-1).clamp(_SMALLEST, 1)
    return (target * (target.log() - predicted.log())).sum(dim=-1)


def relatedness_square_error(logits: Tensor, targets: Tensor) -> Tensor:
    """Return ``(expected grade - score)²`` for each example, whose mean is the mean square error (MTSA, Appendix B).

    MTSA names this loss for regression and has no such task; here the number that is compared with the score is the
    one that is predicted, the expectation over the grades.

    Args:
        logits: [B, K].
        targets: scores, [B].

    Returns:
        Loss of each example, [B].
    """
    return (expected_grade(logits) - targets.to(logits.dtype)).square()


def expected_grade(logits: Tensor) -> Tensor:
    """Return the expectation ``sum_k k p_k``.

    Args:
        logits: [B, K].

    Returns:
        Scores, [B], within 1 to K.
    """
    grade = torch.arange(1, logits.shape[1] + 1, device=logits.device, dtype=logits.dtype)
    return torch.softmax(logits, dim=-1) @ grade


NOT_COUNTED = -1
"""The target of a place that the loss leaves out."""


def sequence_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return ``-sum_t sum_y q_ty log softmax(logits_t)_y`` for each example, the sum over its own tokens.

    q puts ``1 - smoothing`` on the target and spreads the rest evenly over all Y (Szegedy et al., 2016). Being a sum,
    the loss of an example is minus its log-likelihood where nothing is smoothed, and every token of a batch counts the
    same whatever the length of its sentence.

    Args:
        logits: [B, T, Y].
        targets: class of each place, [B, T] int64; -1 where there is none.
        smoothing: in [0, 1).

    Returns:
        Loss of each example, [B].
    """
    losses = functional.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=NOT_COUNTED,
        reduction="none",
        label_smoothing=smoothing,
    )
    return losses.view(targets.shape).sum(dim=1)


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
    counted = predicates >= 0
    of_words = functional.binary_cross_entropy_with_logits(
        predicate_logits, predicates.clamp(min=0).to(predicate_logits.dtype), reduction="none"
    )
    of_predicates = of_words.masked_fill(~counted, 0).sum(dim=1)
    return tag_loss(logits, tags, smoothing) + of_predicates / _words_an_example(counted)


def tag_loss(logits: Tensor, tags: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of the tags of each example, divided by the mean number of counted words an example.

    Args:
        logits: scores of the tags, [B, L, Y].
        tags: [B, L] int64; -1 where a word is not counted.
        smoothing: see `sequence_cross_entropy`.

    Returns:
        Loss of each example, [B], whose mean is that over the counted words of the batch.
    """
    return sequence_cross_entropy(logits, tags, smoothing) / _words_an_example(tags >= 0)


def taught_tag_loss(
    logits: Tensor, targets: Tensor, *, weight: float, temperature: float, smoothing: float = 0.0
) -> Tensor:
    """Return the loss of tags that are learned from gold and from a teacher, for each example; see `tag_loss`.

    Args:
        logits: scores of the tags, [B, L, Y].
        targets: [B, L, 1 + Y]: the tag, -1 where there is no gold, and the teacher's probabilities, zeros where there
            is no answer.
        weight: share of the cross-entropy with the gold.
        temperature: see `divergence`.
        smoothing: see `sequence_cross_entropy`.

    Returns:
        Loss of each example, [B], whose mean is that over the words of the batch.
    """
    tags, taught = targets[..., 0].long(), targets[..., 1:]
    gold = weight * sequence_cross_entropy(logits, tags, smoothing)
    other = (1 - weight) * divergence(logits, taught, temperature).sum(dim=1)
    return (gold + other) / _words_an_example((tags >= 0) | (taught.sum(dim=-1) > 0))


def _words_an_example(counted: Tensor) -> Tensor:
    return counted.sum().clamp(min=1).float() / len(counted)
