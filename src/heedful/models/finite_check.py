"""Looks, before a model is exported, whether its network gives finite numbers: finite weights may be too large."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.errors import ArtifactError
from heedful.models.networks import Network
from heedful.nn.embedding import WordEmbedding
from heedful.structures import Batch, Sentences, Spellings

_TEXTS, _WORDS = 8, 32
"""How many texts are read, and how many words the longest has."""


def refuse_overflow(network: nn.Module) -> None:
    """Refuse a network that gives numbers which are not finite for words of its vocabulary.

    Args:
        network: is run on eight texts, of its own words as far as it has word vectors, in evaluation mode;
            one that is no `Network` is not looked at.

    Raises:
        ArtifactError: if a number that it gives is not finite.
    """
    if not isinstance(network, Network):
        return
    training, device = network.training, next(network.parameters()).device
    try:
        with torch.inference_mode():
            output = network.eval()(Batch((_sentences(network, device),) * network.sides))
    finally:
        network.train(training)
    if not all(bool(part.isfinite().all()) for part in (output.logits, *output.vectors)):
        raise ArtifactError(
            "the network gives numbers that are not finite, so the weights are of no use. Copy the model again from "
            "its source, or train it again."
        )


def _sentences(network: nn.Module, device: torch.device) -> Sentences:
    tables = [part for part in network.modules() if isinstance(part, WordEmbedding)]
    rows = len(tables[0].weight) + len(tables[0].frozen) if tables else 8
    ids = torch.linspace(1, rows - 1, _TEXTS * _WORDS, dtype=torch.float64, device=device).long()
    ids = ids.view(_WORDS, _TEXTS).T
    valid = (
        torch.arange(_WORDS, device=device)
        < torch.arange(_WORDS, 0, -_WORDS // _TEXTS, device=device)[:, None]
    )
    ids = ids.masked_fill(~valid, 0)
    known = torch.full((_TEXTS, _WORDS, _WORDS), 1, dtype=torch.int16, device=device)
    return Sentences(ids, valid, known, heads=torch.full_like(ids, -1), spellings=_spellings(tables, ids))


def _spellings(tables: list[WordEmbedding], ids: Tensor) -> Spellings | None:
    """Give every word the same n-grams, from the whole of their table; None where there is none."""
    if not tables or tables[0].ngrams is None:
        return None
    last = tables[0].ngrams.num_embeddings - 1
    rows = torch.linspace(0, last, 64, dtype=torch.float64, device=ids.device).long()
    ends = torch.tensor([0, len(rows), len(rows)], device=ids.device)
    return Spellings((ids == 0).long(), rows, ends)
