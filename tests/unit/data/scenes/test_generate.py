from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from heedful.data.examples import Corpus
from heedful.data.scenes import LABELS, generate, phenomena, write_tsv
from heedful.errors import UsageError

# Changes whenever the corpus does: then the figures of docs/scenes.md must be measured again.
FINGERPRINT = "40a59e389b172a7de36b7e8761802ea23294f91e3871077d6944e95b8f35908b"


@pytest.fixture(scope="module")
def corpus() -> dict[str, Corpus]:
    return generate()


def test_is_frozen(corpus: dict[str, Corpus]) -> None:
    lines = (f"{part}\t{e.texts}\t{e.target}\t{e.group}\n" for part in corpus for e in corpus[part].examples)
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == FINGERPRINT


def test_same_seed_same_corpus_other_seed_other_corpus() -> None:
    sizes = {"train": 300, "dev": 30, "test": 30}
    assert generate(**sizes, seed=1) == generate(**sizes, seed=1)
    assert generate(**sizes, seed=1) != generate(**sizes, seed=2)


def test_sizes_and_records(corpus: dict[str, Corpus]) -> None:
    assert {part: len(c.examples) for part, c in corpus.items()} == {
        "train": 24_000,
        "dev": 2_000,
        "test": 2_000,
    }
    assert all(len(e.texts) == 2 and e.target in LABELS for c in corpus.values() for e in c.examples)


def test_labels_are_balanced_in_every_part_and_phenomenon(corpus: dict[str, Corpus]) -> None:
    for part in corpus.values():
        labels = Counter(e.target for e in part.examples)
        assert all(abs(labels[label] / len(part.examples) - 1 / 3) < 0.01 for label in LABELS)
        cells = Counter((e.group, e.target) for e in part.examples)
        assert set(cells) == {(name, label) for name in phenomena() for label in LABELS}
        assert max(cells.values()) - min(cells.values()) <= 1


def test_no_pair_twice_and_no_premise_in_two_parts(corpus: dict[str, Corpus]) -> None:
    pairs = [e.texts for part in corpus.values() for e in part.examples]
    assert len(set(pairs)) == len(pairs)
    parts_of = defaultdict(set)
    for name, part in corpus.items():
        for example in part.examples:
            parts_of[example.texts[0]].add(name)
    assert all(len(parts) == 1 for parts in parts_of.values())


def test_every_word_of_dev_and_test_is_in_train(corpus: dict[str, Corpus]) -> None:
    words = {name: {w for e in c.examples for t in e.texts for w in t.split()} for name, c in corpus.items()}
    assert words["dev"] <= words["train"]
    assert words["test"] <= words["train"]
    assert 80 <= len(words["train"]) <= 200


@pytest.mark.parametrize("side", [0, 1])
def test_length_does_not_give_the_label_away(corpus: dict[str, Corpus], side: int) -> None:
    labels_of = defaultdict(Counter)
    for example in corpus["train"].examples:
        labels_of[len(example.texts[side].split())][example.target] += 1
    shares = [labels[label] / labels.total() for labels in labels_of.values() for label in LABELS]
    assert len(shares) >= 12
    assert all(abs(share - 1 / 3) < 0.07 for share in shares)


def test_few_examples_and_chosen_phenomena() -> None:
    corpus = generate(7, 0, 3, only=["voice", "numbers"])
    assert [len(part.examples) for part in corpus.values()] == [7, 0, 3]
    assert {e.group for e in corpus["train"].examples} == {"voice", "numbers"}


def test_more_words_more_vocabulary() -> None:
    def vocabulary(**words: int) -> int:
        return len(
            {w for e in generate(600, 0, 0, **words)["train"].examples for t in e.texts for w in t.split()}
        )

    assert vocabulary(nouns=4) < vocabulary() < vocabulary(nouns=12, activities=10, colors=6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": -1}, "train must be a whole number of 0 or more"),
        ({"nouns": 13}, "nouns must be 2 to 12"),
        ({"activities": 2}, "activities must be 3 to 10"),
        ({"only": ["voices"]}, "did you mean 'voice'"),
        ({"train": 9_000, "only": ["hypernyms"], "nouns": 2, "activities": 3}, "'hypernyms' has too few"),
    ],
)
def test_wrong_arguments(arguments: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        generate(**arguments)


def test_writes_tables(tmp_path: Path) -> None:
    corpus = generate(30, 3, 3)
    paths = write_tsv(tmp_path / "scenes", corpus)
    assert [path.name for path in paths] == ["train.tsv", "dev.tsv", "test.tsv"]
    header, *rows = paths[0].read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["premise", "hypothesis", "label", "phenomenon"]
    first = corpus["train"].examples[0]
    assert rows[0].split("\t") == [*first.texts, first.target, first.group]
    assert len(rows) == 30


def test_every_phenomenon_is_described_in_a_line() -> None:
    assert len(phenomena()) == 10
    assert all(line.endswith(".") and len(line) < 110 for line in phenomena().values())
