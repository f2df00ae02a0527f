"""What a network looked at while it read the texts of one example: records of arrays, the same with torch and without.

Explanations are drawn from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.attention_names import MapPlace
from heedful.model.answers import TagsAnswer

Values = NDArray[np.floating]


@dataclass(eq=False)
class Looked:
    """What a network looked at in one text of n tokens.

    Attributes:
        maps: attention by its place, [n, n], averaged over features where it has any.
        gates: fusion gates, [n], averaged over features.
        fusion: share of each attention in the state of each token, [n].
        weights: of the tokens in the sentence vector, [n], averaged over features; None where there are none.
        chosen: pairs that a policy opened, [n, n] bool; None without a policy.
        tree_distance: links between two tokens in the tree, [n, n]; None without a tree.
    """

    maps: dict[MapPlace, Values] = field(default_factory=dict)
    gates: dict[MapPlace, Values] = field(default_factory=dict)
    fusion: dict[MapPlace, Values] = field(default_factory=dict)
    weights: Values | None = None
    chosen: NDArray[np.bool_] | None = None
    tree_distance: NDArray[np.generic] | None = None


@dataclass(frozen=True, eq=False)
class Sight:
    """What a network made of one example, and what it looked at.

    Attributes:
        logits: unnormalized scores, [Y]; of a network that answers for each word [L, Y].
        texts: a record for each text; with the tokens that the network puts in front.
        alignments: weights of pairs of tokens of the first and the second text, [n1, n2].
        averaged: the places whose maps are averages over features.
        pieces: of a network that reads pieces of words the place of each token's word among the words of its text, [n]
            for each text; empty where a token is a word.
        prefix: tokens that the network puts in front of every text.
        has_summary: whether a text's vector has a part that is no word's, a pretrained encoder's own summary.
    """

    logits: Values
    texts: tuple[Looked, ...]
    alignments: dict[MapPlace, Values]
    averaged: frozenset[MapPlace]
    pieces: tuple[NDArray[np.int64], ...] = ()
    prefix: tuple[str, ...] = ()
    has_summary: bool = False


@dataclass(frozen=True, eq=False)
class TaggedText:
    """A text whose words were given their tags, and what the network looked at.

    Attributes:
        words: as the vocabulary reads them, at most as many as are read at a time.
        text: the text; of ready-made words these words with single spaces between them.
        answer: the tags.
        block: the text as the engine takes it.
        sight: what the network looked at.
    """

    words: tuple[str, ...]
    text: str
    answer: TagsAnswer
    block: Any
    sight: Sight
