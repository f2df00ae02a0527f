"""Beam search against enumeration of every translation of a tiny vocabulary, and against greedy search."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from heedful.errors import DivergedError, UsageError
from heedful_lab.translation.beam import Hypothesis, SearchConfig, beam_search, length_penalty

PAD, BEGIN, END = 0, 1, 2
WORDS = 5


@dataclass(frozen=True)
class Prefixes:
    """What a made-up model keeps: which sentence a row belongs to, and all tokens so far."""

    sentence: Tensor
    tokens: Tensor

    def select(self, rows: Tensor) -> Prefixes:
        return Prefixes(self.sentence[rows], self.tokens[rows])


def log_probabilities(sentence: int, prefix: tuple[int, ...]) -> Tensor:
    """A distribution of its own for every sentence and beginning."""
    seed = 1 + sentence
    for token in prefix:
        seed = seed * 7 + token + 1
    scores = torch.randn(WORDS, generator=torch.Generator().manual_seed(seed)) * 1.5
    return torch.log_softmax(scores.double(), dim=0)


def step(tokens: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
    seen = torch.cat([state.tokens, tokens[:, None]], dim=1)
    rows = zip(state.sentence.tolist(), seen.tolist(), strict=True)
    return torch.stack([log_probabilities(s, tuple(row)) for s, row in rows]), Prefixes(state.sentence, seen)


def search(limits: list[int], *, first: int = 0, **settings: float) -> list[list[Hypothesis]]:
    sentences = torch.arange(first, first + len(limits))
    state = Prefixes(sentences, torch.empty(len(limits), 0, dtype=torch.int64))
    config = SearchConfig(**settings)  # type: ignore[arg-type]
    return beam_search(step, state, limits, config, begin=BEGIN, end=END, never=(PAD, BEGIN))


def every_translation(sentence: int, limit: int, alpha: float) -> list[Hypothesis]:
    found = []
    for length in range(limit):
        for tokens in itertools.product(range(END + 1, WORDS), repeat=length):
            total, prefix = 0.0, (BEGIN,)
            for token in (*tokens, END):
                total += float(log_probabilities(sentence, prefix)[token])
                prefix += (token,)
            found.append(Hypothesis(tokens, total, total / length_penalty(length + 1, alpha)))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def greedy(sentence: int, limit: int) -> tuple[int, ...]:
    prefix: tuple[int, ...] = (BEGIN,)
    while len(prefix) < limit:
        scores = log_probabilities(sentence, prefix)
        scores[[PAD, BEGIN]] = -math.inf
        token = int(scores.argmax())
        if token == END:
            break
        prefix += (token,)
    return prefix[1:]


def plain_search(sentence: int, limit: int, beam: int, alpha: float) -> list[tuple[int, ...]]:
    """Search one sentence hypothesis by hypothesis; a beginning is its tokens and its log-probability."""
    beginnings, finished = [((BEGIN,), 0.0)], []
    while beginnings and len(finished) < beam:
        grown = []
        for tokens, total in beginnings:
            allowed = [END] if len(tokens) == limit else range(END, WORDS)
            scores = log_probabilities(sentence, tokens)
            grown += [((*tokens, token), total + float(scores[token])) for token in allowed]
        best = sorted(grown, key=lambda one: -one[1])[: 2 * beam]
        finished += [one for one in best[:beam] if one[0][-1] == END]
        beginnings = [one for one in best if one[0][-1] != END][:beam]
        reachable = max((total for _, total in beginnings), default=0.0) / length_penalty(limit, alpha)
        if any(total / length_penalty(len(tokens) - 1, alpha) >= reachable for tokens, total in finished):
            break
    finished.sort(key=lambda one: -one[1] / length_penalty(len(one[0]) - 1, alpha))
    return [tokens[1:-1] for tokens, _ in finished[:beam]]


@pytest.mark.parametrize("beam", [2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_a_narrow_beam_is_the_search_written_out(beam: int, alpha: float) -> None:
    limit, sentences = 7, 20
    found = search([limit] * sentences, beam=beam, length_penalty=alpha)
    for sentence, hypotheses in enumerate(found):
        assert [one.tokens for one in hypotheses] == plain_search(sentence, limit, beam, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_a_beam_as_wide_as_all_beginnings_finds_the_best_of_all(alpha: float) -> None:
    limits = [4, 1, 3, 5]
    widest = 2 * 2 ** max(limits)
    found = search(limits, beam=widest, length_penalty=alpha)
    for sentence, limit in enumerate(limits):
        expected = every_translation(sentence, limit, alpha)
        assert found[sentence][0].tokens == expected[0].tokens
        assert found[sentence][0].log_probability == pytest.approx(expected[0].log_probability, abs=1e-5)
        assert found[sentence][0].score == pytest.approx(expected[0].score, abs=1e-5)


def test_a_beam_of_one_is_greedy_search() -> None:
    limits = [6] * 30
    found = search(limits, beam=1)
    assert [each[0].tokens for each in found] == [greedy(s, 6) for s in range(30)]
    assert all(len(each) == 1 for each in found)
    assert len({len(each[0].tokens) for each in found}) >= 3, "the toy model should end at several lengths"


def test_a_wider_beam_is_no_worse_here_and_penalties_favor_length() -> None:
    limits = [7] * 20

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    scores = [mean([each[0].score for each in search(limits, beam=k)]) for k in (1, 4, 32)]
    assert scores == sorted(scores)
    lengths = [
        mean([len(each[0].tokens) for each in search(limits, beam=64, length_penalty=alpha)])
        for alpha in (0.0, 1.0, 3.0)
    ]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


@pytest.mark.parametrize("beam", [1, 3])
def test_a_sentence_does_not_depend_on_its_batch(beam: int) -> None:
    limits = [3, 8, 1, 5, 2]
    together = search(limits, beam=beam)
    for sentence, limit in enumerate(limits):
        assert search([limit], first=sentence, beam=beam)[0] == together[sentence]


def test_limits_and_forbidden_tokens_hold() -> None:
    for each, limit in zip(search([1, 2, 3, 4], beam=3), [1, 2, 3, 4], strict=True):
        assert 1 <= len(each) <= 3
        assert [h.score for h in each] == sorted((h.score for h in each), reverse=True)
        for hypothesis in each:
            assert len(hypothesis.tokens) + 1 <= limit
            assert not {PAD, BEGIN, END} & set(hypothesis.tokens)


@dataclass(frozen=True)
class Count:
    """What a made-up model keeps: how many tokens it has read."""

    read: int

    def select(self, rows: Tensor) -> Count:
        return self


def test_a_longer_translation_may_overtake_a_finished_one() -> None:
    word, other, longest = END + 1, END + 2, 9
    likely = {0: {END: 0.5, word: 0.4, other: 0.1}, longest: {END: 1.0}}

    def certain_after_its_first_word(tokens: Tensor, state: Count) -> tuple[Tensor, Count]:
        row = torch.zeros(WORDS)
        for token, probability in likely.get(state.read, {word: 1.0}).items():
            row[token] = probability
        return row.log().repeat(len(tokens), 1), Count(state.read + 1)

    config = SearchConfig(beam=2, length_penalty=1.5)
    (found,) = beam_search(
        certain_after_its_first_word, Count(0), [longest + 1], config, begin=BEGIN, end=END
    )
    assert found[0].tokens == (word,) * longest


def search_that_goes_wrong(bad: float, sound: int, beam: int) -> list[list[Hypothesis]]:
    """Search with scores that are all ``bad`` after a number of sound steps, in which a translation may end."""
    limits = [5, 6]
    row = torch.tensor([0.0, 0.0, 0.1, 0.5, 0.4]).log()

    def step_of(tokens: Tensor, state: Count) -> tuple[Tensor, Count]:
        assert state.read < max(limits), "the search goes on beyond its limit"
        scores = row if state.read < sound else torch.full((WORDS,), bad)
        return scores.repeat(len(tokens), 1), Count(state.read + 1)

    config = SearchConfig(beam=beam)
    return beam_search(step_of, Count(0), limits, config, begin=BEGIN, end=END, never=(PAD, BEGIN))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("sound", "beam"), [(0, 1), (2, 1), (0, 3)])
def test_scores_that_are_not_finite_end_the_search(bad: float, sound: int, beam: int) -> None:
    with pytest.raises(DivergedError, match="scores are not finite"):
        search_that_goes_wrong(bad, sound, beam)


def test_a_translation_that_ended_before_hides_no_scores_that_are_no_numbers() -> None:
    with pytest.raises(DivergedError, match="log-probabilities of token 3"):
        search_that_goes_wrong(math.nan, 2, beam=3)
    found = search_that_goes_wrong(-math.inf, 2, beam=3)  # these are numbers: nothing else can be said
    assert [each[0].tokens for each in found] == [(), ()]


def test_a_beam_of_four_and_the_penalty_of_gnmt_are_the_defaults() -> None:
    assert SearchConfig() == SearchConfig(beam=4, length_penalty=0.6, extra_tokens=50)


def test_no_sentences() -> None:
    assert search([]) == []


def test_penalty_by_hand() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 1.0) == 2.0
    assert length_penalty(19, 0.5) == 2.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam": 0}, "beam"),
        ({"length_penalty": -1.0}, "length_penalty"),
        ({"length_penalty": math.inf}, "length_penalty"),
        ({"extra_tokens": 0}, "extra_tokens"),
    ],
)
def test_refusals(settings: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SearchConfig(**settings)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="limits"):
        search([0])
