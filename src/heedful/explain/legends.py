"""What each map, gate and weight means, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAPS = {
    "forward": (
        "Each row is a word, each column an earlier word it looks at. A row sums to 1 over the earlier words; "
        "the first word has none. Averaged over features."
    ),
    "backward": (
        "Each row is a word, each column a later word it looks at. A row sums to 1 over the later words; "
        "the last word has none. Averaged over features."
    ),
}
_OTHER_MAP = (
    "Each row is a word, each column a word it looks at. A row sums to 1 over the words it may see. "
    "Averaged over features."
)
_GATE = (
    "1: the word keeps its own meaning; 0: it takes its context from the {name} map. Averaged over features."
)
_WEIGHTS = (
    "How much of the sentence vector comes from each word (source2token weight). The weights of a sentence sum to 1. "
    "Averaged over features."
)
_TREE = "Steps between two words in the dependency tree; a dot where there is no path."
_CHOSEN = "Outlined: word pairs against the reading direction that the mask selector opened."
_ALIGNMENT = "Rows are words of the first sentence, columns words of the second; {sums}."

CAVEAT = (
    "These pictures show where the network looked and how much it took from there. They do not prove why it decided; "
    "a deletion test measures how far the decision rests on the words with the largest weights."
)


def map_note(name: str, chosen: bool = False) -> str:
    """Return what an attention map shows.

    Args:
        name: its name; two blocks of one direction are called "forward 1" and "forward 2".
        chosen: whether a mask selector opened pairs against the direction.

    Returns:
        One to three plain sentences.
    """
    direction, _, number = name.partition(" ")
    if chosen or (number and not number.isdigit()):
        return _OTHER_MAP
    return _MAPS.get(direction, _OTHER_MAP)


def alignment_note(weights: NDArray[Any]) -> str:
    """Return what an alignment [n1, n2] shows: which sentence looks at which follows from what sums to 1."""
    directions = (
        "each column looks at the rows and sums to 1",
        "each row looks at the columns and sums to 1",
    )
    for axis, sums in enumerate(directions):
        if weights.size and np.allclose(weights.sum(axis=axis), 1, atol=0.02):
            return _ALIGNMENT.format(sums=sums)
    return _ALIGNMENT.format(sums="a cell says how strongly they are compared")


def default_notes(
    maps: Iterable[str],
    gates: Iterable[str],
    alignments: Mapping[str, NDArray[Any]],
    *,
    weights: bool,
    tree: bool,
    chosen: bool,
) -> dict[str, str]:
    """Collect the notes of everything an explanation holds.

    Args:
        maps: names of the attention maps.
        gates: names of the gates.
        alignments: the alignments by name, each [n1, n2].
        weights: whether there are source2token weights.
        tree: whether there are tree distances.
        chosen: whether a mask selector chose pairs.

    Returns:
        Note by "map NAME", "gate NAME", "alignment NAME", "weights", "tree_distance" and "chosen".
    """
    notes = {f"map {name}": map_note(name, chosen) for name in maps}
    notes |= {f"gate {name}": _GATE.format(name=name) for name in gates}
    notes |= {f"alignment {name}": alignment_note(values) for name, values in alignments.items()}
    plain = {"weights": (weights, _WEIGHTS), "tree_distance": (tree, _TREE), "chosen": (chosen, _CHOSEN)}
    return notes | {key: note for key, (present, note) in plain.items() if present}
