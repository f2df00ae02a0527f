"""Vectors of word pieces to vectors of words: a word is read at its first piece."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.structures import Sentences


def at_first_pieces(states: Tensor, sentences: Sentences) -> tuple[Tensor, Sentences]:
    """Keep the state of the first piece of each word, as BERT's taggers do (Devlin et al., 2019).

    Args:
        states: of the tokens, [B, L, D].
        sentences: B sentences of L tokens; where these are words already, nothing changes.

    Returns:
        The states of the words, [B, W, D], zero at padding, and the sentences as words: ids are those of the first
        pieces, heads and distances those of the words.
    """
    words = sentences.words
    if words is None:
        return states, sentences
    before = torch.nn.functional.pad(words[:, :-1], (1, 0), value=-1)
    first = sentences.valid & (words != before)
    counts = first.sum(dim=1, keepdim=True)
    longest = max(int(counts.max()), 1)
    row, column = first.nonzero(as_tuple=True)
    places = words.new_zeros(len(words), longest)
    places[row, words[row, column]] = column
    valid = torch.arange(longest, device=words.device) < counts
    across = places[..., None]
    found = states.gather(1, across.expand(-1, -1, states.shape[2])).masked_fill(~valid[..., None], 0)
    ids = sentences.ids.gather(1, places).masked_fill(~valid, 0)
    tree, heads = sentences.tree_distance, sentences.heads
    if tree is not None:
        rows = tree.gather(1, across.expand(-1, -1, tree.shape[2]))
        tree = rows.gather(2, places[:, None].expand(-1, longest, -1))
        tree = tree.masked_fill(~(valid[:, :, None] & valid[:, None]), -1)
    if heads is not None:
        heads = heads.gather(1, places).masked_fill(~valid, -1)
    return found, Sentences(ids, valid, tree, heads=heads)
