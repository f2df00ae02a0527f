"""The networks that tag words: one tag a word, and semantic roles around one of a sentence's predicates."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.attention.randomness import own_generator
from heedful.encoders import ContextEncoder
from heedful.errors import UsageError
from heedful.models.config import TaggerConfig
from heedful.models.networks import Network, SentenceReader
from heedful.nn import Dense, Embedding
from heedful.structures import (
    Batch,
    ContextStates,
    NetworkOutput,
    PolicyRecord,
    Pooled,
    Sentences,
    SideTrace,
    TaggedBatch,
    TaggerOutput,
)


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


class WordReader(SentenceReader):
    """Words to one state a word.

    Args:
        embedding: word vectors.
        encoder: states in context.
    """

    def __init__(self, embedding: Embedding, encoder: ContextEncoder) -> None:
        super().__init__()
        self.embedding, self.encoder = embedding, encoder
        self.width_out = encoder.width_out


class WordTagger(Network):
    """Score the tags of every word: word vectors, encoder and one linear layer.

    Of a pretrained encoder a word's vector is that of its first piece.

    Args:
        reader: words to states.
        outputs: tags Y.
        dropout: on the input of the linear layer.

    Attributes:
        sides: one.
    """

    sides = 1
    sentence_encoder: WordReader

    def __init__(self, reader: WordReader, outputs: int, *, dropout: float = 0.0) -> None:
        super().__init__(reader)
        self.output = Dense(reader.width_out, outputs, dropout=dropout)

    def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
        """Run the network; see `Network.forward`. The logits are those of each word, [B, L, Y]."""
        self.check_sides(batch)
        reader, tokens = self.sentence_encoder, batch.sides[0]
        words, sentences = at_first_pieces(reader.embedding.embed(tokens).tokens, tokens)
        context = reader.encoder(words, sentences, need_weights=need_weights)
        return NetworkOutput(
            self.output(context.states),
            (),
            traces=_traces(context, need_weights),
            policies=_policies(context),
        )


def _traces(context: ContextStates, need_weights: bool) -> tuple[SideTrace, ...]:
    """Return the traces of an output that has no sentence vector."""
    states = context.states
    return (SideTrace(context, Pooled(states.new_zeros(len(states), 0))),) if need_weights else ()


def _policies(context: ContextStates) -> tuple[PolicyRecord, ...]:
    return () if context.policy is None else (context.policy,)


class PredicateFinder(nn.Module):
    """Score every word to be a predicate, from the vectors of the words around it.

    ``w · relu([x_{i-r} ; ... ; x_{i+r}] W + b) + c``, with zeros beyond the sentence. It learns beside the tagger and
    from the same word vectors, but gives them no gradient: a tagger is what it would be without it.

    Args:
        width: features D of a word vector.
        hidden: features of the hidden layer.
        reach: r, words on each side.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, hidden: int, *, reach: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.reach = reach
        self.hidden = Dense((2 * reach + 1) * width, hidden, activation="relu", dropout=dropout)
        self.output = Dense(hidden, 1, dropout=dropout)

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        """Score.

        Args:
            x: word vectors, [B, L, D]; padding may hold anything.
            valid: True at a real token, [B, L] bool.

        Returns:
            Unnormalized scores, [B, L]; 0 at padding.
        """
        x = nn.functional.pad(x.detach().masked_fill(~valid[..., None], 0), (0, 0, self.reach, self.reach))
        windows = x.unfold(1, 2 * self.reach + 1, 1).transpose(-1, -2).flatten(-2)
        scores: Tensor = self.output(self.hidden(windows))[..., 0]
        return scores.masked_fill(~valid, 0)


class TaggedReader(WordReader):
    """Words and the mark of the predicate to one state a word.

    A word's vector and one of two learned vectors, for the predicate and for every other word, stand side by side (He
    et al., 2017; Tan et al., 2018).

    Args:
        embedding: word vectors.
        encoder: reads vectors of `vector_width` features.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range.
    """

    def __init__(self, embedding: Embedding, encoder: ContextEncoder, config: TaggerConfig) -> None:
        super().__init__(embedding, encoder)
        marks = nn.init.xavier_uniform_(torch.empty(2, config.flag_width), generator=own_generator())
        self.flags = nn.Embedding.from_pretrained(marks, freeze=False)
        both = embedding.width + config.flag_width
        self.projection = Dense(both, config.projected) if config.projected else nn.Identity()

    @staticmethod
    def vector_width(word_width: int, config: TaggerConfig) -> int:
        """Return the features of what the encoder reads."""
        return config.projected or word_width + config.flag_width

    def read(
        self, sentences: Sentences, words: Tensor, flags: Tensor, *, need_weights: bool = False
    ) -> ContextStates:
        """Encode.

        Args:
            sentences: B sentences.
            words: their vectors, [B, L, D].
            flags: True at the predicate, [B, L] bool.
            need_weights: also return maps and gates.

        Returns:
            One state a word.
        """
        x = self.projection(torch.cat([words, self.flags(flags.long())], dim=-1))
        context: ContextStates = self.encoder(x, sentences, need_weights=need_weights)
        return context


class TaggerNetwork(Network):
    """Score the tags of every word around a predicate, and every word to be a predicate.

    The published tagger (Shen et al., 2019, after Tan et al., 2018) is words and flags of 100 features each, a stack of
    ten layers, and one linear layer. Here a projection may bring wider word vectors to the width of the stack, and the
    search for predicates is added.

    Args:
        reader: words and flags to states.
        finder: words to predicates.
        outputs: tags Y.

    Attributes:
        sides: one.
    """

    sides = 1
    sentence_encoder: TaggedReader

    def __init__(self, reader: TaggedReader, finder: PredicateFinder, outputs: int) -> None:
        super().__init__(reader)
        self.finder = finder
        self.output = Dense(reader.width_out, outputs)

    def forward(self, batch: Batch, *, need_weights: bool = False) -> TaggerOutput:
        """Run the network; see `Network.forward`.

        Args:
            batch: sentences with the predicate flagged.
            need_weights: also return how the sentences were read.

        Returns:
            Logits of the tags and of the predicates.

        Raises:
            UsageError: if the batch flags no predicates.
        """
        self.check_sides(batch)
        if not isinstance(batch, TaggedBatch) or batch.flags is None:
            raise UsageError(
                "a tagger takes a TaggedBatch with flags, True at the predicate; got a batch without"
            )
        sentences = batch.sides[0]
        words = self.sentence_encoder.embedding.embed(sentences).tokens
        context = self.sentence_encoder.read(sentences, words, batch.flags, need_weights=need_weights)
        logits, found = self.output(context.states), self.finder(words, sentences.valid)
        return TaggerOutput(
            logits,
            (),
            predicate_logits=found,
            traces=_traces(context, need_weights),
            policies=_policies(context),
        )

    def find(self, sentences: Sentences) -> Tensor:
        """Score every word to be a predicate, [B, L]; see `PredicateFinder.forward`."""
        words = self.sentence_encoder.embedding.embed(sentences).tokens
        found: Tensor = self.finder(words, sentences.valid)
        return found
