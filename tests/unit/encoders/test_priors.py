"""Priors: their text, and the additive term written out by hand."""

from __future__ import annotations

import itertools

import pytest
import torch

from heedful.encoders.priors import DIRECTIONS, Prior, parse_prior, prior_bias, tree_distance
from heedful.errors import UsageError
from heedful.structures import Sentences

INF = float("inf")


def test_every_prior_reads_back_from_its_text() -> None:
    priors = [Prior(d, s) for d, s in itertools.product(DIRECTIONS, ("none", "word", "dependency"))]  # type: ignore[arg-type]
    assert len(priors) == 9
    assert [parse_prior(str(prior)) for prior in priors] == priors
    assert parse_prior(" word&backward ") == Prior("backward", "word")
    assert str(Prior()) == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("forward & backward", "one direction a head"),
        ("word & dependency", "one distance a head"),
        ("forward & none", "'none' stands alone"),
        ("none & none", "'none' stands alone"),
        ("dependancy", "did you mean 'dependency'?"),
        ("", "'' is unknown"),
    ],
)
def test_what_is_no_prior_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_prior(text)
    assert message in str(caught.value)
    assert "write for example" in str(caught.value)


def test_six_heads_of_three_words_by_hand() -> None:
    tree = torch.tensor([[[0, 2, 1], [2, 0, 1], [1, 1, 0]]]).short()
    valid = torch.ones(1, 3).bool()
    texts = (
        "forward & word",
        "forward & dependency",
        "forward",
        "backward & word",
        "backward & dependency",
        "none",
    )
    bias = prior_bias([parse_prior(t) for t in texts], 0.5, Sentences(valid.long(), valid, tree))
    expected = [
        [[0, -INF, -INF], [-0.5, 0, -INF], [-1, -0.5, 0]],
        [[0, -INF, -INF], [-1, 0, -INF], [-0.5, -0.5, 0]],
        [[0, -INF, -INF], [0, 0, -INF], [0, 0, 0]],
        [[0, -0.5, -1], [-INF, 0, -0.5], [-INF, -INF, 0]],
        [[0, -1, -0.5], [-INF, 0, -0.5], [-INF, -INF, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    ]
    assert torch.equal(bias[0].masked_fill(bias[0] < -1e30, -INF), torch.tensor(expected))


def test_only_what_is_unknown_gets_a_stand_in() -> None:
    tree = torch.tensor([[[0, 3, -1], [3, 0, -1], [-1, -1, 0]], [[-1] * 3] * 3]).short()
    valid = torch.ones(2, 3).bool()
    sentences = Sentences(valid.long(), valid, tree)
    words = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert tree_distance(sentences).tolist() == [[[0, 3, 2], [3, 0, 1], [2, 1, 0]], words]
    none = tree_distance(sentences, "none").tolist()
    assert none == [[[0, 3, 0], [3, 0, 0], [0, 0, 0]], [[0] * 3] * 3]
    assert tree_distance(Sentences(valid.long(), valid)).tolist() == words
