"""The records that cross the boundary between the data side and the math side.

Axis letters, used in every docstring and as suffixes of local names:
B batch, L tokens (Q queries and K keys where the two differ), H heads, D features, C features of one head, Y classes.

Polarity, everywhere: ``valid`` is True at a real token, ``keep`` is True where a query may attend to a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from heedful.attention_names import MapPlace

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Spellings:
    """The n-grams of the words of a batch, each distinct word once.

    Attributes:
        places: which of the distinct words each token is, [B, L] int64; the last, W - 1, has no n-grams and stands at
            padding.
        rows: rows of all n-grams end to end, [T] int64.
        offsets: where those of each distinct word begin, and the end, [W + 1] int64.
    """

    places: Tensor
    rows: Tensor
    offsets: Tensor

    def to(self, device: torch.device | str) -> Spellings:
        """Copy to a device."""
        return Spellings(self.places.to(device), self.rows.to(device), self.offsets.to(device))


@dataclass(frozen=True)
class Sentences:
    """One column of sentences of a batch, padded to a common length.

    Attributes:
        ids: ids of words or of word pieces, [B, L] int64; 0 at padding.
        valid: True at a real token, [B, L] bool. A sentence without words has no True.
        tree_distance: steps between two tokens in the dependency tree, [B, L, L] int16; -1 where there is no path
            or no parse. None when no parse was asked for.
        words: place of each piece's word in its sentence, [B, L] int64, 0 at padding; None where tokens are words.
        heads: place of the head of each token's word among the words of its sentence, [B, L] int64; -1 for a root, an
            unknown head and padding. None when no parse was asked for.
        spellings: the n-grams of the tokens; None where words are their own rows alone.
    """

    ids: Tensor
    valid: Tensor
    tree_distance: Tensor | None = None
    words: Tensor | None = None
    heads: Tensor | None = None
    spellings: Spellings | None = None

    def to(self, device: torch.device | str) -> Sentences:
        """Copy to a device."""
        tree, words, heads = (
            None if part is None else part.to(device) for part in (self.tree_distance, self.words, self.heads)
        )
        spellings = None if self.spellings is None else self.spellings.to(device)
        return Sentences(self.ids.to(device), self.valid.to(device), tree, words, heads, spellings)


@dataclass(frozen=True)
class Embedded:
    """What an embedding returns.

    Attributes:
        tokens: one vector a token, [B, L, D]; zero at padding.
        summary: one vector a sentence that the embedding has of its own ([CLS]), [B, D]; exactly zero for a sentence
            without words. None without one.
    """

    tokens: Tensor
    summary: Tensor | None = None


@dataclass(frozen=True)
class Batch:
    """What a network takes: one column of sentences for a text, two for a pair.

    Attributes:
        sides: the columns, each with the same B.
        targets: class numbers [B] int64, or scores [B] float32; None when there is no gold.
        rows: row of each example in its data set, so that a bad batch can be named.
        weights: how much each example counts in training, [B] float32; None where all count alike.
    """

    sides: tuple[Sentences, ...]
    targets: Tensor | None = None
    rows: tuple[int, ...] = ()
    weights: Tensor | None = field(default=None, kw_only=True)

    def to(self, device: torch.device | str) -> Batch:
        """Copy to a device."""
        targets, weights = (None if x is None else x.to(device) for x in (self.targets, self.weights))
        return replace(
            self, sides=tuple(side.to(device) for side in self.sides), targets=targets, weights=weights
        )


@dataclass(frozen=True, kw_only=True)
class SharedBatch(Batch):
    """A batch in which a text that several examples share stands once.

    Attributes:
        sides: the M distinct texts of all sides, not one column a side but columns of texts of similar length.
        places: which text each example has on each of its S sides, counted through all columns, [B, S] int64.
    """

    places: Tensor

    def to(self, device: torch.device | str) -> SharedBatch:
        """Copy to a device."""
        moved = super().to(device)
        places = self.places.to(device)
        return SharedBatch(moved.sides, moved.targets, moved.rows, weights=moved.weights, places=places)


@dataclass(frozen=True)
class TaggedBatch(Batch):
    """A batch whose words are tagged around one predicate a sentence.

    Attributes:
        targets: [B, L, 2] int64: the number of each word's tag, and whether it is a predicate (1) or not (0); -1 where
            that is not counted. None when there is no gold.
        flags: True at the predicate that is asked about, [B, L] bool; nowhere in a sentence without one. None asks
            about no predicate.
    """

    flags: Tensor | None = None

    def to(self, device: torch.device | str) -> TaggedBatch:
        """Copy to a device."""
        moved = super().to(device)
        flags = None if self.flags is None else self.flags.to(device)
        return TaggedBatch(moved.sides, moved.targets, moved.rows, flags, weights=moved.weights)


@dataclass(frozen=True)
class PolicyRecord:
    """What a policy chose for one column of sentences, and how it is to be rewarded.

    Attributes:
        log_prob: log-probability of everything it chose for a sentence, [B]; the policy's gradient flows through it.
        share: how much it chose, [B], 0 to 1; reduces the reward.
        chosen: pairs (query, key) that it opened, [B, Q, K] bool.
        penalty: the reward is the log-likelihood of the target minus ``penalty * share``.
        baseline: moving average of the reward, [1], to be trained by the loss; None for none.
        encoder_learns: whether the loss trains everything but the policy.
        policy_learns: whether the loss trains the policy.
        chances: probability of each token to be chosen as a query and as a key, [B, L, 2], without gradient; 0 at
            padding. None where the policy did not act, or sentences of several lengths were put together.
    """

    log_prob: Tensor
    share: Tensor
    chosen: Tensor
    penalty: float
    baseline: Tensor | None
    encoder_learns: bool
    policy_learns: bool
    chances: Tensor | None = None


Maps = Mapping[MapPlace, "Tensor"]


@dataclass(frozen=True)
class Factors:
    """The scores that tensorized maps are made of, each normalized alone.

    Attributes:
        token2token: of pairs, [B, Q, K], over the keys that a query sees.
        source2token: of tokens, [B, L, C], over the tokens.
    """

    token2token: Maps = field(default_factory=dict)
    source2token: Maps = field(default_factory=dict)


@dataclass(frozen=True)
class ContextStates:
    """What an encoder returns: one vector a token, and on request what it looked at.

    Attributes:
        states: [B, L, D]; exactly zero at padding.
        maps: attention weights, each [B, Q, K] or with one axis more, [B, Q, K, D]; empty unless asked for.
        gates: gate values, each [B, L, D]; 1 keeps the word, 0 takes its context. Empty unless asked for.
        policy: what a mask selector chose; None without one.
        fusion: share of each map's result in a token's state, each [B, L]; the shares of a token sum to 1. Empty
            without a fusion of attentions, and unless asked for.
        factors: the scores that tensorized maps are made of; None elsewhere, and unless asked for.
    """

    states: Tensor
    maps: Maps = field(default_factory=dict)
    gates: Maps = field(default_factory=dict)
    policy: PolicyRecord | None = None
    fusion: Maps = field(default_factory=dict)
    factors: Factors | None = None


@dataclass(frozen=True)
class Pooled:
    """What a pooling returns.

    Attributes:
        vector: [B, D]; exactly zero for a sentence without words.
        weights: weight of each token for each feature, [B, L, D]; None unless asked for.
    """

    vector: Tensor
    weights: Tensor | None = None


@dataclass(frozen=True)
class SideTrace:
    """How one side of a batch was read: the encoder's maps and gates and the pooling's weights."""

    context: ContextStates
    pooled: Pooled


@dataclass(frozen=True)
class NetworkOutput:
    """What a network returns.

    Attributes:
        logits: unnormalized class scores, [B, Y].
        vectors: the sentence vector of each side, [B, D] each.
        traces: one record a side; empty unless asked for.
        alignments: attention between the two sides, each [B, L1, L2]; rows are tokens of the first side.
            Empty unless the network aligns and it was asked for.
        policies: what a mask selector chose, one record a side; empty without one.
    """

    logits: Tensor
    vectors: tuple[Tensor, ...]
    traces: tuple[SideTrace, ...] = ()
    alignments: Maps = field(default_factory=dict)
    policies: tuple[PolicyRecord, ...] = ()


@dataclass(frozen=True)
class TaggerOutput(NetworkOutput):
    """What a network returns that tags words.

    Attributes:
        logits: unnormalized scores of the tags of each word, [B, L, Y].
        vectors: none.
        predicate_logits: unnormalized score of each word to be a predicate, [B, L]; None unless asked for.
    """

    predicate_logits: Tensor | None = None
