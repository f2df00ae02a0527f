"""Decomposable attention (Parikh et al., EMNLP 2016): align, compare, add up.

Equation to line: Eq. 1 and 2 `soft_align`; Eq. 3 `AlignmentNetwork.compare`; Eq. 4 the sum in `forward`; Eq. 5
`AlignmentNetwork.aggregate` and `output`; Eq. 6 and 7 `IntraSentenceEncoder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention import soft_align
from heedful.attention.randomness import own_generator
from heedful.attention_names import MapPlace
from heedful.encoders.intra_sentence import IntraSentenceConfig, IntraSentenceEncoder
from heedful.models.networks import Network, SentenceReader, refuse_weights, shared_out
from heedful.nn import Activation, Dense, Embedding, two_layers
from heedful.settings import Settings, above, at_least, ranged, share
from heedful.structures import Batch, ContextStates, NetworkOutput, Pooled, Sentences, SharedBatch, SideTrace


@dataclass(frozen=True)
class DecomposableConfig(Settings):
    """Settings of `AlignmentNetwork`.

    Attributes:
        intra: whether intra-sentence attention comes first.
        projected: number of features to which word vectors are projected.
        distance: largest distance with a bias of its own in intra-sentence attention.
        deviation: standard deviation of the normal distribution of all initial weights, including biases.
        activation: activation of every layer but the last; the paper's is "relu".
        dropout: dropout rate on the input of every layer with an activation.
    """

    intra: bool = False
    projected: int = ranged(200, at_least(1))
    distance: int = ranged(10, at_least(0))
    deviation: float = ranged(0.01, above(0))
    activation: Activation = "relu"
    dropout: float = ranged(0.2, share)


class FragmentReader(SentenceReader):
    """Words to the states that are aligned: NULL in front, projection, on request intra-sentence attention.

    Args:
        embedding: word vectors.
        config: the settings.
        hidden: features of the layers of F_intra.

    Attributes:
        null: the vector of NULL, [D]: random, of length 1, never trained, kept with the model.
    """

    null: Tensor

    def __init__(self, embedding: Embedding, config: DecomposableConfig, hidden: int) -> None:
        super().__init__()
        self.embedding, self.width_out = embedding, hidden
        self.projection = Dense(embedding.width, config.projected, bias=False)
        self.encoder = None
        if config.intra:
            settings = IntraSentenceConfig(hidden, config.distance, config.activation, config.dropout)
            self.encoder = IntraSentenceEncoder(config.projected, settings)
        self.width = config.projected if self.encoder is None else self.encoder.width_out
        drawn = torch.randn(embedding.width, generator=own_generator())
        self.register_buffer("null", functional.normalize(drawn, dim=0))

    def read(self, sentences: Sentences, *, need_weights: bool = False) -> tuple[ContextStates, Tensor]:
        """Read a column of sentences.

        Returns states [B, L + 1, width] of NULL and the tokens, and which of them are real, [B, L + 1] bool.
        """
        x = self.embedding.embed(sentences).tokens
        x = torch.cat([self.null.to(x.dtype).expand(len(x), 1, -1), x], dim=1)
        valid = functional.pad(sentences.valid, (1, 0), value=True)
        ids = functional.pad(sentences.ids, (1, 0))
        states = self.projection(x).masked_fill(~valid[..., None], 0)
        if self.encoder is None:
            return ContextStates(states), valid
        return self.encoder(states, Sentences(ids, valid), need_weights=need_weights), valid


class AlignmentNetwork(Network):
    """Classify a pair from its aligned fragments; no fragment knows its place, so the vanilla form is blind to order.

    381,803 parameters at word vectors of 300 and ``hidden`` 200 for three classes; 582,214 with intra-sentence
    attention. The word vectors are meant to be frozen: build with ``train_embedding=False``.

    The paper leaves open where exactly dropout sits and what NULL is. Dropout is on the input of each activated layer
    and NULL is a random vector of length 1, both as in the authors' nearest public port.

    Args:
        embedding: word vectors.
        config: the settings.
        hidden: features of every layer of F, G, H and F_intra.
        outputs: classes Y.

    Attributes:
        sides: two.
        prefix: NULL.
    """

    sides = 2
    prefix = ("NULL",)
    sentence_encoder: FragmentReader

    def __init__(
        self,
        embedding: Embedding,
        config: DecomposableConfig | None = None,
        *,
        hidden: int = 200,
        outputs: int = 3,
    ) -> None:
        config = config or DecomposableConfig()
        reader = FragmentReader(embedding, config, hidden)
        super().__init__(reader)
        layers = partial(two_layers, activation=config.activation, dropout=config.dropout)
        self.attend = layers(reader.width, hidden)
        self.compare = layers(2 * reader.width, hidden)
        self.aggregate = layers(2 * hidden, hidden)
        self.output = Dense(hidden, outputs)
        given = {id(parameter) for parameter in embedding.parameters()}
        for parameter in self.parameters():
            if id(parameter) not in given:
                nn.init.normal_(parameter, std=config.deviation, generator=own_generator())

    def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
        """Run the network; see `Network.forward`. Vectors are the sums of the compared fragments of each side."""
        self.check_sides(batch)
        read = [self.sentence_encoder.read(side, need_weights=need_weights) for side in batch.sides]
        contexts = [context for context, _ in read]
        states, valid = [context.states for context in contexts], [real for _, real in read]
        attended = [self.attend(fragments) for fragments in states]
        if isinstance(batch, SharedBatch):
            refuse_weights(need_weights)
            valid, states, attended = _of_sides(batch, valid, states, attended)
        (a, b), (first_valid, second_valid) = states, valid
        aligned = soft_align(attended[0], attended[1], a, b, first_valid, second_valid)
        vectors = (
            self._compare(a, aligned.first, first_valid),
            self._compare(b, aligned.second, second_valid),
        )
        logits = self.output(self.aggregate(torch.cat(vectors, dim=-1)))
        if not need_weights:
            return NetworkOutput(logits, vectors)
        traces = tuple(SideTrace(c, Pooled(v)) for c, v in zip(contexts, vectors, strict=True))
        alignments = {
            MapPlace(kind="first to second"): aligned.first_to_second,
            MapPlace(kind="second to first"): aligned.second_to_first,
        }
        return NetworkOutput(logits, vectors, traces, alignments)

    def _compare(self, states: Tensor, aligned: Tensor, valid: Tensor) -> Tensor:
        """Compare every fragment with what it is aligned with, and add up: [B, hidden]."""
        compared = self.compare(torch.cat([states, aligned.to(states.dtype)], dim=-1))
        return compared.masked_fill(~valid[..., None], 0).sum(dim=1)


def _of_sides(batch: SharedBatch, valid: list[Tensor], *columns: list[Tensor]) -> tuple[list[Tensor], ...]:
    """Give each example the fragments of its texts; each side ends with its longest."""
    real = [side[..., 0] for side in shared_out(batch, [column[..., None] for column in valid])]
    longest = [int(side.sum(dim=1).max()) for side in real]

    def cut(sides: Sequence[Tensor]) -> list[Tensor]:
        return [side[:, :length] for side, length in zip(sides, longest, strict=True)]

    return (cut(real), *(cut(shared_out(batch, column)) for column in columns))
