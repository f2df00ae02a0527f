"""Ids to vectors; word vectors: a trained table for the words of the training data, a frozen one for the others."""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention.derivatives import transformed
from heedful.attention.dropouts import OwnDropout
from heedful.attention.randomness import own_generator, uniform_like
from heedful.errors import UsageError
from heedful.structures import Embedded, Sentences

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel


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


class VectorTables(nn.Module):
    """Vectors that are looked up by number: they are not counted as numbers of a network, and never rounded."""


class WordEmbedding(Embedding, VectorTables):
    """Look word ids up in two tables laid end to end.

    Row 0 (padding) and row 1 (unknown) are zero and stay zero. Gradients of the trained table are sparse: a batch
    costs only its own rows, and the optimizer touches only those; `use_dense_gradients` makes them dense. The frozen
    table holds the pretrained vectors of
    words that the training data lacks. It is kept in half precision, which halves a model's file; training reads the
    same values, so nothing differs between training and use.

    Args:
        trained: initial trained rows, [V, D] float32; rows 0 and 1 are overwritten with zeros.
        frozen: further rows, [F, D]; None for none.
        train: whether the first table is trained; where not, it is a constant of the network like the second.
        ngrams: initial rows of character n-grams, [R, D]; the mean of its n-grams' rows is added to the vector of every
            word, also of an unknown one. None for none.
        row_dropout: with n-grams, the share of words whose own row is left out in training, so that the n-grams learn
            to stand alone.

    Attributes:
        weight: the first table, [V, D].
        frozen: the further rows, [F, D] float16; empty for none.
        ngrams: the table of n-grams, or None.
        sparse: whether gradients of the tables are sparse.

    Raises:
        UsageError: if the two tables differ in width, or there are fewer than two rows.
    """

    weight: Tensor
    frozen: Tensor

    def __init__(
        self,
        trained: Tensor,
        frozen: Tensor | None = None,
        *,
        train: bool = True,
        ngrams: Tensor | None = None,
        row_dropout: float = 0.0,
    ) -> None:
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
        self.row_dropout, self.sparse = row_dropout, True
        self._mask_row, self._mask_share = 0, 0.0
        self.ngrams: nn.EmbeddingBag | None = None
        if ngrams is not None:
            if ngrams.shape[1:] != (width,):
                raise UsageError(
                    f"ngrams must be [R, {width}], the width of trained; got {list(ngrams.shape)}"
                )
            self.ngrams = nn.EmbeddingBag.from_pretrained(
                ngrams, freeze=False, mode="mean", sparse=True, include_last_offset=True
            )

    @property
    def width(self) -> int:
        """Features D of a word vector."""
        return self.weight.shape[1]

    def mask_words(self, row: int, share: float) -> None:
        """Replace words by a masked word from now on, in training mode alone.

        Args:
            row: of the masked word in the trained table.
            share: the probability of each word; 0 draws nothing.
        """
        self._mask_row, self._mask_share = row, share

    def embed(self, sentences: Sentences) -> Embedded:
        """See `Embedding.embed`."""
        ids, masked = sentences.ids, None
        if self.training and self._mask_share:
            drawn = uniform_like(ids.to(torch.float32))
            masked = (drawn < self._mask_share) & (ids != 0)
            ids = ids.masked_fill(masked, self._mask_row)
        x = self(ids)
        if self.ngrams is None:
            return Embedded(x)
        if sentences.spellings is None:
            raise UsageError("this network reads n-grams: encode the texts with its own vocabulary")
        if self.training and self.row_dropout:
            x = x * (uniform_like(x[..., :1]) >= self.row_dropout)
        spelled = self.ngrams(sentences.spellings.rows, sentences.spellings.offsets)
        spellings = functional.embedding(sentences.spellings.places, spelled)
        return Embedded(x + (spellings if masked is None else spellings.masked_fill(masked[..., None], 0)))

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
        x = functional.embedding(trained_ids, self.weight, padding_idx=0, sparse=self.sparse)
        if len(self.frozen) and not self._knows_all(is_trained):
            frozen_ids = torch.where(is_trained, 0, ids - rows)
            extra = self.frozen[frozen_ids].to(x.dtype)
            x = torch.where(is_trained[..., None], x, extra)
        return x

    def _knows_all(self, is_trained: Tensor) -> bool:
        """Return whether all words of a training batch have trained rows: asking takes less time than further rows."""
        traced = torch.compiler.is_compiling() or torch.jit.is_tracing() or transformed()
        plain = type(is_trained) is Tensor and is_trained.is_cpu
        return self.training and plain and not traced and bool(is_trained.all())


def use_dense_gradients(network: nn.Module) -> None:
    """Let a network's tables have dense gradients from now on, as Adam, clipping and other programs' trainers need.

    The numbers are the same; a step costs as much as the whole table, and not only the rows of the batch.

    Args:
        network: any module; the tables in it are changed.
    """
    for part in network.modules():
        if isinstance(part, WordEmbedding | nn.Embedding | nn.EmbeddingBag):
            part.sparse = False


def positional_signal(
    length: int, width: int, like: Tensor, *, start: int = 0, exponent: float = 2.0
) -> Tensor:
    """Return sinusoids of the position whose wave length grows with the feature.

    Even feature f: ``sin(i / 10000^(e f / D))``; odd feature f: ``cos(i / 10000^(e (f - 1) / D))``. Vaswani et al.
    (2017) have e = 1; the published multi-head baseline of DiSAN and MTSA has 2.

    Args:
        length: tokens L.
        width: features D.
        like: gives device and dtype.
        start: position of the first token.
        exponent: e.

    Returns:
        [L, D].
    """
    position = torch.arange(start, start + length, device=like.device, dtype=torch.float64)
    even = torch.arange(width, device=like.device) // 2 * 2
    angle = position[:, None] * 10000.0 ** (-exponent * even.to(torch.float64) / width)
    is_even = torch.arange(width, device=like.device) % 2 == 0
    return torch.where(is_even, angle.sin(), angle.cos()).to(like.dtype)


_LAYER = re.compile(r"(?:^|\.)(?:layers?|blocks?|h)\.(\d+)\.")


def _layer_of(name: str) -> int | None:
    """Return the number of a parameter's layer, -1 for word vectors below the first; None for what stands on top."""
    found = _LAYER.search(name)
    if found is not None:
        return int(found[1])
    return -1 if "embedding" in name else None


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
        layer_decay: the rate of each of its layers as a share of that of the layer above.

    Attributes:
        lr_factor: as given.
    """

    def __init__(
        self,
        encoder: PreTrainedModel,
        *,
        start: int,
        end: int,
        summary: bool = True,
        lr_factor: float = 1.0,
        layer_decay: float = 1.0,
    ) -> None:
        super().__init__()
        self.encoder, self.lr_factor, self._decay = encoder, lr_factor, layer_decay
        self._start, self._end, self._summary = start, end, summary
        if self.is_frozen:
            encoder.eval().requires_grad_(False)

    @property
    def config(self) -> PretrainedConfig:
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

    def rates(self) -> Iterator[tuple[nn.Parameter, float]]:
        """Yield each parameter and its share of the learning rate; a name says which layer a parameter is of."""
        found = [(p, _layer_of(name)) for name, p in self.encoder.named_parameters()]
        top = max((layer for _, layer in found if layer is not None), default=-1)
        for parameter, layer in found:
            below = 0 if layer is None else top - layer
            yield parameter, self.lr_factor * self._decay**below

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
        own = self.training and not self.is_frozen and own_generator() is not None
        draws = OwnDropout() if own else contextlib.nullcontext()
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen), draws:
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
