"""Directions and distances of words, carried to their pieces."""

from __future__ import annotations

import pytest
import torch

from heedful.encoders import DistanceSanConfig, DistanceSanEncoder, MssanConfig, MssanEncoder
from heedful.encoders.priors import parse_prior, prior_bias, tree_distance, word_offset
from heedful.structures import Sentences

# Three words: the second in two pieces. The second sentence has one word in three pieces and one place of padding.
WORDS = torch.tensor([[0, 1, 1, 2], [0, 0, 0, 0]])
VALID = torch.tensor([[True] * 4, [True, True, True, False]])
PIECES = Sentences(VALID.long(), VALID, words=WORDS)
HIDDEN = torch.finfo(torch.float32).min / 2


def test_offsets_are_between_words() -> None:
    assert word_offset(PIECES)[0].tolist() == [[0, 1, 1, 2], [-1, 0, 0, 1], [-1, 0, 0, 1], [-2, -1, -1, 0]]
    plain = word_offset(Sentences(VALID.long(), VALID))
    assert plain.tolist() == [[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]]


def test_pieces_of_one_word_see_each_other_in_both_directions_at_no_distance() -> None:
    bias = prior_bias([parse_prior("forward & word"), parse_prior("backward & word")], 0.5, PIECES)
    h = HIDDEN
    forward = [[0, h, h, h], [-0.5, 0, 0, h], [-0.5, 0, 0, h], [-1, -0.5, -0.5, 0]]
    backward = [[0, -0.5, -0.5, -1], [h, 0, 0, -0.5], [h, 0, 0, -0.5], [h, h, h, 0]]
    assert bias[0, 0].tolist() == forward
    assert bias[0, 1].tolist() == backward
    assert bias[1, 0, :3, :3].tolist() == bias[1, 1, :3, :3].tolist() == [[0.0] * 3] * 3
    assert (bias[1, :, 3] == h).all()
    assert (bias[1, :, :, 3] == h).all()


def test_a_word_without_a_place_in_the_tree_falls_back_on_words_not_on_pieces() -> None:
    tree = torch.tensor([[[0, -1, -1, 4], [-1, 0, 0, -1], [-1, 0, 0, -1], [4, -1, -1, 0]], [[0] * 4] * 4])
    found = tree_distance(Sentences(VALID.long(), VALID, tree.short(), WORDS))
    assert found[0].tolist() == [[0, 1, 1, 4], [1, 0, 0, 1], [1, 0, 0, 1], [4, 1, 1, 0]]


def test_words_of_one_piece_each_are_words() -> None:
    torch.manual_seed(0)
    valid = torch.tensor([[True] * 5, [True, True, False, False, False]])
    whole = Sentences(valid.long(), valid)
    pieces = Sentences(valid.long(), valid, words=torch.arange(5).expand(2, 5) * valid)
    x = torch.randn(2, 5, 12)
    for encoder in (
        MssanEncoder(12, MssanConfig(without_parse="word")),
        DistanceSanEncoder(12, DistanceSanConfig(heads=2)),
    ):
        encoder.eval()
        torch.testing.assert_close(encoder(x, pieces).states, encoder(x, whole).states, atol=2e-6, rtol=0)


@pytest.mark.parametrize("without_parse", ["word", "none"])
def test_a_word_in_pieces_is_nearer_than_as_many_words(without_parse: str) -> None:
    torch.manual_seed(0)
    encoder = MssanEncoder(12, MssanConfig(without_parse=without_parse)).eval()  # type: ignore[arg-type]
    x = torch.randn(2, 4, 12)
    as_words = encoder(x, Sentences(VALID.long(), VALID)).states
    as_pieces = encoder(x, PIECES).states
    assert not torch.allclose(as_words, as_pieces, atol=1e-3)
