"""A network whose answer is a vector: texts of like meaning have vectors of like direction."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from heedful.encoders import ContextEncoder
from heedful.models.networks import SentenceEncoder, VectorNetwork
from heedful.nn import Dense, Embedding
from heedful.nn.pooling import Pooling, mean_of
from heedful.runtime.operators import SMALLEST
from heedful.structures import Pooled, Sentences, SideTrace


class JoinedEncoder(SentenceEncoder):
    """The pooled states joined with the mean of the word vectors, each scaled to unit length.

    The mean keeps what the words alone say, the pooled states what their order adds. A part that is zero stays zero.
    See `SentenceEncoder` for the arguments.
    """

    def __init__(
        self, embedding: Embedding, encoder: ContextEncoder, pooling: Pooling, *, window: int = 0
    ) -> None:
        super().__init__(embedding, encoder, pooling, window=window)
        self.width_out = pooling.width_out + embedding.width

    @classmethod
    def of(cls, encoder: SentenceEncoder) -> Self:
        """Build one of the parts of another encoder of sentences."""
        return cls(encoder.embedding, encoder.encoder, encoder.pooling, window=encoder.window)

    def read(self, sentences: Sentences, *, need_weights: bool = False) -> SideTrace:
        """See `SentenceEncoder.read`; the word vectors are looked up once more, for their mean."""
        trace = super().read(sentences, need_weights=need_weights)
        words = mean_of(self.embedding.embed(sentences).tokens, sentences.valid)
        parts = [unit(trace.pooled.vector), unit(words.to(trace.pooled.vector.dtype))]
        return SideTrace(trace.context, Pooled(torch.cat(parts, dim=-1), trace.pooled.weights))


class SentenceVectorNetwork(VectorNetwork):
    """Turn a text into a vector of unit length: a linear layer without bias over the joined states.

    What a `VectorNetwork` calls the logits is the vector here, and what it calls the vectors are the states before the
    last layer. A text without words has the zero vector.

    Args:
        sentence_encoder: a text to its joined states.
        width: features D of the vector.

    Attributes:
        sides: one.
    """

    sides = 1

    def __init__(self, sentence_encoder: JoinedEncoder, width: int) -> None:
        super().__init__(sentence_encoder)
        self.output = Dense(sentence_encoder.width_out, width, bias=False)

    @property
    def vector_width(self) -> int:
        """Features of the vector."""
        return len(self.output.weight)

    def vector(self, sentences: Sentences) -> Tensor:
        """Return vectors of unit length, [B, D]; see `VectorNetwork.vector`."""
        return self.score((self.sentence_encoder(sentences)[0],))

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """Return vectors of unit length, [B, D]; see `VectorNetwork.score`."""
        return unit(self.output(vectors[0]))


def unit(x: Tensor) -> Tensor:
    """Scale the last axis to unit length; zeros stay zeros."""
    return functional.normalize(x, dim=-1, eps=SMALLEST)
