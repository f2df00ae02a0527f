"""Ids to vectors; word vectors: a trained table for the words of the training data, a frozen one for the others."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.errors import UsageError
from heedful.structures import Embedded, Sentences


class Embedding(nn.Module, ABC):
    """Base of what turns the ids of a sentence into vectors."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Features D of a token's vector."""

    @property
    def summary_width(self) -> int:
        """Features of the vector that it gives of a whole sentence; 0 where it gives none."""
        return 0

    @abstractmethod
    def embed(self, sentences: Sentences) -> Embedded:
        """Turn ids into vectors.

        Args:
            sentences: B sentences of L tokens.

        Returns:
            One vector a token, [B, L, D], and the summary if there is one.
        """


class WordEmbedding(Embedding):
    """Look word ids up in two tables laid end to end.

    Row 0 (padding) and row 1 (unknown) are zero and stay zero. Gradients of the trained table are sparse: a batch
    costs only its own rows, and the optimiser touches only those. The frozen table holds the pretrained vectors of
    words that the training data lacks. It is kept in half precision, which halves a model's file; training reads the
    same values, so nothing differs between training and use.

    Args:
        trained: initial trained rows, [V, D] float32; rows 0 and 1 are overwritten with zeros.
        frozen: further rows, [F, D]; None for none.
        train: whether the first table is trained; where not, it is a constant of the network like the second.

    Attributes:
        weight: the first table, [V, D].
        frozen: the further rows, [F, D] float16; empty for none.

    Raises:
        UsageError: if the two tables differ in width, or there are fewer than two rows.
    """

    weight: Tensor
    frozen: Tensor

    def __init__(self, trained: Tensor, frozen: Tensor | None = None, *, train: bool = True) -> None:
        super().__init__()
        if trained.dim() != 2 or len(trained) < 2:
            raise UsageError(
                f"trained must be [V, D] with V >= 2 (padding, unknown); got {list(trained.shape)}"
            )
        width = trained.shape[1]
        frozen = torch.empty(0, width) if frozen is None else frozen
        if frozen.shape[1:] != (width,):
            raise UsageError(f"frozen must be [F, {width}], the width of trained; got {list(frozen.shape)}")
        rows = trained.detach().clone()
        rows[:2] = 0
        if train:
            self.weight = nn.Parameter(rows)
        else:
            self.register_buffer("weight", rows)
        self.register_buffer("frozen", frozen.to(torch.float16))

    @property
    def width(self) -> int:
        """Features D of a word vector."""
        return self.weight.shape[1]

    def embed(self, sentences: Sentences) -> Embedded:
        """See `Embedding.embed`."""
        return Embedded(self(sentences.ids))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up.

        Args:
            ids: [B, L] int64; ids of V and above are rows of the frozen table.

        Returns:
            Vectors [B, L, D], zero at padding and at unknown words.
        """
        rows = len(self.weight)
        is_trained = ids < rows
        # Id 0 is the padding row: `padding_idx` keeps its gradient, and that of every stand-in, at zero.
        trained_ids = torch.where(is_trained & (ids != 1), ids, 0)
        x = functional.embedding(trained_ids, self.weight, padding_idx=0, sparse=True)
        if len(self.frozen):
            frozen_ids = torch.where(is_trained, 0, ids - rows)
            extra = self.frozen[frozen_ids].to(x.dtype)
            x = torch.where(is_trained[..., None], x, extra)
        return x
