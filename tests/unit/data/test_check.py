from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from heedful.data.catalog import load
from heedful.data.check import CheckReport, check_corpora
from heedful.data.examples import Corpus, Example
from heedful.data.leaks import hypothesis_only, normalized
from heedful.errors import UsageError


def texts(*rows: tuple[str, str | float | None]) -> Corpus:
    return Corpus([Example((text,), target, row=i) for i, (text, target) in enumerate(rows, start=1)])


def pairs(*rows: tuple[str, str, str]) -> Corpus:
    return Corpus([Example((a, b), target, row=i) for i, (a, b, target) in enumerate(rows, start=1)])


def messages(report: CheckReport, level: str) -> list[str]:
    found = report.errors if level == "error" else report.warnings
    return [f"{finding.part}: {finding.message}" for finding in found]


GOOD = texts(("a calm lake", "yes"), ("a loud road", "no"), ("a still pond", "yes"))


def test_clean_data_is_ok() -> None:
    report = check_corpora({"train": GOOD, "test": texts(("a new street", "no"), ("a deep well", "yes"))})
    assert report.ok
    assert report.findings == []
    assert report.render().splitlines()[-1] == "ok (0 errors, 0 warnings)"
    assert report.parts["train"].labels == {"no": 1, "yes": 2}


def test_lengths_and_limit() -> None:
    corpus = texts(*[("word " * n, "yes" if n % 2 else "no") for n in range(1, 101)])
    report = check_corpora({"train": corpus}, limit=90)
    assert report.parts["train"].lengths == {"p50": 51, "p95": 96, "p99": 100, "max": 100}
    assert "train: 10 rows longer than the limit" in messages(report, "warning")
    given = Corpus([Example(("a b",), "yes", (("one", "two", "three"),)), Example(("c",), "no", ())])
    assert check_corpora({"train": given}).parts["train"].lengths["max"] == 3


def test_duplicates_and_conflicts() -> None:
    corpus = texts(("A calm lake!", "yes"), ("a  calm lake", "yes"), ("a road", "no"), ("A CALM LAKE", "no"))
    warnings = messages(check_corpora({"train": corpus}), "warning")
    assert "train: 2 rows repeating an earlier row" in warnings
    assert "train: 1 row repeating an earlier row with other gold" in warnings


def test_overlap_above_the_share_is_an_error() -> None:
    test = texts(("a new street", "no"), ("a Loud road.", "no"))
    report = check_corpora({"test": test, "train": GOOD})
    assert messages(report, "error") == ["test: 1 row (50.0%) also in train"]
    assert report.errors[0].rows == (2,)
    assert check_corpora({"test": test, "train": GOOD}, max_overlap=0.5).ok


def test_overlap_between_other_parts_is_a_warning() -> None:
    part = texts(("a new street", "no"), ("a deep well", "yes"))
    report = check_corpora({"train": GOOD, "dev": part, "test": part})
    assert report.ok
    assert messages(report, "warning") == ["test: 2 rows (100.0%) also in dev"]


def test_swapped_pairs_are_found() -> None:
    train = pairs(("a cat", "a pet", "e"), ("a dog", "a cat", "c"))
    report = check_corpora({"train": train, "test": pairs(("a pet", "a cat", "e"), ("a dog", "a cat", "c"))})
    expected = ["test: 2 rows (100.0%) also in train, 1 of them with the two texts swapped"]
    assert messages(report, "error") == expected


@pytest.mark.parametrize(
    ("corpora", "error"),
    [
        ({"train": texts(("a", "yes"), ("b", "yes"))}, "train: all rows have the same class 'yes'"),
        ({"train": GOOD, "test": texts(("q", "Yes"))}, "test: classes that train does not have: 'Yes'"),
        (
            {"train": texts(("a", "yes"), ("b", None), ("c", "no"))},
            "train: 1 row without a label, while other rows have one",
        ),
        ({"train": texts(("a", "yes"), ("b", "no"), ("c", 1.0))}, "train: class names and scores are mixed"),
        ({"train": GOOD, "test": Corpus([])}, "test: no examples"),
        (
            {"train": texts(("__label__yes a", "yes"), ("b", "no"))},
            "train: 1 row with a __label__ tag in the text",
        ),
    ],
)
def test_errors(corpora: dict[str, Corpus], error: str) -> None:
    assert messages(check_corpora(corpora), "error") == [error]


def test_rows_without_text_and_rows_left_out() -> None:
    corpus = Corpus([*GOOD.examples, Example(("  ",), "no", row=9)], Counter({"no text": 3, "neutral": 5}))
    report = check_corpora({"train": corpus})
    assert messages(report, "warning") == ["train: 3 rows with no text skipped", "train: 1 row without text"]
    assert "(skipped: 3 no text, 5 neutral)" in report.render()


def test_label_in_its_own_text() -> None:
    leaking = texts(*[(f"{label} thing {i}", label) for i in range(20) for label in ("spam", "ham")])
    warnings = messages(check_corpora({"train": leaking}), "warning")
    assert "train: 20 rows of the class 'spam' with its name in the text" in warnings
    both = texts(
        *[(f"spam and ham thing {i} {label[0]}", label) for i in range(20) for label in ("spam", "ham")]
    )
    assert messages(check_corpora({"train": both}), "warning") == []


def test_scores_are_summarized() -> None:
    report = check_corpora({"train": texts(("a", 1.0), ("b", 2.0), ("c", 4.5))})
    assert report.parts["train"].scores == (1.0, 2.5, 4.5)
    assert "from 1 to 4.5, mean 2.50" in report.render()


def giveaway_pairs(count: int, seed: int, telling: bool) -> Corpus:
    generator = random.Random(seed)
    rows = []
    for i in range(count):
        label = generator.choice(["yes", "no", "open"])
        word = {"yes": "surely", "no": "never", "open": "perhaps"}[label] if telling else "then"
        rows.append((f"premise {seed} {i}", f"{word} {generator.choice('abcdef')} {seed} {i}", label))
    return pairs(*rows)


def test_giveaway_words_are_revealed() -> None:
    report = check_corpora({"train": giveaway_pairs(600, 1, True), "dev": giveaway_pairs(200, 2, True)})
    assert report.giveaway is not None
    assert report.giveaway.accuracy == 1.0
    assert {(word.word, word.label) for word in report.giveaway.words} >= {("surely", "yes"), ("never", "no")}
    assert any("the hypothesis alone gives 100.0%" in message for message in messages(report, "warning"))


@pytest.mark.parametrize("with_dev", [True, False])
def test_pairs_without_giveaway_words(with_dev: bool) -> None:
    corpora = {"train": giveaway_pairs(600, 1, False)}
    if with_dev:
        corpora["dev"] = giveaway_pairs(300, 2, False)
    report = check_corpora(corpora)
    assert report.giveaway is not None
    assert report.giveaway.accuracy < report.giveaway.majority + 0.1
    assert report.giveaway.words == ()


def test_naive_bayes_equals_scikit_learn() -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    text = pytest.importorskip("sklearn.feature_extraction.text")
    generator = random.Random(0)

    def corpus(count: int) -> list[Example]:
        rows = []
        for _ in range(count):
            label = generator.choice("xyz")
            words = [generator.choice("abcdefgh" if label != "x" else "abcdaabb") for _ in range(6)]
            rows.append(Example(("premise", " ".join(words)), label))
        return rows

    train, test = corpus(300), corpus(200)
    counter = text.CountVectorizer(binary=True, token_pattern=r"\S+")
    model = bayes.MultinomialNB(alpha=1.0).fit(
        counter.fit_transform([example.texts[1] for example in train]), [example.target for example in train]
    )
    answers = model.predict(counter.transform([example.texts[1] for example in test]))
    expected = np.mean([answer == example.target for answer, example in zip(answers, test, strict=True)])
    assert 0.3 < expected < 0.9
    assert hypothesis_only(train, test, str.split).accuracy == pytest.approx(
        expected, abs=0.0051
    )  # a tie may fall either way


def test_report_is_json() -> None:
    report = check_corpora(
        {"train": giveaway_pairs(60, 1, True), "dev": giveaway_pairs(20, 2, True)}, limit=9
    )
    back = json.loads(json.dumps(report.as_dict()))
    assert back["ok"] is True
    assert back["parts"]["train"]["rows"] == 60
    assert back["giveaway"]["accuracy"] == 1.0


def test_normalized_text() -> None:
    assert normalized(" A  Calm—lake! ") == "a calm lake"
    assert normalized(" ?! ") == normalized("? !") == "? !"
    assert normalized("😍☕") == normalized("😍 ☕\ufe0f")
    assert normalized("今天。abc") == normalized("今 天 。 abc") == "今 天 abc"
    assert normalized("STRASSE") == normalized("Straße")


def test_nothing_to_check() -> None:
    with pytest.raises(UsageError, match="nothing to check"):
        check_corpora({})


@pytest.mark.data
def test_real_trec_has_test_questions_in_train(data_dir: Path) -> None:
    report = check_corpora({split: load("trec", split, data_dir) for split in ("train", "test")}, limit=37)
    assert messages(report, "error") == ["test: 11 rows (2.2%) also in train"]
    assert report.parts["train"].lengths["max"] == 37
    assert report.parts["train"].longer == 0
