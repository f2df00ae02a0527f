"""A column of sentences as tensors with the batch as their first axis, as sentence-transformers passes batches on.

Its trainer tells columns by the tensor "input_ids"; its losses cut such batches into smaller ones, and join two columns
by padding with zeros. So zero means nothing in every tensor here, and nothing refers from one sentence to another.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from heedful.structures import Sentences, Spellings

IDS, VALID = "input_ids", "attention_mask"
_WORDS, _HEADS, _TREE, _NGRAMS = "word_places", "head_places", "tree_distances", "ngram_rows"
"""Names of tensors that only some models read."""


def features_of(sentences: Sentences) -> dict[str, Tensor]:
    """Return sentences as tensors.

    Args:
        sentences: B sentences of L tokens.

    Returns:
        "input_ids" and "attention_mask", [B, L] int64; and what else the model reads of them: the place of each piece's
        word and of its head, [B, L], distances in the tree, [B, L, L], and rows of character n-grams, [B, L, G], the
        last three one higher than in `Sentences`, so that 0 means none.
    """
    found = {IDS: sentences.ids, VALID: sentences.valid.long()}
    if sentences.words is not None:
        found[_WORDS] = sentences.words
    if sentences.heads is not None:
        found[_HEADS] = sentences.heads + 1
    if sentences.tree_distance is not None:
        found[_TREE] = sentences.tree_distance.long() + 1
    if sentences.spellings is not None:
        found[_NGRAMS] = _ngrams(sentences.spellings)
    return found


def sentences_of(features: Mapping[str, object]) -> Sentences:
    """Return what `features_of` was given.

    Args:
        features: the tensors, perhaps of some rows of a batch, or padded further with zeros.

    Returns:
        The sentences, on the device of the tensors.
    """
    given = {name: value for name, value in features.items() if isinstance(value, Tensor)}
    valid = given[VALID].bool()
    heads, tree, ngrams = (given.get(name) for name in (_HEADS, _TREE, _NGRAMS))
    if tree is not None and tree.shape[1:] != (valid.shape[1], valid.shape[1]):
        tree = torch.nn.functional.pad(
            tree, (0, valid.shape[1] - tree.shape[2], 0, valid.shape[1] - tree.shape[1])
        )
    return Sentences(
        given[IDS],
        valid,
        None if tree is None else (tree - 1).to(torch.int16),
        given.get(_WORDS),
        None if heads is None else heads - 1,
        None if ngrams is None else _spellings(ngrams),
    )


def _ngrams(spellings: Spellings) -> Tensor:
    """Return the rows of the n-grams of each token, one higher, [B, L, G]; 0 where there is none."""
    counts = spellings.offsets[1:] - spellings.offsets[:-1]
    each = torch.arange(max(1, int(counts.max())))
    there = each < counts[:, None]
    rows = torch.zeros(there.shape, dtype=torch.int64)
    rows[there] = spellings.rows + 1
    return rows[spellings.places]


def _spellings(ngrams: Tensor) -> Spellings:
    """Return n-grams of tokens, each token as a word of its own, with one more word without any."""
    flat = ngrams.flatten(0, 1)
    there = flat != 0
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64, device=flat.device), there.sum(dim=1).cumsum(0)])
    places = torch.arange(len(flat), device=flat.device).view(ngrams.shape[:2])
    places = torch.where(there.any(dim=1).view_as(places), places, len(flat))
    return Spellings(places, flat[there] - 1, torch.cat([offsets, offsets[-1:]]))
