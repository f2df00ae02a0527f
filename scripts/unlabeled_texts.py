"""Write the texts without labels that docs/distillation.md gives to teachers, from the data sets at hand.

    python scripts/unlabeled_texts.py --data DIR --out FOLDER [--copies N]

Three files of texts, one text in each line, and a table of pairs:

- subj.txt: the sentences of SUBJ, without those that share a run of 30 letters with a sentence of the dev or test split
  of SST, in any case and spacing; both come from reviews on one site.
- phrases.txt: 12,000 distinct phrases of two to six words from the training trees of SST.
- swapped.txt: sentences of the training trees of SST in which one to three phrases have been exchanged for phrases of
  other training trees that begin with the same word and are about as long.
- snli.csv: the 40,000 pairs of SNLI's training part that follow the first 10,000, without their labels.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from heedful.data import catalog
from heedful.data.readers.sst import Node, parse_tree, unescape_word
from heedful.data.readers.text_lines import numbered_lines
from heedful.storage import write_text

SHARED_RUN = 30
PHRASES, PHRASE_WORDS = 12_000, (2, 6)
SWAPS = 3
LABELED_PAIRS, FURTHER_PAIRS = 10_000, 40_000

Tree = tuple[list[str], list[Node]]


def letters(text: str) -> str:
    """Return the letters of a text in lower case."""
    return re.sub(r"[^a-z]", "", text.lower())


def without_shared(texts: Iterable[str], held: Iterable[str]) -> list[str]:
    """Return the texts that share no run of `SHARED_RUN` letters with a held-out text."""
    runs = set()
    for text in held:
        flat = letters(text)
        runs.update(flat[start : start + SHARED_RUN] for start in range(max(1, len(flat) - SHARED_RUN + 1)))
    kept = []
    for text in texts:
        flat = letters(text)
        places = range(max(1, len(flat) - SHARED_RUN + 1))
        if not any(flat[start : start + SHARED_RUN] in runs for start in places):
            kept.append(text)
    return kept


def read_trees(data: Path) -> list[Tree]:
    """Return words and nodes of SST's training trees."""
    file = data / "sst" / "trees" / "train.txt.xz"
    trees = [parse_tree(line) for _, line in numbered_lines(file) if line.strip()]
    return [([unescape_word(word) for word in words], nodes) for words, nodes in trees]


def short_phrases(trees: list[Tree], draw: random.Random) -> list[str]:
    """Return distinct short phrases of the trees."""
    least, most = PHRASE_WORDS
    found = {
        " ".join(words[node.start : node.end])
        for words, nodes in trees
        for node in nodes
        if least <= node.end - node.start <= most
    }
    return draw.sample(sorted(found), PHRASES)


def kind(words: list[str]) -> tuple[str, int]:
    """Return what phrases that may take each other's place have in common: the first word, and about the length."""
    return words[0].lower(), len(words) // 3


def swapped_sentences(trees: list[Tree], copies: int, draw: random.Random) -> list[str]:
    """Return sentences with phrases of other sentences."""
    phrases: dict[tuple[str, int], list[list[str]]] = defaultdict(list)
    for words, nodes in trees:
        for node in nodes[1:]:
            if node.end - node.start > 2:
                phrases[kind(words[node.start : node.end])].append(words[node.start : node.end])
    made = set()
    for words, nodes in trees:
        for _ in range(copies):
            sentence, lowest = list(words), len(words)
            inner = [node for node in nodes[1:] if 2 < node.end - node.start <= 0.6 * len(words)]
            chosen = draw.sample(inner, min(SWAPS, len(inner)))
            for node in sorted(chosen, key=lambda node: -node.start):
                span = words[node.start : node.end]
                if node.end <= lowest and len(phrases[kind(span)]) > 1:
                    sentence[node.start : node.end] = draw.choice(phrases[kind(span)])
                    lowest = node.start
            if sentence != words:
                made.add(" ".join(sentence))
    return sorted(made)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="Folder of the data sets.")
    parser.add_argument("--out", type=Path, required=True, help="Folder of the files.")
    parser.add_argument("--copies", type=int, default=3, help="Swapped copies of each sentence of SST.")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    def texts(name: str, split: str) -> list[str]:
        return [example.texts[0] for example in catalog.load(name, split, given.data).examples]

    trees, draw = read_trees(given.data), random.Random(0)
    subj = without_shared(texts("subj", "all"), [*texts("sst-5", "dev"), *texts("sst-5", "test")])
    for name, lines in (
        ("subj", subj),
        ("phrases", short_phrases(trees, draw)),
        ("swapped", swapped_sentences(trees, given.copies, draw)),
    ):
        write_text(given.out / f"{name}.txt", "\n".join(lines) + "\n")
        print(f"{name}.txt: {len(lines):,} texts")
    pairs = [example.texts for example in catalog.load("snli", "train-part", given.data).examples]
    with (given.out / "snli.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("premise", "hypothesis"))
        writer.writerows(pairs[LABELED_PAIRS : LABELED_PAIRS + FURTHER_PAIRS])
    print(f"snli.csv: {len(pairs[LABELED_PAIRS : LABELED_PAIRS + FURTHER_PAIRS]):,} pairs")


if __name__ == "__main__":
    main()
