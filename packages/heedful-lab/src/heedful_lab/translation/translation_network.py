"""The network that translates: any encoder, and the Transformer's decoder."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from heedful.encoders import ContextEncoder
from heedful.errors import UsageError
from heedful.settings import Settings, ranged, share
from heedful.structures import Batch, ContextStates, NetworkOutput, Sentences
from heedful_lab.translation.beam import SearchConfig
from heedful_lab.translation.decoder import DecoderCache, DecoderConfig, TransformerDecoder
from heedful_lab.translation.piece_tables import PieceTables


def _enough_for_bytes(pieces: int) -> str:
    return "" if pieces >= 300 else "must be 300 or more, for 256 bytes have one each"


@dataclass(frozen=True)
class TranslationConfig(Settings):
    """Settings of a translation model, in addition to the settings that all models have.

    Attributes:
        pieces: largest number of subwords in a vocabulary.
        shared: whether source and translation share one vocabulary and one table of vectors, which is also the output
            layer; otherwise each has its own.
        label_smoothing: share of the target probability that is spread evenly over all subwords.
        decoder: the ``[translation.decoder]`` table.
        search: the ``[translation.search]`` table.
    """

    pieces: int = ranged(8000, _enough_for_bytes)
    shared: bool = True
    label_smoothing: float = ranged(0.1, share)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


class TranslationNetwork(nn.Module):
    """Score the next subword of a translation.

    Args:
        tables: vectors of subwords, and the output layer.
        encoder: reads the source; positions are its own matter.
        decoder: reads the translation so far, and the states of the source.
    """

    def __init__(self, tables: PieceTables, encoder: ContextEncoder, decoder: TransformerDecoder) -> None:
        super().__init__()
        self.tables, self.encoder, self.decoder = tables, encoder, decoder

    def read(self, source: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode the source.

        Returns one state a token, [B, L, D].
        """
        return self.encoder(self.tables.source(source.ids), source, need_weights=need_weights)

    def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
        """Score every next subword of translations that are known (teacher forcing).

        Args:
            batch: two sides: the source, and the translation moved right by one, so that a place holds what stands
                before the subword to be scored.
            need_weights: also return the attention of the translation on the source.

        Returns:
            Logits [B, T, V]; alignments by layer and head, [B, T, L].

        Raises:
            UsageError: if the batch has not two sides.
        """
        if len(batch.sides) != 2:
            raise UsageError(f"a translation has a source and a target; got {len(batch.sides)} side(s)")
        source, target = batch.sides
        cache = self.decoder.begin(self.read(source).states, source.valid)
        output = self.decoder(self.tables.target(target.ids), cache, need_weights=need_weights)
        return NetworkOutput(self.tables.logits(output.states), (), alignments=output.maps)

    def begin(self, source: Sentences) -> DecoderCache:
        """Encode the source for `step`, one row a sentence."""
        return self.decoder.begin(self.read(source).states, source.valid)

    def step(self, tokens: Tensor, cache: DecoderCache) -> tuple[Tensor, DecoderCache]:
        """Score the next subword of each row.

        Args:
            tokens: the last subword of each row, [N] int64, on any device.
            cache: where decoding stands, N rows.

        Returns:
            Log-probabilities, [N, V] float32, and where decoding stands now.
        """
        tokens = tokens.to(cache.source_valid.device)
        output = self.decoder(self.tables.target(tokens[:, None]), cache)
        logits = self.tables.logits(output.states[:, 0])
        return torch.log_softmax(logits.float(), dim=-1), output.cache
