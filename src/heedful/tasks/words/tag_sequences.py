"""Tags of the sentences of a data set under a chain: the best sequences, and how likely the gold is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention.crf import Chain, crf_expected, crf_path_score, edge_counts
from heedful.model.decisions import TagsDecision
from heedful.model.decisions.tag_paths import TagChain, TagPaths

Floats = NDArray[np.floating]
_CELLS = 1 << 16
"""Words times tags that are computed together."""


def torch_chain(chain: TagChain) -> Chain:
    """Return a chain as tensors in double precision."""
    return Chain(
        *(torch.from_numpy(np.asarray(x, np.float64)) for x in (chain.follows, chain.first, chain.last))
    )


def allowed_chain(tags: Sequence[str]) -> Chain:
    """Return what says which tags fit together, 0 or minus infinity; of plain tags all fit."""
    return torch_chain(TagChain.allowed(tags))


def chain_of(tags: Sequence[str], chain: TagChain) -> Chain:
    """Return what tags side by side score, minus infinity where they do not fit together."""
    return torch_chain(TagPaths(tags, chain).chain)


def chosen_tags(
    decision: TagsDecision, logits: NDArray[np.float32], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the tags of sentences, [T].

    Args:
        decision: chooses them.
        logits: of all words, those of each sentence behind those of the one before, [T, Y].
        offsets: where each sentence begins, and the end, [N + 1].

    Returns:
        The numbers of the tags.
    """
    texts = [logits[start:end] for start, end in pairwise(offsets)]
    return np.concatenate([np.zeros(0, np.int64), *decision.chosen(texts)])


@dataclass(frozen=True, eq=False)
class TagSequences:
    """What each tag of each word of a data set scores, as padded blocks of sentences of similar length.

    Attributes:
        scores: [T, Y], the words of each sentence behind those of the one before.
        offsets: where each sentence begins, and the end, [N + 1].
    """

    scores: Floats
    offsets: NDArray[np.int64]

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
        """Yield the places of the words of some sentences, end to end, and which of [B, L] are real."""
        lengths = np.diff(self.offsets)
        order = np.argsort(lengths, kind="stable")
        start, tags = 0, max(self.scores.shape[1], 1)
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * int(lengths[order[end]]) * tags <= _CELLS:
                end += 1
            rows = order[start:end]
            start = end
            valid = np.arange(max(int(lengths[rows].max()), 1)) < lengths[rows][:, None]
            places = np.repeat(self.offsets[:-1][rows], lengths[rows]) + np.nonzero(valid)[1]
            yield places, torch.from_numpy(valid)

    def padded(self, places: NDArray[np.int64], valid: Tensor) -> Tensor:
        """Return the scores of a block, [B, L, Y] in double precision; 0 at padding."""
        found = torch.zeros(*valid.shape, self.scores.shape[1], dtype=torch.float64, device=valid.device)
        found[valid] = torch.from_numpy(self.scores[places]).double()
        return found


class ScaledParts:
    """Scores of words as a sum of parts, each times a weight, and a chain times a weight.

    Args:
        parts: scores of each part, [T, Y].
        chain: what tags side by side score, without what may not be.
        allowed: 0, or minus infinity where tags do not fit together.
        offsets: where each sentence begins, and the end.
        gold: the number of each word's tag, [T]; below 0 for one that the model does not know, whose sentence is left
            out.
        weights: how much each sentence counts, [N]; None where all count alike.

    Attributes:
        count: the words that count, each as often as its sentence.
    """

    def __init__(
        self,
        parts: Sequence[Floats],
        chain: Chain,
        allowed: Chain,
        offsets: NDArray[np.int64],
        gold: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.chain, self.allowed = chain, allowed
        known = np.array([bool((gold[a:b] >= 0).all()) for a, b in pairwise(offsets)], bool)
        inside = np.repeat(known, np.diff(offsets))
        lengths = np.diff(offsets)[known]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.gold = gold[inside]
        each = None if weights is None else np.repeat(weights[known], lengths)
        self.count = float(len(self.gold) if each is None else each.sum())
        self._blocks: list[tuple[Tensor, list[Tensor], Tensor, Tensor | None]] = []
        for places, valid in TagSequences(np.asarray(parts[0])[inside], self.offsets).blocks():
            own = [
                TagSequences(np.asarray(part)[inside], self.offsets).padded(places, valid) for part in parts
            ]
            tags = torch.zeros_like(valid, dtype=torch.int64)
            tags[valid] = torch.from_numpy(self.gold[places])
            shares = (
                None if each is None else torch.zeros(len(valid), dtype=torch.float64, device=valid.device)
            )
            if shares is not None and each is not None:  # that of the first word is that of the sentence
                shares[valid.any(dim=1)] = torch.from_numpy(each[places])[_starts(valid)]
            self._blocks.append((valid, own, tags, shares))

    def loss(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the mean negative log-likelihood of a word's share of its sentence, and its slope.

        Args:
            weights: of each part, and of the chain.

        Returns:
            The loss and its gradient.
        """
        own, total = torch.from_numpy(np.asarray(weights, np.float64)), 0.0
        slope = torch.zeros_like(own)
        chain = Chain(
            *(torch.where(may < 0, may, own[-1] * x) for x, may in zip(self.chain, self.allowed, strict=True))
        )
        with torch.no_grad():
            for valid, parts, tags, shares in self._blocks:
                scores = torch.zeros_like(parts[0])
                for weight, part in zip(own, parts, strict=False):
                    scores += weight * part
                expected = crf_expected(scores, valid, chain, shares)
                gold = torch.nn.functional.one_hot(tags, scores.shape[2]).double() * valid[..., None]
                losses = expected.log_partition - crf_path_score(scores, valid, chain, tags)
                counted = torch.ones_like(losses) if shares is None else shares
                gold = gold if shares is None else gold * shares[:, None, None]
                total += float((losses * counted).sum())
                differs = expected.marginals - gold
                for place, part in enumerate(parts):
                    slope[place] += (differs * part).sum()
                pairs = valid[:, 1:]
                follows = expected.follows.index_put(
                    (tags[:, 1:][pairs], tags[:, :-1][pairs]),
                    -counted[:, None].expand(pairs.shape)[pairs],
                    accumulate=True,
                )
                first, last = edge_counts(differs, valid)
                sides = zip((follows, first, last), self.chain, strict=True)
                slope[-1] += sum(((count * x).sum() for count, x in sides), torch.zeros_like(own[0]))
        count = self.count or 1.0
        return total / count, (slope / count).numpy()


def _starts(valid: Tensor) -> Tensor:
    """Return the places of the first words among all words of a block, [B] without sentences of no words."""
    lengths = valid.sum(dim=1)
    return (lengths.cumsum(0) - lengths)[lengths > 0]
