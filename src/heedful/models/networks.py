"""Whole networks: they wire embedding, encoder, in windows for long texts, pooling and head, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention.randomness import drawing_from, seeded
from heedful.encoders import ContextEncoder
from heedful.errors import UsageError
from heedful.nn import Dense, Embedding
from heedful.nn.heads import ClassifierHead, Matching, RelatednessHead, match_features
from heedful.nn.pooling import Pooling
from heedful.structures import (
    Batch,
    ContextStates,
    NetworkOutput,
    PolicyRecord,
    Pooled,
    Sentences,
    SharedBatch,
    SideTrace,
)

OVERLAP = 4
"""A window shares one part in so many with the next one."""


def windowed_states(encoder: ContextEncoder, x: Tensor, sentences: Sentences, window: int) -> ContextStates:
    """Encode texts in windows that overlap by a quarter, and take each word's state from the window it is deepest in.

    Windows begin at multiples of ``window - window // 4``. Where two windows overlap, the first half of the overlap is
    taken from the earlier window and the second from the later one. So a state depends on its own text alone, however
    long the others of the batch are, and a text of at most ``window`` words is read as it is without windows.

    Args:
        encoder: states in context; its cost is that of many short texts.
        x: word vectors, [B, L, D].
        sentences: B sentences of L words.
        window: words that the encoder reads at a time.

    Returns:
        States, [B, L, D]; maps and gates belong to windows and are left out.

    Raises:
        UsageError: if the encoder reads trees or chooses its masks by a policy.
    """
    if sentences.heads is not None or sentences.tree_distance is not None:
        raise UsageError("a text is read in windows without a parse: leave text.parser empty")
    overlap = window // OVERLAP
    step, (batch, length, _) = window - overlap, x.shape
    count = max(0, -(-(length - window) // step)) + 1
    missing = (count - 1) * step + window - length
    lengths = sentences.valid.sum(dim=1)
    parts = functional.pad(x, (0, 0, 0, missing)).unfold(1, window, step).transpose(-1, -2)
    valid = functional.pad(sentences.valid, (0, missing)).unfold(1, window, step)
    ids = functional.pad(sentences.ids, (0, missing)).unfold(1, window, step)
    filled = valid.any(dim=-1)
    filled[:, 0] = True  # a text without words has one window too
    context = encoder(parts[filled], Sentences(ids[filled], valid[filled]))
    if context.policy is not None:
        raise UsageError(
            "an encoder whose masks a policy chooses reads no windows: choose another model.encoder"
        )
    states = context.states.new_zeros(batch, count, window, context.states.shape[-1])
    states[filled] = context.states
    place = torch.arange(length, device=x.device)
    last = (-(-(lengths - window).clamp(min=0) // step))[:, None]
    chosen = torch.minimum(((place - overlap // 2).clamp(min=0) // step)[None], last)
    within = (place[None] - chosen * step).clamp(max=window - 1)
    rows = torch.arange(batch, device=x.device)[:, None]
    found: Tensor = states[rows, chosen, within]
    return ContextStates(found.masked_fill(~sentences.valid[..., None], 0))


def shared_out(batch: SharedBatch, columns: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Give each example what belongs to its texts.

    Args:
        batch: says which texts each example has.
        columns: for each of the batch's columns a tensor, one row a text. What has a row for each token, [M, L, ...],
            may differ in L, and ends in zeros where a text of another column is longer.

    Returns:
        For each side a tensor with one row an example.
    """
    longest = max(column.shape[1] for column in columns) if columns[0].dim() > 2 else 0
    texts = torch.cat([_lengthened(column, longest) for column in columns])
    # `index_select` rather than an index: its gradient is one addition a row, in an order that is always the same.
    return tuple(texts.index_select(0, place) for place in batch.places.unbind(1))


def shared_policies(batch: SharedBatch, columns: Sequence[PolicyRecord]) -> tuple[PolicyRecord, ...]:
    """Give each example what a policy chose for its texts: examples that share a text share its choice.

    Args:
        batch: says which texts each example has.
        columns: a record for each of the batch's columns; none where there is no policy.

    Returns:
        A record a side.
    """
    if not columns:
        return ()
    widest = max(record.chosen.shape[2] for record in columns)
    log_probs = shared_out(batch, [record.log_prob for record in columns])
    shares = shared_out(batch, [record.share for record in columns])
    chosen = shared_out(batch, [functional.pad(r.chosen, (0, widest - r.chosen.shape[2])) for r in columns])
    return tuple(
        replace(columns[0], log_prob=log_prob, share=share, chosen=opened, chances=None)
        for log_prob, share, opened in zip(log_probs, shares, chosen, strict=True)
    )


def refuse_weights(need_weights: bool) -> None:
    """Refuse to return how sides were read where texts were read instead.

    Raises UsageError if so.
    """
    if need_weights:
        raise UsageError("a SharedBatch gives no weights: ask with a Batch of one column a side")


def _lengthened(column: Tensor, longest: int) -> Tensor:
    missing = longest - column.shape[1] if longest else 0
    return column if not missing else functional.pad(column, (0, 0) * (column.dim() - 2) + (0, missing))


class SentenceReader(nn.Module):
    """Base of what turns the ids of a sentence into states; not every reader has one vector of a sentence.

    Attributes:
        embedding: word vectors, or a pretrained encoder.
        width_out: features D of a state, or of a sentence vector.
    """

    embedding: Embedding
    width_out: int


class SentenceEncoder(SentenceReader):
    """Ids to one vector a sentence: embedding, encoder, pooling; the embedding's own summary, if any, joins the vector.

    Args:
        embedding: word vectors, or a pretrained encoder.
        encoder: states in context.
        pooling: one vector a sentence.
        window: words that the encoder reads at a time; see `heedful.models.networks`. 0 reads texts whole.
    """

    def __init__(
        self, embedding: Embedding, encoder: ContextEncoder, pooling: Pooling, *, window: int = 0
    ) -> None:
        super().__init__()
        self.embedding, self.encoder, self.pooling, self.window = embedding, encoder, pooling, window
        self.width_out = pooling.width_out + embedding.summary_width

    def forward(self, sentences: Sentences, *, need_weights: bool = False) -> tuple[Tensor, SideTrace | None]:
        """Encode a column of sentences.

        Args:
            sentences: B sentences.
            need_weights: also return how they were read.

        Returns:
            Vectors [B, D], and the trace if asked for.
        """
        trace = self.read(sentences, need_weights=need_weights)
        return trace.pooled.vector, trace if need_weights else None

    def read(self, sentences: Sentences, *, need_weights: bool = False) -> SideTrace:
        """Encode a column of sentences and keep every intermediate record.

        Returns states and vectors.
        """
        embedded = self.embedding.embed(sentences)
        if 0 < self.window < embedded.tokens.shape[1]:
            context = windowed_states(self.encoder, embedded.tokens, sentences, self.window)
        else:
            context = self.encoder(embedded.tokens, sentences, need_weights=need_weights)
        pooled = self.pooling(context.states, sentences.valid, need_weights=need_weights)
        if embedded.summary is not None:
            pooled = Pooled(torch.cat([pooled.vector, embedded.summary], dim=-1), pooled.weights)
        return SideTrace(context, pooled)


class Network(nn.Module, ABC):
    """Base of the networks: a batch in, logits out.

    Args:
        sentence_encoder: shared by all sides.

    Attributes:
        sides: texts an example has.
        prefix: tokens the network puts in front of every text; none, or NULL.
    """

    sides: int
    prefix: tuple[str, ...] = ()

    def __init__(self, sentence_encoder: SentenceReader) -> None:
        super().__init__()
        self.sentence_encoder = sentence_encoder

    @abstractmethod
    def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
        """Run the network.

        Args:
            batch: one side for a text, two for a pair; or a `SharedBatch`, where examples share texts.
            need_weights: also return how each side was read; the logits are the same. Not of a `SharedBatch`.

        Returns:
            Logits, vectors and traces.

        Raises:
            UsageError: if the batch has the wrong number of sides, or weights of a `SharedBatch` are asked for.
        """

    def check_sides(self, batch: Batch) -> None:
        """Refuse a batch with the wrong number of sides."""
        given = batch.places.shape[1] if isinstance(batch, SharedBatch) else len(batch.sides)
        if given != self.sides:
            raise UsageError(f"{type(self).__name__} takes {self.sides} text(s) an example; got {given}")


class VectorNetwork(Network):
    """Base of the networks that read every side alone and compare only the sentence vectors."""

    sentence_encoder: SentenceEncoder

    @property
    def vector_width(self) -> int:
        """Features of what `vector` gives."""
        return self.sentence_encoder.width_out

    def vector(self, sentences: Sentences) -> Tensor:
        """Return the vector of each text of a column, [B, D], as `encode` of a model gives it."""
        return self.sentence_encoder(sentences)[0]

    @abstractmethod
    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """Turn the sentence vectors, [B, D] a side, into logits [B, Y]."""

    def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
        """Run the network; see `Network.forward`. Of a `SharedBatch` every text is read once, with one dropout."""
        self.check_sides(batch)
        traces = tuple(self.sentence_encoder.read(side, need_weights=need_weights) for side in batch.sides)
        vectors = tuple(trace.pooled.vector for trace in traces)
        policies = tuple(trace.context.policy for trace in traces if trace.context.policy is not None)
        if isinstance(batch, SharedBatch):
            refuse_weights(need_weights)
            vectors, policies = shared_out(batch, vectors), shared_policies(batch, policies)
        return NetworkOutput(self.score(vectors), vectors, traces if need_weights else (), policies=policies)


class TextNetwork(VectorNetwork):
    """Classify a text.

    Args:
        sentence_encoder: text to vector.
        head: vector to logits.

    Attributes:
        sides: one.
    """

    sides = 1

    def __init__(self, sentence_encoder: SentenceEncoder, head: ClassifierHead) -> None:
        super().__init__(sentence_encoder)
        self.head = head

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """See `VectorNetwork.score`."""
        return self.head(vectors[0])


class PairNetwork(VectorNetwork):
    """Classify a pair by comparing the vectors of its two sentences.

    Args:
        sentence_encoder: shared by premise and hypothesis.
        head: match features [B, 4 D] to logits.
        matching: which match features; see `match_features`.

    Attributes:
        sides: two.
    """

    sides = 2

    def __init__(
        self, sentence_encoder: SentenceEncoder, head: ClassifierHead, *, matching: Matching = "signed"
    ) -> None:
        super().__init__(sentence_encoder)
        self.head = head
        self.matching: Matching = matching

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """See `VectorNetwork.score`."""
        return self.head(match_features(*vectors, matching=self.matching))


class RelatednessNetwork(VectorNetwork):
    """Grade how related two sentences are.

    Args:
        sentence_encoder: shared by both sentences.
        head: two vectors to logits over the grades.

    Attributes:
        sides: two.
    """

    sides = 2

    def __init__(self, sentence_encoder: SentenceEncoder, head: RelatednessHead) -> None:
        super().__init__(sentence_encoder)
        self.head = head

    def score(self, vectors: tuple[Tensor, ...]) -> Tensor:
        """See `VectorNetwork.score`."""
        return self.head(*vectors)


class MappedVectors(nn.Module):
    """A network whose sentence vectors pass a linear map, for training alone: the map fits them to those of a teacher.

    Args:
        network: what is trained; its own weights are those of the model.
        width_in: features of its sentence vectors, those of all sides side by side.
        width_out: features of the teacher's.
        seed: of the map's weights.
    """

    def __init__(self, network: Network, width_in: int, width_out: int, *, seed: int) -> None:
        super().__init__()
        self.network = network
        with drawing_from(seeded(seed)):
            self.map = Dense(width_in, width_out)

    def forward(self, batch: Batch) -> NetworkOutput:
        """Return what the network returns, with one mapped vector, [B, width_out], for those of its sides."""
        output: NetworkOutput = self.network(batch)
        return replace(output, vectors=(self.map(torch.cat(output.vectors, dim=-1)),))
