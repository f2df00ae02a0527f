"""What the papers call the parts of each system; no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class System:
    """How an explanation speaks of one system.

    Attributes:
        name: what its paper calls it.
        maps: what its paper calls the attention behind a map, by the last word of the map's name; "" serves the rest.
        averaged: what the last axis of a map holds, over which it is averaged where there is one.
        gate: what its paper calls the gate.
        chosen: what a mask selector's choices mean here.
        more: one more sentence on every map.
    """

    name: str
    maps: Mapping[str, str] = field(default_factory=dict)
    averaged: str = "features"
    gate: str = "Fusion gate"
    chosen: str = ""
    more: str = ""

    def attention(self, name: str) -> str:
        """Return what the paper calls the attention behind a map, or nothing."""
        return self.maps.get(name.rsplit(" ", 1)[-1], self.maps.get("", ""))


_TENSORIZED = {"": "Tensorized self-attention"}
_DOT_HEADS = {"": "Multi-head dot-product attention"}

SYSTEMS: dict[str, System] = {
    "bi-blosan": System(
        "Bi-BloSAN",
        {"": "Masked self-attention within blocks (mBloSA)"},
        more="A word sees only words of its own block here; blocks meet in a second attention that is not drawn.",
    ),
    "bi-gru": System("Bi-GRU"),
    "bi-lstm": System("Bi-LSTM"),
    "cnn": System("CNN"),
    "decomposable": System("Decomposable attention", {"": "Intra-sentence attention"}),
    "deep-att": System("DeepAtt", _DOT_HEADS),
    "disan": System("DiSAN", {"": "Directional self-attention (DiSA)"}, gate="Fusion gate F"),
    "distance-san": System(
        "Distance-based self-attention",
        {"": "Masked multi-head attention"},
        averaged="heads",
        more="Words far away in the sentence count less.",
    ),
    "embedding": System("Word vectors without context"),
    "hierarchical-cnn": System("Hierarchical CNN"),
    "intra-sentence": System("Intra-sentence attention", {"": "Intra-sentence attention"}),
    "mdman": System(
        "MDMAN",
        {"self": "Dynamic mask self-attention", "dot": "Dynamic mask dot attention"},
        gate="Fusion gate F",
        chosen="Pairs that the mask selector opened: the row may look at the column in every map. In the maps, an "
        "outlined cell is one that is open only for that, against the map's direction.",
    ),
    "mssan": System("MS-SAN", {"": "Multiple structural priors guided self-attention"}),
    "mtsa": System("MTSA", _TENSORIZED, averaged="features"),
    "mtsa-deep-att": System("MTSA in DeepAtt", _TENSORIZED, averaged="features of the head"),
    "mtsa-paper": System("MTSA", _TENSORIZED),
    "mtsa-stacked": System("MTSA", _TENSORIZED, averaged="features of the head"),
    "mtsa-transformer": System("MTSA in the Transformer", _TENSORIZED, averaged="features of the head"),
    "multi-head": System("Multi-head attention", _DOT_HEADS),
    "resan": System(
        "ReSAN",
        {"": "Reinforced self-attention (ReSA)"},
        chosen="Pairs that the selector kept: the row was selected to look and the column to be seen. A word whose row "
        "is empty takes the mean of all other words.",
    ),
    "transformer": System("Transformer", _DOT_HEADS),
}
"""Encoder to its terms. Every encoder of `heedful.models` has to be here: a test compares the two."""

POOLINGS: dict[str, str] = {
    "source2token": "How much of the sentence vector comes from each word (source2token weight). The weights of a "
    "sentence sum to 1. Averaged over features.",
    "additive": "How much of the sentence vector comes from each word (additive attention). The weights of a sentence "
    "sum to 1.",
    "attentive-max": "How much of the sentence vector comes from each word: in its first half by attention, in its "
    "second by holding a feature's maximum. The weights of a sentence sum to 1. Averaged over features.",
    "attentive-max-norm": "How much of the sentence vector comes from each word: in its first half by attention, in "
    "its second by holding a feature's maximum. The weights of a sentence sum to 1. Averaged over features.",
    "mean": "The sentence vector is the mean of its words: every word weighs the same.",
    "max": "The share of features whose maximum each word holds. The weights of a sentence sum to 1.",
}
"""Pooling to what its weights mean."""
