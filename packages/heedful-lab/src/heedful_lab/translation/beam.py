"""Beam search over the tokens of a translation, with the length penalty of GNMT (Wu et al., 2016)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from heedful.errors import DivergedError, UsageError
from heedful.settings import Settings, at_least, ranged, up_to


class Selectable(Protocol):
    """What a decoder keeps between two steps."""

    def select(self, rows: Tensor) -> Self:
        """Return chosen rows, [N] int64, in the order asked for."""
        ...


State = TypeVar("State", bound=Selectable)
Step = Callable[[Tensor, State], tuple[Tensor, State]]
"""Takes the last token of each row, [N] int64, and what is kept; returns log-probabilities of the next token, [N, V],
and what is kept now."""


@dataclass(frozen=True)
class SearchConfig(Settings):
    """Settings of the beam search.

    Attributes:
        beam: number K of hypotheses that are kept for each sentence; 1 is greedy search.
        length_penalty: exponent alpha of the length penalty; 0 ranks by probability alone, which favors short
            translations.
        extra_tokens: a translation has at most this many tokens more than its source.
    """

    beam: int = ranged(4, up_to(1, 1024))
    length_penalty: float = ranged(0.6, at_least(0))
    extra_tokens: int = ranged(50, up_to(1, 10_000))


@dataclass(frozen=True)
class Hypothesis:
    """One finished translation.

    Attributes:
        tokens: its tokens without begin and end.
        log_probability: of the tokens and the end.
        score: what hypotheses are ranked by, ``log_probability / penalty``.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float


def length_penalty(length: int, alpha: float) -> float:
    """Return ``((5 + length) / 6)^alpha`` (Wu et al., 2016, Eq. 14), the end counted in the length."""
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    step: Step[State],
    state: State,
    limits: Sequence[int],
    config: SearchConfig,
    *,
    begin: int,
    end: int,
    never: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """Search for the translations with the highest scores, all sentences and hypotheses in one batch.

    In each step the 2 K best continuations of a sentence's K hypotheses are found. Those among the first K that end
    are finished, and the K best of the others go on. A sentence is done when K hypotheses have finished, or when no
    open one can overtake the best finished one. With K as large as the number of possible beginnings this is an
    exhaustive search; with K = 1 it is greedy.

    Args:
        step: gives the probabilities of the next token.
        state: what step needs at the start, one row a sentence.
        limits: most tokens of each translation, the end included, [B]; at the limit it is ended.
        config: beam and length penalty.
        begin: the token that stands before a translation.
        end: the token that ends it.
        never: tokens that no translation holds.

    Returns:
        For each sentence its finished hypotheses, at least one and at most K, best first.

    Raises:
        UsageError: if a limit is below 1.
        DivergedError: if scores are not finite.
    """
    if min(limits, default=1) < 1:
        raise UsageError(f"limits must be 1 or more; got {min(limits)}")
    searches = [_Search(i, limit, config) for i, limit in enumerate(limits)]
    open_, beam = searches, config.beam
    state = state.select(torch.arange(len(searches)).repeat_interleave(beam))
    tokens = torch.full((len(searches) * beam, 1), begin, dtype=torch.int64)
    # All rows of a sentence begin alike: all but one are put out of the running.
    totals = torch.full((len(searches), beam), -math.inf)
    totals[:, 0] = 0.0
    while open_:
        scores, state = step(tokens[:, -1], state)
        scores = _allowed(scores, tokens.shape[1], open_, end, never)
        best, origin, following = _continuations(totals, scores, beam)
        history = tokens.view(len(open_), beam, -1)
        _finish(open_, best, origin, following, history, end)
        _refuse_undefined(open_, best, tokens.shape[1])
        totals, chosen = best.masked_fill(following == end, -math.inf).topk(beam, dim=1)
        origin, following = origin.gather(1, chosen), following.gather(1, chosen)
        going = [
            place for place, search in enumerate(open_) if not search.is_done(float(totals[place].max()))
        ]
        open_, totals = [open_[place] for place in going], totals[going]
        rows = (torch.tensor(going, dtype=torch.int64)[:, None] * beam + origin[going]).flatten()
        tokens = torch.cat([tokens[rows], following[going].flatten()[:, None]], dim=1)
        state = state.select(rows)
    return [search.ranked() for search in searches]


@dataclass
class _Search:
    """The finished hypotheses of one sentence."""

    place: int
    limit: int
    config: SearchConfig
    finished: list[Hypothesis] = field(default_factory=list)

    def add(self, tokens: Sequence[int], log_probability: float) -> None:
        penalty = length_penalty(len(tokens) + 1, self.config.length_penalty)
        self.finished.append(Hypothesis(tuple(tokens), log_probability, log_probability / penalty))

    def is_done(self, best_open: float) -> bool:
        """Return whether to stop; an open hypothesis can only lose probability, and gains most at the limit."""
        if len(self.finished) >= self.config.beam:
            return True
        reachable = best_open / length_penalty(self.limit, self.config.length_penalty)
        return any(hypothesis.score >= reachable for hypothesis in self.finished)

    def ranked(self) -> list[Hypothesis]:
        ordered = sorted(self.finished, key=lambda hypothesis: -hypothesis.score)
        return ordered[: self.config.beam]


def _allowed(
    scores: Tensor, length: int, searches: Sequence[_Search], end: int, never: Sequence[int]
) -> Tensor:
    """Rule out the tokens that no translation holds, and at a sentence's limit all but the end."""
    scores = scores.index_fill(1, torch.tensor(never, dtype=torch.int64, device=scores.device), -math.inf)
    full = [place for place, search in enumerate(searches) if search.limit == length]
    if full:
        by_sentence = scores.view(len(searches), -1, scores.shape[1])
        others = torch.arange(scores.shape[1], device=scores.device) != end
        for place in full:
            by_sentence[place, :, others] = -math.inf
    return scores


def _continuations(totals: Tensor, scores: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the 2 K best continuations of each sentence: log-probability, which hypothesis, which token; [S, 2 K]."""
    count = scores.shape[1]
    by_sentence = scores.float().view(len(totals), beam, count)
    joined = (totals.to(scores.device)[:, :, None] + by_sentence).flatten(1)
    best, index = (found.cpu() for found in joined.topk(min(2 * beam, joined.shape[1]), dim=1))
    return best, index // count, index % count


def _finish(
    searches: Sequence[_Search], best: Tensor, origin: Tensor, following: Tensor, history: Tensor, end: int
) -> None:
    """Put away the hypotheses that end among the first K of a sentence."""
    beam = history.shape[1]
    ends = (following[:, :beam] == end) & best[:, :beam].isfinite()
    for place, rank in ends.nonzero().tolist():
        tokens = history[place, int(origin[place, rank]), 1:].tolist()
        searches[place].add(tokens, float(best[place, rank]))


def _refuse_undefined(searches: Sequence[_Search], best: Tensor, length: int) -> None:
    """Stop where no order of the hypotheses is left: the search would go on beyond its limit for ever."""
    unended = any(search.limit == length and not search.finished for search in searches)
    if unended or bool(best.isnan().any()):
        raise DivergedError(
            f"beam search: expected finite log-probabilities of token {length}, but the scores are not finite; the "
            "weights of the network have diverged: train it with a lower train.optimizer.lr, or take an earlier model"
        )
