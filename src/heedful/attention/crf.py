"""Sequences of tags as a linear chain (Lafferty et al., ICML 2001): how likely each is, and each word's odds.

The score of a sequence y of n tags is ``first[y_1] + sum_t scores_t[y_t] + sum_t follows[y_t, y_{t-1}] + last[y_n]``,
and its probability is the exponential of that over the sum for all sequences. A score of minus infinity forbids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.attention.derivatives import differentiable_gradients, plain_is_wanted
from heedful.attention.implementation import TorchImpl, check_valid, choose
from heedful.errors import UsageError

_MOST = 700.0
"""The largest power that is taken, so that what is forbidden stays 0 rather than 0 times infinity."""


class Chain(NamedTuple):
    """What tags side by side score.

    Attributes:
        follows: a tag behind another one, [tag, before], [Y, Y].
        first: a tag at the beginning of a sentence, [Y].
        last: a tag at its end, [Y].
    """

    follows: Tensor
    first: Tensor
    last: Tensor


class Expected(NamedTuple):
    """What a chain expects of a batch of sentences.

    Attributes:
        log_partition: logarithm of the sum over all sequences, [B]; 0 for a sentence without words.
        marginals: probability of each tag of each word, [B, L, Y]; 0 at padding.
        follows: how often a tag is expected behind another one, the whole batch together, [Y, Y].
    """

    log_partition: Tensor
    marginals: Tensor
    follows: Tensor


def crf_log_partition(scores: Tensor, valid: Tensor, chain: Chain, *, impl: TorchImpl = "auto") -> Tensor:
    """Compute the logarithm of the sum of the exponentials of the scores of all sequences.

    Gradients of first order flow to the scores and to the chain; they are the `Expected` counts.

    Args:
        scores: score of each tag of each token, [B, L, Y], floating point, finite.
        valid: True at a real token, [B, L] bool; the real tokens come first.
        chain: what tags side by side score; of the same dtype.
        impl: which implementation; see `heedful.attention.Impl`.

    Returns:
        [B]; 0 for a sentence without words.

    Raises:
        UsageError: if shapes do not fit, or impl is unknown.
    """
    _check(scores, valid, chain)
    choice = choose(impl, obstacle="chains of tags are computed by plain torch")
    if choice.impl == "reference":
        return crf_reference(scores, valid, chain)
    found: Tensor = _LogPartition.apply(scores, valid, *chain)
    return found


def crf_reference(scores: Tensor, valid: Tensor, chain: Chain) -> Tensor:
    """Compute `crf_log_partition` sentence by sentence: the specification of the fast form."""
    found = []
    for row, length in enumerate(valid.sum(dim=1).tolist()):
        if not length:
            found.append(scores.new_zeros(()))
            continue
        reached = chain.first + scores[row, 0]
        for place in range(1, length):
            reached = torch.logsumexp(reached + chain.follows, dim=1) + scores[row, place]
        found.append(torch.logsumexp(reached + chain.last, dim=0))
    return torch.stack(found) if found else scores.new_zeros(0)


def crf_path_score(scores: Tensor, valid: Tensor, chain: Chain, tags: Tensor) -> Tensor:
    """Return the score of one sequence of tags for each sentence.

    Args:
        scores: see `crf_log_partition`.
        valid: likewise.
        chain: likewise.
        tags: [B, L] int64; padding may hold any tag.

    Returns:
        [B]; 0 for a sentence without words.
    """
    tags = tags.masked_fill(~valid, 0)
    own = scores.gather(-1, tags[..., None])[..., 0].masked_fill(~valid, 0).sum(dim=1)
    steps = chain.follows[tags[:, 1:], tags[:, :-1]].masked_fill(~valid[:, 1:], 0).sum(dim=1)
    lengths = valid.sum(dim=1)
    ends = tags.gather(1, (lengths - 1).clamp(min=0)[:, None])[:, 0]
    edges = (chain.first[tags[:, 0]] + chain.last[ends]).masked_fill(lengths == 0, 0)
    return own + steps + edges


def crf_expected(scores: Tensor, valid: Tensor, chain: Chain, shares: Tensor | None = None) -> Expected:
    """Compute what a chain expects, by the forward-backward algorithm; without gradients.

    Sums of exponentials are products of matrices: each step subtracts the largest logarithm of a sentence first. All is
    computed in double precision.

    Args:
        scores: see `crf_log_partition`.
        valid: likewise.
        chain: likewise.
        shares: what the counts of each sentence are multiplied by, [B]; None for 1.

    Returns:
        The logarithm of the sum, and the expected counts.
    """
    with torch.no_grad():
        length, kind = scores.shape[1], scores.dtype
        own, (follows, first, last) = scores.double(), (each.double() for each in chain)
        top = follows.amax()
        table = (follows - top).exp()
        forward = [first + own[:, 0]]
        for place in range(1, length):
            reached = _step(forward[-1], table.T) + top + own[:, place]
            forward.append(torch.where(valid[:, place, None], reached, forward[-1]))
        empty = ~valid.any(dim=1)
        total = torch.logsumexp(forward[-1] + last, dim=1).masked_fill(empty, 0)
        backward = [last.expand_as(forward[-1])]
        for place in range(length - 1, 0, -1):
            reached = _step(backward[-1] + own[:, place], table) + top
            backward.append(torch.where(valid[:, place, None], reached, backward[-1]))
        before, behind = torch.stack(forward, dim=1), torch.stack(backward[::-1], dim=1)
        marginals = _power(before + behind - total[:, None, None]).masked_fill(~valid[..., None], 0)
        most = before[:, :-1].amax(dim=2, keepdim=True)
        left = _power(before[:, :-1] - most)
        right = _power(own[:, 1:] + behind[:, 1:] + most + top - total[:, None, None])
        right = right.masked_fill(~valid[:, 1:, None], 0)
        if shares is not None:
            each = shares.double()[:, None, None]
            marginals, right = each * marginals, each * right
        counts = table * (right.flatten(0, 1).T @ left.flatten(0, 1))
        return Expected(total.to(kind), marginals.to(kind), counts.to(kind))


def edge_counts(marginals: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Return how often each tag is expected at the beginning and at the end of a sentence, [Y] each.

    Args:
        marginals: from `crf_expected`, 0 at padding.
        valid: True at a real token.

    Returns:
        The counts of the whole batch together.
    """
    ends = (valid.sum(dim=1) - 1).clamp(min=0)
    behind = marginals[torch.arange(len(marginals), device=marginals.device), ends]
    return marginals[:, 0].sum(dim=0), behind.sum(dim=0)


class _LogPartition(torch.autograd.Function):
    """`crf_log_partition` with the expected counts as its gradient."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, valid: Tensor, follows: Tensor, first: Tensor, last: Tensor
    ) -> Tensor:
        """Compute the logarithm of the sum; what the gradient needs is computed again."""
        ctx.save_for_backward(scores, valid, follows, first, last)
        return crf_expected(scores, valid, Chain(follows, first, last)).log_partition

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        """Return the expected counts, each sentence times what comes from above."""
        scores, valid, follows, first, last = ctx.saved_tensors
        (above,) = upstream
        if plain_is_wanted(above):
            found = differentiable_gradients(
                lambda x, *parts: crf_reference(x, valid, Chain(*parts)),
                (scores, follows, first, last),
                upstream,
            )
            return found[0], None, *found[1:]
        expected = crf_expected(scores, valid, Chain(follows, first, last), above)
        begin, end = edge_counts(expected.marginals, valid)
        return expected.marginals, None, expected.follows, begin, end


def _step(logs: Tensor, table: Tensor) -> Tensor:
    """Return the logarithm of ``exp(logs) table``, [B, Y]."""
    most = logs.amax(dim=1, keepdim=True)
    return (_power(logs - most) @ table).log() + most


def _power(logs: Tensor) -> Tensor:
    return logs.clamp(max=_MOST).exp()


def _check(scores: Tensor, valid: Tensor, chain: Chain) -> None:
    if scores.dim() != 3 or not scores.is_floating_point() or not scores.shape[1]:
        raise UsageError(
            f"scores must be [B, L, Y], floating point, L >= 1; got {scores.dtype} {list(scores.shape)}"
        )
    check_valid(valid, scores.shape[:2])
    tags = scores.shape[2]
    if tuple(chain.follows.shape) != (tags, tags) or any(tuple(x.shape) != (tags,) for x in chain[1:]):
        shapes = ", ".join(str(list(each.shape)) for each in chain)
        raise UsageError(f"chain must be [Y, Y], [Y] and [Y] with Y = {tags}; got {shapes}")
