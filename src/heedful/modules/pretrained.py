"""A pretrained encoder in the place of the word vectors (MS-SAN's variant with BERT)."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor, nn

from heedful.modules.embedding import Embedding
from heedful.structures import Embedded, Sentences


class PretrainedEmbedding(Embedding):
    """Read word pieces through an encoder such as BERT: its last states are the vectors.

    The special tokens belong to the encoder alone: they are added here, ``[CLS] p_1 ... p_n [SEP]``, and only the
    states of the pieces go on, so that no mask, distance or pooling meets a token that is no part of the text. The
    state of [CLS] is, on request, the summary of the sentence, which joins the sentence vector ("the [CLS] outputs of
    the BERT instead of the max-pooling results"). The state itself is used, without BERT's pooling layer, which not
    every encoder has.

    A text without words has a summary of zero, though the encoder would have a state for its two special tokens.

    Args:
        encoder: takes ``input_ids`` and ``attention_mask``, [B, L] int64, and returns an object whose
            ``last_hidden_state`` is [B, L, D]; its ``config.hidden_size`` is D.
        start: id of the token in front ([CLS]).
        end: id of the token behind ([SEP]).
        summary: whether [CLS] gives a summary.
        lr_factor: the encoder's learning rate as a share of the rest's; at 0 it is a constant of the network: no
            gradient, and no dropout inside it in training either.

    Attributes:
        lr_factor: as given; the optimiser reads it.
    """

    def __init__(
        self, encoder: nn.Module, *, start: int, end: int, summary: bool = True, lr_factor: float = 1.0
    ) -> None:
        super().__init__()
        self.encoder, self.lr_factor = encoder, lr_factor
        self._start, self._end, self._summary = start, end, summary
        if self.is_frozen:
            encoder.eval().requires_grad_(False)

    @property
    def config(self) -> Any:
        """The encoder's own configuration."""
        return self.encoder.config

    @property
    def width(self) -> int:
        """See `Embedding.width`."""
        return int(self.config.hidden_size)

    @property
    def summary_width(self) -> int:
        """See `Embedding.summary_width`."""
        return self.width if self._summary else 0

    @property
    def is_frozen(self) -> bool:
        """Whether the encoder is a constant."""
        return self.lr_factor == 0

    def train(self, mode: bool = True) -> Self:
        """Set the mode of everything but a frozen encoder, which stays in evaluation mode."""
        super().train(mode)
        if self.is_frozen:
            self.encoder.eval()
        return self

    def embed(self, sentences: Sentences) -> Embedded:
        """See `Embedding.embed`."""
        return self(sentences.ids, sentences.valid)

    def forward(self, ids: Tensor, valid: Tensor) -> Embedded:
        """Run the encoder.

        Args:
            ids: of pieces, [B, L] int64, without special tokens.
            valid: True at a real piece, [B, L] bool; the pieces of a sentence stand before its padding.

        Returns:
            States of the pieces [B, L, D], zero at padding, and the summary [B, D] or None.
        """
        tokens, real = self._with_special(ids, valid)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            states = self.encoder(input_ids=tokens, attention_mask=real.long()).last_hidden_state
        pieces = states[:, 1:-1].masked_fill(~valid[..., None], 0)
        if not self._summary:
            return Embedded(pieces)
        return Embedded(pieces, states[:, 0].masked_fill(~valid.any(1, keepdim=True), 0))

    def _with_special(self, ids: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Return the ids with special tokens, [B, L + 2], and which of them are real."""
        batch, length = ids.shape
        last = 1 + valid.sum(1, keepdim=True)  # where [SEP] stands
        tokens = ids.new_full((batch, length + 2), getattr(self.config, "pad_token_id", None) or 0)
        tokens[:, 0] = self._start
        tokens[:, 1:-1] = torch.where(valid, ids, tokens[:, 1:-1])
        tokens.scatter_(1, last, self._end)
        return tokens, torch.arange(length + 2, device=ids.device) <= last
