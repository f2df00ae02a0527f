"""The legends: what each map, gate and weight means, under the name that the paper uses. Imports no torch.

A caption names a map, a gate or an alignment by its place in the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from heedful.attention_names import MapPlace
from heedful.model.engine import NO_NETWORK

if TYPE_CHECKING:
    from heedful.explain.explanation_record import Array, SentenceView


@dataclass(frozen=True)
class SystemNames:
    """The names that an explanation uses for one system.

    Attributes:
        name: the name in its paper.
        maps: the paper's name for the attention of a map, by the kind of the map; "" is for all other kinds.
        gate: the paper's name for the gate.
        chosen: the meaning of a mask selector's choices.
        more: one more sentence for every map.
    """

    name: str
    maps: Mapping[str, str] = field(default_factory=dict)
    gate: str = "Fusion gate"
    chosen: str = ""
    more: str = ""

    def attention(self, kind: str) -> str:
        """Return what the paper calls the attention behind a map of a kind, or nothing."""
        return self.maps.get(kind, self.maps.get("", ""))


_TENSORIZED = {"": "Tensorized self-attention"}
_DOT_HEADS = {"": "Multi-head dot-product attention"}

SYSTEMS: dict[str, SystemNames] = {
    "bi-blosan": SystemNames(
        "Bi-BloSAN",
        {"": "Masked self-attention within blocks (mBloSA)"},
        more="A word sees only words of its own block here; blocks meet in a second attention that is not drawn.",
    ),
    "bi-gru": SystemNames("Bi-GRU"),
    "bi-lstm": SystemNames("Bi-LSTM"),
    "cnn": SystemNames("CNN"),
    "decomposable": SystemNames("Decomposable attention", {"": "Intra-sentence attention"}),
    "deep-att": SystemNames("DeepAtt", _DOT_HEADS),
    "disan": SystemNames("DiSAN", {"": "Directional self-attention (DiSA)"}, gate="Fusion gate F"),
    "distance-san": SystemNames(
        "Distance-based self-attention",
        {"": "Masked multi-head attention"},
        more="Words far away in the sentence count less.",
    ),
    "embedding": SystemNames("Word vectors without context"),
    NO_NETWORK: SystemNames("Linear parts without a network"),
    "hierarchical-cnn": SystemNames("Hierarchical CNN"),
    "intra-sentence": SystemNames("Intra-sentence attention", {"": "Intra-sentence attention"}),
    "mdman": SystemNames(
        "MDMAN",
        {"self": "Dynamic mask self-attention", "dot": "Dynamic mask dot attention"},
        gate="Fusion gate F",
        chosen="Pairs that the mask selector opened: the row may look at the column in every map. In the maps, an "
        "outlined cell is one that is open only for that, against the map's direction.",
    ),
    "mssan": SystemNames("MS-SAN", {"": "Multiple structural priors guided self-attention"}),
    "mtsa": SystemNames("MTSA", _TENSORIZED),
    "mtsa-deep-att": SystemNames("MTSA in DeepAtt", _TENSORIZED),
    "mtsa-paper": SystemNames("MTSA", _TENSORIZED),
    "mtsa-stacked": SystemNames("MTSA", _TENSORIZED),
    "mtsa-transformer": SystemNames("MTSA in the Transformer", _TENSORIZED),
    "multi-head": SystemNames("Multi-head attention", _DOT_HEADS),
    "resan": SystemNames(
        "ReSAN",
        {"": "Reinforced self-attention (ReSA)"},
        chosen="Pairs that the selector kept: the row was selected to look and the column to be seen. A word whose row "
        "is empty takes the mean of all other words.",
    ),
    "transformer": SystemNames("Transformer", _DOT_HEADS),
}
"""Encoder to its terms. Every encoder of `heedful.models` has to be here: a test compares the two."""

POOLINGS: dict[str, str] = {
    "source2token": "How much of the sentence vector comes from each word (source2token weight). The weights of a "
    "sentence sum to 1. Averaged over features.",
    "additive": "How much of the sentence vector comes from each word (additive attention). The weights of a sentence "
    "sum to 1.",
    "dot-product": "How much of the sentence vector comes from each word (dot-product attention from the mean of the "
    "words). The weights of a sentence sum to 1.",
    "multi-dimensional": "How much of the sentence vector comes from each word (multi-dimensional attention from the "
    "mean of the words). The weights of a sentence sum to 1. Averaged over features.",
    "attentive-max": "How much of the sentence vector comes from each word: in its first half by attention, in its "
    "second by holding a feature's maximum. The weights of a sentence sum to 1. Averaged over features.",
    "attentive-max-norm": "How much of the sentence vector comes from each word: in its first half by attention, in "
    "its second by holding a feature's maximum. The weights of a sentence sum to 1. Averaged over features.",
    "mean": "The sentence vector is the mean of its words: every word weighs the same.",
    "max": "The share of features whose maximum each word holds. The weights of a sentence sum to 1.",
}
"""Pooling to what its weights mean."""
_OTHER = "How much of the sentence vector comes from each word."
"""Of a pooling that a program has registered."""


_DISTANCES = {
    "word": "Words far away in the sentence count less.",
    "dependency": "Words far away in the dependency tree count less.",
}
_NO_PARSE = "There is no parse here, so that what stands in for it was used."
_GATE = "{gate}. 1: the word keeps its own meaning; 0: it takes its context{source}.{averaged}"
_TREE = "Steps between two words in the dependency tree; a dot where there is no path."
_CHOSEN = "Pairs of words that a mask selector chose: the row may look at the column."
_FUSION = (
    "Attention fusion: how much of a word's state comes from each attention. The shares of a word sum to 1."
)
_ALIGNMENT = "Rows are words of the first sentence, columns words of the second; {sums}."

LETTERS = "what they contribute comes from their letters and from where they stand"
"""Said of words that a model does not know."""
CAVEAT = (
    "Attention maps, gates and links show where the network looked and how much it took from there. They do not prove "
    "why it decided; "
    "a deletion test measures how far the decision rests on the words with the largest weights."
)


def map_note(
    place: MapPlace, maps: Sequence[Array], system: SystemNames, *, averaged: str, parsed: bool = True
) -> str:
    """Return what an attention map shows.

    Args:
        place: where it stands in the network.
        maps: the map of each side, [n, n]; what a word can see is read off them.
        system: how its paper speaks.
        averaged: over what it is an average, for example "features"; empty if over nothing.
        parsed: whether the sentences came with a parse.

    Returns:
        Plain sentences.
    """
    seen, over, none = _visible(maps)
    attention = system.attention(place.kind)
    parts = [
        f"{attention}." if attention else "",
        f"Each row is a word, each column {seen} it looks at. A row sums to 1 over {over}{none}.",
        *_distance(place.distance, parsed),
        system.more,
        f"Averaged over {averaged}." if averaged else "",
    ]
    return " ".join(part for part in parts if part)


def _visible(maps: Sequence[Array]) -> tuple[str, str, str]:
    """Return what a column is, what a row sums over, and who sees nothing."""
    before = any(np.tril(weights, -1).any() for weights in maps)
    after = any(np.triu(weights, 1).any() for weights in maps)
    itself = any(np.diagonal(weights).any() for weights in maps)
    if before == after:
        return "a word", "the words it may see", ""
    which, end = ("earlier", "first") if before else ("later", "last")
    if itself:
        return f"the word itself or {_an(which)} word", f"itself and the {which} words", ""
    return f"{_an(which)} word", f"the {which} words", f"; the {end} word has none"


def _an(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _distance(kind: str, parsed: bool) -> list[str]:
    notes = [_DISTANCES[kind]] if kind in _DISTANCES else []
    return [*notes, _NO_PARSE] if kind == "dependency" and not parsed else notes


def gate_note(name: str, maps: Sequence[str], system: SystemNames, *, averaged: bool = True) -> str:
    """Return what a gate shows.

    Args:
        name: its name.
        maps: names of the maps; a gate with the name of one takes its context from there.
        system: how its paper speaks.
        averaged: whether it is an average over features.

    Returns:
        Plain sentences.
    """
    source = " from the map of that name" if name in maps else ""
    return _GATE.format(
        gate=system.gate, source=source, averaged=" Averaged over features." if averaged else ""
    )


def alignment_note(weights: Array) -> str:
    """Return what an alignment [n1, n2] shows: which sentence looks at which follows from what sums to 1."""
    directions = (
        "each column looks at the rows and sums to 1",
        "each row looks at the columns and sums to 1",
    )
    for axis, sums in enumerate(directions):
        if weights.size and np.allclose(weights.sum(axis=axis), 1, atol=0.02):
            return _ALIGNMENT.format(sums=sums)
    return _ALIGNMENT.format(sums="a cell says how strongly they are compared")


def shared_place(place: MapPlace) -> MapPlace:
    """Return the place that all heads of a layer share which have one mask.

    Heads with a number and a rule, those of MS-SAN, stay apart.
    """
    return replace(place, number=None, head=place.head if place.rule else None, axis="")


def default_notes(
    views: Sequence[SentenceView],
    alignments: Mapping[str, Array],
    system: SystemNames,
    *,
    averaged: Mapping[str, str] | None = None,
    pooling: str = "source2token",
) -> dict[str, str]:
    """Collect the notes of everything an explanation holds.

    Args:
        views: the sides.
        alignments: the alignments by name, each [n1, n2].
        system: how the paper speaks.
        averaged: caption of a map to what it is an average over; None if no map is an average.
        pooling: what made the sentence vector.

    Returns:
        Note by "map NAME", "gate NAME", "alignment NAME", "weights", "tree_distance", "chosen" and "fusion".
    """
    names = list(dict.fromkeys(name for view in views for name in view.maps))
    gates = dict.fromkeys(name for view in views for name in view.gates)
    parsed = all(view.tree_distance is not None for view in views)
    notes = {}
    for name in names:
        maps = [view.maps[name] for view in views if name in view.maps]
        place = next((view.places[name] for view in views if name in view.places), MapPlace(name))
        over = (averaged or {}).get(name, "")
        notes[f"map {name}"] = map_note(place, maps, system, averaged=over, parsed=parsed)
    notes |= {f"gate {name}": gate_note(name, names, system) for name in gates}
    notes |= {f"alignment {name}": alignment_note(values) for name, values in alignments.items()}
    plain = {
        "weights": (any(view.weights is not None for view in views), POOLINGS.get(pooling, _OTHER)),
        "tree_distance": (any(view.tree_distance is not None for view in views), _TREE),
        "chosen": (any(view.chosen is not None for view in views), system.chosen or _CHOSEN),
        "fusion": (any(view.fusion for view in views), _FUSION),
    }
    return notes | {key: note for key, (present, note) in plain.items() if present}


Value = TypeVar("Value")


def caption(place: MapPlace) -> str:
    """Name a map, a gate or an alignment.

    >>> caption(MapPlace("forward", number=2))
    'forward 2'
    >>> caption(MapPlace("forward & word", layer=2, head=3))
    'layer 2, head 3: forward & word'

    Args:
        place: where it stands in the network.

    Returns:
        Its layer, its head or its rule, as far as they tell it from others; "fusion" where nothing does.
    """
    blocks = [f"encoder {place.encoder}"] if place.encoder is not None else []
    blocks += [f"layer {place.layer}"] if place.layer is not None else []
    number = "" if place.number is None else str(place.number)
    own = " ".join(part for part in (place.rule, number, place.kind) if part)
    if place.head is None:
        return " ".join([*blocks, own]) if own else ", ".join(blocks) or "fusion"
    head = f"head {place.head}"
    return ", ".join([*blocks, f"{head}: {own}"]) if own else " ".join([*blocks, head])


def by_caption(values: Mapping[MapPlace, Value]) -> dict[str, Value]:
    """Return the same values by their captions.

    Args:
        values: by their places.

    Returns:
        The values in the same order.
    """
    return {caption(place): value for place, value in values.items()}
