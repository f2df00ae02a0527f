"""The best sequence of tags that is valid BIO (Viterbi, 1967), for a whole batch at once."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.attention.choice import TorchImpl, check_valid, choose
from heedful.errors import UsageError


def bio_decode(scores: Tensor, valid: Tensor, begins: Tensor, *, impl: TorchImpl = "auto") -> Tensor:
    """Find ``argmax_y sum_t score_t[y_t]`` over the sequences in which every I-X follows B-X or I-X.

    O and B-X may follow anything and begin a sentence, so a step needs the best state of all and, for an I-X, the
    better of its own two: time and memory are B L Y rather than B L Y².

    Args:
        scores: score of each tag of each token, [B, L, Y], floating point; log-probabilities or logits, which differ
            by a constant a token.
        valid: True at a real token, [B, L] bool; the real tokens come first.
        begins: for each tag the number of the tag that it may follow beside itself, B-X for I-X; -1 for a tag that may
            follow anything, [Y] int64.
        impl: which implementation; see `heedful.attention.Impl`.

    Returns:
        The tags, [B, L] int64; 0 at padding. Among equals the smallest number wins.

    Raises:
        UsageError: if shapes do not fit, no tag can begin a sentence, or impl is unknown.
    """
    _check(scores, valid, begins)
    choice = choose(impl, obstacle="tags are decoded by plain torch")
    return (bio_reference if choice.impl == "reference" else _all_at_once)(scores, valid, begins)


def bio_reference(scores: Tensor, valid: Tensor, begins: Tensor) -> Tensor:
    """Compute `bio_decode` sentence by sentence with a table of all transitions: the specification of the fast form."""
    own = torch.arange(scores.shape[2], device=scores.device)
    free = begins < 0
    follows = free[:, None] | (own[None, :] == own[:, None]) | (own[None, :] == begins[:, None])
    return tag_decode(scores, valid, follows, free, torch.ones_like(free))


def tag_decode(scores: Tensor, valid: Tensor, follows: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Find the best sequence of tags under any table of which tag may follow which, sentence by sentence.

    Args:
        scores: score of each tag of each token, [B, L, Y].
        valid: True at a real token, [B, L] bool; the real tokens come first.
        follows: whether a tag may follow another, [tag, before] bool, [Y, Y].
        first: whether a tag may begin a sentence, [Y] bool.
        last: whether it may end one, [Y] bool.

    Returns:
        The tags, [B, L] int64; 0 at padding.
    """
    tags = torch.zeros(valid.shape, dtype=torch.int64, device=scores.device)
    for row, length in enumerate(valid.sum(dim=1).tolist()):
        best, came = scores[row, 0].masked_fill(~first, -torch.inf), list[Tensor]()
        for place in range(1, length):
            reached, before = best.expand_as(follows).masked_fill(~follows, -torch.inf).max(dim=1)
            best = reached + scores[row, place]
            came.append(before)
        path = [best.masked_fill(~last, -torch.inf).argmax()] if length else []
        for before in reversed(came):
            path.append(before[path[-1]])
        for place, tag in enumerate(reversed(path)):
            tags[row, place] = tag
    return tags


def _all_at_once(scores: Tensor, valid: Tensor, begins: Tensor) -> Tensor:
    _, length, tags = scores.shape
    free = begins < 0
    own = torch.arange(tags, device=scores.device)
    begin_of = torch.where(free, own, begins)
    best = scores[:, 0].masked_fill(~free, -torch.inf)
    steps = []  # for each step the tag that each tag comes from
    for place in range(1, length):
        top, top_tag = best.max(dim=1, keepdim=True)
        begun = best[:, begin_of]
        stays = best > begun
        came = torch.where(free, top_tag, torch.where(stays, own, begin_of))
        reached = torch.where(free, top, torch.maximum(best, begun)) + scores[:, place]
        real = valid[:, place, None]
        best = torch.where(real, reached, best)
        steps.append(torch.where(real, came, own))
    tag = best.argmax(dim=1)
    path = [tag]
    for came in reversed(steps):
        tag = came.gather(1, tag[:, None])[:, 0]
        path.append(tag)
    return torch.stack(path[::-1], dim=1).masked_fill(~valid, 0)


def _check(scores: Tensor, valid: Tensor, begins: Tensor) -> None:
    if scores.dim() != 3 or not scores.is_floating_point() or not scores.shape[1]:
        raise UsageError(
            f"scores must be [B, L, Y], floating point, L >= 1; got {scores.dtype} {list(scores.shape)}"
        )
    check_valid(valid, scores.shape[:2])
    if begins.shape != scores.shape[2:]:
        raise UsageError(f"begins must hold one number a tag, {scores.shape[2]}; got {list(begins.shape)}")
    if bool((begins >= 0).all()):
        raise UsageError("begins must be -1 for at least one tag, or no sentence could begin; got none")
