"""MS-SAN's Figures 2 and 3 in numbers: the priors of heads, and the distances of all words from one of them.

    python -m heedful_lab.studies.prior_figures
    python -m heedful_lab.studies.prior_figures --text "A man sleeps" --heads "2,3,0" --word sleeps --alpha 1

The default is the paper's sentence, with the tree that its Figure 3 describes: "kids", "at" and "hand" hang on "wash".
``--heads`` gives the head of each word, from 1, and 0 for the root. A dot in a matrix is a word that is not seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

TEXT, HEADS, WORD = "Two kids at a ballgame wash their hand", "2,6,6,5,3,0,8,6", "wash"
PRIORS = (
    "forward & word", "forward & dependency", "forward", "backward & word", "backward & dependency", "backward",
)  # fmt: skip


def matrices(
    heads: Sequence[int], priors: Sequence[str] = PRIORS, alpha: float = 1.0
) -> dict[str, list[list[float]]]:
    """Compute what each head adds to its scores (Figure 2).

    Args:
        heads: of each word, from 1; 0 for the root.
        priors: as settings write them.
        alpha: weight of the distances.

    Returns:
        Prior to a matrix [L, L]: rows are the words that look; minus infinity where a word is not seen.
    """
    import torch

    from heedful.encoders.priors import parse_prior, prior_bias
    from heedful.structures import Sentences
    from heedful.text.dependency import tree_distances

    length = len(heads)
    tree = torch.from_numpy(tree_distances(list(heads)))[None]
    sentences = Sentences(
        torch.ones(1, length, dtype=torch.int64), torch.ones(1, length, dtype=torch.bool), tree
    )
    bias = prior_bias([parse_prior(prior) for prior in priors], alpha, sentences)[0]
    bias = bias.masked_fill(bias < -1e30, float("-inf"))  # what is not seen is a large finite number there
    return {prior: bias[number].tolist() for number, prior in enumerate(priors)}


def distances(heads: Sequence[int], word: int) -> tuple[list[int], list[int]]:
    """Compute how far each word is from one of them, in words and in the tree (Figure 3)."""
    found = matrices(heads, ["word", "dependency"])
    in_words, in_tree = ([round(-value) for value in found[kind][word]] for kind in ("word", "dependency"))
    return in_words, in_tree


def render(text: str, heads: Sequence[int], word: str, alpha: float) -> str:
    """Write both figures as tables in Markdown."""
    from heedful.tables import markdown_table

    words = text.split()
    blocks = []
    for prior, matrix in matrices(heads, PRIORS, alpha).items():
        rows = [
            [f"**{name}**", *("·" if value == float("-inf") else f"{value + 0.0:g}" for value in row)]
            for name, row in zip(words, matrix, strict=True)
        ]
        blocks.append("\n".join(markdown_table([prior, *words], rows)))
    in_words, in_tree = distances(heads, words.index(word))
    rows = [["in words", *map(str, in_words)], ["in the tree", *map(str, in_tree)]]
    blocks.append("\n".join(markdown_table([f"distance from {word}", *words], rows)))
    return "\n\n".join(blocks)


def main() -> None:
    """Print the figures of a sentence."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", default=TEXT, help="words, divided by spaces")
    parser.add_argument("--heads", default=HEADS, help="head of each word, from 1, and 0 for the root")
    parser.add_argument("--word", default=WORD, help="the word from which distances are measured")
    parser.add_argument("--alpha", type=float, default=1.0, help="weight of the distances")
    asked = parser.parse_args()
    try:
        heads = [int(head) for head in asked.heads.split(",")]
    except ValueError:
        parser.error(f"--heads: expected whole numbers separated by commas, got {asked.heads!r}")
    words = asked.text.split()
    if len(heads) != len(words) or not all(0 <= head <= len(words) for head in heads):
        parser.error(f"--heads: expected a number from 0 to {len(words)} for each of {len(words)} words")
    if asked.word not in words:
        parser.error(f"--word: {asked.word!r} is none of the words; choose one of {', '.join(words)}")
    print(render(asked.text, heads, asked.word, asked.alpha))


if __name__ == "__main__":
    main()
