from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

import sst_release
from heedful.data.readers.sst import FIVE_CLASSES, parse_tree, read_sst_trees, unescape_word
from heedful.errors import DataError, UsageError
from sst_release import read_sst_release

read_once = cache(sst_release._phrase_levels)
"""A quarter of a million lines, the same for all splits."""

TREES = [
    "(3 (2 It) (4 (2 is) (4 fun)))",
    "(1 (2 (2 -LRB-) (2 and\\/or)) (0 (2 ``) (0 bad)))",
    "(2 (2 So) (2 what))",
]


def write_trees(folder: Path) -> Path:
    file = folder / "train.txt"
    file.write_text("\n".join(TREES) + "\n")
    return file


def write_release(folder: Path) -> Path:
    """The same three trees in the raw layout; the first is training, the second test, the third dev."""
    phrases = {
        "It is fun": 0.7,
        "It": 0.5,
        "is fun": 0.81,
        "is": 0.6,
        "fun": 1.0,
        "-LRB- and\\/or `` bad": 0.4,
        "-LRB- and\\/or": 0.41,
        "-LRB-": 0.5,
        "and\\/or": 0.5,
        "`` bad": 0.2,
        "``": 0.5,
        "bad": 0.0,
        "So what": 0.5,
        "So": 0.5,
        "what": 0.5,
    }
    (folder / "SOStr.txt").write_text("It|is|fun\n-LRB-|and\\/or|``|bad\nSo|what\n")
    (folder / "STree.txt").write_text("5|4|4|5|0\n5|5|6|6|7|7|0\n3|3|0\n")
    (folder / "datasetSplit.txt").write_text("sentence_index,splitset_label\n1,1\n2,2\n3,3\n")
    (folder / "dictionary.txt").write_text("".join(f"{phrase}|{i}\n" for i, phrase in enumerate(phrases)))
    scores = "".join(f"{i}|{score}\n" for i, score in enumerate(phrases.values()))
    (folder / "sentiment_labels.txt").write_text("phrase ids|sentiment values\n" + scores)
    return folder


def test_sentences_five_classes(tmp_path: Path) -> None:
    corpus = read_sst_trees(write_trees(tmp_path))
    assert [example.target for example in corpus.examples] == ["positive", "negative", "neutral"]
    assert corpus.examples[1].words == (("(", "and/or", '"', "bad"),)
    assert corpus.examples[1].texts == ('( and/or " bad',)
    assert [example.row for example in corpus.examples] == [1, 2, 3]


def test_escapes_can_stay(tmp_path: Path) -> None:
    corpus = read_sst_trees(write_trees(tmp_path), unescape=False)
    assert corpus.examples[1].words == (("-LRB-", "and\\/or", "``", "bad"),)
    assert [unescape_word(word) for word in ("\\*", "-RRB-", "''", "ok")] == ["*", ")", '"', "ok"]


def test_two_classes_drop_neutral_and_count(tmp_path: Path) -> None:
    corpus = read_sst_trees(write_trees(tmp_path), classes=2)
    assert [example.target for example in corpus.examples] == ["positive", "negative"]
    assert corpus.skipped == {"neutral": 1}


def test_every_node_is_a_sample(tmp_path: Path) -> None:
    corpus = read_sst_trees(write_trees(tmp_path), phrases=True)
    assert len(corpus.examples) == 5 + 7 + 3
    assert [example.texts[0] for example in corpus.examples[:5]] == ["It is fun", "It", "is fun", "is", "fun"]
    assert [example.group for example in corpus.examples[:2]] == ["sentence", "phrase"]
    binary = read_sst_trees(tmp_path / "train.txt", phrases=True, classes=2)
    assert (len(binary.examples), binary.skipped["neutral"]) == (6, 9)


def test_rebalancing_weighs_sentences_and_non_neutral_nodes_four_times(tmp_path: Path) -> None:
    corpus = read_sst_trees(write_trees(tmp_path), phrases=True, rebalance=True)
    times = Counter(example.texts[0] for example in corpus.examples)
    assert times["fun"] == times["is fun"] == times["So what"] == 4
    assert times["It"] == times["So"] == 1
    assert len(corpus.examples) == 15 + 3 * 7


def test_bad_options(tmp_path: Path) -> None:
    file = write_trees(tmp_path)
    with pytest.raises(UsageError, match="classes must be 5 or 2"):
        read_sst_trees(file, classes=3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="rebalance"):
        read_sst_trees(file, rebalance=True)


@pytest.mark.parametrize(
    "tree", ["(3 (2 It) (4 fun)", "(3 It) fun", "(7 It)", "(3 ())", "It", "(3 )", "(3 (2 a) b))"]
)
def test_malformed_tree_names_the_row(tmp_path: Path, tree: str) -> None:
    file = write_trees(tmp_path)
    file.write_text(f"{TREES[0]}\n{tree}\n")
    with pytest.raises(DataError, match=r"train\.txt: row 2: not a sentiment tree"):
        read_sst_trees(file)


def test_deep_tree_needs_no_recursion() -> None:
    depth = 20_000
    words, nodes = parse_tree("(2 (2 a) " * depth + "(2 b)" + ")" * depth)
    assert (len(words), len(nodes)) == (depth + 1, 2 * depth + 1)


@pytest.mark.parametrize("split", ["train", "test", "dev"])
@pytest.mark.parametrize("classes", [2, 5])
def test_release_equals_the_trees(
    tmp_path: Path, split: Literal["train", "test", "dev"], classes: Literal[2, 5]
) -> None:
    row = {"train": 0, "test": 1, "dev": 2}[split]
    (tmp_path / "tree.txt").write_text(TREES[row] + "\n")
    folder = write_release(tmp_path)
    if split == "dev" and classes == 2:
        with pytest.raises(DataError, match="no usable row"):
            read_sst_release(folder, split=split, classes=classes, phrases=True)
        return
    from_release = read_sst_release(folder, split=split, classes=classes, phrases=True)
    from_trees = read_sst_trees(tmp_path / "tree.txt", classes=classes, phrases=True)
    assert from_release.skipped["another split"] == 2
    found = Counter((example.words, example.target, example.group) for example in from_release.examples)
    assert found == Counter((example.words, example.target, example.group) for example in from_trees.examples)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("STree.txt", "5|4|4|5|0\n", r"STree\.txt: ends before row 2"),
        ("STree.txt", "4|5|5|4|0\n\n\n", r"STree\.txt: row 1: "),
        ("STree.txt", "5|x|4|5|0\n\n\n", r"STree\.txt: row 1: expected numbers"),
        ("STree.txt", "4|4|5|5|4\n\n\n", r"STree\.txt: row 1: the tree has a loop"),
        ("dictionary.txt", "It is fun|0\n", r"SOStr\.txt: row 1: the phrase .* is not in the dictionary"),
        ("dictionary.txt", "It is fun|99\n", r"dictionary\.txt: row 1: phrase id '99' has no score"),
        (
            "sentiment_labels.txt",
            "phrase ids|sentiment values\n0|good\n",
            r"row 2: expected a score, got 'good'",
        ),
        ("dictionary.txt", "no bar\n", r"dictionary\.txt: row 1: expected two fields"),
        ("datasetSplit.txt", "h\n1,1\n2,2\n", r"datasetSplit\.txt: names no split of sentence 3"),
        (
            "datasetSplit.txt",
            "h\n1,1\n2,4\n3,3\n",
            r"datasetSplit\.txt: row 3: expected a sentence and its split",
        ),
        (
            "datasetSplit.txt",
            "h\n1,1\n2\n3,3\n",
            r"datasetSplit\.txt: row 3: expected a sentence and its split",
        ),
    ],
)
def test_release_that_does_not_fit_together(tmp_path: Path, file: str, content: str, message: str) -> None:
    folder = write_release(tmp_path)
    (folder / file).write_text(content)
    with pytest.raises(DataError, match=message):
        read_sst_release(folder)


REAL_LEVELS = {
    "train": (1_092, 2_218, 1_624, 2_322, 1_288),
    "dev": (139, 289, 229, 279, 165),
    "test": (279, 633, 389, 510, 399),
}
REAL_BINARY = {"train": (3_310, 3_610), "dev": (428, 444), "test": (912, 909)}
NOT_NEUTRAL = {"train": 98_794, "dev": 13_142, "test": 26_052}
REAL_NODES = {"train": 318_582, "dev": 41_447, "test": 82_600}


@pytest.mark.data
@pytest.mark.parametrize("split", REAL_NODES)
def test_real_sentences(data_dir: Path, split: str) -> None:
    file = data_dir / "sst" / "trees" / f"{split}.txt"
    five = Counter(example.target for example in read_sst_trees(file).examples)
    assert tuple(five[name] for name in FIVE_CLASSES) == REAL_LEVELS[split]
    two = read_sst_trees(file, classes=2)
    counts = Counter(example.target for example in two.examples)
    assert (counts["negative"], counts["positive"]) == REAL_BINARY[split]
    assert two.skipped == {"neutral": REAL_LEVELS[split][2]}


@pytest.mark.data
@pytest.mark.parametrize("split", REAL_NODES)
def test_real_nodes_in_both_layouts(
    data_dir: Path, split: Literal["train", "dev", "test"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sst_release, "_phrase_levels", read_once)
    folder = data_dir / "sst"
    trees = read_sst_trees(folder / "trees" / f"{split}.txt", phrases=True)
    whole = split == "train"  # of the third of a million nodes there the second layout gives the sentences
    release = read_sst_release(
        folder / "stanfordSentimentTreebank",
        split=split,
        phrases=not whole,
        dictionary=folder / "rebuilt" / "dictionary.txt",
        sentiment_labels=folder / "rebuilt" / "sentiment_labels.txt",
    )
    assert len(trees.examples) == REAL_NODES[split]
    compared = [example for example in trees.examples if not whole or example.group == "sentence"]
    nodes = Counter((example.texts, example.target) for example in compared)
    assert Counter((example.texts, example.target) for example in release.examples) == nodes
    neutral = sum(example.target == "neutral" for example in trees.examples)
    assert REAL_NODES[split] - neutral == NOT_NEUTRAL[split]


@pytest.mark.data
def test_real_rebalancing(data_dir: Path) -> None:
    file = data_dir / "sst" / "trees" / "dev.txt"
    counts = Counter(
        example.target for example in read_sst_trees(file, phrases=True, rebalance=True).examples
    )
    weighty = NOT_NEUTRAL["dev"] + REAL_LEVELS["dev"][2]
    assert counts.total() == REAL_NODES["dev"] + 3 * weighty
    assert counts.total() - counts["neutral"] == 4 * NOT_NEUTRAL["dev"]
