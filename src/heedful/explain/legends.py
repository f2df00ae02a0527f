"""What each map, gate and weight means, in plain words."""

from __future__ import annotations

from collections.abc import Iterable

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
_ALIGNMENT = "Each row is a word of the first sentence, each column a word of the second it is compared with."

CAVEAT = (
    "These pictures show where the network looked and how much it took from there. They do not prove why it decided; "
    "the deletion test measures how far the decision rests on the words with the largest weights."
)


def map_note(name: str) -> str:
    """Return what an attention map of this name shows."""
    direction, _, number = name.partition(
        " "
    )  # two blocks of one direction are called "forward 1", "forward 2"
    return _MAPS.get(direction, _OTHER_MAP) if not number or number.isdigit() else _OTHER_MAP


def default_notes(
    maps: Iterable[str],
    gates: Iterable[str],
    alignments: Iterable[str],
    *,
    weights: bool,
    tree: bool,
    chosen: bool,
) -> dict[str, str]:
    """Collect the notes of everything an explanation holds.

    Args:
        maps: names of the attention maps.
        gates: names of the gates.
        alignments: names of the alignments.
        weights: whether there are source2token weights.
        tree: whether there are tree distances.
        chosen: whether a mask selector chose pairs.

    Returns:
        Note by "map NAME", "gate NAME", "alignment NAME", "weights", "tree_distance" and "chosen".
    """
    notes = {f"map {name}": map_note(name) for name in maps}
    notes |= {f"gate {name}": _GATE.format(name=name) for name in gates}
    notes |= {f"alignment {name}": _ALIGNMENT for name in alignments}
    plain = {"weights": (weights, _WEIGHTS), "tree_distance": (tree, _TREE), "chosen": (chosen, _CHOSEN)}
    return notes | {key: note for key, (present, note) in plain.items() if present}
